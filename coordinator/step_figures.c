#include "coordinator/step_figures.h"

/* A sync moves no data and has no due time of its own. */
static bool counts(const rb_total_t *total, uint32_t job)
{
    return total->job == job && total->op != RB_OP_SYNC;
}

static rb_hist_t *responses(const rb_fold_phase_t *phase, uint32_t job)
{
    rb_hist_t *h = rb_hist_new();
    for (size_t i = 0; i < phase->nmembers; i++) {
        const rb_member_t *m = &phase->members[i];
        for (size_t k = 0; k < m->ntotals; k++)
            if (counts(&m->totals[k], job))
                rb_hist_merge_sparse(h, &m->totals[k].response);
    }
    return h;
}

static void count_ops(const rb_member_t *m, uint32_t job, rb_search_figures_t *ret)
{
    for (size_t i = 0; i < m->ntotals; i++)
        if (counts(&m->totals[i], job))
            ret->ops += m->totals[i].ops;
    for (size_t i = 0; i < m->nworkers; i++)
        if (m->workers[i].job == job)
            ret->offered_ops += m->workers[i].offered_ops;
}

/* Requests and their restore latency. Those that are begun and not complete are due as well. */
static void kv_figures(const rb_join_t *join, uint32_t percentile_ppm, rb_search_figures_t *ret)
{
    rb_join_counts_t counts;
    const rb_hist_t *restore = rb_join_all(join)->restore;
    rb_join_counts(join, &counts);
    ret->ops = counts.requests;
    ret->offered_ops = counts.requests + counts.open + counts.given_up;
    if (restore == NULL)
        return;
    ret->quantile_ns = rb_hist_quantile(restore, percentile_ppm / 1e6);
    ret->uncertain = (double)restore->count * (1e6 - percentile_ppm) < 10 * 1e6;
}

void rb_step_figures(const rb_fold_t *fold, uint32_t phase, uint32_t job, uint32_t percentile_ppm,
                     rb_search_figures_t *ret)
{
    *ret = (rb_search_figures_t){0};
    if (phase >= fold->nphases)
        return;
    const rb_fold_phase_t *p = &fold->phases[phase];
    uint64_t end_ns = rb_fold_end_ns(fold, phase), ramp_ns = rb_fold_ramp_ns(fold, phase);
    ret->length_ns = end_ns > ramp_ns ? end_ns - ramp_ns : 0;
    if (p->kv.join != NULL) {
        kv_figures(p->kv.join, percentile_ppm, ret);
        return;
    }
    RB_AUTO(rb_hist_destroy) rb_hist_t *response = responses(p, job);
    for (size_t i = 0; i < p->nmembers; i++)
        count_ops(&p->members[i], job, ret);
    ret->quantile_ns = rb_hist_quantile(response, percentile_ppm / 1e6);
    ret->uncertain = (double)response->count * (1e6 - percentile_ppm) < 10 * 1e6;
}

uint64_t rb_step_late_ops(const rb_fold_t *fold, uint32_t phase, uint32_t job, uint64_t target_ns)
{
    if (phase >= fold->nphases)
        return 0;
    RB_AUTO(rb_hist_destroy) rb_hist_t *response = responses(&fold->phases[phase], job);
    return rb_hist_count_above(response, target_ns);
}

uint64_t rb_step_bytes(const rb_fold_t *fold, uint32_t phase)
{
    uint64_t bytes = 0;
    if (phase >= fold->nphases)
        return 0;
    for (size_t i = 0; i < fold->phases[phase].nmembers; i++) {
        const rb_member_t *m = &fold->phases[phase].members[i];
        for (size_t k = 0; k < m->ntotals; k++) {
            bytes += m->totals[k].bytes;
            for (int part = RB_PART_RAMP; part < RB_PART_COUNT; part++)
                bytes += m->totals[k].outside[part].bytes;
        }
    }
    return bytes;
}
