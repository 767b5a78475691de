#include <inttypes.h>

#include "common/bssplit.h"
#include "common/units.h"
#include "coordinator/plan/limits.h"
#include "coordinator/plan/nearest.h"
#include "coordinator/plan/resolve.h"

static int has_target(const rb_scope_t *s)
{
    if (s->target)
        return 0;
    const Rackbench__Plan *plan = s->plan;
    const char *wanted = s->job->target ? s->job->target : "";
    rb_nearest_t nearest = {.word = wanted};
    char list[256] = "";
    size_t length = 0;
    for (size_t i = 0; i < plan->n_targets; i++) {
        rb_nearest_try(&nearest, plan->targets[i]->name);
        if (length < sizeof(list))
            length += (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "",
                                       plan->targets[i]->name);
    }
    if (plan->n_targets == 0)
        return rb_rule_fail(s, "target", "job '%s' has no target; add targets: {s: {size: 1GiB}}",
                            s->job->name);
    if (!s->job->target)
        return rb_rule_fail(s, NULL, "job '%s' names no target; add target: one of %s",
                            s->job->name, list);
    if (nearest.best)
        return rb_rule_fail(s, "target", "unknown target '%.64s'; did you mean '%s'?", wanted,
                            nearest.best);
    return rb_rule_fail(s, "target", "unknown target '%.64s'; one of %s is right", wanted, list);
}

static int may_write(const rb_scope_t *s)
{
    if (!rb_rw_writes(s->job->rw) || !s->target->n_devices || s->phase->destructive)
        return 0;
    return rb_rule_fail(s, "rw",
                        "job '%s' %s the devices of target '%s', which destroys what is on them; "
                        "if that is meant, add destructive: true to phase '%s'",
                        s->job->name, rb_rw_trims(s->job->rw) ? "trims" : "writes to",
                        s->target->name, s->phase->name);
}

static int is_aligned(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    bool bs = job->bs_bytes % RB_SECTOR_BYTES != 0;
    if (!job->direct || (!bs && job->offset_bytes % RB_SECTOR_BYTES == 0))
        return 0;
    char got[RB_FMT_SIZE];
    return rb_rule_fail(
        s, bs ? "bs_bytes" : "offset_bytes",
        "%s: %s is no multiple of 512, which direct I/O needs; round it, or set direct: false",
        bs ? "bs" : "offset",
        rb_fmt_bytes_exact(got, sizeof(got), bs ? job->bs_bytes : job->offset_bytes));
}

/* Bytes of the job's region, or 0 where only an agent knows. */
static uint64_t region_bytes(const rb_scope_t *s)
{
    if (s->job->has_size_bytes)
        return s->job->size_bytes;
    if (s->job->has_size_percent || s->job->has_offset_percent || !s->target->has_size_bytes)
        return 0;
    return s->target->size_bytes - s->job->offset_bytes -
           s->job->offset_increment_bytes * (s->job->numjobs - 1);
}

static int fits_file(const rb_scope_t *s)
{
    const Rackbench__Target *t = s->target;
    const Rackbench__Job *job = s->job;
    if (!t->has_size_bytes)
        return 0;
    char offset[RB_FMT_SIZE], size[RB_FMT_SIZE], file[RB_FMT_SIZE];
    uint64_t last = job->offset_bytes + job->offset_increment_bytes * (job->numjobs - 1);
    rb_fmt_bytes_exact(offset, sizeof(offset), last);
    rb_fmt_bytes_exact(size, sizeof(size), job->size_bytes);
    rb_fmt_bytes_exact(file, sizeof(file), t->size_bytes);
    if (last >= t->size_bytes)
        return rb_rule_fail(s, "offset_bytes",
                            "offset: %s is beyond the end of target '%s', whose files have %s",
                            offset, t->name, file);
    if (job->has_size_bytes && job->size_bytes > t->size_bytes - last)
        return rb_rule_fail(s, "size_bytes",
                            "offset %s + size %s is beyond the end of target '%s', whose files "
                            "have %s; make the region smaller or the files larger",
                            offset, size, t->name, file);
    return 0;
}

/* Of its operations. */
static uint64_t largest_bytes(const Rackbench__Job *job)
{
    rb_bssplit_t b;
    rb_err_t err;
    if (!job->bssplit)
        return job->bs_bytes;
    RB_ASSERT(rb_bssplit_parse(job->bssplit, &b, &err) == 0); /* by rb_check_pattern */
    return RB_MAX(b.side[RB_BSSPLIT_READ].max_bytes, b.side[RB_BSSPLIT_WRITE].max_bytes);
}

static int fits_block(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    uint64_t region =
        s->phase->fill ? 0 : region_bytes(s); /* its last block may be a partial one */
    uint64_t largest = largest_bytes(job);
    char bs[RB_FMT_SIZE], have[RB_FMT_SIZE];
    rb_fmt_bytes_exact(bs, sizeof(bs), largest);
    rb_fmt_bytes_exact(have, sizeof(have), region);
    if (region && largest > region)
        return rb_rule_fail(s, job->bssplit ? "bssplit" : "bs_bytes",
                            "%s: %s is more than the region of %s; make it smaller",
                            job->bssplit ? "bssplit" : "bs", bs, have);
    bool split =
        rb_rw_is_sequential(job->rw) && job->seq_layout == RACKBENCH__SEQ_LAYOUT__KIND__region;
    if (region && split && region / job->numjobs < largest)
        return rb_rule_fail(s, "numjobs",
                            "numjobs: %" PRIu32 " workers share the region of %s, less than one bs "
                            "of %s each; take fewer, or seq_layout: same",
                            job->numjobs, have, bs);
    return 0;
}

static int bounds(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->ramp_time_ns && !job->has_runtime_ns)
        return rb_rule_fail(s, "ramp_time_ns",
                            "ramp_time needs runtime: a phase bound by its work has no ramp");
    if (job->has_io_size_bytes && job->io_size_bytes < largest_bytes(job))
        return rb_rule_fail(s, "io_size_bytes", "io_size is less than one bs; make it larger");
    return 0;
}

static int workers(const rb_scope_t *s)
{
    uint64_t drives = s->target->n_devices ? 1 : s->target->files;
    uint64_t count = drives * s->job->numjobs;
    if (count <= RB_MAX_WORKERS)
        return 0;
    return rb_rule_fail(s, "numjobs",
                        "numjobs: %" PRIu32 " on each of %" PRIu64 " files makes %" PRIu64
                        " workers on a host; at most %d are right",
                        s->job->numjobs, drives, count, RB_MAX_WORKERS);
}

static int labels(const rb_scope_t *s)
{
    const ProtobufCMessage *msg = &s->job->base;
    rb_slot_t on = {(ProtobufCMessage *)(uintptr_t)msg, rb_schema_field(msg->descriptor, "on")};
    for (size_t i = 0; i < s->job->n_on; i++) {
        rb_scope_t label = *s;
        snprintf(label.path, sizeof(label.path), "%.32s.on.%zu", s->path, i);
        if (rb_limits_ask(&label, &s->job->on[i]->base) != 0)
            return -1;
    }
    return rb_unique_ask(s, on, "label");
}

static rb_rule_t *const rules[] = {has_target,      may_write,   rb_check_pattern, is_aligned,
                                   rb_check_region, fits_file,   fits_block,       bounds,
                                   rb_check_search, rb_check_kv, rb_check_io,      workers,
                                   labels};

int rb_check_job(const rb_scope_t *s)
{
    if (rb_limits_ask(s, &s->job->base) != 0)
        return -1;
    return rb_rules_ask(s, rules, RB_LEN(rules));
}
