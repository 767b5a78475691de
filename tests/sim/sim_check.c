/* The invariants:
 *   I1 no I/O outside a live lease, but for a tick
 *   I2 no host is armed before all are ready; no I/O of a phase while another still does the last
 *   I3 the journal holds each host's rows 1, 2, 3, ... once, byte for byte as made
 *   I4 of a completed phase every operation is in the journal, or the host is named as lost
 *   I5 clocks and starts lie within their bounds
 *   I6 every run ends in time, and leaves its agents at rest
 *   I7 the outcome is what happened
 *   I8 an owned agent heeds nobody else, unless it is evicted, and is free when its lease is over
 *      (sim_intruder.c)
 *   I9 steps follow the plan and its searches; agents run what the journal tells (sim_steps.c)
 *   I10 an evicted agent does no more I/O, is free once it has drained, and its run says that it
 *       went
 *   I11 rows of lost hosts are fetched, and nobody is told to forget any (sim_collect.c)
 *   I12 windows merge as the journal says, to keep it below its limit, and around what went wrong
 *      they do not (sim_windows.c)
 */
#include "tests/sim/sim.h"

#include <stdarg.h>

enum { ROUNDING_NS = 4 };

void sim_violate(sim_t *sim, uint32_t invariant, const char *fmt, ...)
{
    if (sim->violated != 0 || invariant == sim->without)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(sim->what, sizeof(sim->what), fmt, ap);
    va_end(ap);
    sim->violated = invariant;
    sim_log(sim, "I%u violated: %s", invariant, sim->what);
}

bool sim_takes_part(const sim_t *sim, uint32_t step, uint32_t host)
{
    const sim_coordinator_t *c = &sim->coordinator;
    uint32_t phase = step < c->nsteps ? c->phases[step].plan_phase : step;
    return sim->config.jobs[phase].n_on == 0 || host % 2 == 1;
}

/* ---- I1, I2 ---- */

void sim_check_io(sim_agent_t *agent)
{
    uint64_t now_ns = sim_agent_now_ns(agent);
    /* Just woken: its timers are due at this very instant. */
    if (!agent->ours || agent->sim->now_ns == agent->paused_until_ns)
        return;
    if (agent->stop_ns != UINT64_MAX && now_ns > agent->stop_ns + SIM_TICK_NS)
        sim_violate(agent->sim, 1, "h%u does I/O %.3f s after it was told that it was given up",
                    agent->host, (double)(now_ns - agent->stop_ns) / 1e9);
    if (now_ns > agent->lease_end_ns + SIM_TICK_NS + ROUNDING_NS)
        sim_violate(agent->sim, 1, "h%u does I/O %.3f s after its lease ended", agent->host,
                    (double)(now_ns - agent->lease_end_ns) / 1e9);
    if (agent->evicted_ns != 0 && now_ns > agent->evicted_ns + SIM_TICK_NS + ROUNDING_NS)
        sim_violate(agent->sim, 10, "h%u does I/O %.3f s after it was evicted", agent->host,
                    (double)(now_ns - agent->evicted_ns) / 1e9);
    /* Who was given up is not kept at work: what it hears last are Beats that were under way. */
    const sim_coordinator_t *c = &agent->sim->coordinator;
    uint64_t since_ns = RB_MAX(c->lost_ns[agent->host], agent->paused_until_ns);
    if (c->lost[agent->host] && agent->sim->now_ns > since_ns + agent->sim->config.plan.lease_ns +
                                                         SIM_MAX_DELAY_NS + RB_BEAT_NS)
        sim_violate(agent->sim, 1, "h%u does I/O %.3f s after it was given up", agent->host,
                    (double)(agent->sim->now_ns - since_ns) / 1e9);
}

void sim_check_evicted(sim_agent_t *agent)
{
    if (agent->ours && agent->evicted_ns != 0)
        sim_violate(agent->sim, 10, "h%u was evicted and is at rest, and is still held",
                    agent->host);
}

void sim_check_io_start(sim_agent_t *agent)
{
    sim_t *sim = agent->sim;
    sim_check_io(agent);
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
        const sim_agent_t *other = &sim->agents[host];
        if (!other->alive || !other->ours || sim->coordinator.lost[host] || !other->engine.io ||
            other->engine.phase >= agent->engine.phase ||
            sim_agent_now_ns(other) >= other->engine.end_ns)
            continue;
        sim_violate(sim, 2, "h%u starts phase %u while h%u still does I/O of phase %u", agent->host,
                    agent->engine.phase, host, other->engine.phase);
    }
}

void sim_check_arm(sim_t *sim, uint32_t host, uint32_t phase)
{
    if (!sim->agents[host].deeds[phase].ready)
        sim_violate(sim, 2, "h%u is armed for phase %u and was never ready", host, phase);
    for (uint32_t other = 1; other <= sim->config.run.nhosts; other++)
        if (sim_takes_part(sim, phase, other) && !sim->coordinator.lost[other] &&
            !sim->agents[other].deeds[phase].ready)
            sim_violate(sim, 2, "phase %u is armed before h%u is ready", phase, other);
}

/* ---- I3 ---- */

void sim_check_row(sim_t *sim, uint32_t host, const void *row, size_t size)
{
    uint64_t seq;
    rb_row_kind_t kind;
    rb_err_t err;
    RB_ASSERT(rb_row_peek(row, size, &kind, &seq, &err) == 0);
    uint64_t expected = ++sim->coordinator.rows[host];
    if (seq != expected)
        sim_violate(sim, 3, "journal: row %llu of h%u where row %llu is due",
                    (unsigned long long)seq, host, (unsigned long long)expected);
    const sim_agent_t *a = &sim->agents[host];
    if (host == 0 || seq != expected)
        return;
    if (seq > a->nmade || a->made[seq - 1].size != size ||
        memcmp(a->made[seq - 1].data, row, size) != 0)
        sim_violate(sim, 3, "journal: row %llu of h%u is not as it was made",
                    (unsigned long long)seq, host);
    else if (sim->config.is_long)
        rb_bytes_clear(&sim->agents[host].made[seq - 1]);
}

/* ---- I5 ---- */

void sim_check_clock(sim_t *sim, const rb_row_clock_t *clock)
{
    uint64_t real_ns = sim_real_ns(&sim->config.clock, clock->at_ns);
    uint64_t theirs_ns = sim_local_ns(&sim->config.machines[clock->host - 1].clock, real_ns);
    int64_t error_ns = (int64_t)(theirs_ns - clock->at_ns) - clock->offset_ns;
    if ((error_ns < 0 ? -error_ns : error_ns) > (int64_t)clock->bound_ns + ROUNDING_NS)
        sim_violate(sim, 5, "h%u: clock estimate is off by %lld ns, bound %llu ns", clock->host,
                    (long long)error_ns, (unsigned long long)clock->bound_ns);
}

static void check_starts(sim_t *sim, uint32_t phase)
{
    const sim_phase_t *p = &sim->coordinator.phases[phase];
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
        const sim_deed_t *deed = &sim->agents[host].deeds[phase];
        if (!p->takes_part[host] || !deed->started || !deed->in_time)
            continue;
        int64_t late_ns = (int64_t)(sim_local_ns(&sim->config.clock, deed->start_ns) - p->t0_ns);
        /* Within its bound of T0: so any two are within the sum of theirs. */
        if ((late_ns < 0 ? -late_ns : late_ns) > (int64_t)p->bound_ns[host] + ROUNDING_NS)
            sim_violate(sim, 5, "h%u starts phase %u %lld ns after T0, bound %llu ns", host, phase,
                        (long long)late_ns, (unsigned long long)p->bound_ns[host]);
    }
}

void sim_check_opinion(sim_t *sim, uint32_t host)
{
    const sim_wall_t *wall = &sim->config.machines[host - 1].wall;
    sim->coordinator.disagrees[host] = true;
    if (!sim->config.wall.synchronised || !wall->synchronised || !wall->lies)
        sim_violate(sim, 5, "h%u is said to have a clock that disagrees, and it does not", host);
}

/* Who got so far that a phase began has told its wall clock. */
static void check_liars(sim_t *sim, uint32_t phase)
{
    const sim_coordinator_t *c = &sim->coordinator;
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
        const sim_wall_t *wall = &sim->config.machines[host - 1].wall;
        if (sim->config.wall.synchronised && wall->synchronised && wall->lies &&
            c->phases[phase].takes_part[host] && sim->config.nfaults == 0 && !c->disagrees[host])
            sim_violate(sim, 5, "h%u has a clock that disagrees, and nobody says so", host);
    }
}

/* How far off what was told last may be at an instant: in between two of them it lies on the line,
 * beyond it the drift may be wrong. */
static uint64_t border_bound_ns(const sim_agent_t *a, uint64_t at_ns)
{
    const sim_coordinator_t *c = &a->sim->coordinator;
    const sim_told_t *armed = &c->armed[a->host], *told = armed;
    for (uint64_t i = 0; i < SIM_TOLD && a->engine.line.told_at_ns > 0; i++)
        if (c->told[a->host][i].at_ns == a->engine.line.told_at_ns)
            told = &c->told[a->host][i];
    if (at_ns < told->at_ns)
        return RB_MAX(armed->clock.bound_ns, told->clock.bound_ns);
    return told->clock.bound_ns + (uint64_t)((unsigned __int128)(at_ns - told->at_ns) *
                                             told->clock.drift_error_ppb / 1000000000);
}

void sim_check_border(const sim_agent_t *agent, uint64_t at_ns, uint64_t local_ns)
{
    sim_t *sim = agent->sim;
    const sim_phase_t *p = &sim->coordinator.phases[agent->engine.phase];
    uint64_t real_ns = sim_real_ns(&sim->config.machines[agent->host - 1].clock, local_ns);
    int64_t off_ns = (int64_t)(sim_local_ns(&sim->config.clock, real_ns) - p->t0_ns - at_ns);
    uint64_t bound_ns = border_bound_ns(agent, at_ns);
    if (!p->takes_part[agent->host]) /* the coordinator died before the start was safe */
        return;
    if ((off_ns < 0 ? -off_ns : off_ns) > (int64_t)bound_ns + ROUNDING_NS)
        sim_violate(sim, 5, "h%u: the border at %.6f s is off by %lld ns, bound %llu ns",
                    agent->host, (double)at_ns / 1e9, (long long)off_ns,
                    (unsigned long long)bound_ns);
}

/* Who can be reached is told where the clock stands before its border comes. */
void sim_check_told(const sim_agent_t *agent, uint64_t at_ns)
{
    sim_t *sim = agent->sim;
    uint64_t told_ns = agent->engine.line.told_at_ns;
    uint64_t stride = agent->engine.next - agent->engine.windows;
    uint64_t most_ns =
        stride * sim_interval_ns(sim) + 2 * RB_BEAT_NS + 2 * SIM_MAX_DELAY_NS + sim->config.nap_ns;
    if (sim->config.nfaults == 0 && at_ns > told_ns + most_ns)
        sim_violate(sim, 5, "h%u: at the border at %.6f s the clock was last told at %.6f s",
                    agent->host, (double)at_ns / 1e9, (double)told_ns / 1e9);
}

/* ---- I4 ---- */

static void check_rows_complete(sim_t *sim, uint32_t phase)
{
    const sim_phase_t *p = &sim->coordinator.phases[phase];
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
        const sim_deed_t *deed = &sim->agents[host].deeds[phase];
        if (!p->takes_part[host] || p->lost[host] || p->ops[host] == deed->ops)
            continue;
        sim_violate(sim, 4, "phase %u: the journal has %llu operations of h%u, it did %llu", phase,
                    (unsigned long long)p->ops[host], host, (unsigned long long)deed->ops);
    }
}

/* ---- I7 ---- */

typedef struct {
    rb_code_t code;
    const char *status;
} verdict_t;

static verdict_t of_fault(const Rackbench__Fault *fault)
{
    if (fault->code == RB_ERR_LOST)
        return (verdict_t){RB_ERR_LOST, "host_lost"};
    if (fault->code > RB_ERR_INTERNAL)
        return (verdict_t){RB_ERR_INTERNAL, "failed"};
    return (verdict_t){(rb_code_t)fault->code, fault->code == RB_ERR_UNSAFE ? "refused" : "failed"};
}

/* What a message makes of a good outcome, if it makes it a bad one. */
static verdict_t of_message(const Rackbench__ToCoordinator *msg)
{
    const Rackbench__Fault *fault = NULL;
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_BUSY)
        return (verdict_t){RB_ERR_NET, "failed"};
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_LOADED)
        fault = msg->loaded->fault;
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_FAILED)
        fault = msg->failed->fault;
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_DRAINED)
        fault = msg->drained->fault;
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_CLEANED)
        fault = msg->cleaned->fault;
    return fault != NULL ? of_fault(fault) : (verdict_t){RB_ERR_LOST, "host_lost"};
}

static verdict_t of_event(const rb_run_event_t *event)
{
    switch (event->kind) {
    case RB_RUN_START:
    case RB_RUN_TICK:
    case RB_RUN_ROW:
    case RB_RUN_REFUSED:
    case RB_RUN_RIVAL:
    case RB_RUN_GONE:
    case RB_RUN_VERDICT:
        return (verdict_t){RB_ERR_LOST, "host_lost"};
    case RB_RUN_MESSAGE:
        return of_message(event->message);
    case RB_RUN_BROKEN:
        return (verdict_t){RB_ERR_NET, "failed"};
    case RB_RUN_INTERRUPT:
        return (verdict_t){RB_ERR_INTERRUPTED, "truncated"};
    }
    return (verdict_t){RB_OK, "done"};
}

void sim_check_step(sim_t *sim, const rb_run_event_t *event)
{
    const sim_coordinator_t *c = &sim->coordinator;
    const rb_run_outcome_t *before = &c->before, *after = rb_run_outcome(c->run);
    verdict_t want = of_event(event), full = {RB_ERR_IO, "failed"};
    /* Who lists hosts goes on without those that are of no use. */
    if (sim->config.run.goal == RB_RUN_INVENTORY && want.code == RB_ERR_NET)
        want.status = "host_lost";
    bool same = after->err.code == before->err.code && strcmp(after->status, before->status) == 0;
    if (event->kind == RB_RUN_START && c->resumed > 0)
        return; /* the outcome that stands in the journal */
    if (before->err.code != RB_OK) {
        if (!same)
            sim_violate(sim, 7, "exit %d, %s became exit %d, %s", (int)before->err.code,
                        before->status, (int)after->err.code, after->status);
        return;
    }
    if (after->err.code == RB_OK && event->kind != RB_RUN_INTERRUPT && !c->journal_failed)
        return;
    if (c->journal_failed && after->err.code == full.code)
        want = full; /* or the journal failed when it was told of the other */
    bool lost = strcmp(after->status, "host_lost") == 0 && strcmp(want.status, "host_lost") != 0;
    if (lost && after->err.code == RB_ERR_LOST && event->kind == RB_RUN_MESSAGE)
        return; /* the end of a run that lost one before */
    bool cut = c->resumed > 0 && after->err.code == RB_ERR_INTERRUPTED;
    if (cut && strcmp(after->status, "truncated") == 0)
        return;
    bool refused = c->stage_before == RB_STAGE_LOAD && after->err.code == RB_ERR_UNSAFE;
    if (refused && strcmp(after->status, "refused") == 0)
        return; /* the last answer, or the loss of who owed it, shows what the others said */
    bool unreachable = event->kind == RB_RUN_TICK && after->err.code == RB_ERR_NET;
    if ((after->err.code != want.code && !unreachable) || strcmp(after->status, want.status) != 0)
        sim_violate(sim, 7, "exit %d, %s where exit %d, %s is due", (int)after->err.code,
                    after->status, (int)want.code, want.status);
}

/* Nothing went wrong, says the run: then every host that was not lost did all of its work. */
static void check_good(sim_t *sim)
{
    const sim_coordinator_t *c = &sim->coordinator;
    size_t lost = 0;
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++)
        lost += c->lost[host];
    size_t min = sim->config.run.plan != NULL ? sim->config.plan.min_hosts : 0;
    if (strcmp(rb_run_outcome(c->run)->status, "done") != 0)
        sim_violate(sim, 7, "exit 0, but %s", rb_run_outcome(c->run)->status);
    if (lost > 0 && (min == 0 || sim->config.run.nhosts - lost < min))
        sim_violate(sim, 7, "exit 0 with %zu hosts lost, min_hosts %zu", lost, min);
    if (sim->config.run.goal != RB_RUN_BENCHMARK)
        return;
    for (uint32_t phase = 0; phase < c->nsteps; phase++) {
        const sim_phase_t *p = &c->phases[phase];
        if (!p->ended || p->truncated)
            sim_violate(sim, 7, "exit 0, but phase %u did not end as planned", phase);
        for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
            if (!sim_takes_part(sim, phase, host) || c->lost[host])
                continue;
            bool whole = sim->agents[host].deeds[phase].whole || p->cut;
            if (!p->takes_part[host] || p->lost[host] || !whole)
                sim_violate(sim, 7, "exit 0, but h%u did not do all of phase %u", host, phase);
        }
    }
}

void sim_check_done(sim_t *sim)
{
    const sim_coordinator_t *c = &sim->coordinator;
    if (rb_run_outcome(c->run)->err.code == RB_OK) {
        check_good(sim);
        sim_check_all_steps(sim);
    }
    if (!c->run_end && !c->journal_failed)
        sim_violate(sim, 7, "the journal has no RUN_END");
    for (uint32_t phase = 0; phase < c->nsteps; phase++) {
        check_starts(sim, phase);
        check_liars(sim, phase);
        if (c->phases[phase].ended && !c->journal_failed)
            check_rows_complete(sim, phase);
    }
    sim_check_collected(sim);
    sim_check_journal(sim);
}

/* ---- I6 ---- */

void sim_check_overdue(sim_t *sim)
{
    const sim_coordinator_t *c = &sim->coordinator;
    if (c->alive && c->done_ns == 0 && sim->now_ns > c->start_ns + sim->config.longest_run_ns)
        sim_violate(sim, 6, "the run has not ended after %.1f s",
                    (double)sim->config.longest_run_ns / 1e9);
}

void sim_check_rest(sim_t *sim)
{
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++) {
        const sim_agent_t *a = &sim->agents[host];
        if (!a->alive || !a->ours)
            continue;
        if (a->engine.io)
            sim_violate(sim, 6, "h%u still does I/O after the run", host);
        /* Without faults Bye came; else the lease is what ends it. */
        if (rb_session_owned(a->session) &&
            (sim->config.nfaults == 0 || sim_agent_now_ns(a) < a->lease_end_ns))
            sim_violate(sim, 6, "h%u is still held after the run", host);
    }
}
