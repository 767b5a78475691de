#include "coordinator/analysis/sweep.h"

const char *const rb_axis_names[2] = {"iodepth", "numjobs"};

#define KNEE_SHARE  0.95
#define CLIFF_SHARE 0.85

static uint64_t oio_of(const rb_sweep_point_t *p)
{
    return (uint64_t)p->iodepth * p->numjobs;
}

static bool is_better(const rb_sweep_point_t *a, const rb_sweep_point_t *b)
{
    if (a->rate != b->rate)
        return a->rate > b->rate;
    if (a->mean_ns != b->mean_ns)
        return a->mean_ns < b->mean_ns;
    return oio_of(a) < oio_of(b);
}

/* The best of one OIO, or with 0 of all. */
static size_t best_of(const rb_sweep_point_t *points, size_t n, uint64_t oio)
{
    size_t best = RB_NO_POINT;
    for (size_t i = 0; i < n; i++)
        if (!points[i].client_bound && (oio == 0 || oio_of(&points[i]) == oio) &&
            (best == RB_NO_POINT || is_better(&points[i], &points[best])))
            best = i;
    return best;
}

/* The largest OIO below `oio` that was tested; 0: none. */
static uint64_t next_lower(const rb_sweep_point_t *points, size_t n, uint64_t oio)
{
    uint64_t lower = 0;
    for (size_t i = 0; i < n; i++)
        if (!points[i].client_bound && oio_of(&points[i]) < oio)
            lower = RB_MAX(lower, oio_of(&points[i]));
    return lower;
}

static size_t knee_of(const rb_sweep_point_t *points, size_t n, size_t peak)
{
    size_t knee = peak;
    if (peak == RB_NO_POINT)
        return peak;
    for (uint64_t oio = oio_of(&points[peak]); oio > 0; oio = next_lower(points, n, oio)) {
        size_t best = best_of(points, n, oio);
        if (points[best].rate < KNEE_SHARE * points[peak].rate)
            break;
        knee = best;
    }
    return knee;
}

static void find_latencies(const rb_sweep_point_t *points, size_t n, rb_sweep_verdict_t *v)
{
    for (size_t i = 0; i < n; i++) {
        const rb_sweep_point_t *p = &points[i];
        if (p->client_bound)
            continue;
        if (oio_of(p) == 1)
            v->qd1 = i;
        if (p->mean_ns > (v->worst_mean == RB_NO_POINT ? 0 : points[v->worst_mean].mean_ns))
            v->worst_mean = i;
        if (p->p99_ns > (v->worst_p99 == RB_NO_POINT ? 0 : points[v->worst_p99].p99_ns))
            v->worst_p99 = i;
    }
}

static uint32_t along(const rb_sweep_point_t *p, rb_sweep_axis_t axis)
{
    return axis == RB_AXIS_IODEPTH ? p->iodepth : p->numjobs;
}

static uint32_t across(const rb_sweep_point_t *p, rb_sweep_axis_t axis)
{
    return axis == RB_AXIS_IODEPTH ? p->numjobs : p->iodepth;
}

/* The next point of the line behind `from`; RB_NO_POINT: it ends there. */
static size_t next_on_line(const rb_sweep_point_t *points, size_t n, rb_sweep_axis_t axis,
                           size_t from)
{
    size_t next = RB_NO_POINT;
    for (size_t i = 0; i < n; i++)
        if (!points[i].client_bound && across(&points[i], axis) == across(&points[from], axis) &&
            along(&points[i], axis) > along(&points[from], axis) &&
            (next == RB_NO_POINT || along(&points[i], axis) < along(&points[next], axis)))
            next = i;
    return next;
}

static bool is_below(const rb_sweep_point_t *p, const rb_sweep_point_t *best)
{
    return p->rate < CLIFF_SHARE * best->rate &&
           p->rate + p->half_width < best->rate - best->half_width;
}

/* Takes the next point of a line into account; the last cliff is open while it has no recovery. */
static void take(const rb_sweep_point_t *points, rb_cliff_t line, bool *open, rb_sweep_verdict_t *v)
{
    const rb_sweep_point_t *p = &points[line.onset];
    if (!*open && is_below(p, &points[line.best])) {
        *RB_PUSH(v->cliffs, v->ncliffs) = line;
        *open = true;
    }
    if (!*open)
        return;
    rb_cliff_t *cliff = &v->cliffs[v->ncliffs - 1];
    if (p->rate < points[cliff->lowest].rate)
        cliff->lowest = line.onset;
    cliff->depth = 1 - points[cliff->lowest].rate / points[cliff->best].rate;
    if (p->rate >= CLIFF_SHARE * points[cliff->best].rate) {
        cliff->recovery = line.onset;
        *open = false;
    }
}

static void walk_line(const rb_sweep_point_t *points, size_t n, rb_sweep_axis_t axis, size_t from,
                      rb_sweep_verdict_t *v)
{
    size_t best = from;
    bool open = false;
    for (size_t i = from; i != RB_NO_POINT; i = next_on_line(points, n, axis, i)) {
        take(points, (rb_cliff_t){axis, best, i, i, 0, RB_NO_POINT}, &open, v);
        if (points[i].rate > points[best].rate)
            best = i;
    }
}

static bool starts_line(const rb_sweep_point_t *points, size_t n, rb_sweep_axis_t axis, size_t at)
{
    for (size_t i = 0; i < n; i++)
        if (!points[i].client_bound && across(&points[i], axis) == across(&points[at], axis) &&
            (along(&points[i], axis) < along(&points[at], axis) ||
             (along(&points[i], axis) == along(&points[at], axis) && i < at)))
            return false;
    return !points[at].client_bound;
}

void rb_sweep_judge(const rb_sweep_point_t *points, size_t n, rb_sweep_verdict_t *ret_verdict)
{
    rb_sweep_verdict_t v = {.qd1 = RB_NO_POINT,
                            .worst_mean = RB_NO_POINT,
                            .worst_p99 = RB_NO_POINT,
                            .peak = best_of(points, n, 0)};
    v.knee = knee_of(points, n, v.peak);
    find_latencies(points, n, &v);
    for (rb_sweep_axis_t axis = RB_AXIS_IODEPTH; axis <= RB_AXIS_NUMJOBS; axis++)
        for (size_t i = 0; i < n; i++)
            if (starts_line(points, n, axis, i))
                walk_line(points, n, axis, i, &v);
    *ret_verdict = v;
}

void rb_sweep_verdict_clear(rb_sweep_verdict_t *verdict)
{
    free(verdict->cliffs);
    *verdict = (rb_sweep_verdict_t){0};
}
