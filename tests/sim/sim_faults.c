#include "tests/sim/sim.h"

static const char *const names[SIM_FAULT_KINDS] = {
    "break",       "kill agent", "gone",    "pause agent", "pause coordinator", "kill coordinator",
    "power fails", "interrupt",  "intrude", "evict",       "garbage",           "sync fails"};

/* Waits for a process that is away; false if it is, or will not come back. */
static bool present(sim_t *sim, uint32_t index)
{
    const sim_coordinator_t *c = &sim->coordinator;
    if (c->run == NULL || !c->alive || c->done_ns != 0)
        return false;
    if (sim->now_ns >= c->paused_until_ns)
        return true;
    sim_push(sim, (sim_event_t){.at_ns = c->paused_until_ns, .kind = SIM_FAULT, .host = index});
    return false;
}

static void pause_until(uint64_t *until_ns, uint64_t end_ns)
{
    *until_ns = RB_MAX(*until_ns, end_ns);
}

static void kill_agent(sim_t *sim, const sim_fault_t *f)
{
    sim_agent_kill(sim, f->host);
    sim_break(sim, f->host, 0);
    if (f->kind == SIM_KILL_AGENT && f->length_ns != 0)
        sim_push(sim, (sim_event_t){.at_ns = sim->now_ns + f->length_ns,
                                    .kind = SIM_RESTART,
                                    .host = f->host});
}

static void kill_coordinator(sim_t *sim, const sim_fault_t *f)
{
    const sim_coordinator_t *c = &sim->coordinator;
    if (c->run == NULL || !c->alive || c->done_ns != 0)
        return;
    sim_coordinator_kill(sim);
    if (f->kind == SIM_POWER_FAILS)
        sim_journal_cut(sim);
    sim_coordinator_replace(sim, f->length_ns);
}

static void tell_coordinator(sim_t *sim, uint32_t index)
{
    const sim_fault_t *f = &sim->config.faults[index];
    if (!present(sim, index))
        return;
    static const rb_run_event_kind_t kinds[SIM_FAULT_KINDS] = {[SIM_GONE] = RB_RUN_GONE,
                                                               [SIM_INTERRUPT] = RB_RUN_INTERRUPT,
                                                               [SIM_GARBAGE] = RB_RUN_BROKEN};
    sim_coordinator_step(
        sim, (rb_run_event_t){.kind = kinds[f->kind], .host = f->host, .text = names[f->kind]});
}

void sim_fault(sim_t *sim, uint32_t index)
{
    const sim_fault_t *f = &sim->config.faults[index];
    sim_log(sim, "fault: %s (h%u, %.3f s)", names[f->kind], f->host, (double)f->length_ns / 1e9);
    switch (f->kind) {
    case SIM_BREAK:
        if (sim->links[f->host].up && sim->coordinator.alive)
            sim_break(sim, f->host, f->length_ns);
        break;
    case SIM_PAUSE_AGENT:
        pause_until(&sim->agents[f->host].paused_until_ns, sim->now_ns + f->length_ns);
        break;
    case SIM_PAUSE_COORDINATOR:
        pause_until(&sim->coordinator.paused_until_ns, sim->now_ns + f->length_ns);
        break;
    case SIM_KILL_COORDINATOR:
    case SIM_POWER_FAILS:
        kill_coordinator(sim, f);
        break;
    case SIM_SYNC_FAILS:
        sim->coordinator.sync_fails = true;
        break;
    case SIM_INTRUDE:
        sim_agent_intrude(sim, f->host);
        break;
    case SIM_EVICT:
        sim_agent_evict(sim, f->host);
        break;
    case SIM_KILL_AGENT:
        kill_agent(sim, f);
        break;
    case SIM_GONE:
        kill_agent(sim, f);
        tell_coordinator(sim, index);
        break;
    case SIM_INTERRUPT:
    case SIM_GARBAGE:
        tell_coordinator(sim, index);
        break;
    case SIM_FAULT_KINDS:
        break;
    }
}
