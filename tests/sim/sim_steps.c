/* I9: the steps of a run are the plan's phases in turn, and of a phase that searches as many as its
 * search says; it ends in a verdict; agents run what the journal tells. And of I5 the ends. */
#include "tests/sim/sim.h"

enum { ROUNDING_NS = 4 };

bool sim_is_search(const sim_t *sim, uint32_t plan_phase)
{
    return sim->config.jobs[plan_phase].has_latency_target_ns;
}

/* May this be what follows the step before? */
static bool follows(const sim_t *sim, const sim_phase_t *before, const rb_row_step_t *step)
{
    bool searches = sim_is_search(sim, before->plan_phase);
    if (searches && before->truncated) /* it says nothing: once more */
        return step->plan_phase == before->plan_phase && step->step == before->step + 1;
    if (searches && !before->told)
        return false;
    if (searches && !before->verdict)
        return step->plan_phase == before->plan_phase && step->step == before->step + 1;
    return step->plan_phase == before->plan_phase + 1 && step->step == 1;
}

void sim_check_begin(sim_t *sim, const rb_row_step_t *step)
{
    const sim_coordinator_t *c = &sim->coordinator;
    if (step->phase != c->nsteps || step->phase >= SIM_MAX_STEPS ||
        step->plan_phase >= sim->config.plan.n_phases ||
        step->step > RB_SEARCH_MAX_STEPS + SIM_MAX_RESUMES)
        sim_violate(sim, 9, "step %u of phase %u is number %u, where %u is due", step->step,
                    step->plan_phase, step->phase, c->nsteps);
    else if (c->nsteps == 0 ? step->plan_phase != 0 || step->step != 1
                            : !follows(sim, &c->phases[c->nsteps - 1], step))
        sim_violate(sim, 9, "number %u is step %u of phase %u, which does not follow", step->phase,
                    step->step, step->plan_phase);
}

/* The search as the journal tells it asks for this rate, and what it says of the figures is so. */
static void check_course(sim_t *sim, const rb_row_search_t *row)
{
    rb_latency_search_t *search = &sim->coordinator.search;
    rb_search_figures_t figures = {.offered_ops = row->offered_ops,
                                   .ops = row->ops,
                                   .length_ns = row->length_ns,
                                   .quantile_ns = row->quantile_ns};
    if (search->verdict != RB_SEARCH_GOES_ON || search->rate_iops != row->rate_iops)
        sim_violate(sim, 9, "number %u asks %llu a second, its search wants %llu (%s)", row->phase,
                    (unsigned long long)row->rate_iops, (unsigned long long)search->rate_iops,
                    rb_search_word(search->verdict));
    else if (rb_latency_search_take(search, &figures) != row->kept ||
             strcmp(rb_search_word(search->verdict), row->verdict) != 0)
        sim_violate(sim, 9, "number %u: kept %d, '%s', but its search says '%s'", row->phase,
                    row->kept, row->verdict, rb_search_word(search->verdict));
}

void sim_check_search(sim_t *sim, const rb_row_search_t *search)
{
    const sim_phase_t *p = &sim->coordinator.phases[search->phase];
    check_course(sim, search);
    if (p->truncated)
        sim_violate(sim, 9, "figures of number %u, which was cut short", search->phase);
    if (search->phase + 1 != sim->coordinator.nsteps || !sim_is_search(sim, p->plan_phase))
        sim_violate(sim, 9, "figures of number %u, which is no step of a search", search->phase);
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
        const sim_deed_t *deed = &sim->agents[host].deeds[search->phase];
        if (p->takes_part[host] && deed->started && deed->rate_iops != search->rate_iops)
            sim_violate(sim, 9, "h%u offered %llu a second in number %u, the journal says %llu",
                        host, (unsigned long long)deed->rate_iops, search->phase,
                        (unsigned long long)search->rate_iops);
    }
}

void sim_check_all_steps(sim_t *sim)
{
    const sim_coordinator_t *c = &sim->coordinator;
    if (sim->config.run.goal != RB_RUN_BENCHMARK)
        return;
    const sim_phase_t *last = c->nsteps > 0 ? &c->phases[c->nsteps - 1] : NULL;
    if (last == NULL || last->plan_phase + 1 != sim->config.plan.n_phases)
        sim_violate(sim, 9, "exit 0, but not all phases were run");
    else if (sim_is_search(sim, last->plan_phase) && !last->verdict)
        sim_violate(sim, 9, "exit 0, but the search of phase %u has no verdict", last->plan_phase);
}

/* Each host was told the instant that the journal names, within its bound. */
void sim_check_stops(sim_t *sim, const rb_row_phase_end_t *end)
{
    const sim_coordinator_t *c = &sim->coordinator;
    const sim_phase_t *p = &c->phases[end->phase];
    /* Taken up again: agents that were alone ended it, and the Stop came behind that. */
    if (c->resume != NULL && c->resume->under_way && c->resume->phase == end->phase)
        return;
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
        if (!p->stopped[host] || end->te_at_ns == INT64_MAX)
            continue;
        int64_t off_ns = (int64_t)(p->stop_ns[host] - p->t0_ns) - end->te_at_ns;
        if ((off_ns < 0 ? -off_ns : off_ns) > (int64_t)p->stop_bound[host] + ROUNDING_NS)
            sim_violate(sim, 5, "h%u is told to end phase %u %lld ns off, bound %llu ns", host,
                        end->phase, (long long)off_ns, (unsigned long long)p->stop_bound[host]);
    }
}
