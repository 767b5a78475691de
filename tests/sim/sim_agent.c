#include "tests/sim/sim.h"

uint64_t sim_agent_now_ns(const sim_agent_t *agent)
{
    return sim_local_ns(&agent->sim->config.machines[agent->host - 1].clock, agent->sim->now_ns);
}

/* ---- the sink ---- */

/* The link breaks under what was just said. */
static void lose_failed(sim_agent_t *a)
{
    uint64_t length_ns = a->sim->config.machines[a->host - 1].failed_lost_ns;
    if (length_ns == 0 || a->failed_lost || !a->sim->links[a->host].up)
        return;
    a->failed_lost = true;
    sim_break(a->sim, a->host, length_ns);
}

static void sink_send(void *ctx, const char *peer, const Rackbench__ToCoordinator *msg)
{
    sim_agent_t *a = ctx;
    sim_log(a->sim, "h%u says %s to %s", a->host, sim_to_coordinator_name(msg),
            peer ? peer : "all");
    a->busy += msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_BUSY;
    a->answers++;
    if (peer == NULL || strcmp(peer, SIM_PEER) == 0)
        sim_send(a->sim, SIM_TO_COORDINATOR, a->host, rb_wire_pack_to_coordinator(msg));
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_FAILED)
        lose_failed(a);
}

static void sink_send_row(void *ctx, const char *peer, const void *row, size_t size)
{
    sim_agent_t *a = ctx;
    if (strcmp(peer, SIM_PEER) == 0)
        sim_send(a->sim, SIM_TO_COORDINATOR, a->host, rb_wire_pack_row(row, size));
}

static void answer_later(sim_agent_t *a, bool cleaning)
{
    a->cleaning = cleaning;
    a->acts++;
    sim_push(a->sim,
             (sim_event_t){.at_ns = a->sim->now_ns + rb_rng_below(&a->sim->rng, SIM_MAX_ANSWER_NS),
                           .kind = SIM_ANSWER,
                           .host = a->host,
                           .epoch = ++a->answer_epoch});
}

static void sink_load(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello)
{
    (void)plan;
    (void)hello;
    sim_engine_release(ctx);
    answer_later(ctx, false);
}

static void sink_clean(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello)
{
    (void)plan;
    (void)hello;
    answer_later(ctx, true);
}

static void sink_prepare(void *ctx, const Rackbench__Prepare *prepare)
{
    sim_agent_t *a = ctx;
    a->acts++;
    sim_engine_prepare(a, prepare);
}

static void sink_arm(void *ctx, uint64_t t0_ns, int64_t drift_ppb)
{
    sim_agent_t *a = ctx;
    a->acts++;
    sim_engine_arm(a, t0_ns, drift_ppb);
}

static void sink_stop(void *ctx, uint64_t te_ns)
{
    sim_agent_t *a = ctx;
    a->acts++;
    sim_engine_stop(a, te_ns);
}

static void sink_discipline(void *ctx, const Rackbench__Discipline *discipline)
{
    sim_engine_tell(ctx, discipline);
}

static void sink_release(void *ctx)
{
    sim_agent_t *a = ctx;
    a->acts++;
    a->ours = false;
    a->answer_epoch++;
    sim_engine_release(a);
}

static void sink_note(void *ctx, const char *kind, const char *text)
{
    sim_agent_t *a = ctx;
    rb_row_event_t *note = RB_PUSH(a->notes, a->nnotes);
    sim_log(a->sim, "h%u notes %s: %s", a->host, kind, text);
    *note = (rb_row_event_t){-1, 0, (char *)(uintptr_t)kind, (char *)(uintptr_t)text};
}

/* ---- steps ---- */

static void schedule_tick(sim_agent_t *a)
{
    uint64_t due_ns = rb_session_deadline_ns(a->session);
    if (due_ns == a->tick_ns)
        return;
    a->tick_ns = due_ns;
    a->tick_epoch++;
    if (due_ns == UINT64_MAX)
        return;
    uint64_t at_ns = sim_real_ns(&a->sim->config.machines[a->host - 1].clock, due_ns);
    sim_push(a->sim, (sim_event_t){.at_ns = RB_MAX(at_ns, a->sim->now_ns) +
                                            rb_rng_below(&a->sim->rng, SIM_TICK_NS),
                                   .kind = SIM_AGENT_TICK,
                                   .host = a->host,
                                   .epoch = a->tick_epoch});
}

void sim_agent_step(sim_agent_t *agent, rb_session_event_t event)
{
    event.now_ns = sim_agent_now_ns(agent);
    sim_cover_session(agent->sim, agent, &event);
    rb_session_step(agent->session, &event);
    size_t nnotes = agent->nnotes;
    agent->nnotes = 0;
    for (size_t i = 0; i < nnotes; i++) {
        rb_row_t row = {.kind = RB_ROW_EVENT, .event = agent->notes[i]};
        sim_agent_row(agent, &row);
    }
    schedule_tick(agent);
}

void sim_agent_row(sim_agent_t *agent, rb_row_t *row)
{
    row->seq = rb_session_next_row(agent->session);
    rb_bytes_t bytes = rb_row_pack(row);
    sim_agent_step(agent, (rb_session_event_t){
                              .kind = RB_SESSION_ROW, .row = bytes.data, .row_size = bytes.size});
    if (agent->ours)
        *RB_PUSH(agent->made, agent->nmade) = bytes;
    else
        rb_bytes_clear(&bytes);
}

static void forget_rows(sim_agent_t *a)
{
    for (size_t i = 0; i < a->nmade; i++)
        rb_bytes_clear(&a->made[i]);
    free(a->made);
    a->made = NULL;
    a->nmade = 0;
}

/* As agent/inventory.c: with some Beats. */
static const Rackbench__WallClock *
read_wall_clock(const sim_agent_t *a, const Rackbench__ToAgent *msg, Rackbench__WallClock *wall)
{
    const sim_wall_t *w = &a->sim->config.machines[a->host - 1].wall;
    if (msg->body_case != RACKBENCH__TO_AGENT__BODY_BEAT || msg->beat->seq % 16 != 1)
        return NULL;
    rackbench__wall_clock__init(wall);
    wall->ahead_ns = (int64_t)(a->sim->now_ns - sim_agent_now_ns(a)) + w->off_ns;
    wall->synchronised = w->synchronised;
    wall->maxerror_ns = w->maxerror_ns;
    return wall;
}

static void on_message(sim_agent_t *a, const Rackbench__ToAgent *msg)
{
    Rackbench__WallClock wall;
    uint32_t busy = a->busy;
    bool hello = msg->body_case == RACKBENCH__TO_AGENT__BODY_HELLO;
    sim_log(a->sim, "h%u hears %s", a->host, sim_to_agent_name(msg));
    sim_agent_step(a, (rb_session_event_t){.kind = RB_SESSION_MESSAGE,
                                           .wall_ns = a->sim->config.run.started_wall_ns,
                                           .peer = SIM_PEER,
                                           .message = msg,
                                           .wall_clock = read_wall_clock(a, msg, &wall)});
    if (hello && busy == a->busy && !a->ours) {
        a->ours = true;
        a->evicted_ns = 0;
        forget_rows(a);
    }
    if (a->ours && msg->body_case == RACKBENCH__TO_AGENT__BODY_COLLECT)
        a->stop_ns = a->lease_end_ns = RB_MIN(a->stop_ns, sim_agent_now_ns(a));
    if (!a->ours || (!hello && msg->body_case != RACKBENCH__TO_AGENT__BODY_BEAT))
        return;
    a->stop_ns = UINT64_MAX;
    a->lease_end_ns =
        sim_agent_now_ns(a) +
        (a->sim->config.run.plan != NULL ? a->sim->config.plan.lease_ns : 3 * RB_NS_PER_S);
}

static void receive(sim_agent_t *a, const rb_bytes_t *bytes)
{
    rb_frame_t frame;
    rb_err_t err;
    RB_ASSERT(rb_wire_parse(bytes->data, bytes->size, &frame, &err) == 0);
    RB_AUTO(rb_to_agent_destroy) Rackbench__ToAgent *msg = rb_wire_to_agent(&frame, &err);
    RB_ASSERT(msg != NULL);
    on_message(a, msg);
}

static void answer(sim_agent_t *a)
{
    const sim_host_config_t *machine = &a->sim->config.machines[a->host - 1];
    static char path[] = "/data/rackbench.0", reason[] = "it is mounted", text[] = "no such target";
    Rackbench__Loaded loaded = RACKBENCH__LOADED__INIT;
    Rackbench__Cleaned cleaned = RACKBENCH__CLEANED__INIT;
    Rackbench__Subject subject = RACKBENCH__SUBJECT__INIT, *subjects[SIM_MAX_DRIVES];
    Rackbench__Fault fault = RACKBENCH__FAULT__INIT;
    fault.code = RB_ERR_INPUT;
    fault.text = text;
    subject.path = path;
    subject.refused = machine->refuses ? reason : NULL;
    loaded.n_subjects = a->sim->config.ndrives;
    loaded.subjects = subjects;
    for (size_t i = 0; i < loaded.n_subjects; i++)
        subjects[i] = &subject;
    loaded.fault = cleaned.fault = machine->load_fails ? &fault : NULL;
    if (a->cleaning)
        sim_agent_step(a, (rb_session_event_t){.kind = RB_SESSION_CLEANED, .cleaned = &cleaned});
    else
        sim_agent_step(a, (rb_session_event_t){.kind = RB_SESSION_LOADED, .loaded = &loaded});
}

/* ---- the process ---- */

void sim_agent_start(sim_t *sim, uint32_t host)
{
    static char cpu[] = "counted";
    sim_agent_t *a = &sim->agents[host];
    rb_session_sink_t sink = {a,        sink_send, sink_send_row,   sink_load,  sink_prepare,
                              sink_arm, sink_stop, sink_discipline, sink_clean, sink_release,
                              sink_note};
    bool joins = sim->config.machines[host - 1].joins;
    sim_log(sim, "h%u starts", host);
    a->sim = sim;
    a->host = host;
    a->alive = true;
    a->born_ns = sim->now_ns;
    a->tick_ns = a->stop_ns = UINT64_MAX;
    rackbench__inventory__init(&a->inventory);
    a->inventory.cpu_model = cpu; /* an empty one says in the journal that the host never came */
    a->session = rb_session_new(&sink, &a->inventory, joins ? sim->config.names[host - 1] : NULL);
    sim_connect(sim, host);
    schedule_tick(a);
}

void sim_agent_kill(sim_t *sim, uint32_t host)
{
    sim_agent_t *a = &sim->agents[host];
    if (!a->alive)
        return;
    rb_session_destroy(&a->session);
    sim_engine_release(a);
    forget_rows(a);
    free(a->notes);
    a->notes = NULL;
    a->nnotes = 0;
    a->alive = a->ours = false;
    a->paused_until_ns = 0;
    a->tick_epoch++;
    a->answer_epoch++;
}

void sim_agent_event(sim_t *sim, sim_event_t *event)
{
    sim_agent_t *a = &sim->agents[event->host];
    if (!a->alive)
        return;
    if (sim->now_ns < a->paused_until_ns) {
        event->at_ns = a->paused_until_ns;
        sim_postpone(sim, *event);
        event->frame = (rb_bytes_t){0};
        return;
    }
    if (event->kind == SIM_TO_AGENT && event->epoch == sim->links[event->host].epoch)
        receive(a, &event->frame);
    else if (event->kind == SIM_AGENT_TICK && event->epoch == a->tick_epoch)
        sim_agent_step(a, (rb_session_event_t){.kind = RB_SESSION_TICK});
    else if (event->kind == SIM_ANSWER && event->epoch == a->answer_epoch)
        answer(a);
    else if (event->kind == SIM_ENGINE && event->epoch == a->engine.epoch)
        sim_engine_event(a);
}
