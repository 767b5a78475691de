#include "coordinator/plan/limits.h"

#include "coordinator/plan/steady.h"

static const rb_range_t of_plan[] = {
    {"name", 1, RB_MAX_NAME},        {"targets", 0, RB_MAX_TARGETS},
    {"phases", 0, RB_MAX_PHASES},    {"wipe", 0, RB_MAX_WIPES},
    {"min_hosts", 1, RB_MAX_HOSTS},  {"interval", 10 * RB_NS_PER_MS, RB_MAX_INTERVAL_NS},
    {"max_skew", 0, RB_MAX_SKEW_NS}, {"lease", 500 * RB_NS_PER_MS, RB_MAX_LEASE_NS},
};

static const rb_range_t of_target[] = {
    {"name", 1, RB_MAX_NAME},      {"files", 1, RB_MAX_DRIVES}, {"size", 4096, RB_MAX_RANGE_BYTES},
    {"devices", 0, RB_MAX_DRIVES}, {"model", 0, RB_MAX_DRIVES}, {"serial", 0, RB_MAX_DRIVES},
    {"pci", 0, RB_MAX_DRIVES},
};

static const rb_range_t of_phase[] = {
    {"name", 1, RB_MAX_NAME},
    {"jobs", 0, RB_MAX_JOBS},
};

static const rb_range_t of_job[] = {
    {"name", 1, RB_MAX_NAME},
    {"on", 0, RB_MAX_JOB_LABELS},
    {"rwmixread", 0, 100},
    {"rwmixtrim", 0, 100},
    {"bs", 1, RB_MAX_BLOCK_BYTES},
    {"blockalign", 1, RB_MAX_BLOCK_BYTES},
    {"iodepth", 1, RB_MAX_IODEPTH},
    {"iodepth_batch_complete_min", 1, RB_MAX_IODEPTH},
    {"numjobs", 1, RB_MAX_WORKERS},
    {"size", 1, RB_MAX_RANGE_BYTES},
    {"offset", 0, RB_MAX_RANGE_BYTES},
    {"io_size", 1, RB_MAX_RANGE_BYTES},
    {"number_ios", 1, RB_MAX_RANGE_BYTES},
    {"runtime", RB_NS_PER_MS, RB_MAX_RUNTIME_NS},
    {"ramp_time", 0, RB_MAX_RUNTIME_NS},
    {"rate_iops", 1, RB_MAX_RATE_IOPS},
    {"rate", 1, RB_MAX_RANGE_BYTES}, /* an agent takes less than 2^62 */
    {"thinktime", 0, RB_MAX_THINKTIME_NS},
    {"thinktime_blocks", 1, UINT32_MAX},
    {"due_spin", 0, RB_MAX_SPIN_NS},
    {"latency_target", RB_NS_PER_US, RB_MAX_LATENCY_TARGET_NS},
    {"power_state", 0, RB_MAX_POWER_STATE},
    {"buffer_compress_percentage", 0, 100},
    {"dedupe_percentage", 0, 100},
    {"verify_log", 1, RB_MAX_LOG_PATH - 1},
};

static const rb_range_t of_label[] = {
    {"name", 1, RB_MAX_NAME},
    {"value", 1, RB_MAX_NAME},
};

static const rb_range_t of_precondition[] = {
    {"passes", 0, RB_MAX_PASSES},
    {"bs", RB_SECTOR_BYTES, RB_MAX_BLOCK_BYTES},
    {"iodepth", 1, RB_MAX_IODEPTH},
};

static const rb_range_t of_steady_state[] = {
    {"window", 2, RB_MAX_ROUNDS},
    {"max", 2, RB_MAX_ROUNDS},
    {"range", 1, 1000000},
    {"slope", 1, 1000000},
};

#define LIMITS(type, path, ranges)                                                                 \
    {                                                                                              \
        &rackbench__##type##__descriptor, path, ranges, RB_LEN(ranges)                             \
    }

const rb_limits_t rb_limits[] = {
    LIMITS(plan, "", of_plan),
    LIMITS(target, "targets.", of_target),
    LIMITS(phase, "phases.", of_phase),
    LIMITS(job, "phases.jobs.", of_job),
    LIMITS(label, "phases.jobs.on.", of_label),
    LIMITS(precondition, "phases.precondition.", of_precondition),
    LIMITS(steady_state, "phases.steady_state.", of_steady_state),
    {NULL, NULL, NULL, 0},
};

int rb_limits_ask(const rb_scope_t *s, const ProtobufCMessage *msg)
{
    const rb_limits_t *l = rb_limits;
    while (l->of != NULL && l->of != msg->descriptor)
        l++;
    return rb_ranges_ask(s, msg, l->ranges, l->nranges);
}
