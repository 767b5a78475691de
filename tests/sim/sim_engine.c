#include "tests/sim/sim.h"

#define PROGRESS_NS (250 * RB_NS_PER_MS)

static const sim_host_config_t *machine_of(const sim_agent_t *a)
{
    return &a->sim->config.machines[a->host - 1];
}

static void wake_at(sim_agent_t *a, uint64_t local_ns)
{
    uint64_t at_ns = sim_real_ns(&machine_of(a)->clock, local_ns);
    sim_push(a->sim, (sim_event_t){.at_ns = RB_MAX(at_ns, a->sim->now_ns),
                                   .kind = SIM_ENGINE,
                                   .host = a->host,
                                   .epoch = ++a->engine.epoch});
}

void sim_engine_release(sim_agent_t *agent)
{
    uint64_t epoch = agent->engine.epoch + 1;
    if (agent->engine.state != SIM_NO_ENGINE)
        agent->rest_ns = agent->sim->now_ns;
    sim_windows_clear(&agent->engine);
    agent->engine = (sim_engine_t){.epoch = epoch};
}

void sim_engine_prepare(sim_agent_t *agent, const Rackbench__Prepare *prepare)
{
    sim_engine_t *e = &agent->engine;
    uint32_t phase = prepare->phase;
    const Rackbench__Job *job =
        prepare->override != NULL ? prepare->override->jobs[0] : &agent->sim->config.jobs[phase];
    sim_engine_release(agent);
    sim_windows_begin(e);
    e->state = SIM_PREPARING;
    e->phase = phase;
    e->counted = !job->has_runtime_ns;
    e->ramp_ns = job->ramp_time_ns;
    e->runtime_ns = job->runtime_ns;
    e->number_ios = job->number_ios;
    e->rate_iops = job->rate_iops;
    e->ready_ns =
        sim_agent_now_ns(agent) + sim_any_scale(&agent->sim->rng, RB_NS_PER_MS, SIM_MAX_PREPARE_NS);
    RB_ASSERT(phase < SIM_MAX_STEPS);
    agent->deeds[phase] = (sim_deed_t){.rate_iops = e->rate_iops};
    wake_at(agent, RB_MIN(e->ready_ns, sim_agent_now_ns(agent) + PROGRESS_NS));
}

static void fail(sim_agent_t *a, rb_code_t code, const char *text)
{
    rb_err_set(&a->engine.fault, code, "%s", text);
    a->engine.state = SIM_FAILING;
    wake_at(a, sim_agent_now_ns(a));
}

/* As a worker does at the border before: where the next one lies, and the end. */
static void plan_window(sim_agent_t *a)
{
    sim_engine_t *e = &a->engine;
    e->next = e->windows + sim_windows_stride(a);
    uint64_t at_ns = e->next * sim_interval_ns(a->sim);
    uint64_t local_ns = rb_timeline_local_ns(&e->line, at_ns);
    if (local_ns > e->window_ns)
        sim_check_border(a, at_ns, local_ns);
    sim_check_told(a, at_ns);
    if (e->length_at_ns > 0 && !e->cut) {
        uint64_t end_ns = rb_timeline_local_ns(&e->line, e->length_at_ns);
        e->end_ns = RB_MAX(end_ns, e->window_ns);
        if (end_ns >= e->window_ns) /* else it is as right as that border was, by what was known */
            sim_check_border(a, e->length_at_ns, end_ns);
    }
    e->window_ns = RB_MAX(local_ns, e->window_ns); /* no border goes back */
}

void sim_engine_tell(sim_agent_t *agent, const Rackbench__Discipline *discipline)
{
    rb_timeline_tell(&agent->engine.line, discipline->at_ns, discipline->local_ns,
                     discipline->drift_ppb);
}

void sim_engine_arm(sim_agent_t *agent, uint64_t t0_ns, int64_t drift_ppb)
{
    sim_engine_t *e = &agent->engine;
    rb_rng_t *rng = &agent->sim->rng;
    RB_ASSERT(e->state == SIM_READY); /* as agent/engine.c asserts */
    uint64_t now_ns = sim_agent_now_ns(agent);
    uint64_t length_ns =
        e->counted ? sim_between(rng, RB_NS_PER_MS, e->number_ios * RB_NS_PER_US) : e->runtime_ns;
    e->state = SIM_ARMED;
    e->t0_ns = e->window_ns = t0_ns;
    e->line = rb_timeline_new(t0_ns, drift_ppb);
    e->in_time = now_ns < t0_ns;
    length_ns += e->ramp_ns;
    e->length_at_ns = e->counted ? 0 : length_ns;
    e->end_ns =
        e->counted ? RB_MAX(t0_ns, now_ns) + length_ns : rb_timeline_local_ns(&e->line, length_ns);
    if (machine_of(agent)->io_fails == (int32_t)e->phase) {
        e->length_at_ns = 0;
        e->end_ns = t0_ns + rb_rng_below(rng, e->end_ns - t0_ns + 1);
        rb_err_set(&e->fault, RB_ERR_IO, "Input/output error");
    }
    wake_at(agent, RB_MAX(t0_ns, now_ns));
}

void sim_engine_stop(sim_agent_t *agent, uint64_t te_ns)
{
    sim_engine_t *e = &agent->engine;
    uint64_t now_ns = sim_agent_now_ns(agent);
    te_ns = RB_MAX(te_ns, now_ns);
    if (e->state == SIM_PREPARING || e->state == SIM_READY)
        fail(agent, RB_ERR_INTERRUPTED, "stopped before the start");
    if (e->state != SIM_ARMED || te_ns >= e->end_ns)
        return;
    e->end_ns = te_ns;
    e->cut = true;
    if (!e->io && te_ns > e->t0_ns) /* it will begin, and then find its end */
        te_ns = RB_MAX(e->t0_ns, now_ns);
    wake_at(agent, e->io ? RB_MIN(te_ns, RB_MAX(e->window_ns, now_ns)) : te_ns);
}

static void become_ready(sim_agent_t *a)
{
    sim_engine_t *e = &a->engine;
    static char path[] = "/data/rackbench.0";
    rb_drive_ref_t drives[SIM_MAX_DRIVES];
    rb_row_t row = {.kind = RB_ROW_DRIVES};
    row.drives = (rb_row_drives_t){e->phase, a->sim->config.ndrives, drives};
    for (uint32_t i = 0; i < a->sim->config.ndrives; i++)
        drives[i] = (rb_drive_ref_t){0, i, path, RB_GIB};
    e->state = SIM_READY;
    a->deeds[e->phase].ready = true;
    sim_agent_row(a, &row);
    sim_agent_step(a, (rb_session_event_t){.kind = RB_SESSION_READY});
}

static void work_preparing(sim_agent_t *a, uint64_t now_ns)
{
    sim_engine_t *e = &a->engine;
    if (now_ns < e->ready_ns) {
        wake_at(a, RB_MIN(e->ready_ns, now_ns + PROGRESS_NS));
        sim_agent_step(a, (rb_session_event_t){.kind = RB_SESSION_PROGRESS, .total_bytes = 1});
    } else if (machine_of(a)->prepare_fails == (int32_t)e->phase) {
        fail(a, RB_ERR_IO, "cannot lay out");
    } else {
        become_ready(a);
    }
}

static void start_io(sim_agent_t *a)
{
    sim_engine_t *e = &a->engine;
    sim_deed_t *deed = &a->deeds[e->phase];
    e->started = e->io = true;
    deed->started = true;
    deed->in_time = e->in_time && a->paused_until_ns < a->sim->now_ns;
    deed->start_ns = a->sim->now_ns;
    plan_window(a);
    sim_log(a->sim, "h%u: I/O of phase %u starts", a->host, e->phase);
    sim_check_io_start(a);
}

/* A coordinator that is taken up again knows of ends only: by those within this of the plan's
 * nobody can tell that a stop came. */
#define NO_CUT_NS RB_NS_PER_MS

static bool ends_whole(const sim_engine_t *e)
{
    bool as_planned = e->length_at_ns > 0 &&
                      e->end_ns + NO_CUT_NS >= rb_timeline_local_ns(&e->line, e->length_at_ns);
    return e->fault.code == RB_OK && (!e->cut || as_planned);
}

static void end_io(sim_agent_t *a, uint64_t now_ns)
{
    sim_engine_t *e = &a->engine;
    rb_rng_t *rng = &a->sim->rng;
    bool slow = sim_chance(rng, 20);
    e->io = false;
    e->state = SIM_DRAINING;
    a->deeds[e->phase].whole = ends_whole(e);
    uint64_t drain_ns = sim_any_scale(rng, RB_NS_PER_MS, slow ? SIM_MAX_DRAIN_NS : RB_NS_PER_S / 5);
    if (machine_of(a)->stuck == (int32_t)e->phase)
        drain_ns = SIM_MAX_STUCK_NS;
    sim_log(a->sim, "h%u: I/O of phase %u ends%s, drains for %.6f s", a->host, e->phase,
            e->cut ? " early" : "", (double)drain_ns / 1e9);
    e->drained_ns = now_ns + drain_ns;
    wake_at(a, e->drained_ns);
}

static void work_armed(sim_agent_t *a, uint64_t now_ns)
{
    sim_engine_t *e = &a->engine;
    if (!e->started && now_ns < e->end_ns && now_ns >= e->t0_ns)
        start_io(a);
    while (e->io && e->window_ns < e->end_ns && now_ns >= e->window_ns) {
        e->windows = e->next;
        plan_window(a);
    }
    sim_windows_cut(a);
    if (now_ns >= e->end_ns) {
        end_io(a, now_ns);
        return;
    }
    wake_at(a, RB_MIN(e->io ? e->window_ns : e->t0_ns, e->end_ns));
}

static void become_drained(sim_agent_t *a)
{
    sim_engine_t *e = &a->engine;
    rb_err_t fault = e->fault;
    rb_row_t row = {.kind = RB_ROW_WORKER};
    row.worker = (rb_row_worker_t){.phase = e->phase,
                                   .first_submit_at_ns = INT64_MIN,
                                   .end_at_ns = (int64_t)(e->end_ns - e->t0_ns),
                                   .finished = e->counted && a->deeds[e->phase].whole};
    if (!rb_session_takes_rows(a->session)) {
        wake_at(a, sim_agent_now_ns(a) + RB_BEAT_NS); /* rows and the change of state both wait */
        return;
    }
    if (e->started)
        e->windows = e->next;
    sim_windows_cut(a);
    sim_windows_end(a);
    sim_agent_row(a, &row);
    sim_engine_release(a);
    sim_agent_step(a, (rb_session_event_t){.kind = RB_SESSION_DRAINED,
                                           .fault = fault.code == RB_OK ? NULL : &fault});
    sim_check_evicted(a);
}

void sim_engine_event(sim_agent_t *agent)
{
    uint64_t now_ns = sim_agent_now_ns(agent);
    rb_err_t fault = agent->engine.fault;
    if (agent->engine.io)
        sim_check_io(agent);
    switch (agent->engine.state) {
    case SIM_PREPARING:
        work_preparing(agent, now_ns);
        break;
    case SIM_FAILING:
        sim_engine_release(agent);
        sim_agent_step(agent, (rb_session_event_t){.kind = RB_SESSION_FAILED, .fault = &fault});
        sim_check_evicted(agent);
        break;
    case SIM_ARMED:
        work_armed(agent, now_ns);
        break;
    case SIM_DRAINING:
        become_drained(agent);
        break;
    case SIM_NO_ENGINE:
    case SIM_READY:
        break;
    }
}
