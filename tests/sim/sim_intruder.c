#include "tests/sim/sim.h"

static void say(sim_agent_t *a, const Rackbench__ToAgent *msg)
{
    sim_log(a->sim, "h%u hears %s of the intruder", a->host, sim_to_agent_name(msg));
    sim_agent_step(
        a, (rb_session_event_t){.kind = RB_SESSION_MESSAGE, .peer = SIM_INTRUDER, .message = msg});
}

static void say_hello(sim_agent_t *a)
{
    static char run_id[] = "another", host[] = "h";
    Rackbench__Hello hello = RACKBENCH__HELLO__INIT;
    Rackbench__ToAgent msg = RACKBENCH__TO_AGENT__INIT;
    hello.run_id = run_id;
    hello.host = host;
    hello.lease_ns = 2 * RB_NS_PER_S;
    msg.body_case = RACKBENCH__TO_AGENT__BODY_HELLO;
    msg.hello = &hello;
    say(a, &msg);
}

void sim_agent_evict(sim_t *sim, uint32_t host)
{
    static char reason[] = "stopped by somebody";
    sim_agent_t *a = &sim->agents[host];
    Rackbench__Evict evict = RACKBENCH__EVICT__INIT;
    Rackbench__ToAgent msg = RACKBENCH__TO_AGENT__INIT;
    if (!a->alive || sim->now_ns < a->paused_until_ns)
        return;
    uint32_t busy = a->busy;
    bool owned = rb_session_owned(a->session);
    if (a->ours && a->evicted_ns == 0)
        a->evicted_ns = sim_agent_now_ns(a);
    evict.reason = reason;
    msg.body_case = RACKBENCH__TO_AGENT__BODY_EVICT;
    msg.evict = &evict;
    say(a, &msg);
    if (a->busy != busy + owned)
        sim_violate(sim, 10, "h%u: evicted, it did not say whose it was", host);
    if (a->engine.state == SIM_NO_ENGINE)
        sim_check_evicted(a);
}

/* What an owner could say to harm. */
static void say_the_rest(sim_agent_t *a)
{
    Rackbench__ToAgent msg = RACKBENCH__TO_AGENT__INIT;
    Rackbench__Beat beat = RACKBENCH__BEAT__INIT;
    Rackbench__Stop stop = RACKBENCH__STOP__INIT;
    Rackbench__Bye bye = RACKBENCH__BYE__INIT;
    beat.acked_row = rb_session_next_row(a->session) - 1;
    stop.phase = a->engine.phase;
    msg.body_case = RACKBENCH__TO_AGENT__BODY_BEAT;
    msg.beat = &beat;
    say(a, &msg);
    msg.body_case = RACKBENCH__TO_AGENT__BODY_STOP;
    msg.stop = &stop;
    say(a, &msg);
    msg.body_case = RACKBENCH__TO_AGENT__BODY_BYE;
    msg.bye = &bye;
    say(a, &msg);
}

void sim_agent_intrude(sim_t *sim, uint32_t host)
{
    sim_agent_t *a = &sim->agents[host];
    if (!a->alive || sim->now_ns < a->paused_until_ns)
        return;
    Rackbench__BeatAck__State state = rb_session_state(a->session);
    bool busy_with_io =
        state == RACKBENCH__BEAT_ACK__STATE__armed || state == RACKBENCH__BEAT_ACK__STATE__draining;
    bool owned = rb_session_owned(a->session) && a->ours &&
                 (busy_with_io || sim_agent_now_ns(a) < a->lease_end_ns);
    bool over = rb_session_owned(a->session) && a->ours && !busy_with_io &&
                sim_agent_now_ns(a) > a->lease_end_ns + sim->config.plan.lease_ns + 2 * SIM_TICK_NS;
    uint32_t acts = a->acts, busy = a->busy;
    uint64_t next_row = rb_session_next_row(a->session);
    say_hello(a);
    if (over && a->busy != busy && sim->now_ns > a->paused_until_ns + SIM_TICK_NS)
        sim_violate(sim, 8, "h%u: its lease is over, it is at rest, and still it is BUSY", host);
    if (!owned)
        return;
    uint32_t answers = a->answers;
    if (a->busy != busy + 1)
        sim_violate(sim, 8, "h%u: an owned agent did not answer BUSY", host);
    say_the_rest(a);
    if (a->acts != acts || a->answers != answers || rb_session_state(a->session) != state ||
        rb_session_next_row(a->session) != next_row)
        sim_violate(sim, 8, "h%u: a second coordinator changed something", host);
}
