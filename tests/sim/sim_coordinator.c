#include "tests/sim/sim.h"

uint64_t sim_coordinator_now_ns(const sim_t *sim)
{
    return sim_local_ns(&sim->config.clock, sim->now_ns);
}

/* ---- the sink ---- */

/* Keeps what a host is told of the common clock: sim_check_border asks for its bound. */
static void note_told(sim_t *sim, uint32_t host, const Rackbench__ToAgent *msg)
{
    sim_coordinator_t *c = &sim->coordinator;
    if (msg->body_case == RACKBENCH__TO_AGENT__BODY_ARM) {
        c->ntold[host] = 0;
        c->armed[host].at_ns = 0;
        rb_run_clock(c->run, host, c->phases[msg->arm->phase].t0_ns, &c->armed[host].clock);
    }
    if (msg->body_case != RACKBENCH__TO_AGENT__BODY_BEAT || msg->beat->discipline == NULL)
        return;
    sim_told_t *told = &c->told[host][c->ntold[host]++ % SIM_TOLD];
    told->at_ns = msg->beat->discipline->at_ns;
    rb_run_clock(c->run, host, msg->beat->t1_ns, &told->clock);
}

/* The truth about a Stop: which instant of our clock it is, and how well the run says to know. */
static void note_stop(sim_t *sim, uint32_t host, const Rackbench__Stop *stop)
{
    sim_phase_t *p = &sim->coordinator.phases[stop->phase];
    rb_clock_estimate_t estimate = {0};
    uint64_t real_ns = sim_real_ns(&sim->config.machines[host - 1].clock, stop->te_ns);
    rb_run_view_t view;
    rb_run_view(sim->coordinator.run, sim_coordinator_now_ns(sim), &view);
    if (!view.stopping) /* it only asks for a Drained that was lost */
        return;
    rb_run_clock(sim->coordinator.run, host, sim_local_ns(&sim->config.clock, real_ns), &estimate);
    p->stopped[host] = true;
    p->stop_ns[host] = sim_local_ns(&sim->config.clock, real_ns);
    p->stop_bound[host] = estimate.bound_ns;
}

static void sink_send(void *ctx, uint32_t host, const Rackbench__ToAgent *msg)
{
    sim_t *sim = ctx;
    sim_log(sim, "run says %s to h%u", sim_to_agent_name(msg), host);
    note_told(sim, host, msg);
    if (msg->body_case == RACKBENCH__TO_AGENT__BODY_BEAT)
        sim_check_span(sim, host, msg->beat);
    if (msg->body_case == RACKBENCH__TO_AGENT__BODY_ARM)
        sim_check_arm(sim, host, msg->arm->phase);
    if (msg->body_case == RACKBENCH__TO_AGENT__BODY_STOP)
        note_stop(sim, host, msg->stop);
    bool bye = msg->body_case == RACKBENCH__TO_AGENT__BODY_BYE;
    if (sim->coordinator.bye[host] && !bye)
        sim_violate(sim, 6, "the run says %s to h%u after Bye", sim_to_agent_name(msg), host);
    if (bye && !sim->coordinator.bye[host])
        sim_check_bye(sim, host);
    sim->coordinator.bye[host] |= bye;
    sim_send(sim, SIM_TO_AGENT, host, rb_wire_pack_to_agent(msg));
}

/* Fast at low rates, a queue that grows at high ones, and now and then nothing at all. */
static void sink_figures(void *ctx, uint32_t phase, uint32_t job, uint32_t percentile_ppm,
                         rb_search_figures_t *ret)
{
    sim_t *sim = ctx;
    uint64_t rate = sim->agents[1].deeds[phase].rate_iops, capacity = sim->config.capacity_iops;
    uint64_t done = rate == 0 || rate > capacity ? capacity : rate;
    RB_ASSERT(job == 0 && percentile_ppm == 990000);
    *ret = (rb_search_figures_t){.length_ns = RB_NS_PER_S, .offered_ops = rate};
    if (sim_chance(&sim->rng, 3))
        return;
    ret->ops = done;
    ret->quantile_ns = (100 * RB_NS_PER_US + sim_any_scale(&sim->rng, 1, 20 * RB_NS_PER_US)) *
                       capacity / (capacity - done + 1);
}

static void read_step(sim_t *sim, const rb_row_step_t *step)
{
    sim_coordinator_t *c = &sim->coordinator;
    sim_check_begin(sim, step);
    if (sim->violated != 0)
        return;
    c->phases[step->phase].plan_phase = step->plan_phase;
    c->phases[step->phase].step = step->step;
    c->nsteps = step->phase + 1;
    const Rackbench__Job *job = &sim->config.jobs[step->plan_phase];
    if (step->step == 1 && job->has_latency_target_ns)
        rb_latency_search_init(&c->search, job->latency_target_ns, RB_SEARCH_PERCENTILE_PPM);
}

static void read_search(sim_t *sim, const rb_row_search_t *search)
{
    sim_phase_t *p = &sim->coordinator.phases[search->phase];
    sim_check_search(sim, search);
    p->told = true;
    p->verdict = search->verdict[0] != '\0';
}

static void read_phase_start(sim_coordinator_t *c, const rb_row_phase_start_t *start)
{
    sim_phase_t *p = &c->phases[start->phase];
    if (c->nsteps <= start->phase) { /* no STEP row: it is the plan's phase of that number */
        p->plan_phase = start->phase;
        c->nsteps = start->phase + 1;
    }
    p->started = true;
    p->t0_ns = start->t0_ns;
    for (size_t i = 0; i < start->nhosts; i++) {
        p->takes_part[start->hosts[i]] = true;
        p->bound_ns[start->hosts[i]] = start->bounds_ns[i];
    }
}

static void read_phase_end(sim_coordinator_t *c, const rb_row_phase_end_t *end)
{
    sim_phase_t *p = &c->phases[end->phase];
    p->ended = true;
    p->truncated = end->truncated;
    p->cut = end->reason[0] != '\0';
    for (size_t i = 0; i < end->nlost; i++)
        p->lost[end->lost[i]] = true;
}

static void read_note(sim_t *sim, const rb_row_note_t *note)
{
    sim_log(sim, "run notes of h%u: %s: %s", note->host, note->kind, note->text);
    if (strcmp(note->kind, "clock_disagrees") == 0)
        sim_check_opinion(sim, note->host);
    sim_coordinator_t *c = &sim->coordinator;
    if (strcmp(note->kind, "interval") == 0)
        c->stated_span = (uint32_t)strtoul(note->text + strlen("windows of "), NULL, 10);
    c->rows_in[note->host] |= strcmp(note->kind, "rows_in") == 0;
    c->stranger[note->host] |= strcmp(note->kind, "rows_lost") == 0;
    if (strcmp(note->kind, "rows_lost") == 0 && strstr(note->text, "another one") != NULL)
        sim_violate(sim, 11, "rows of h%u were acknowledged and are in no journal", note->host);
    if (strcmp(note->kind, "host_lost") != 0)
        return;
    c->lost[note->host] = true;
    c->lost_ns[note->host] = sim->now_ns;
}

void sim_read_row(sim_t *sim, uint32_t host, const void *data, size_t size)
{
    sim_coordinator_t *c = &sim->coordinator;
    rb_row_t row;
    rb_err_t err;
    if (rb_row_unpack(data, size, &row, &err) != 0)
        return; /* no longer the row that was made: I3 has seen it */
    if (row.kind == RB_ROW_WINDOW)
        for (size_t i = 0; i < row.window.ncells; i++)
            c->phases[row.window.phase].ops[host] += row.window.cells[i].ops;
    if (row.kind == RB_ROW_STEP)
        read_step(sim, &row.step);
    if (row.kind == RB_ROW_SEARCH)
        read_search(sim, &row.search);
    if (row.kind == RB_ROW_PHASE_END)
        sim_check_stops(sim, &row.phase_end);
    if (row.kind == RB_ROW_PHASE_START)
        read_phase_start(c, &row.phase_start);
    if (row.kind == RB_ROW_PHASE_END)
        read_phase_end(c, &row.phase_end);
    if (row.kind == RB_ROW_CLOCK)
        sim_check_clock(sim, &row.clock);
    if (row.kind == RB_ROW_NOTE)
        read_note(sim, &row.note);
    if (row.kind == RB_ROW_RUN_END) {
        c->run_end = true;
        if (c->run == NULL)
            ; /* of the run that was complete before */
        else if (strcmp(row.run_end.status, rb_run_outcome(c->run)->status) != 0 ||
                 row.run_end.exit_code != (uint32_t)rb_run_outcome(c->run)->err.code)
            sim_violate(sim, 7, "RUN_END says %s, the outcome is %s", row.run_end.status,
                        rb_run_outcome(c->run)->status);
    }
    rb_row_clear(&row);
}

static int sink_row(void *ctx, uint32_t host, const void *row, size_t size, rb_err_t *err)
{
    sim_t *sim = ctx;
    sim_coordinator_t *c = &sim->coordinator;
    if (c->total_rows >= sim->config.journal_rows) {
        sim_log(sim, "the journal is full");
        c->journal_failed = true;
        return rb_err_set(err, RB_ERR_IO, "journal: no space left on device");
    }
    c->total_rows++;
    sim_check_row(sim, host, row, size);
    sim_read_row(sim, host, row, size);
    sim_journal_append(sim, host, row, size);
    return 0;
}

static int sink_sync(void *ctx, rb_err_t *err)
{
    sim_t *sim = ctx;
    sim_coordinator_t *c = &sim->coordinator;
    if (c->sync_fails) {
        c->journal_failed = true;
        return rb_err_set(err, RB_ERR_IO, "journal: Input/output error");
    }
    c->nsynced = c->nrecords;
    return 0;
}

/* ---- steps ---- */

static void schedule_tick(sim_t *sim)
{
    sim_coordinator_t *c = &sim->coordinator;
    uint64_t due_ns = rb_run_deadline_ns(c->run);
    if (due_ns == c->tick_ns)
        return;
    c->tick_ns = due_ns;
    uint64_t at_ns = sim_real_ns(&sim->config.clock, due_ns);
    sim_push(sim,
             (sim_event_t){.at_ns = RB_MAX(at_ns, sim->now_ns) +
                                    rb_rng_below(&sim->rng, SIM_TICK_NS / 10) + sim->config.nap_ns,
                           .kind = SIM_RUN_TICK,
                           .epoch = ++c->tick_epoch});
}

static rb_stage_t stage_of(const sim_t *sim)
{
    rb_run_view_t view;
    rb_run_view(sim->coordinator.run, sim_coordinator_now_ns(sim), &view);
    return view.stage;
}

void sim_coordinator_step(sim_t *sim, rb_run_event_t event)
{
    sim_coordinator_t *c = &sim->coordinator;
    event.now_ns = sim_coordinator_now_ns(sim);
    event.wall_ns = sim->config.run.started_wall_ns;
    rb_wall_clock_t wall = {(int64_t)(sim->now_ns - event.now_ns) + sim->config.wall.off_ns,
                            sim->config.wall.synchronised, sim->config.wall.maxerror_ns, 0};
    event.wall_clock = &wall;
    c->stage_before = stage_of(sim);
    sim_cover_run(sim, c->stage_before, &event);
    c->before = *rb_run_outcome(c->run);
    rb_run_step(c->run, &event);
    sim_check_room(sim);
    sim_check_step(sim, &event);
    if (!rb_run_done(c->run)) {
        schedule_tick(sim);
        return;
    }
    const rb_run_outcome_t *outcome = rb_run_outcome(c->run);
    sim_log(sim, "run is done: %s, exit %d: %s", outcome->status, (int)outcome->err.code,
            outcome->err.text);
    c->done_ns = sim->now_ns;
    c->hasty = event.kind == RB_RUN_INTERRUPT || event.kind == RB_RUN_BROKEN;
    sim->coverage->exits[outcome->err.code & 255]++;
    sim_check_done(sim);
    if (rb_run_rows_missing(c->run) > 0 && sim_chance(&sim->rng, 60))
        sim_coordinator_replace(sim, sim_any_scale(&sim->rng, 10 * RB_NS_PER_MS, SIM_MAX_AWAY_NS));
}

static void receive(sim_t *sim, uint32_t host, const rb_bytes_t *bytes)
{
    rb_frame_t frame;
    rb_err_t err;
    RB_ASSERT(rb_wire_parse(bytes->data, bytes->size, &frame, &err) == 0);
    if (frame.kind == RB_FRAME_ROW) {
        sim_log(sim, "run gets a row of h%u", host);
        sim_coordinator_step(sim, (rb_run_event_t){.kind = RB_RUN_ROW,
                                                   .host = host,
                                                   .row = frame.payload,
                                                   .row_size = frame.size});
        return;
    }
    RB_AUTO(rb_to_coordinator_destroy)
    Rackbench__ToCoordinator *msg = rb_wire_to_coordinator(&frame, &err);
    RB_ASSERT(msg != NULL);
    sim_log(sim, "run hears %s of h%u", sim_to_coordinator_name(msg), host);
    sim_coordinator_step(sim,
                         (rb_run_event_t){.kind = RB_RUN_MESSAGE, .host = host, .message = msg});
}

/* ---- the process ---- */

void sim_coordinator_start(sim_t *sim)
{
    sim_coordinator_begin(sim, &sim->config.run);
}

void sim_coordinator_begin(sim_t *sim, const rb_run_opts_t *opts)
{
    sim_coordinator_t *c = &sim->coordinator;
    rb_run_sink_t sink = {sim, sink_send, sink_row, sink_figures, sink_sync, NULL};
    c->run = rb_run_new(opts, &sink);
    c->alive = true;
    c->start_ns = sim->now_ns;
    sim_coordinator_step(sim, (rb_run_event_t){.kind = RB_RUN_START});
}

void sim_coordinator_replace(sim_t *sim, uint64_t after_ns)
{
    sim_coordinator_t *c = &sim->coordinator;
    if (sim->config.run.goal != RB_RUN_BENCHMARK || c->resumed >= SIM_MAX_RESUMES ||
        c->resume_pending || after_ns == 0)
        return;
    c->resume_pending = true;
    sim_push(sim, (sim_event_t){.at_ns = sim->now_ns + after_ns, .kind = SIM_RESUME});
}

void sim_coordinator_kill(sim_t *sim)
{
    sim_coordinator_t *c = &sim->coordinator;
    if (!c->alive)
        return;
    sim_log(sim, "run is killed");
    c->alive = false;
    for (uint32_t host = 1; host <= sim->config.run.nhosts; host++)
        sim_break(sim, host, 0);
}

void sim_coordinator_verdict(sim_t *sim)
{
    const sim_coordinator_t *c = &sim->coordinator;
    if (c->alive && c->done_ns == 0 && sim->now_ns >= c->paused_until_ns)
        sim_coordinator_step(sim,
                             (rb_run_event_t){.kind = RB_RUN_VERDICT, .text = "enough is known"});
}

void sim_coordinator_event(sim_t *sim, sim_event_t *event)
{
    sim_coordinator_t *c = &sim->coordinator;
    if (!c->alive || c->done_ns != 0)
        return;
    if (sim->now_ns < c->paused_until_ns) {
        event->at_ns = c->paused_until_ns;
        sim_postpone(sim, *event);
        event->frame = (rb_bytes_t){0};
        return;
    }
    if (event->kind == SIM_TO_COORDINATOR && event->epoch == sim->links[event->host].epoch)
        receive(sim, event->host, &event->frame);
    else if (event->kind == SIM_RUN_TICK && event->epoch == c->tick_epoch)
        sim_coordinator_step(sim, (rb_run_event_t){.kind = RB_RUN_TICK});
}
