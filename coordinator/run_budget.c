#include "coordinator/plan/search.h"
#include "coordinator/run_priv.h"

/* A phase without an end by time is taken to last as long again as it has lasted: the room that is
 * left then shrinks ever more slowly, and is never used up. */
static uint64_t step_left_ns(const rb_run_t *run, uint32_t plan_phase, uint64_t now_ns)
{
    const Rackbench__Phase *p = run->opts.plan->phases[plan_phase];
    bool under_way =
        plan_phase == run->plan_phase && run->stage == RB_STAGE_RUN && now_ns > run->t0_ns;
    uint64_t elapsed_ns = under_way ? now_ns - run->t0_ns : 0;
    uint64_t length_ns = rb_phase_ramp_ns(p) + rb_phase_runtime_ns(p);
    if (rb_phase_runtime_ns(p) == 0)
        return RB_MAX(elapsed_ns, 3600 * RB_NS_PER_S);
    return length_ns > elapsed_ns ? length_ns - elapsed_ns : 0;
}

/* Steps of a phase that may still come after the one that is next or under way. */
static uint64_t steps_after(const rb_run_t *run, uint32_t plan_phase)
{
    uint32_t step = plan_phase == run->plan_phase ? RB_MAX(run->step, 1u) : 1;
    bool searches = rb_search_job(run->opts.plan->phases[plan_phase]) >= 0;
    return searches ? RB_SEARCH_MAX_STEPS - step : 0;
}

uint64_t rb_run_windows_left(const rb_run_t *run, uint64_t now_ns)
{
    uint64_t windows = 0;
    uint64_t interval_ns = run->opts.plan->interval_ns;
    if (interval_ns == 0)
        interval_ns = RB_NS_PER_S;
    for (uint32_t i = run->plan_phase; i < run->opts.plan->n_phases; i++) {
        const Rackbench__Phase *p = run->opts.plan->phases[i];
        uint64_t length_ns = rb_phase_ramp_ns(p) + rb_phase_runtime_ns(p);
        windows += step_left_ns(run, i, now_ns) / interval_ns + 1;
        windows += steps_after(run, i) * (length_ns / interval_ns + 1);
    }
    return windows;
}

void rb_run_keep_budget(rb_run_t *run, uint64_t now_ns)
{
    size_t up = 0, drives = 0;
    if (run->budget.max_bytes == 0)
        return;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const Rackbench__Loaded *loaded = rb_run_loaded(run, (uint32_t)i + 1);
        up += run->hosts[i].link == LINK_UP;
        drives += loaded != NULL ? loaded->n_subjects : 0;
    }
    if (drives == 0 && run->opts.resume != NULL) /* in its first phase nobody was asked: */
        drives = up;                             /* one each, until rows tell */
    if (drives == 0)
        return;
    rb_budget_guess(&run->budget, drives, run->opts.nhosts);
    uint32_t before = run->budget.span;
    uint32_t span = rb_budget_span(&run->budget, up, rb_run_windows_left(run, now_ns));
    if (span == before)
        return;
    RB_AUTO(rb_free_str)
    char *text = rb_asprintf("windows of %u x the interval from here on, to keep the journal below "
                             "%llu MB",
                             span, (unsigned long long)(run->budget.max_bytes / 1000000));
    rb_run_note(run, NULL, now_ns, "interval", text);
}
