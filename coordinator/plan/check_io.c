#include <inttypes.h>

#include "common/cpu_list.h"
#include "common/units.h"
#include "coordinator/plan/check_rules.h"
#include "coordinator/plan/resolve.h"

/* ---- how ---- */

static bool is_passthrough(const char *device)
{
    return strncmp(device, "/dev/ng", strlen("/dev/ng")) == 0;
}

static int passthrough_devices(const rb_scope_t *s)
{
    const Rackbench__Target *t = s->target;
    bool cmd = s->job->ioengine == RACKBENCH__IOENGINE__KIND__io_uring_cmd;
    if (cmd && t->n_devices == 0)
        return rb_rule_fail(s, "ioengine",
                            "ioengine: io_uring_cmd (NVMe passthrough) needs devices whose names "
                            "begin with /dev/ng, and target '%s' is files",
                            t->name);
    for (size_t i = 0; i < t->n_devices; i++) {
        if (is_passthrough(t->devices[i]) == cmd)
            continue;
        if (cmd)
            return rb_rule_fail(s, "ioengine",
                                "ioengine: io_uring_cmd (NVMe passthrough) needs devices whose "
                                "names begin with /dev/ng, not %.128s",
                                t->devices[i]);
        return rb_rule_fail(s, "ioengine",
                            "%.128s of target '%s' takes NVMe passthrough only; set ioengine: "
                            "io_uring_cmd, or name the block device /dev/nvme...",
                            t->devices[i], t->name);
    }
    return 0;
}

static int power_of_devices(const rb_scope_t *s)
{
    if (!s->job->has_power_state || s->target->n_devices > 0)
        return 0;
    return rb_rule_fail(s, "power_state",
                        "power_state needs NVMe drives, and target '%s' is files; name devices",
                        s->target->name);
}

/* A drive has one at a time. */
static int power_agrees(const rb_scope_t *s)
{
    for (size_t i = 0; s->job->has_power_state && i < s->phase->n_jobs; i++) {
        const Rackbench__Job *other = s->phase->jobs[i];
        if (!other->target || strcmp(other->target, s->job->target) != 0 ||
            (other->has_power_state && other->power_state == s->job->power_state))
            continue;
        return rb_rule_fail(s, "power_state",
                            "jobs '%s' and '%s' are on the same drives and differ in power_state; "
                            "give both the same, or put it at the phase",
                            s->job->name, other->name);
    }
    return 0;
}

static int passthrough_is_direct(const rb_scope_t *s)
{
    if (s->job->direct || s->job->ioengine != RACKBENCH__IOENGINE__KIND__io_uring_cmd)
        return 0;
    return rb_rule_fail(s, "direct", "ioengine: io_uring_cmd has no page cache; leave direct out");
}

static int sync_depth(const rb_scope_t *s)
{
    if (s->job->ioengine != RACKBENCH__IOENGINE__KIND__sync || s->job->iodepth == 1)
        return 0;
    return rb_rule_fail(s, "iodepth",
                        "iodepth: ioengine: sync does one operation at a time; set iodepth: 1, and "
                        "raise numjobs for more");
}

static int polls(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->hipri && !job->direct)
        return rb_rule_fail(s, "hipri", "hipri needs direct: true: the page cache is not polled");
    if (job->sqthread_poll && job->ioengine != RACKBENCH__IOENGINE__KIND__io_uring)
        return rb_rule_fail(s, "sqthread_poll", "sqthread_poll needs ioengine: io_uring");
    return 0;
}

static int batch(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->iodepth_batch_complete_min <= job->iodepth)
        return 0;
    return rb_rule_fail(s, "iodepth_batch_complete_min",
                        "iodepth_batch_complete_min: %" PRIu32 " is more than the iodepth of "
                        "%" PRIu32 "; make it smaller",
                        job->iodepth_batch_complete_min, job->iodepth);
}

static int cpus(const rb_scope_t *s)
{
    const char *cpus = s->job->cpus_allowed;
    rb_cpu_list_t list;
    rb_err_t err;
    bool is_word = cpus && (strcmp(cpus, "auto") == 0 || strcmp(cpus, "any") == 0);
    if (s->job->has_cpus_allowed_policy && (!cpus || is_word))
        return rb_rule_fail(s, "cpus_allowed_policy",
                            "cpus_allowed_policy is about a list of CPUs; write cpus_allowed: "
                            "0-3,8 beside it, or leave it out");
    if (!cpus || is_word || rb_cpu_list_parse(cpus, &list, &err) == 0)
        return 0;
    return rb_rule_fail(s, "cpus_allowed", "cpus_allowed: %s; or auto, or any", err.text);
}

/* ---- when ---- */

static int rates(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->has_rate_bytes && job->has_rate_iops)
        return rb_rule_fail(s, "rate_bytes", "rate and rate_iops exclude each other; keep one");
    if (job->has_rate_bytes && job->bssplit)
        return rb_rule_fail(s, "rate_bytes",
                            "rate needs operations of one size; set rate_iops beside bssplit");
    if (job->has_rate_bytes || job->has_rate_iops || job->has_latency_target_ns ||
        (!job->has_rate_scope && !job->has_rate_process))
        return 0;
    const char *key = job->has_rate_scope ? "rate_scope" : "rate_process";
    return rb_rule_fail(s, key, "%s needs a rate: add rate_iops or rate", key);
}

static int thinks(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->thinktime_ns > 0 && (job->has_rate_bytes || job->has_rate_iops))
        return rb_rule_fail(
            s, "thinktime_ns",
            "thinktime pauses after an operation is complete, and %s says when each "
            "is due whatever came of the others; keep one of them",
            job->has_rate_bytes ? "rate" : "rate_iops");
    if (job->thinktime_ns > 0 || !job->has_thinktime_blocks)
        return 0;
    return rb_rule_fail(s, "thinktime_blocks", "thinktime_blocks needs a pause: add thinktime");
}

static int spins(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (!job->due_spin_ns || job->has_rate_bytes || job->has_rate_iops || job->thinktime_ns > 0 ||
        job->has_latency_target_ns)
        return 0;
    return rb_rule_fail(s, "due_spin_ns",
                        "due_spin needs operations that are due at a time of their own: add "
                        "rate_iops, rate or thinktime");
}

/* ---- with which data ---- */

static int data(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (!job->zero_buffers || (!job->buffer_compress_percentage && !job->dedupe_percentage))
        return 0;
    return rb_rule_fail(
        s, "zero_buffers", "zero_buffers leaves nothing for %s to do; keep one of them",
        job->buffer_compress_percentage ? "buffer_compress_percentage" : "dedupe_percentage");
}

/* Write Zeroes moves no data. */
static int zeroes(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->write_mode != RACKBENCH__WRITE_MODE__KIND__zeroes)
        return 0;
    if (!rb_job_writes(job))
        return rb_rule_fail(s, "write_mode",
                            "write_mode: zeroes says how to write, and job '%s' does not; leave it "
                            "out",
                            job->name);
    const char *key = job->verify                       ? "verify"
                      : job->zero_buffers               ? "zero_buffers"
                      : job->dedupe_percentage          ? "dedupe_percentage"
                      : job->buffer_compress_percentage ? "buffer_compress_percentage"
                                                        : NULL;
    if (key == NULL)
        return 0;
    return rb_rule_fail(s, key, "write_mode: zeroes writes no data; leave out %s", key);
}

static int stable(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->sync == RACKBENCH__SYNC__KIND__none)
        return 0;
    if (!rb_job_writes(job))
        return rb_rule_fail(s, "sync", "sync is about writes, and job '%s' does none; leave it out",
                            job->name);
    if (job->write_mode == RACKBENCH__WRITE_MODE__KIND__zeroes)
        return rb_rule_fail(s, "sync",
                            "sync is about data, and write_mode: zeroes writes none; set fsync "
                            "instead");
    return 0;
}

static int hint(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (!job->has_write_hint)
        return 0;
    if (!rb_job_writes(job))
        return rb_rule_fail(s, "write_hint",
                            "write_hint is about writes, and job '%s' does none; leave it out",
                            job->name);
    if (job->ioengine == RACKBENCH__IOENGINE__KIND__io_uring_cmd)
        return rb_rule_fail(s, "write_hint",
                            "write_hint: NVMe passthrough carries none; set ioengine: io_uring");
    if (job->write_mode == RACKBENCH__WRITE_MODE__KIND__zeroes)
        return rb_rule_fail(
            s, "write_hint",
            "write_hint is about data, and write_mode: zeroes writes none; leave it "
            "out");
    return 0;
}

/* The kernel keeps one hint for a file or drive, so all who write it in a phase have the same. */
static int one_hint(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    for (size_t i = 0; rb_job_writes(job) && s->phase->jobs[i] != job; i++) {
        const Rackbench__Job *other = s->phase->jobs[i];
        if (!rb_job_writes(other) || !other->target || strcmp(other->target, job->target) != 0)
            continue;
        if (other->has_write_hint != job->has_write_hint || other->write_hint != job->write_hint)
            return rb_rule_fail(
                s, "write_hint",
                "write_hint: the kernel keeps one for all who write target '%s', and "
                "job '%s' has another; give both the same, or put them in separate "
                "phases",
                job->target, other->name);
    }
    return 0;
}

static rb_rule_t *const rules[] = {
    passthrough_devices,
    passthrough_is_direct,
    power_of_devices,
    power_agrees,
    sync_depth,
    polls,
    batch,
    cpus,
    rates,
    thinks,
    spins,
    data,
    zeroes,
    stable,
    hint,
    one_hint,
    rb_check_verify,
};

int rb_check_io(const rb_scope_t *s)
{
    return rb_rules_ask(s, rules, RB_LEN(rules));
}
