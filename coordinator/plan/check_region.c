#include "common/units.h"
#include "coordinator/plan/check_rules.h"
#include "coordinator/plan/resolve.h"

static const rb_range_t ranges[] = {
    {"loops", 1, UINT32_MAX},
    {"offset_increment", 1, RB_MAX_RANGE_BYTES / RB_MAX_WORKERS},
    {"start_delay", 0, 24 * 3600 * RB_NS_PER_S},
    {"size_percent", 1, 100},
    {"offset_percent", 1, 99},
};

static int percents(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->has_size_percent && job->has_size_bytes)
        return rb_rule_fail(s, "size_percent",
                            "size and size_percent exclude each other; keep one");
    if (job->has_offset_percent && job->offset_bytes > 0)
        return rb_rule_fail(s, "offset_percent",
                            "offset and offset_percent exclude each other; keep one");
    if (job->offset_percent + job->size_percent > 100)
        return rb_rule_fail(s, "size_percent",
                            "offset_percent and size_percent make more than 100; lower one");
    return 0;
}

static int increments(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (!job->has_offset_increment_bytes)
        return 0;
    if (rb_rw_is_sequential(job->rw) && job->numjobs > 1 &&
        job->seq_layout != RACKBENCH__SEQ_LAYOUT__KIND__same)
        return rb_rule_fail(s, "offset_increment_bytes",
                            "offset_increment says where each worker's region begins; add "
                            "seq_layout: same");
    if (job->direct && job->offset_increment_bytes % RB_SECTOR_BYTES != 0)
        return rb_rule_fail(s, "offset_increment_bytes",
                            "offset_increment: no multiple of 512, which direct I/O needs; round "
                            "it, or set direct: false");
    return 0;
}

/* Who reads what was written must know where that was. */
static int verified(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    const char *key = job->has_offset_increment_bytes ? "offset_increment"
                      : job->has_size_percent         ? "size_percent"
                      : job->has_offset_percent       ? "offset_percent"
                                                      : NULL;
    if (!key || (!job->verify && !job->verify_only))
        return 0;
    return rb_rule_fail(s, job->has_offset_increment_bytes ? "offset_increment_bytes" : key,
                        "%s: what is verified needs a region in bytes; set offset and size", key);
}

static int delay(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (!job->has_runtime_ns || job->start_delay_ns < job->ramp_time_ns + job->runtime_ns)
        return 0;
    return rb_rule_fail(s, "start_delay_ns",
                        "start_delay: the phase is over by then; raise runtime");
}

static rb_rule_t *const rules[] = {percents, increments, verified, delay};

int rb_check_region(const rb_scope_t *s)
{
    if (rb_ranges_ask(s, &s->job->base, ranges, RB_LEN(ranges)) != 0)
        return -1;
    return rb_rules_ask(s, rules, RB_LEN(rules));
}
