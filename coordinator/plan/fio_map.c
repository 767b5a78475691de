#include "coordinator/plan/fio_job.h"
#include "coordinator/plan/resolve.h"

/* ---- ioengine ---- */

#define MEMORY  "it moves memory, not blocks; io_uring, libaio or psync read and write"
#define REMOTE  "it is no local drive; rackbench measures the drives of hosts"
#define DRIVER  "it brings a driver of its own; io_uring, or io_uring_cmd for NVMe passthrough"
#define NETWORK "it measures a network; rackbench measures storage"
#define NOTHING "it does no I/O: it measures fio itself; name an engine that does"
#define CALLS   "it makes or removes files; rackbench reads and writes blocks"
#define GPU     "it moves data to a GPU's memory, which no workload here does"

static const struct {
    const char *name;
    const char *ours; /* NULL: refused, as `text` says */
    const char *text;
} engines[] = {
    {"libaio", "io_uring", "io_uring, which does the same"},
    {"io_uring", "io_uring", NULL},
    {"posixaio", "io_uring", "io_uring, without threads of the C library"},
    {"sync", "sync", "sync, one system call an operation"},
    {"psync", "sync", "sync, one system call an operation"},
    {"vsync", "sync", "sync, without joining neighbours"},
    {"pvsync", "sync", "sync, one system call an operation"},
    {"pvsync2", "sync", "sync, one system call an operation"},
    {"io_uring_cmd", "io_uring_cmd", NULL},
    {"mmap", NULL, MEMORY},
    {"page_fault", NULL, MEMORY},
    {"libpmem", NULL, MEMORY},
    {"pmemblk", NULL, MEMORY},
    {"dev-dax", NULL, MEMORY},
    {"splice", NULL, "pages are not spliced; psync or io_uring read and write"},
    {"sg", NULL, "SCSI commands are not sent past the block layer; io_uring"},
    {"null", NULL, NOTHING},
    {"cpp_null", NULL, NOTHING},
    {"cpuio", NULL, "it does no I/O; rackbench measures storage"},
    {"exec", NULL, "agents run no commands"},
    {"net", NULL, NETWORK},
    {"netsplice", NULL, NETWORK},
    {"rdma", NULL, NETWORK},
    {"librpma_apm_client", NULL, NETWORK},
    {"librpma_apm_server", NULL, NETWORK},
    {"librpma_gpspm_client", NULL, NETWORK},
    {"librpma_gpspm_server", NULL, NETWORK},
    {"dfs", NULL, REMOTE},
    {"ime_psync", NULL, REMOTE},
    {"ime_psyncv", NULL, REMOTE},
    {"ime_aio", NULL, REMOTE},
    {"sheepdog", NULL, REMOTE},
    {"rados", NULL, REMOTE},
    {"rbd", NULL, REMOTE " (a mapped /dev/rbd0 is one)"},
    {"http", NULL, REMOTE},
    {"nfs", NULL, REMOTE " (files in a mounted directory are targets)"},
    {"nbd", NULL, REMOTE " (a connected /dev/nbd0 is one)"},
    {"gfapi", NULL, REMOTE},
    {"gfapi_async", NULL, REMOTE},
    {"libhdfs", NULL, REMOTE},
    {"libiscsi", NULL, REMOTE},
    {"libblkio", NULL, DRIVER},
    {"xnvme", NULL, DRIVER},
    {"spdk", NULL, DRIVER},
    {"mtd", NULL, DRIVER},
    {"libzbc", NULL, "zoned drives are not told to open, finish and reset zones"},
    {"falloc", NULL, CALLS "; rw=randtrim trims"},
    {"ftruncate", NULL, CALLS},
    {"filecreate", NULL, CALLS},
    {"filestat", NULL, CALLS},
    {"filedelete", NULL, CALLS},
    {"fileoperations", NULL, CALLS},
    {"dircreate", NULL, CALLS},
    {"dirstat", NULL, CALLS},
    {"dirdelete", NULL, CALLS},
    {"e4defrag", NULL, CALLS},
    {"libcufile", NULL, GPU},
    {"libhipfile", NULL, GPU},
    {"external", NULL, DRIVER},
};

static int map_engine(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "ioengine");
    const char *name = line ? line->value : "psync";
    for (size_t i = 0; i < RB_LEN(engines); i++) {
        size_t n = strlen(engines[i].name); /* external:/path/to/it.so */
        if (strncmp(engines[i].name, name, n) != 0 || (name[n] != '\0' && name[n] != ':'))
            continue;
        if (engines[i].ours == NULL)
            return rb_fio_fail(f, line, "%s", engines[i].text);
        if (line && engines[i].text)
            rb_fio_note(f, line, "%s", engines[i].text);
        if (!line)
            rb_fio_note(f, job->head, "no ioengine: fio takes psync, and this is ioengine: sync");
        return rb_fio_set_word(f, job, "ioengine", engines[i].ours, line);
    }
    return rb_fio_fail(f, line,
                       "no engine of fio's that reads and writes blocks; libaio, "
                       "io_uring, psync and their like are right");
}

static bool is_sync(const rb_fio_job_t *job)
{
    return job->job->ioengine == RACKBENCH__IOENGINE__KIND__sync;
}

/* ---- options that are keys, or nothing ---- */

static bool is_neutral(const rb_fio_option_t *option, const char *value)
{
    size_t n = strlen(value);
    for (const char *at = option->neutral; at != NULL; at = strchr(at, '|')) {
        at += *at == '|';
        if (strncmp(at, value, n) == 0 && (at[n] == '|' || at[n] == '\0'))
            return true;
    }
    return false;
}

static int copy(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_given_t *g)
{
    uint64_t n = 0;
    bool flag = false;
    int rc = 0;
    switch (g->option->fate) {
    case RB_FIO_COUNT:
    case RB_FIO_BYTES:
        rc = rb_fio_get_number(f, job, g->option->name, &n);
        break;
    case RB_FIO_SECONDS:
        rc = rb_fio_get_time(f, job, g->option->name, RB_NS_PER_S, &n);
        break;
    case RB_FIO_MICROSECONDS:
        rc = rb_fio_get_time(f, job, g->option->name, RB_NS_PER_US, &n);
        break;
    case RB_FIO_FLAG:
        rc = rb_fio_get_flag(f, job, g->option->name, &flag);
        n = flag;
        break;
    case RB_FIO_WORD:
        return rb_fio_set_word(f, job, g->option->text, g->line->value, g->line);
    case RB_FIO_ASKED:
    case RB_FIO_IDLE:
    case RB_FIO_NEVER:
        return 0;
    }
    if (rc == 0 && n > 0) /* 0 is the default of all these */
        rb_fio_set(job, g->option->text, n, g->line);
    return rc;
}

static int map_given(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_given_t *g)
{
    if (g->option == NULL) {
        RB_AUTO(rb_free_str) char *advice = rb_fio_option_advice(g->line->key);
        return rb_fio_fail(f, g->line, "fio 3.33 has no such option%s", advice);
    }
    if (g->option->fate == RB_FIO_IDLE)
        rb_fio_note(f, g->line, "left out: %s", g->option->text);
    if (g->option->fate == RB_FIO_NEVER && !is_neutral(g->option, g->line->value))
        return rb_fio_lacks(f, g->line, "%s", g->option->text);
    return copy(f, job, g);
}

/* ---- rw ---- */

/* rw=WORD:N or WORD:-8k. */
static int map_modifier(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line,
                        const char *modifier)
{
    uint64_t n = 0;
    bool random = strncmp(line->value, "rand", 4) == 0;
    if (*modifier == '-')
        return rb_fio_fail(f, line, "nothing runs backwards here; rw=read or rw=randread");
    if (rb_fio_parse_number(f, job, line, modifier, &n) != 0)
        return -1;
    if (random ? n > 1 : n > 0)
        return rb_fio_lacks(f, line, "%s",
                            random ? "every operation draws an offset of its own; leave :N out"
                                   : "sequential operations leave no gaps; leave :N out");
    return 0;
}

static int map_rw(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "rw");
    RB_AUTO(rb_free_str) char *copy = rb_strdup(line ? line->value : "read");
    char *modifier = copy, *word = strsep(&modifier, ":");
    if (modifier && map_modifier(f, job, line, modifier) != 0)
        return -1;
    if (strcmp(word, "readwrite") == 0)
        word = "rw";
    if (strcmp(word, "trimwrite") == 0 || strcmp(word, "randtrimwrite") == 0) {
        if (rb_fio_lacks(f, line,
                         "no block is trimmed and then written; half of all operations "
                         "that trim, rwmixtrim: 50, is near") != 0)
            return -1;
        rb_fio_set(job, "rwmixtrim", 50, line);
        word = *word == 'r' ? "randwrite" : "write";
    }
    return rb_fio_set_word(f, job, "rw", word, line);
}

static int map_mix(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_last_of(job, "rwmixread", "rwmixwrite");
    uint64_t n = 0;
    if (!line)
        return 0;
    if (rb_fio_parse_number(f, job, line, line->value, &n) != 0)
        return -1;
    if (n > 100)
        return rb_fio_fail(f, line, "0 to 100 percent is right");
    if (!rb_rw_mixes(job->job->rw)) {
        rb_fio_note(f, line, "left out: it is for rw=rw and rw=randrw");
        return 0;
    }
    rb_fio_set(job, "rwmixread", line == rb_fio_get(job, "rwmixread") ? n : 100 - n, line);
    return 0;
}

/* ---- how ---- */

static int map_direct(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_last_of(job, "direct", "buffered");
    bool flag = false;
    if (line && rb_fio_flag(line->value, &flag, f->err) != 0)
        return rb_fio_wrap(f, line);
    if (line && line == rb_fio_get(job, "buffered"))
        flag = !flag;
    if (job->job->ioengine == RACKBENCH__IOENGINE__KIND__io_uring_cmd)
        return 0; /* has no page cache */
    rb_fio_set(job, "direct", flag, line);
    if (!flag)
        rb_fio_note(
            f, line ? line : job->head,
            "%sthrough the page cache, as in fio, which drops a file's pages from it first; "
            "here they stay",
            line ? "" : "no direct: ");
    return 0;
}

static int map_depth(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "iodepth");
    uint64_t depth = 1, batch = 1;
    if (rb_fio_get_number(f, job, "iodepth", &depth) != 0 ||
        rb_fio_get_number(f, job, "iodepth_batch_complete_min", &batch) != 0)
        return -1;
    if (is_sync(job) && depth > 1) {
        rb_fio_note(f, line, "1: this engine does one operation at a time, in fio too");
        return 0;
    }
    if (line)
        rb_fio_set(job, "iodepth", depth, line);
    if (batch > 1)
        rb_fio_set(job, "iodepth_batch_complete_min", batch,
                   rb_fio_get(job, "iodepth_batch_complete_min"));
    return 0;
}

static int map_polling(rb_fio_t *f, rb_fio_job_t *job)
{
    static const char *const keys[] = {"hipri", "sqthread_poll"};
    for (size_t i = 0; i < RB_LEN(keys); i++) {
        const rb_fio_line_t *line = rb_fio_get(job, keys[i]);
        bool flag = false;
        if (rb_fio_get_flag(f, job, keys[i], &flag) != 0)
            return -1;
        if (!flag)
            continue;
        bool can =
            i == 0 ? !is_sync(job) : job->job->ioengine == RACKBENCH__IOENGINE__KIND__io_uring;
        if (can)
            rb_fio_set(job, keys[i], 1, line);
        else if (rb_fio_lacks(f, line, "for ioengine=io_uring only; leave it out") != 0)
            return -1;
    }
    const rb_fio_line_t *type = rb_fio_get(job, "cmd_type");
    if (type && strcmp(type->value, "nvme") != 0)
        return rb_fio_fail(f, type, "NVMe commands there are, and no others");
    return 0;
}

static int map_cpumask(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "cpumask");
    uint64_t mask = 0;
    char list[256] = "";
    size_t n = 0;
    if (!line)
        return 0;
    if (rb_fio_parse_number(f, job, line, line->value, &mask) != 0)
        return -1;
    for (unsigned i = 0; i < 64; i++)
        if (mask >> i & 1)
            n += (size_t)snprintf(list + n, sizeof(list) - n, "%s%u", n ? "," : "", i);
    return rb_fio_set_word(f, job, "cpus_allowed", list, line);
}

static int map_memory(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "mem");
    if (!line || strcmp(line->value, "malloc") == 0 || strcmp(line->value, "mmap") == 0)
        return 0;
    if (strncmp(line->value, "mmaphuge", 8) == 0 || strcmp(line->value, "shmhuge") == 0) {
        rb_fio_note(f, line, "huge pages, mmaphuge");
        return rb_fio_set_word(f, job, "iomem", "mmaphuge", line);
    }
    return rb_fio_lacks(f, line, "buffers are in anonymous memory, of normal or huge pages");
}

/* ---- data and errors ---- */

static int map_sync(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "sync");
    if (!line || strcmp(line->value, "0") == 0 || strcmp(line->value, "none") == 0)
        return 0;
    bool one = strcmp(line->value, "1") == 0 || line->bare;
    return rb_fio_set_word(f, job, "sync", one ? "sync" : line->value, line);
}

static int map_errors(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "continue_on_error");
    static const char *const words[][2] = {{"0", "none"},     {"none", "none"}, {"1", "all"},
                                           {"all", "all"},    {"io", "all"},    {"read", "read"},
                                           {"write", "write"}};
    if (!line)
        return 0;
    for (size_t i = 0; i < RB_LEN(words); i++)
        if (strcmp(words[i][0], line->value) == 0 || (line->bare && i == 2))
            return rb_fio_set_word(f, job, "continue_on_error", words[i][1], line);
    if (rb_fio_lacks(f, line,
                     "a block that is not as it was written is an error of its read: "
                     "none, read, write and all there are") != 0)
        return -1;
    return rb_fio_set_word(f, job, "continue_on_error", "read", line);
}

int rb_fio_map(rb_fio_t *f, rb_fio_job_t *job)
{
    static int (*const steps[])(rb_fio_t *, rb_fio_job_t *) = {
        map_rw,           map_mix,           map_direct,      map_depth,        map_polling,
        map_cpumask,      map_memory,        map_sync,        map_errors,       rb_fio_map_blocks,
        rb_fio_map_files, rb_fio_map_bounds, rb_fio_map_when, rb_fio_map_verify};
    if (map_engine(f, job) != 0)
        return -1;
    for (size_t i = 0; i < job->ngiven; i++)
        if (map_given(f, job, &job->given[i]) != 0)
            return -1;
    for (size_t i = 0; i < RB_LEN(steps); i++)
        if (steps[i](f, job) != 0)
            return -1;
    return 0;
}
