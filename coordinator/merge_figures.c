#include "coordinator/merge_rounds.h"

/* End of M as far as plan and coordinator fixed it [ns since T0]. */
static uint64_t planned_end_ns(const rb_fold_t *fold, uint32_t phase)
{
    uint64_t runtime_ns = rb_fold_runtime_ns(fold, phase);
    uint64_t end = runtime_ns > 0 ? rb_fold_ramp_ns(fold, phase) + runtime_ns : UINT64_MAX;
    int64_t te_at_ns = fold->phases[phase].te_at_ns;
    if (te_at_ns != INT64_MAX)
        end = RB_MIN(end, (uint64_t)RB_MAX(te_at_ns, 0));
    return end;
}

bool rb_fold_any_measured(const rb_fold_t *fold)
{
    bool any = false;
    for (size_t i = 0; i < fold->nphases; i++) {
        any |= fold->phases[i].started;
        for (size_t k = 0; k < fold->phases[i].nmembers; k++)
            any |= fold->phases[i].members[k].nlayouts > 0;
    }
    return any;
}

uint64_t rb_member_until_ns(const rb_fold_t *fold, const rb_member_t *m)
{
    uint64_t until = m->delivered * rb_fold_interval_ns(fold), stopped = 0;
    for (size_t i = 0; i < m->nworkers; i++)
        stopped = RB_MAX(stopped, (uint64_t)RB_MAX(m->workers[i].end_at_ns, 0));
    return stopped > 0 ? RB_MIN(until, stopped) : until;
}

/* It is over, and a host was there to its end. */
static bool has_end(const rb_fold_phase_t *p)
{
    bool any_left = false;
    for (size_t i = 0; i < p->nmembers; i++)
        any_left |= p->members[i].takes_part && !p->members[i].lost;
    return p->over && any_left;
}

uint64_t rb_fold_start_ns(const rb_fold_t *fold, uint32_t phase)
{
    const rb_fold_phase_t *p = &fold->phases[phase];
    uint64_t before = p->steady_first > 0 ? p->steady_first - 1 : 0;
    return rb_fold_ramp_ns(fold, phase) + before * rb_fold_round_ns(fold, phase);
}

uint64_t rb_fold_end_ns(const rb_fold_t *fold, uint32_t phase)
{
    const rb_fold_phase_t *p = &fold->phases[phase];
    uint64_t end = planned_end_ns(fold, phase), interval_ns = rb_fold_interval_ns(fold);
    if (p->steady_last > 0)
        return RB_MIN(end, rb_fold_ramp_ns(fold, phase) +
                               p->steady_last * rb_fold_round_ns(fold, phase));
    /* Work that ended inside the last common window filled only a part of it. */
    if (p->by_count)
        return RB_MIN(end, RB_MIN(p->common_end * interval_ns, p->all_done_ns));
    uint64_t until = 0;
    for (size_t i = 0; i < p->nmembers; i++)
        until = RB_MAX(until, rb_member_until_ns(fold, &p->members[i]));
    return has_end(p) ? end : RB_MIN(end, until);
}

void rb_fold_window_time(const rb_fold_t *fold, uint32_t phase, const rb_window_t *window,
                         uint64_t *ret_at_ns, uint64_t *ret_length_ns)
{
    uint64_t interval_ns = rb_fold_interval_ns(fold), ramp_ns = rb_fold_ramp_ns(fold, phase);
    uint64_t at = window->index * interval_ns;
    uint64_t end = (window->index + window->span) * interval_ns;
    const rb_fold_phase_t *p = &fold->phases[phase];
    if (window->ramp)
        end = RB_MIN(end, ramp_ns);
    else {
        at = RB_MAX(at, ramp_ns);
        end = RB_MIN(end, planned_end_ns(fold, phase));
        if (window->index < p->common_end) /* what lies after the common end is drained */
            end = RB_MIN(end, p->all_done_ns);
    }
    *ret_at_ns = at;
    *ret_length_ns = end > at ? end - at : 0;
}

const rb_window_t *rb_fold_last_window(const rb_fold_t *fold, uint32_t phase)
{
    if (phase >= fold->nphases)
        return NULL;
    const rb_fold_phase_t *p = &fold->phases[phase];
    for (size_t i = p->series.nwindows; i-- > 0;) {
        const rb_window_t *w = &p->series.windows[i];
        if (w->index + w->span <= p->complete)
            return w;
    }
    return NULL;
}

int rb_member_start(const rb_member_t *member, rb_start_t *ret_start)
{
    rb_start_t s = {INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN};
    for (size_t i = 0; i < member->nworkers; i++) {
        const rb_row_worker_t *w = &member->workers[i];
        if (w->first_submit_at_ns == INT64_MIN)
            continue;
        int64_t lateness_ns = w->first_submit_at_ns - w->first_due_at_ns;
        s.lateness_ns = RB_MIN(s.lateness_ns, lateness_ns);
        s.last_lateness_ns = RB_MAX(s.last_lateness_ns, lateness_ns);
        s.first_io_ns = RB_MIN(s.first_io_ns, w->first_submit_at_ns);
        s.last_first_io_ns = RB_MAX(s.last_first_io_ns, w->first_submit_at_ns);
    }
    if (s.last_first_io_ns == INT64_MIN)
        return -1;
    *ret_start = s;
    return 0;
}

typedef struct {
    const rb_member_t *early, *late;
    int64_t min, max;
} spread_t;

static void add_to_spread(spread_t *s, const rb_member_t *m, int64_t at_ns)
{
    if (s->early == NULL || at_ns < s->min) {
        s->early = m;
        s->min = at_ns;
    }
    if (s->late == NULL || at_ns >= s->max) {
        s->late = m;
        s->max = at_ns;
    }
}

static bool tell_spread(const spread_t *s, uint64_t *ret_skew_ns, uint64_t *ret_bound_ns)
{
    if (s->early == NULL)
        return false;
    *ret_skew_ns = (uint64_t)(s->max - s->min);
    /* A single host is compared with its own clock. */
    *ret_bound_ns = s->early == s->late ? 0 : s->early->bound_ns + s->late->bound_ns;
    return true;
}

bool rb_fold_skew(const rb_fold_phase_t *phase, uint64_t *ret_skew_ns, uint64_t *ret_bound_ns)
{
    spread_t spread = {0};
    for (size_t i = 0; i < phase->nmembers; i++) {
        const rb_member_t *m = &phase->members[i];
        rb_start_t s;
        if (m->takes_part && rb_member_start(m, &s) == 0)
            add_to_spread(&spread, m, s.lateness_ns);
    }
    return tell_spread(&spread, ret_skew_ns, ret_bound_ns);
}

bool rb_fold_end_skew(const rb_fold_phase_t *phase, uint64_t *ret_skew_ns, uint64_t *ret_bound_ns)
{
    spread_t spread = {0};
    for (size_t i = 0; i < phase->nmembers; i++) {
        const rb_member_t *m = &phase->members[i];
        int64_t last_ns = INT64_MIN;
        for (size_t k = 0; k < m->nworkers; k++)
            if (m->workers[k].first_submit_at_ns != INT64_MIN)
                last_ns = RB_MAX(last_ns, m->workers[k].stopped_at_ns);
        if (m->takes_part && last_ns != INT64_MIN)
            add_to_spread(&spread, m, last_ns);
    }
    return tell_spread(&spread, ret_skew_ns, ret_bound_ns);
}
