/* What the points of a sweep show together: measurement.md 7. */
#include "coordinator/result_parts.h"

/* Whose figures a curve is of, and of which points. */
typedef struct {
    const rb_result_t *result;
    const char *host, *target, *drive; /* as in rb_result_curve_t */
    const char *where;
    rb_op_t op;
    size_t near; /* where the host stands in the first point */
} view_t;

static bool is_axis(const rb_point_t *point)
{
    return strcmp(point->key.text, "iodepth") == 0 || strcmp(point->key.text, "numjobs") == 0;
}

static uint32_t axis_value(const rb_fold_t *fold, const rb_result_phase_t *phase, const char *key)
{
    const Rackbench__Job *job = rb_fold_plan_phase(fold, phase->index)->jobs[0];
    for (size_t i = 0; i < phase->npoint; i++)
        if (strcmp(phase->point[i].key.text, key) == 0)
            return (uint32_t)phase->point[i].number;
    return RB_MAX(key[0] == 'i' ? job->iodepth : job->numjobs, 1u);
}

/* The other keys of a point: "bs 4KiB, rw randread". */
static char *where_of(const rb_result_phase_t *phase)
{
    char *words = rb_strdup("");
    for (size_t i = 0; i < phase->npoint; i++) {
        if (is_axis(&phase->point[i]))
            continue;
        char *longer = rb_asprintf("%s%s%s %s", words, words[0] != '\0' ? ", " : "",
                                   phase->point[i].key.text, phase->point[i].text);
        free(words);
        words = longer;
    }
    return words;
}

/* Hosts mostly stand at the same place in each phase: `near` is looked at first. */
static const rb_result_host_t *find_host(const rb_result_phase_t *phase, const char *name,
                                         size_t near)
{
    if (name != NULL && near < phase->nhosts && strcmp(phase->hosts[near].name, name) == 0)
        return &phase->hosts[near];
    for (size_t i = 0; name != NULL && i < phase->nhosts; i++)
        if (strcmp(phase->hosts[i].name, name) == 0)
            return &phase->hosts[i];
    return NULL;
}

static const rb_stats_t *find_drive(const rb_result_host_t *host, const view_t *v)
{
    for (size_t t = 0; t < host->ntargets; t++)
        for (size_t d = 0; d < host->targets[t].ndrives; d++)
            if (strcmp(host->targets[t].name, v->target) == 0 &&
                strcmp(host->targets[t].drives[d].name, v->drive) == 0)
                return &host->targets[t].drives[d].stats;
    return NULL;
}

/* NULL: it took no part. */
static const rb_stats_t *stats_of(const view_t *v, const rb_result_phase_t *phase,
                                  const rb_result_host_t *host)
{
    if (v->host == NULL)
        return &phase->cluster;
    if (host == NULL)
        return NULL;
    return v->drive == NULL ? &host->total : find_drive(host, v);
}

/* Bytes per second of each whole second, or window where these are longer. [*ret_n], owned. */
static double *rates_of(const rb_result_t *result, const rb_result_phase_t *phase,
                        const rb_series_t *series, rb_op_t op, size_t *ret_n)
{
    double *rates = NULL;
    uint64_t bytes = 0, length_ns = 0, at_ns, window_ns;
    *ret_n = 0;
    for (size_t i = 0; i < series->nwindows; i++) {
        const rb_window_t *w = &series->windows[i];
        if (rb_result_window_part(result, phase, w) != RB_PART_MAIN)
            continue;
        rb_fold_window_time(result->fold, phase->index, w, &at_ns, &window_ns);
        bytes += w->op[op] != NULL ? w->op[op]->bytes : 0;
        length_ns += window_ns;
        if (length_ns < RB_NS_PER_S)
            continue;
        *RB_PUSH(rates, *ret_n) = (double)bytes * RB_NS_PER_S / (double)length_ns;
        bytes = length_ns = 0;
    }
    return rates;
}

/* Of the workers of one drive or host; the phase's own is of all. 0: not known. */
static double little_of(const rb_result_phase_t *phase, const rb_stats_t *stats, uint32_t iodepth)
{
    double busy_s = 0;
    for (int op = 0; op < RB_OP_COUNT; op++)
        busy_s += stats->op[op].service.mean_ns * (double)stats->op[op].service.count / RB_NS_PER_S;
    if (!phase->has_little || phase->njobs != 1 || stats->workers == 0)
        return 0;
    return busy_s / phase->seconds / (double)(stats->workers * iodepth);
}

static void add_figures(const view_t *v, const rb_result_phase_t *phase,
                        const rb_result_host_t *host, const rb_stats_t *stats,
                        rb_result_curve_t *curve)
{
    size_t nrates = 0, n = curve->npoints++;
    const rb_op_stats_t *op = &stats->op[v->op];
    const rb_series_t *series = host != NULL ? host->series : phase->series;
    double *rates = v->drive != NULL ? NULL : rates_of(v->result, phase, series, v->op, &nrates);
    curve->points[n] =
        (rb_sweep_point_t){.iodepth = axis_value(v->result->fold, phase, "iodepth"),
                           .numjobs = axis_value(v->result->fold, phase, "numjobs"),
                           .rate = op->bytes_per_s,
                           .half_width = rb_batch_half_width(rates, nrates),
                           .mean_ns = op->response.mean_ns,
                           .p99_ns = (double)op->response.quantile_ns[RB_P99],
                           .client_bound = host != NULL ? host->limits != 0
                                                        : rb_phase_has_mark(phase, "client_bound")};
    curve->phases[n] = (size_t)(phase - v->result->phases);
    curve->even[n] = rb_consistency(rates, nrates);
    curve->little[n] = little_of(phase, stats, curve->points[n].iodepth);
    free(rates);
}

static void clear_curve(rb_result_curve_t *curve)
{
    free(curve->where);
    free(curve->points);
    free(curve->phases);
    free(curve->little);
    free(curve->even);
    rb_sweep_verdict_clear(&curve->verdict);
}

/* A point that was cut short is none, and for the cluster none that fewer hosts ran than the first.
 */
static bool is_whole(const view_t *v, const rb_result_sweep_t *sweep,
                     const rb_result_phase_t *phase)
{
    bool alone = v->host != NULL;
    return !rb_phase_has_mark(phase, "truncated") &&
           (alone || (!rb_phase_has_mark(phase, "host_lost") &&
                      phase->nhosts == v->result->phases[sweep->first].nhosts));
}

/* Where nothing is left, there is no curve. */
static void add_curve(const view_t *v, rb_result_sweep_t *sweep)
{
    rb_result_curve_t curve = {.host = v->host, .drive = v->drive, .op = v->op};
    curve.where = rb_strdup(v->where);
    curve.points = rb_calloc(sweep->count, sizeof(*curve.points));
    curve.phases = rb_calloc(sweep->count, sizeof(*curve.phases));
    curve.little = rb_calloc(sweep->count, sizeof(*curve.little));
    curve.even = rb_calloc(sweep->count, sizeof(*curve.even));
    for (size_t i = sweep->first; i < sweep->first + sweep->count; i++) {
        const rb_result_phase_t *phase = &v->result->phases[i];
        const rb_result_host_t *host = find_host(phase, v->host, v->near);
        const rb_stats_t *stats = stats_of(v, phase, host);
        RB_AUTO(rb_free_str) char *where = where_of(phase);
        if (stats != NULL && stats->op[v->op].present && phase->seconds > 0 &&
            strcmp(where, v->where) == 0 && is_whole(v, sweep, phase))
            add_figures(v, phase, host, stats, &curve);
    }
    if (curve.npoints == 0) {
        clear_curve(&curve);
        return;
    }
    rb_sweep_judge(curve.points, curve.npoints, &curve.verdict);
    *RB_PUSH(sweep->curves, sweep->ncurves) = curve;
}

/* The cluster, its hosts and drives, as the first point has them. */
static void add_curves(view_t v, const rb_result_phase_t *first, rb_result_sweep_t *sweep)
{
    add_curve(&v, sweep);
    for (size_t h = 0; h < first->nhosts; h++) {
        const rb_result_host_t *host = &first->hosts[h];
        v.host = host->name;
        v.near = h;
        v.drive = NULL;
        add_curve(&v, sweep);
        for (size_t t = 0; t < host->ntargets; t++)
            for (size_t d = 0; d < host->targets[t].ndrives; d++) {
                v.target = host->targets[t].name;
                v.drive = host->targets[t].drives[d].name;
                add_curve(&v, sweep);
            }
    }
}

static bool is_first_of_where(const rb_result_t *result, const rb_result_sweep_t *sweep, size_t at)
{
    RB_AUTO(rb_free_str) char *where = where_of(&result->phases[at]);
    for (size_t i = sweep->first; i < at; i++) {
        RB_AUTO(rb_free_str) char *earlier = where_of(&result->phases[i]);
        if (strcmp(where, earlier) == 0)
            return false;
    }
    return true;
}

void rb_result_curves(const rb_result_t *result, rb_result_sweep_t *sweep)
{
    const rb_result_phase_t *first = &result->phases[sweep->first];
    bool has_axis = false;
    for (size_t i = 0; i < first->npoint; i++)
        has_axis |= is_axis(&first->point[i]);
    for (size_t i = sweep->first; has_axis && i < sweep->first + sweep->count; i++) {
        RB_AUTO(rb_free_str) char *where = where_of(&result->phases[i]);
        if (!is_first_of_where(result, sweep, i))
            continue;
        for (rb_op_t op = RB_OP_READ; op <= RB_OP_TRIM; op++)
            add_curves((view_t){.result = result, .where = where, .op = op}, first, sweep);
    }
}

void rb_result_curves_free(rb_result_sweep_t *sweep)
{
    for (size_t i = 0; i < sweep->ncurves; i++)
        clear_curve(&sweep->curves[i]);
    free(sweep->curves);
}
