#include "coordinator/plan/fio_options.h"

#include "coordinator/plan/nearest.h"

/* What has a key of the plan, or is asked for by the mapping. */
const rb_fio_option_t rb_fio_mapped[] = {
    {"name", NULL, RB_FIO_ASKED, NULL, NULL},
    {"kb_base", NULL, RB_FIO_ASKED, NULL, NULL},
    {"filename", NULL, RB_FIO_ASKED, NULL, NULL},
    {"directory", NULL, RB_FIO_ASKED, NULL, NULL},
    {"filename_format", NULL, RB_FIO_ASKED, NULL, NULL},
    {"nrfiles", "nr_files", RB_FIO_ASKED, NULL, NULL},
    {"stonewall", "wait_for_previous", RB_FIO_ASKED, NULL, NULL},
    {"wait_for", NULL, RB_FIO_ASKED, NULL, NULL},
    {"rw", "readwrite", RB_FIO_ASKED, NULL, NULL},
    {"rwmixread", NULL, RB_FIO_ASKED, NULL, NULL},
    {"rwmixwrite", NULL, RB_FIO_ASKED, NULL, NULL},
    {"bs", "blocksize", RB_FIO_ASKED, NULL, NULL},
    {"bsrange", "blocksize_range", RB_FIO_ASKED, NULL, NULL},
    {"bssplit", NULL, RB_FIO_ASKED, NULL, NULL},
    {"ba", "blockalign", RB_FIO_ASKED, NULL, NULL},
    {"ioengine", NULL, RB_FIO_ASKED, NULL, NULL},
    {"iodepth", NULL, RB_FIO_ASKED, NULL, NULL},
    {"iodepth_batch_complete_min", "iodepth_batch_complete", RB_FIO_ASKED, NULL, NULL},
    {"direct", NULL, RB_FIO_ASKED, NULL, NULL},
    {"buffered", NULL, RB_FIO_ASKED, NULL, NULL},
    {"hipri", NULL, RB_FIO_ASKED, NULL, NULL},
    {"sqthread_poll", NULL, RB_FIO_ASKED, NULL, NULL},
    {"cmd_type", NULL, RB_FIO_ASKED, NULL, NULL},
    {"size", NULL, RB_FIO_ASKED, NULL, NULL},
    {"filesize", NULL, RB_FIO_ASKED, NULL, NULL},
    {"io_size", "io_limit", RB_FIO_ASKED, NULL, NULL},
    {"fill_device", "fill_fs", RB_FIO_ASKED, NULL, NULL},
    {"offset", "fileoffset", RB_FIO_ASKED, NULL, NULL},
    {"offset_increment", NULL, RB_FIO_ASKED, NULL, NULL},
    {"number_ios", NULL, RB_FIO_ASKED, NULL, NULL},
    {"loops", NULL, RB_FIO_ASKED, NULL, NULL},
    {"numjobs", NULL, RB_FIO_ASKED, NULL, NULL},
    {"runtime", "timeout", RB_FIO_ASKED, NULL, NULL},
    {"time_based", NULL, RB_FIO_ASKED, NULL, NULL},
    {"ramp_time", NULL, RB_FIO_SECONDS, "ramp_time", NULL},
    {"startdelay", NULL, RB_FIO_ASKED, NULL, NULL},
    {"random_distribution", NULL, RB_FIO_ASKED, NULL, NULL},
    {"norandommap", NULL, RB_FIO_ASKED, NULL, NULL},
    {"randseed", NULL, RB_FIO_ASKED, NULL, NULL},
    {"fsync", NULL, RB_FIO_COUNT, "fsync", NULL},
    {"fdatasync", NULL, RB_FIO_COUNT, "fdatasync", NULL},
    {"sync", NULL, RB_FIO_ASKED, NULL, NULL},
    {"rate", NULL, RB_FIO_ASKED, NULL, NULL},
    {"rate_iops", NULL, RB_FIO_ASKED, NULL, NULL},
    {"rate_process", NULL, RB_FIO_ASKED, NULL, NULL},
    {"thinktime", NULL, RB_FIO_ASKED, NULL, NULL},
    {"thinktime_blocks", NULL, RB_FIO_ASKED, NULL, NULL},
    {"cpus_allowed", NULL, RB_FIO_WORD, "cpus_allowed", NULL},
    {"cpumask", NULL, RB_FIO_ASKED, NULL, NULL},
    {"cpus_allowed_policy", NULL, RB_FIO_WORD, "cpus_allowed_policy", NULL},
    {"mem", "iomem", RB_FIO_ASKED, NULL, NULL},
    {"zero_buffers", NULL, RB_FIO_FLAG, "zero_buffers", NULL},
    {"buffer_compress_percentage", NULL, RB_FIO_COUNT, "buffer_compress_percentage", NULL},
    {"dedupe_percentage", NULL, RB_FIO_COUNT, "dedupe_percentage", NULL},
    {"write_hint", NULL, RB_FIO_WORD, "write_hint", NULL},
    {"verify", NULL, RB_FIO_ASKED, NULL, NULL},
    {"do_verify", NULL, RB_FIO_ASKED, NULL, NULL},
    {"verify_only", NULL, RB_FIO_ASKED, NULL, NULL},
    {"verify_fatal", NULL, RB_FIO_ASKED, NULL, NULL},
    {"continue_on_error", NULL, RB_FIO_ASKED, NULL, NULL},
    {0},
};

static const rb_fio_option_t *const tables[] = {rb_fio_mapped, rb_fio_idle, rb_fio_never};

const rb_fio_option_t *rb_fio_option(const char *name)
{
    for (size_t i = 0; i < RB_LEN(tables); i++)
        for (const rb_fio_option_t *o = tables[i]; o->name != NULL; o++)
            if (strcmp(o->name, name) == 0 || (o->alias && strcmp(o->alias, name) == 0))
                return o;
    return NULL;
}

char *rb_fio_option_advice(const char *name)
{
    rb_nearest_t nearest = {.word = name};
    for (size_t i = 0; i < RB_LEN(tables); i++)
        for (const rb_fio_option_t *o = tables[i]; o->name != NULL; o++)
            rb_nearest_try(&nearest, o->name);
    return nearest.best ? rb_asprintf("; did you mean '%s'?", nearest.best) : rb_strdup("");
}
