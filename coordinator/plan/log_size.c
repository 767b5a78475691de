#include "coordinator/plan/log_size.h"

#include <inttypes.h>

#include "common/units.h"
#include "coordinator/plan/check_rules.h"

/* Sum of the workers, by number_ios and io_size; UINT64_MAX: not bound so. */
static uint64_t by_amount(const Rackbench__Job *job)
{
    uint64_t each = UINT64_MAX;
    if (job->has_number_ios)
        each = job->number_ios;
    if (job->has_io_size_bytes)
        each = RB_MIN(each, job->io_size_bytes / job->bs_bytes);
    return each < UINT64_MAX / RB_MAX_WORKERS ? each * job->numjobs : UINT64_MAX;
}

/* One pass of the region. */
static uint64_t by_region(const Rackbench__Target *target, const Rackbench__Job *job)
{
    if (job->has_size_bytes)
        return job->size_bytes / job->bs_bytes;
    if (!target->has_size_bytes)
        return UINT64_MAX;
    return (target->size_bytes - job->offset_bytes) / job->bs_bytes;
}

/* A rate of a host or cluster may be of one drive alone. */
static uint64_t by_rate(const Rackbench__Job *job)
{
    double seconds = (double)(job->ramp_time_ns + job->runtime_ns) / (double)RB_NS_PER_S;
    double rate = job->has_rate_iops ? (double)job->rate_iops
                                     : (double)job->rate_bytes / (double)job->bs_bytes;
    bool each = job->rate_scope == RACKBENCH__RATE_SCOPE__KIND__worker;
    if (!job->has_runtime_ns || (!job->has_rate_iops && !job->has_rate_bytes))
        return UINT64_MAX;
    double writes = rate * seconds * (each ? job->numjobs : 1);
    return (uint64_t)RB_MIN(writes, 1e15) + job->numjobs; /* no log gets there */
}

uint64_t rb_log_writes(const Rackbench__Plan *plan, const Rackbench__Job *job)
{
    uint64_t writes = RB_MIN(by_amount(job), by_rate(job));
    if (writes == UINT64_MAX && (!job->has_runtime_ns || job->has_loops)) {
        uint64_t pass = by_region(rb_target_find(plan, job->target), job);
        if (pass == UINT64_MAX || __builtin_mul_overflow(pass, RB_MAX(job->loops, 1u), &writes))
            return 0;
    }
    return writes == UINT64_MAX ? 0 : writes;
}

const char *rb_log_size_text(const Rackbench__Plan *plan, const Rackbench__Job *job, char *buf,
                             size_t size)
{
    char bytes[RB_FMT_SIZE];
    const Rackbench__Target *target = rb_target_find(plan, job->target);
    uint64_t writes = rb_log_writes(plan, job);
    int n = snprintf(buf, size,
                     "verify_log %s of job '%s': %d bytes a write, and %d a batch, of which there "
                     "are at most %d a second",
                     job->verify_log, job->name, RB_LOG_WRITE_BYTES, RB_LOG_BATCH_BYTES,
                     RB_LOG_BATCHES_PER_S);
    if (writes == 0 || (size_t)n >= size)
        return buf;
    if (target->n_devices == 0)
        writes *= target->files;
    snprintf(buf + n, size - (size_t)n, ": %" PRIu64 " writes, %s and batches %s", writes,
             rb_fmt_bytes(bytes, sizeof(bytes), writes * RB_LOG_WRITE_BYTES),
             target->n_devices > 0 ? "for each drive" : "on each host");
    return buf;
}
