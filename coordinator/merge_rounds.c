#include "coordinator/merge_rounds.h"

#include "coordinator/merge_parts.h"
#include "coordinator/plan/steady.h"

#include <math.h>

static const Rackbench__SteadyState *steady_of(const rb_fold_t *fold, uint32_t phase)
{
    const Rackbench__Phase *p = rb_fold_plan_phase(fold, phase);
    const Rackbench__SteadyState *s = p != NULL ? p->steady_state : NULL;
    return s != NULL && s->round_ns > 0 ? s : NULL;
}

uint64_t rb_fold_round_ns(const rb_fold_t *fold, uint32_t phase)
{
    const Rackbench__SteadyState *s = steady_of(fold, phase);
    return s != NULL ? s->round_ns : 0;
}

/* Of an instant since T0, from 0; what comes after the last one counts as one more. */
static uint32_t round_at(const rb_fold_t *fold, uint32_t phase, uint64_t at_ns)
{
    const Rackbench__SteadyState *s = steady_of(fold, phase);
    uint64_t ramp_ns = rb_fold_ramp_ns(fold, phase);
    uint64_t since_ns = at_ns > ramp_ns ? at_ns - ramp_ns : 0;
    return (uint32_t)RB_MIN(since_ns / s->round_ns, (uint64_t)RB_MIN(s->max, RB_MAX_ROUNDS));
}

uint32_t rb_fold_rounds(const rb_fold_t *fold, uint32_t phase)
{
    const rb_fold_phase_t *p = &fold->phases[phase];
    uint64_t interval_ns = rb_fold_interval_ns(fold);
    uint64_t end_ns = rb_fold_end_ns(fold, phase);
    if (!p->over)
        end_ns = p->complete >= RB_MAX_WINDOWS ? 0 : p->complete * interval_ns;
    return round_at(fold, phase, end_ns);
}

int rb_fold_round_add(const rb_fold_t *fold, rb_member_t *m, const rb_row_window_t *row)
{
    uint64_t interval_ns = rb_fold_interval_ns(fold);
    if (steady_of(fold, row->phase) == NULL)
        return 0;
    uint32_t first = round_at(fold, row->phase, row->index * interval_ns);
    uint32_t last = round_at(fold, row->phase, (row->index + row->span) * interval_ns - 1);
    while (m->nrounds <= last)
        (void)RB_PUSH(m->rounds, m->nrounds);
    for (uint32_t r = first; r <= last && first != last; r++)
        m->rounds[r].incomplete = true;
    rb_round_t *round = &m->rounds[first];
    return rb_totals_add(fold, &round->totals, &round->ntotals, row, RB_PART_MAIN);
}

void rb_fold_rounds_clear(rb_member_t *m)
{
    for (size_t r = 0; r < m->nrounds; r++)
        rb_totals_clear(m->rounds[r].totals, m->rounds[r].ntotals);
    free(m->rounds);
}

/* ---- the metric ---- */

static double value_of(const rb_fold_t *fold, const rb_steady_t *s, const rb_member_t *m,
                       const rb_steady_drive_t *d, uint32_t r)
{
    const rb_round_t *round = r < m->nrounds ? &m->rounds[r] : NULL;
    uint64_t ops = 0, bytes = 0;
    double seconds = (double)s->as->round_ns / RB_NS_PER_S;
    rb_steady_metric_t metric;
    rb_err_t err;
    if (round == NULL || round->incomplete || rb_steady_metric(s->as->metric, &metric, &err) != 0)
        return NAN;
    rb_hist_clear(fold->scratch);
    for (size_t i = 0; i < round->ntotals; i++) {
        const rb_total_t *t = &round->totals[i];
        if (t->target != d->target || t->drive != d->drive || t->op == RB_OP_SYNC)
            continue;
        ops += t->ops;
        bytes += t->bytes;
        if (metric.kind >= RB_STEADY_MEAN)
            rb_hist_merge_sparse(fold->scratch, &t->response);
    }
    switch (metric.kind) {
    case RB_STEADY_IOPS:
        return (double)ops / seconds;
    case RB_STEADY_BW:
        return (double)bytes / seconds;
    case RB_STEADY_MEAN:
        return rb_hist_mean(fold->scratch);
    case RB_STEADY_QUANTILE:
        return (double)rb_hist_quantile(fold->scratch, metric.quantile);
    }
    return NAN;
}

static bool is_used(const rb_member_t *m, const rb_drive_ref_t *drive)
{
    for (size_t i = 0; i < m->ntotals; i++)
        if (m->totals[i].target == drive->target && m->totals[i].drive == drive->drive)
            return true;
    return false;
}

static void add_drive(const rb_fold_t *fold, rb_steady_t *s, const rb_member_t *m,
                      rb_steady_drive_t drive)
{
    drive.values = rb_calloc(s->rounds + 1, sizeof(*drive.values));
    for (uint32_t r = 0; r < s->rounds; r++)
        drive.values[r] = value_of(fold, s, m, &drive, r);
    drive.latched = rb_steady_latch(&s->rule, drive.values, s->rounds);
    s->reached &= drive.latched > 0;
    s->last = RB_MAX(s->last, drive.latched);
    *RB_PUSH(s->drives, s->ndrives) = drive;
}

rb_steady_t *rb_fold_steady(const rb_fold_t *fold, uint32_t phase)
{
    const Rackbench__SteadyState *as = steady_of(fold, phase);
    const rb_fold_phase_t *p = &fold->phases[phase];
    if (as == NULL)
        return NULL;
    rb_steady_t *s = rb_calloc(1, sizeof(*s));
    *s = (rb_steady_t){.rule = rb_steady_rule(as), .as = as, .reached = true};
    s->rounds = rb_fold_rounds(fold, phase);
    for (uint32_t host = 1; host <= p->nmembers; host++) {
        const rb_member_t *m = &p->members[host - 1];
        for (size_t i = 0; i < m->ndrives && !m->lost; i++)
            if (is_used(m, &m->drives[i]))
                add_drive(fold, s, m,
                          (rb_steady_drive_t){.host = host,
                                              .target = m->drives[i].target,
                                              .drive = m->drives[i].drive,
                                              .path = m->drives[i].path});
    }
    s->reached &= s->ndrives > 0;
    s->last = s->reached ? s->last : s->rounds;
    s->first = s->last > s->rule.window ? s->last - s->rule.window + 1 : RB_MIN(s->last, 1u);
    for (size_t i = 0; i < s->ndrives && s->last >= s->rule.window; i++)
        s->drives[i].fit = rb_steady_fit(&s->rule, s->drives[i].values + s->first - 1);
    return s;
}

void rb_steady_destroy(rb_steady_t **steady)
{
    rb_steady_t *s = *steady;
    for (size_t i = 0; s != NULL && i < s->ndrives; i++)
        free(s->drives[i].values);
    if (s != NULL)
        free(s->drives);
    free(s);
    *steady = NULL;
}

/* ---- M ---- */

rb_part_t rb_fold_round_part(const rb_fold_t *fold, const rb_row_window_t *row)
{
    const rb_fold_phase_t *p = &fold->phases[row->phase];
    if (p->steady_last == 0)
        return RB_PART_MAIN;
    uint32_t round = round_at(fold, row->phase, row->index * rb_fold_interval_ns(fold)) + 1;
    return round < p->steady_first  ? RB_PART_RAMP
           : round > p->steady_last ? RB_PART_DRAINED
                                    : RB_PART_MAIN;
}

static rb_total_t *same_place(const rb_member_t *m, const rb_total_t *like)
{
    for (size_t i = 0; i < m->ntotals; i++) {
        rb_total_t *t = &m->totals[i];
        if (t->job == like->job && t->target == like->target && t->drive == like->drive &&
            t->op == like->op)
            return t;
    }
    return NULL;
}

/* Errors count wherever they were. */
static int settle_round(rb_fold_t *fold, rb_member_t *m, const rb_round_t *round, rb_part_t part)
{
    for (size_t i = 0; i < round->ntotals; i++) {
        const rb_total_t *from = &round->totals[i];
        rb_total_t *to = same_place(m, from);
        RB_ASSERT(to != NULL); /* it was added to both */
        if (part != RB_PART_MAIN) {
            to->outside[part].ops += from->ops;
            to->outside[part].bytes += from->bytes;
            continue;
        }
        to->ops += from->ops;
        to->bytes += from->bytes;
        if (rb_sparse_add(&to->service, &from->service, fold->scratch) < 0 ||
            rb_sparse_add(&to->response, &from->response, fold->scratch) < 0)
            return -1;
    }
    return 0;
}

static int settle_member(rb_fold_t *fold, const rb_fold_phase_t *p, rb_member_t *m)
{
    for (size_t i = 0; i < m->ntotals; i++) {
        rb_total_t *t = &m->totals[i];
        t->ops = t->bytes = 0;
        rb_hist_sparse_clear(&t->service);
        rb_hist_sparse_clear(&t->response);
    }
    for (uint32_t r = 0; r < m->nrounds; r++) {
        rb_part_t part = r + 1 < p->steady_first  ? RB_PART_RAMP
                         : r + 1 > p->steady_last ? RB_PART_DRAINED
                                                  : RB_PART_MAIN;
        if (settle_round(fold, m, &m->rounds[r], part) < 0)
            return -1;
    }
    return 0;
}

int rb_fold_rounds_settle(rb_fold_t *fold, uint32_t phase)
{
    rb_fold_phase_t *p = &fold->phases[phase];
    rb_steady_t *steady = rb_fold_steady(fold, phase);
    if (steady == NULL)
        return 0;
    p->steady_first = steady->first;
    p->steady_last = steady->last;
    rb_steady_destroy(&steady);
    for (size_t i = 0; i < p->nmembers && p->steady_last > 0; i++)
        if (settle_member(fold, p, &p->members[i]) < 0)
            return -1;
    return 0;
}
