/* I11: rows of a lost host that is there to give them are in the journal when the run ends, and who
 * holds rows is not told to forget them. */
#include "tests/sim/sim.h"

/* Collects come every beat, rows follow the second one; no message takes longer than a second. */
#define COLLECTED_WITHIN_NS (5 * RB_NS_PER_S)

static bool is_there(const sim_t *sim, uint32_t host)
{
    const sim_agent_t *a = &sim->agents[host];
    const sim_coordinator_t *c = &sim->coordinator;
    uint64_t since_ns = RB_MAX(RB_MAX(a->rest_ns, a->paused_until_ns), sim->links[host].since_ns);
    since_ns = RB_MAX(RB_MAX(since_ns, c->start_ns), RB_MAX(c->paused_until_ns, c->lost_ns[host]));
    return a->alive && a->ours && a->engine.state == SIM_NO_ENGINE && sim->links[host].up &&
           sim->now_ns >= since_ns + COLLECTED_WITHIN_NS;
}

void sim_check_collected(sim_t *sim)
{
    const sim_coordinator_t *c = &sim->coordinator;
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
        if (!c->lost[host] || c->stranger[host])
            continue;
        bool must = is_there(sim, host) && !c->hasty && !c->journal_failed;
        for (uint32_t phase = 0; phase < c->nsteps; phase++) {
            const sim_phase_t *p = &c->phases[phase];
            const sim_deed_t *deed = &sim->agents[host].deeds[phase];
            uint64_t did = deed->ops;
            bool its = must && deed->start_ns >= sim->agents[host].born_ns;
            if (p->takes_part[host] && p->ops[host] != did && (its || c->rows_in[host]))
                sim_violate(sim, 11,
                            "phase %u: of lost h%u the journal has %llu operations of %llu", phase,
                            host, (unsigned long long)p->ops[host], (unsigned long long)did);
        }
    }
}

/* Bye makes an agent forget its rows. */
void sim_check_bye(sim_t *sim, uint32_t host)
{
    const sim_coordinator_t *c = &sim->coordinator;
    const sim_agent_t *a = &sim->agents[host];
    if (!a->alive || !a->ours || c->stranger[host] || (!c->lost[host] && !c->journal_failed))
        return;
    for (uint32_t phase = 0; phase < c->nsteps; phase++) {
        const sim_deed_t *deed = &a->deeds[phase];
        if (c->phases[phase].takes_part[host] && deed->start_ns >= a->born_ns &&
            c->phases[phase].ops[host] != deed->ops)
            sim_violate(sim, 11, "Bye to h%u, which holds rows of phase %u", host, phase);
    }
}
