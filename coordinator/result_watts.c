#include "coordinator/result_parts.h"

typedef struct {
    uint64_t from_ns, until_ns; /* M by the wall clock */
} interval_t;

static int by_series(const void *a, const void *b)
{
    const rb_watts_reading_t *x = a, *y = b;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    if (x->scope != y->scope)
        return x->scope < y->scope ? -1 : 1;
    return x->at_wall_ns < y->at_wall_ns ? -1 : x->at_wall_ns > y->at_wall_ns;
}

static double power_at(const rb_watts_reading_t *a, const rb_watts_reading_t *b, uint64_t at_ns)
{
    double part = (double)(at_ns - a->at_wall_ns) / (double)(b->at_wall_ns - a->at_wall_ns);
    return ((double)a->mw + part * ((double)b->mw - (double)a->mw)) / 1e3;
}

/* What lies between two readings and in M. */
static void add_piece(rb_result_watts_t *sum, const rb_watts_reading_t *a,
                      const rb_watts_reading_t *b, const interval_t *m)
{
    uint64_t from_ns = RB_MAX(a->at_wall_ns, m->from_ns);
    uint64_t until_ns = RB_MIN(b->at_wall_ns, m->until_ns);
    if (from_ns >= until_ns)
        return;
    double seconds = (double)(until_ns - from_ns) / RB_NS_PER_S;
    sum->joules += seconds * (power_at(a, b, from_ns) + power_at(a, b, until_ns)) / 2;
    sum->seconds += seconds;
}

/* One host's readings of one scope, by time. */
static rb_result_watts_t measure(const rb_watts_reading_t *readings, size_t n, const interval_t *m)
{
    rb_result_watts_t w = {.scope = readings[0].scope};
    double plain = 0;
    for (size_t i = 0; i < n; i++) {
        bool inside = readings[i].at_wall_ns >= m->from_ns && readings[i].at_wall_ns <= m->until_ns;
        w.nreadings += inside;
        plain += inside ? (double)readings[i].mw / 1e3 : 0;
        if (i > 0)
            add_piece(&w, &readings[i - 1], &readings[i], m);
    }
    if (w.seconds > 0)
        w.watts = w.joules / w.seconds;
    else if (w.nreadings > 0)
        w.watts = plain / (double)w.nreadings;
    return w;
}

/* A sync moves no data. */
static void add_rates(rb_result_watts_t *w, const rb_stats_t *stats)
{
    static const rb_op_t ops[] = {RB_OP_READ, RB_OP_WRITE, RB_OP_TRIM};
    bool is_storage = w->scope == RB_SCOPE_DRIVE || w->scope == RB_SCOPE_CHASSIS;
    w->has_rates = is_storage && w->watts > 0;
    for (size_t i = 0; w->has_rates && i < RB_LEN(ops); i++) {
        w->iops_per_watt += stats->op[ops[i]].iops / w->watts;
        w->bytes_per_s_per_watt += stats->op[ops[i]].bytes_per_s / w->watts;
    }
}

static const rb_result_host_t *find_host(const rb_result_phase_t *phase, uint32_t number)
{
    for (size_t i = 0; i < phase->nhosts; i++)
        if (phase->hosts[i].number == number)
            return &phase->hosts[i];
    return NULL;
}

static void add_series(rb_result_phase_t *phase, const rb_watts_reading_t *readings, size_t n,
                       const interval_t *m)
{
    const rb_result_host_t *host = find_host(phase, readings[0].host);
    rb_result_watts_t w = measure(readings, n, m);
    /* Readings far from M say nothing of it, though M may lie between them. */
    if (w.nreadings == 0 || (readings[0].host != 0 && host == NULL))
        return;
    w.host = host != NULL ? host->name : NULL;
    add_rates(&w, host != NULL ? &host->total : &phase->cluster);
    *RB_PUSH(phase->watts, phase->nwatts) = w;
}

/* Where every host was read, and nobody read all together. */
static void add_sum(rb_result_phase_t *phase, rb_power_scope_t scope)
{
    rb_result_watts_t sum = {.scope = scope};
    bool is_known = false;
    for (size_t i = 0; i < phase->nwatts; i++) {
        const rb_result_watts_t *w = &phase->watts[i];
        if (w->scope != scope)
            continue;
        is_known |= w->host == NULL;
        sum.seconds = sum.nsummed == 0 ? w->seconds : RB_MIN(sum.seconds, w->seconds);
        sum.nsummed++;
        sum.nreadings += w->nreadings;
        sum.watts += w->watts;
    }
    if (is_known || sum.nsummed < 2 || sum.nsummed != phase->nhosts)
        return;
    sum.joules = sum.watts * sum.seconds;
    add_rates(&sum, &phase->cluster);
    *RB_PUSH(phase->watts, phase->nwatts) = sum;
}

void rb_result_watts(const rb_fold_t *fold, rb_result_phase_t *phase)
{
    interval_t m = {phase->t0_wall_ns + phase->start_ns, phase->t0_wall_ns + phase->end_ns};
    if (fold->nwatts == 0 || phase->seconds <= 0)
        return;
    rb_watts_reading_t *sorted = rb_calloc(fold->nwatts, sizeof(*sorted));
    memcpy(sorted, fold->watts, fold->nwatts * sizeof(*sorted));
    qsort(sorted, fold->nwatts, sizeof(*sorted), by_series);
    for (size_t i = 0, end; i < fold->nwatts; i = end) {
        for (end = i + 1; end < fold->nwatts && sorted[end].host == sorted[i].host &&
                          sorted[end].scope == sorted[i].scope;)
            end++;
        add_series(phase, sorted + i, end - i, &m);
    }
    free(sorted);
    for (int scope = 0; scope < RB_SCOPE_COUNT; scope++)
        add_sum(phase, (rb_power_scope_t)scope);
}
