#include "coordinator/job_words.h"

#include "common/units.h"
#include "coordinator/plan/resolve.h"
#include "proto/kv_setup.h"

#include <inttypes.h>

static const char *name_of(const ProtobufCEnumDescriptor *type, int value)
{
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(type, value);
    return known != NULL ? known->name : "?";
}

static const char *or_else(const char *word, const char *otherwise)
{
    return word != NULL && word[0] != '\0' ? word : otherwise;
}

/* What the trace asks for, and of what. */
static void put_kv(FILE *out, const Rackbench__KvCache *kv)
{
    rb_kv_setup_t setup;
    rb_err_t err;
    char block[RB_FMT_SIZE];
    const char *trace = or_else(kv->trace, "?"), *slash = strrchr(trace, '/');
    fprintf(out, "kv_cache of %s", or_else(kv->model, "a model of its own"));
    if (rb_kv_setup(kv, &setup, &err) == 0) {
        fprintf(out, ", %" PRIu32 " tokens in blocks of %s", setup.geometry.tokens_per_block,
                rb_fmt_bytes(block, sizeof(block), setup.geometry.block_bytes));
        if (setup.scale > 1)
            fprintf(out, ", run at 1/%" PRIu32 " of their size", setup.scale);
        rb_kv_setup_clear(&setup);
    }
    fprintf(out, ", shape %s, placement %s, policy %s, trace %s at speed %s",
            or_else(kv->shape, "block"), or_else(kv->placement, "local"),
            or_else(kv->policy, "lru"), slash != NULL ? slash + 1 : trace, or_else(kv->speed, "1"));
    if (kv->loops > 1)
        fprintf(out, ", %" PRIu32 " loops", kv->loops);
    if (kv->discard_on_evict)
        fputs(", discard_on_evict", out);
}

static void put_blocks(FILE *out, const Rackbench__Job *job)
{
    char size[RB_FMT_SIZE];
    fputs(name_of(&rackbench__rw__mode__descriptor, (int)job->rw), out);
    if (job->bssplit != NULL)
        fprintf(out, " %s", job->bssplit);
    else if (job->has_bs_bytes)
        fprintf(out, " %s", rb_fmt_bytes(size, sizeof(size), job->bs_bytes));
    if (rb_rw_mixes(job->rw))
        fprintf(out, ", %" PRIu32 " %% reads", job->rwmixread);
    if (job->rwmixtrim > 0)
        fprintf(out, ", %" PRIu32 " %% trims", job->rwmixtrim);
    if (job->write_mode == RACKBENCH__WRITE_MODE__KIND__zeroes)
        fputs(", write_mode zeroes", out);
    if (job->has_size_bytes)
        fprintf(out, ", in a region of %s", rb_fmt_bytes(size, sizeof(size), job->size_bytes));
    if (job->size_percent > 0)
        fprintf(out, ", in a region of %" PRIu32 " %%", job->size_percent);
    if (job->loops > 1)
        fprintf(out, ", %" PRIu32 " loops", job->loops);
}

static void put_what(FILE *out, const Rackbench__Job *job)
{
    if (job->kv_cache != NULL)
        put_kv(out, job->kv_cache);
    else
        put_blocks(out, job);
    fprintf(out, ", iodepth %" PRIu32, RB_MAX(job->iodepth, 1u));
    if (job->numjobs > 1)
        fprintf(out, " x %" PRIu32, job->numjobs);
}

static void put_engine(FILE *out, const Rackbench__Job *job)
{
    fprintf(out, ", %s", name_of(&rackbench__ioengine__kind__descriptor, (int)job->ioengine));
    if (job->has_direct && !job->direct)
        fputs(" buffered (the page cache answers too)", out);
    else if (job->ioengine != RACKBENCH__IOENGINE__KIND__io_uring_cmd) /* knows no other way */
        fputs(" direct", out);
    if (job->hipri)
        fputs(", polled", out);
    if (job->sqthread_poll)
        fputs(", sqthread_poll", out);
}

static void put_order(FILE *out, const Rackbench__Job *job)
{
    if (job->kv_cache != NULL)
        return;
    if (rb_rw_is_sequential(job->rw)) {
        if (job->numjobs > 1)
            fprintf(out, ", seq_layout %s",
                    name_of(&rackbench__seq_layout__kind__descriptor, (int)job->seq_layout));
        return;
    }
    if (job->random_distribution != NULL && strcmp(job->random_distribution, "random") != 0)
        fprintf(out, ", %s", job->random_distribution);
    if (job->has_norandommap && !job->norandommap)
        fputs(", each block once", out);
}

static void put_safety(FILE *out, const Rackbench__Job *job)
{
    if (job->sync != RACKBENCH__SYNC__KIND__none)
        fprintf(out, ", sync %s", name_of(&rackbench__sync__kind__descriptor, (int)job->sync));
    if (job->fsync > 0)
        fprintf(out, ", fsync after %" PRIu32, job->fsync);
    if (job->fdatasync > 0)
        fprintf(out, ", fdatasync after %" PRIu32, job->fdatasync);
    if (job->verify || job->verify_only)
        fputs(job->verify_only ? ", verify_only" : ", verify", out);
}

static const char *scope_words(const Rackbench__Job *job)
{
    switch (job->rate_scope) {
    case RACKBENCH__RATE_SCOPE__KIND__worker:
        return "per worker";
    case RACKBENCH__RATE_SCOPE__KIND__drive:
        return "per drive";
    case RACKBENCH__RATE_SCOPE__KIND__host:
        return "per host";
    case RACKBENCH__RATE_SCOPE__KIND__cluster:
        return "of the cluster";
    case _RACKBENCH__RATE_SCOPE__KIND_IS_INT_SIZE:
        break;
    }
    return "";
}

static void put_loop(FILE *out, const Rackbench__Job *job)
{
    char number[RB_FMT_SIZE];
    if (job->start_delay_ns > 0)
        fprintf(out, ", %s after the start",
                rb_fmt_duration(number, sizeof(number), job->start_delay_ns));
    if (job->kv_cache != NULL) {
        fputs(", open loop", out);
        return;
    }
    bool poisson = job->rate_process == RACKBENCH__RATE_PROCESS__KIND__poisson;
    if (job->rate_iops > 0)
        fprintf(out, ", %" PRIu64 " IOPS", job->rate_iops);
    else if (job->rate_bytes > 0)
        fprintf(out, ", %s/s", rb_fmt_bytes(number, sizeof(number), job->rate_bytes));
    if (job->rate_iops > 0 || job->rate_bytes > 0)
        fprintf(out, " %s in an open loop%s", scope_words(job), poisson ? " (poisson)" : "");
    else if (job->thinktime_ns > 0)
        fprintf(out, ", closed loop with thinktime %s",
                rb_fmt_duration(number, sizeof(number), job->thinktime_ns));
    else
        fputs(", closed loop", out);
}

char *rb_job_words(const Rackbench__Job *job, const char *place)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    RB_ASSERT(out != NULL);
    put_what(out, job);
    put_engine(out, job);
    put_order(out, job);
    put_safety(out, job);
    put_loop(out, job);
    fprintf(out, ", on %s", place);
    RB_ASSERT(fclose(out) == 0);
    return text;
}
