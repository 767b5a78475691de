#include "coordinator/result_parts.h"

const rb_quantile_t rb_quantiles[RB_QUANTILES] = {
    {"p50", "p50", 50000},         {"p90", "p90", 90000},     {"p95", "p95", 95000},
    {"p99", "p99", 99000},         {"p99_9", "p99.9", 99900}, {"p99_99", "p99.99", 99990},
    {"p99_999", "p99.999", 99999},
};

struct rb_summer {
    rb_hist_t *service[RB_OP_COUNT], *response[RB_OP_COUNT], *turn, *lateness;
};

rb_summer_t *rb_summer_new(void)
{
    rb_summer_t *s = rb_calloc(1, sizeof(*s));
    for (int op = 0; op < RB_OP_COUNT; op++) {
        s->service[op] = rb_hist_new();
        s->response[op] = rb_hist_new();
    }
    s->turn = rb_hist_new();
    s->lateness = rb_hist_new();
    return s;
}

void rb_summer_destroy(rb_summer_t **summer)
{
    rb_summer_t *s = *summer;
    if (s == NULL)
        return;
    for (int op = 0; op < RB_OP_COUNT; op++) {
        rb_hist_destroy(&s->service[op]);
        rb_hist_destroy(&s->response[op]);
    }
    rb_hist_destroy(&s->turn);
    rb_hist_destroy(&s->lateness);
    free(s);
    *summer = NULL;
}

static bool host_has_label(const rb_fold_t *fold, uint32_t host, const char *label)
{
    const rb_row_host_t *h = &fold->hosts[host - 1].row.host;
    for (size_t i = 0; i < h->nlabels; i++)
        if (strcmp(h->labels[i], label) == 0)
            return true;
    return false;
}

bool rb_scope_has_member(const rb_scope_t *scope, uint32_t host)
{
    if (scope->host >= 0 && scope->host != host)
        return false;
    return scope->label == NULL || host_has_label(scope->fold, host, scope->label);
}

bool rb_scope_has_place(const rb_scope_t *scope, uint32_t job, uint32_t target, uint32_t drive)
{
    return (scope->job < 0 || scope->job == job) &&
           (scope->target < 0 || scope->target == target) &&
           (scope->drive < 0 || scope->drive == drive);
}

static void add_total(rb_summer_t *summer, const rb_total_t *t, rb_stats_t *stats)
{
    rb_op_stats_t *op = &stats->op[t->op];
    op->ops += t->ops;
    op->bytes += t->bytes;
    op->errors += t->errors;
    for (int part = 0; part < RB_PART_COUNT; part++) {
        stats->outside[part][t->op].ops += t->outside[part].ops;
        stats->outside[part][t->op].bytes += t->outside[part].bytes;
    }
    rb_hist_merge_sparse(summer->service[t->op], &t->service);
    rb_hist_merge_sparse(summer->response[t->op], &t->response);
}

typedef struct {
    uint64_t cpu_ns, wall_ns;
} cpu_time_t;

static void add_worker(rb_summer_t *summer, const rb_row_worker_t *w, rb_stats_t *stats,
                       cpu_time_t *cpu)
{
    stats->workers++;
    stats->unfinished += w->unfinished;
    stats->offered_ops += w->offered_ops;
    stats->oldest_unfinished_ns = RB_MAX(stats->oldest_unfinished_ns, w->oldest_unfinished_ns);
    rb_hist_merge_sparse(summer->turn, &w->turn);
    rb_hist_merge_sparse(summer->lateness, &w->lateness);
    cpu->cpu_ns += w->cpu_ns;
    cpu->wall_ns += w->wall_ns;
}

static bool job_does(const rb_scope_t *scope, uint32_t index, rb_op_t op)
{
    const Rackbench__Job *job = rb_fold_plan_phase(scope->fold, scope->phase)->jobs[index];
    Rackbench__Rw__Mode rw = job->rw;
    bool trims = rw == RACKBENCH__RW__MODE__trim || rw == RACKBENCH__RW__MODE__randtrim;
    switch (op) {
    case RB_OP_READ:
        return !trims && rw != RACKBENCH__RW__MODE__write && rw != RACKBENCH__RW__MODE__randwrite;
    case RB_OP_WRITE:
        return !trims && rw != RACKBENCH__RW__MODE__read && rw != RACKBENCH__RW__MODE__randread;
    case RB_OP_TRIM:
        return trims || job->rwmixtrim > 0;
    case RB_OP_SYNC:
        return job->fsync > 0 || job->fdatasync > 0;
    case RB_OP_COUNT:
        break;
    }
    return false;
}

/* How many in flight at Te may have been of this kind and older than the value: a worker tells its
 * count and its oldest, so all of its count is taken where the oldest is older. An upper bound. */
static uint64_t older_unfinished(const rb_scope_t *scope, rb_op_t op, uint64_t value_ns)
{
    const rb_fold_phase_t *phase = &scope->fold->phases[scope->phase];
    uint64_t n = 0;
    for (uint32_t host = 1; host <= phase->nmembers; host++) {
        const rb_member_t *m = &phase->members[host - 1];
        for (size_t i = 0; i < m->nworkers && rb_scope_has_member(scope, host); i++) {
            const rb_row_worker_t *w = &m->workers[i];
            if (rb_scope_has_place(scope, w->job, w->target, w->drive) &&
                w->oldest_unfinished_ns > value_ns && job_does(scope, w->job, op))
                n += w->unfinished;
        }
    }
    return n;
}

static void fill_lat(const rb_hist_t *h, const rb_scope_t *scope, rb_op_t op, rb_lat_t *lat)
{
    if (h->count == 0)
        return;
    *lat = (rb_lat_t){.count = h->count,
                      .min_ns = h->min,
                      .max_ns = h->max,
                      .mean_ns = rb_hist_mean(h),
                      .stddev_ns = rb_hist_stddev(h)};
    for (int i = 0; i < RB_QUANTILES; i++) {
        uint32_t q = rb_quantiles[i].per_100k;
        double beyond = (double)h->count * (100000 - q); /* / 100000 */
        lat->quantile_ns[i] = rb_hist_quantile(h, q / 100000.0);
        lat->uncertain[i] = beyond < 10 * 100000.0;
        uint64_t older = older_unfinished(scope, op, lat->quantile_ns[i]);
        lat->censored[i] = (double)older * 100000 > beyond;
    }
}

static void clear(rb_summer_t *summer)
{
    for (int op = 0; op < RB_OP_COUNT; op++) {
        rb_hist_clear(summer->service[op]);
        rb_hist_clear(summer->response[op]);
    }
    rb_hist_clear(summer->turn);
    rb_hist_clear(summer->lateness);
}

static void add_member(rb_summer_t *summer, const rb_scope_t *scope, const rb_member_t *m,
                       rb_stats_t *stats, cpu_time_t *cpu)
{
    const rb_total_t *totals = scope->layout ? m->layouts : m->totals;
    size_t ntotals = scope->layout ? m->nlayouts : m->ntotals;
    size_t nworkers = scope->layout ? 0 : m->nworkers;
    for (size_t i = 0; i < ntotals; i++)
        if (rb_scope_has_place(scope, totals[i].job, totals[i].target, totals[i].drive))
            add_total(summer, &totals[i], stats);
    for (size_t i = 0; i < nworkers; i++) {
        const rb_row_worker_t *w = &m->workers[i];
        if (rb_scope_has_place(scope, w->job, w->target, w->drive))
            add_worker(summer, w, stats, cpu);
    }
}

/* What workers tell of themselves. */
static void fill_workers(const rb_summer_t *summer, const cpu_time_t *cpu, rb_stats_t *stats)
{
    const rb_hist_t *late = summer->lateness;
    stats->has_turn = summer->turn->count > 0;
    stats->has_cpu = cpu->wall_ns > 0;
    stats->turn_p50_ns = rb_hist_quantile(summer->turn, 0.5);
    stats->turn_p99_ns = rb_hist_quantile(summer->turn, 0.99);
    stats->has_lateness = late->count > 0;
    stats->lateness_p50_ns = rb_hist_quantile(late, 0.5);
    stats->lateness_p99_ns = rb_hist_quantile(late, 0.99);
    stats->lateness_max_ns = late->count > 0 ? late->max : 0;
    stats->cpu_share = cpu->wall_ns > 0 ? (double)cpu->cpu_ns / (double)cpu->wall_ns : 0;
}

void rb_summer_stats(rb_summer_t *summer, const rb_scope_t *scope, rb_stats_t *stats)
{
    const rb_fold_phase_t *phase = &scope->fold->phases[scope->phase];
    cpu_time_t cpu = {0};
    *stats = (rb_stats_t){0};
    clear(summer);
    for (uint32_t host = 1; host <= phase->nmembers; host++)
        if (rb_scope_has_member(scope, host))
            add_member(summer, scope, &phase->members[host - 1], stats, &cpu);
    for (rb_op_t i = 0; i < RB_OP_COUNT; i++) {
        rb_op_stats_t *op = &stats->op[i];
        op->present = op->ops > 0 || op->errors > 0;
        op->iops = scope->seconds > 0 ? (double)op->ops / scope->seconds : 0;
        op->bytes_per_s = scope->seconds > 0 ? (double)op->bytes / scope->seconds : 0;
        fill_lat(summer->service[i], scope, i, &op->service);
        fill_lat(summer->response[i], scope, i, &op->response);
    }
    if (scope->seconds > 0)
        stats->offered_iops = (double)stats->offered_ops / scope->seconds;
    fill_workers(summer, &cpu, stats);
}
