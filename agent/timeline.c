#include "agent/timeline.h"

/* ns x (1 + drift), exact enough: only the small part is rounded. */
static int64_t stretch(int64_t ns, double drift)
{
    return ns + (int64_t)((double)ns * drift);
}

static int64_t shrink(int64_t ns, double drift)
{
    return ns - (int64_t)((double)ns * drift / (1.0 + drift));
}

static double drift_ahead(const rb_timeline_t *line)
{
    return (double)line->drift_ppb * 1e-9;
}

/* Between T0 and what was told last. */
static double drift_behind(const rb_timeline_t *line)
{
    if (line->told_at_ns == 0)
        return drift_ahead(line);
    int64_t gained_ns = (int64_t)(line->told_ns - line->t0_ns - line->told_at_ns);
    return (double)gained_ns / (double)line->told_at_ns;
}

static int64_t bounded(int64_t drift_ppb)
{
    return RB_MAX(RB_MIN(drift_ppb, RB_TIMELINE_MAX_DRIFT_PPB), -RB_TIMELINE_MAX_DRIFT_PPB);
}

rb_timeline_t rb_timeline_new(uint64_t t0_ns, int64_t drift_ppb)
{
    return (rb_timeline_t){t0_ns, 0, t0_ns, drift_ppb};
}

bool rb_timeline_tell(rb_timeline_t *line, uint64_t at_ns, uint64_t local_ns, int64_t drift_ppb)
{
    if (at_ns <= line->told_at_ns || at_ns > INT64_MAX / 2 || local_ns <= line->t0_ns ||
        local_ns - line->t0_ns > INT64_MAX / 2)
        return false;
    int64_t gained_ns = (int64_t)(local_ns - line->t0_ns - at_ns);
    uint64_t gap_ns = (uint64_t)(gained_ns < 0 ? -gained_ns : gained_ns);
    if (gap_ns > RB_TIMELINE_MAX_STEP_NS + at_ns / 1000)
        return false;
    *line = (rb_timeline_t){line->t0_ns, at_ns, local_ns, bounded(drift_ppb)};
    return true;
}

uint64_t rb_timeline_local_ns(const rb_timeline_t *line, uint64_t at_ns)
{
    if (at_ns < line->told_at_ns)
        return line->t0_ns + (uint64_t)stretch((int64_t)at_ns, drift_behind(line));
    int64_t ahead_ns = stretch((int64_t)(at_ns - line->told_at_ns), drift_ahead(line));
    return line->told_ns + (uint64_t)ahead_ns;
}

int64_t rb_timeline_at_ns(const rb_timeline_t *line, uint64_t local_ns)
{
    int64_t ahead_ns = (int64_t)(local_ns - line->told_ns);
    if (ahead_ns < 0)
        return shrink((int64_t)(local_ns - line->t0_ns), drift_behind(line));
    return (int64_t)line->told_at_ns + shrink(ahead_ns, drift_ahead(line));
}
