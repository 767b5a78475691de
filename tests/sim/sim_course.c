#include "tests/sim/sim.h"

uint64_t sim_local_ns(const sim_clock_t *clock, uint64_t real_ns)
{
    int64_t since_ns = (int64_t)(real_ns - SIM_BIG_BANG_NS);
    int64_t gained_ns = (int64_t)((__int128)since_ns * clock->drift_ppb / 1000000000);
    return real_ns + (uint64_t)clock->offset_ns + (uint64_t)gained_ns;
}

uint64_t sim_real_ns(const sim_clock_t *clock, uint64_t local_ns)
{
    int64_t since_ns = (int64_t)(local_ns - (uint64_t)clock->offset_ns - SIM_BIG_BANG_NS);
    int64_t real_ns =
        (int64_t)((__int128)since_ns * 1000000000 / (1000000000 + clock->drift_ppb)) - 2;
    if (real_ns < -(int64_t)SIM_BIG_BANG_NS)
        return 0;
    uint64_t at_ns = SIM_BIG_BANG_NS + (uint64_t)real_ns;
    while (sim_local_ns(clock, at_ns) < local_ns)
        at_ns++;
    return at_ns;
}

static void dispatch(sim_t *sim, sim_event_t *event)
{
    switch (event->kind) {
    case SIM_TO_AGENT:
    case SIM_ANSWER:
    case SIM_ENGINE:
    case SIM_AGENT_TICK:
        sim_agent_event(sim, event);
        break;
    case SIM_TO_COORDINATOR:
    case SIM_RUN_TICK:
        sim_coordinator_event(sim, event);
        break;
    case SIM_START:
        sim_coordinator_start(sim);
        break;
    case SIM_RESUME:
        sim_resume(sim);
        break;
    case SIM_RESTART:
        if (!sim->agents[event->host].alive)
            sim_agent_start(sim, event->host);
        break;
    case SIM_LINK_UP:
        if (event->epoch == sim->links[event->host].epoch)
            sim_connect(sim, event->host);
        break;
    case SIM_VERDICT:
        sim_coordinator_verdict(sim);
        break;
    case SIM_FAULT:
        sim_fault(sim, event->host);
        break;
    }
    rb_bytes_clear(&event->frame);
}

static void set_the_scene(sim_t *sim)
{
    const sim_config_t *c = &sim->config;
    sim_push(sim, (sim_event_t){.at_ns = sim->now_ns, .kind = SIM_START});
    for (uint32_t host = 1; host <= c->run.nhosts; host++) {
        sim->agents[host].sim = sim;
        sim->agents[host].host = host;
        if (c->machines[host - 1].appears_ns != UINT64_MAX)
            sim_push(sim, (sim_event_t){.at_ns = sim->now_ns + c->machines[host - 1].appears_ns,
                                        .kind = SIM_RESTART,
                                        .host = host});
    }
    if (c->verdict_ns != 0)
        sim_push(sim, (sim_event_t){.at_ns = sim->now_ns + c->verdict_ns, .kind = SIM_VERDICT});
    for (uint32_t i = 0; i < c->nfaults; i++)
        sim_push(sim, (sim_event_t){
                          .at_ns = sim->now_ns + c->faults[i].at_ns, .kind = SIM_FAULT, .host = i});
}

/* After the end: long enough for the last Bye, every pause and the lease. */
static uint64_t rest_ns(const sim_t *sim)
{
    return RB_MAX(sim->config.plan.lease_ns, 3 * RB_NS_PER_S) + 2 * RB_NS_PER_S +
           sim->config.nfaults * SIM_MAX_AWAY_NS;
}

sim_t *sim_course(const sim_opts_t *opts, sim_coverage_t *coverage)
{
    sim_t *sim = rb_calloc(1, sizeof(*sim));
    sim_event_t event;
    sim->coverage = coverage;
    sim->without = opts->without;
    sim->recording = opts->recording;
    sim->printing = opts->printing;
    sim->now_ns = SIM_BIG_BANG_NS;
    if (opts->scale > 0)
        sim_config_long(&sim->config, opts->scale);
    else
        sim_config_init(&sim->config, opts->seed);
    rb_rng_seed(&sim->rng, opts->seed, 2, 0);
    set_the_scene(sim);
    const sim_coordinator_t *c = &sim->coordinator;
    uint64_t end_ns = UINT64_MAX;
    while (sim->violated == 0 && sim_pop(sim, &event)) {
        if (event.at_ns > end_ns) {
            rb_bytes_clear(&event.frame);
            break;
        }
        sim->now_ns = event.at_ns;
        dispatch(sim, &event);
        sim_check_overdue(sim);
        bool over = c->start_ns != 0 && !c->resume_pending && (c->done_ns != 0 || !c->alive);
        if (end_ns == UINT64_MAX && over)
            end_ns = sim->now_ns + rest_ns(sim);
        if (c->alive && c->done_ns == 0 &&
            sim->now_ns > c->start_ns + 2 * sim->config.longest_run_ns && opts->without == 6)
            break; /* it would never end */
    }
    if (end_ns != UINT64_MAX && sim->violated == 0) {
        sim->now_ns = end_ns;
        sim_check_rest(sim);
    }
    return sim;
}

void sim_destroy(sim_t **sim_p)
{
    sim_t *sim = *sim_p;
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++)
        sim_agent_kill(sim, host);
    sim_journal_clear(&sim->coordinator);
    sim_queue_clear(&sim->queue);
    free(sim);
    *sim_p = NULL;
}
