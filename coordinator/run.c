#include "coordinator/run_priv.h"

#define LEAD_NS (20 * RB_NS_PER_MS) /* beside the round trips: what an agent needs to get going */

rb_run_t *rb_run_new(const rb_run_opts_t *opts, const rb_run_sink_t *sink)
{
    rb_run_t *run = rb_calloc(1, sizeof(*run));
    run->opts = *opts;
    run->sink = *sink;
    run->next_row = 1;
    bool is_auto = opts->plan != NULL && opts->plan->interval_ns == 0;
    rb_budget_init(&run->budget, is_auto ? opts->journal_max_bytes : 0);
    run->outcome.status = "done";
    run->search_job = -1;
    run->hosts = rb_calloc(opts->nhosts, sizeof(*run->hosts));
    for (size_t i = 0; i < opts->nhosts; i++) {
        run->hosts[i].opts = &opts->hosts[i];
        run->hosts[i].next_row = 1;
        run->hosts[i].end_at_ns = INT64_MIN;
        rb_clocksync_init(&run->hosts[i].clock);
    }
    return run;
}

void rb_run_destroy(rb_run_t **run_p)
{
    rb_run_t *run = *run_p;
    if (run == NULL)
        return;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_inventory_destroy(&run->hosts[i].inventory);
        rb_to_coordinator_destroy(&run->hosts[i].loaded);
        rb_to_coordinator_destroy(&run->hosts[i].cleaned);
        free(run->hosts[i].owner);
    }
    rb_phase_destroy(&run->override);
    free(run->hosts);
    free(run);
    *run_p = NULL;
}

/* ---- stages ---- */

/* The first burst of a benchmark only shows how far the hosts are: what counts is the one before
 * ARM, so that one is long. */
static void begin_burst(rb_run_t *run, rb_stage_t stage, uint64_t now_ns)
{
    bool first = stage == RB_STAGE_PROBE && run->opts.goal != RB_RUN_INVENTORY;
    run->stage = stage;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_run_host_t *host = &run->hosts[i];
        if (host->link != LINK_UP)
            continue;
        rb_clocksync_mark(&host->clock);
        host->burst = first ? RB_FIRST_PROBES : RB_BURST_PROBES;
        host->burst_bound_ns = UINT64_MAX;
        host->burst_idle = 0;
        rb_run_send_beat(run, host, now_ns);
    }
}

static void begin_command(rb_run_t *run, rb_stage_t stage, rb_run_want_t want)
{
    run->stage = stage;
    for (size_t i = 0; i < run->opts.nhosts; i++)
        if (run->hosts[i].link == LINK_UP)
            rb_run_command(run, &run->hosts[i], want);
}

void rb_run_begin_load(rb_run_t *run)
{
    begin_command(run, RB_STAGE_LOAD, WANT_LOADED);
}

/* T0: far enough ahead for the slowest round trip seen in the burst, twice over. */
static void arm(rb_run_t *run, uint64_t now_ns)
{
    uint64_t worst_ns = 0;
    for (size_t i = 0; i < run->opts.nhosts; i++)
        if (run->hosts[i].takes_part)
            worst_ns = RB_MAX(worst_ns, run->hosts[i].clock.worst_rtt_ns);
    run->next_clocks_ns = now_ns + RB_CLOCK_ROWS_NS;
    run->t0_ns = now_ns + LEAD_NS + 2 * RB_MIN(worst_ns, RB_NS_PER_S);
    rb_run_write_clocks(run, now_ns);
    rb_run_write_phase_start(run);
    if (run->stage == RB_STAGE_DONE) /* the journal refused a row */
        return;
    run->stage = RB_STAGE_RUN;
    for (size_t i = 0; i < run->opts.nhosts; i++)
        if (run->hosts[i].takes_part && run->hosts[i].link == LINK_UP)
            rb_run_command(run, &run->hosts[i], WANT_ARMED);
}

static bool refused(rb_run_t *run, uint64_t now_ns)
{
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const Rackbench__Loaded *loaded = rb_run_loaded(run, (uint32_t)i + 1);
        for (size_t k = 0; loaded != NULL && k < loaded->n_subjects; k++) {
            if (loaded->subjects[k]->refused == NULL)
                continue;
            rb_err_t err;
            rb_err_set(&err, RB_ERR_UNSAFE, "agent %s: refused: %s", run->hosts[i].opts->name,
                       loaded->subjects[k]->refused);
            rb_run_fail(run, now_ns, "refused", &err);
            return true;
        }
    }
    return false;
}

static void after_connect(rb_run_t *run, uint64_t now_ns)
{
    if (run->opts.goal == RB_RUN_STOP)
        rb_run_finish(run, now_ns);
    else
        begin_burst(run, RB_STAGE_PROBE, now_ns);
}

static void after_probe(rb_run_t *run, uint64_t now_ns)
{
    rb_run_write_clocks(run, now_ns);
    if (run->stage == RB_STAGE_DONE) /* the journal refused a row */
        return;
    if (run->resuming) {
        rb_run_resume_course(run, now_ns);
        return;
    }
    switch (run->opts.goal) {
    case RB_RUN_INVENTORY:
    case RB_RUN_STOP:
        rb_run_finish(run, now_ns);
        break;
    case RB_RUN_CLEAN:
        begin_command(run, RB_STAGE_CLEAN, WANT_CLEANED);
        break;
    case RB_RUN_BENCHMARK:
    case RB_RUN_CHECK:
        rb_run_begin_load(run);
        break;
    }
}

static void note_warnings(rb_run_t *run, uint64_t now_ns)
{
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const Rackbench__Loaded *loaded = rb_run_loaded(run, (uint32_t)i + 1);
        for (size_t k = 0; loaded != NULL && k < loaded->n_subjects; k++)
            if (loaded->subjects[k]->warning != NULL)
                rb_run_note(run, &run->hosts[i], now_ns, "warning", loaded->subjects[k]->warning);
    }
}

static void after_load(rb_run_t *run, uint64_t now_ns)
{
    rb_err_t err;
    if (refused(run, now_ns))
        return;
    if (run->sink.loaded != NULL && run->sink.loaded(run->sink.ctx, &err) != 0) {
        rb_run_fail(run, now_ns, "refused", &err);
        return;
    }
    note_warnings(run, now_ns);
    run->loaded = true;
    if (run->opts.goal == RB_RUN_CHECK)
        rb_run_finish(run, now_ns);
    else
        rb_run_go_on(run, now_ns);
}

static void after_phase(rb_run_t *run, uint64_t now_ns)
{
    rb_run_write_phase_end(run);
    rb_run_judge_skew(run);
    run->over = true;
    run->told = false;
    rb_run_go_on(run, now_ns);
}

bool rb_run_reached(const rb_run_t *run, const rb_run_host_t *host)
{
    switch (run->stage) {
    case RB_STAGE_PROBE:
    case RB_STAGE_PROBE_PHASE:
        return host->burst == 0;
    case RB_STAGE_RUN:
        return host->want == WANT_NOTHING &&
               (run->journal_broken || host->next_row > host->last_row);
    case RB_STAGE_CONNECT:
    case RB_STAGE_LOAD:
    case RB_STAGE_PREPARE:
    case RB_STAGE_CLEAN:
        return host->want == WANT_NOTHING;
    case RB_STAGE_COLLECT:
    case RB_STAGE_DONE:
        return true;
    }
    return true;
}

bool rb_run_counts(const rb_run_t *run, const rb_run_host_t *host)
{
    bool in_phase = run->stage == RB_STAGE_PREPARE || run->stage == RB_STAGE_PROBE_PHASE ||
                    run->stage == RB_STAGE_RUN;
    bool there = host->link != LINK_LOST && host->link != LINK_FREE;
    return there && (!in_phase || host->takes_part);
}

static bool complete(const rb_run_t *run)
{
    if (run->stage == RB_STAGE_COLLECT)
        return !rb_run_owed(run);
    for (size_t i = 0; i < run->opts.nhosts; i++)
        if (rb_run_counts(run, &run->hosts[i]) && !rb_run_reached(run, &run->hosts[i]))
            return false;
    return true;
}

void rb_run_advance(rb_run_t *run, uint64_t now_ns)
{
    while (run->stage != RB_STAGE_DONE && complete(run)) {
        switch (run->stage) {
        case RB_STAGE_CONNECT:
            after_connect(run, now_ns);
            break;
        case RB_STAGE_PROBE:
            after_probe(run, now_ns);
            break;
        case RB_STAGE_LOAD:
            after_load(run, now_ns);
            break;
        case RB_STAGE_PREPARE:
            begin_burst(run, RB_STAGE_PROBE_PHASE, now_ns);
            break;
        case RB_STAGE_PROBE_PHASE:
            arm(run, now_ns);
            break;
        case RB_STAGE_RUN:
            after_phase(run, now_ns);
            break;
        case RB_STAGE_CLEAN:
        case RB_STAGE_COLLECT:
            rb_run_finish(run, now_ns);
            break;
        case RB_STAGE_DONE:
            break;
        }
    }
}

/* ---- events ---- */

static void start(rb_run_t *run, const rb_run_event_t *ev)
{
    run->start_ns = run->connect_ns = ev->now_ns;
    run->next_beat_ns = ev->now_ns + RB_BEAT_NS;
    if (run->opts.resume != NULL) {
        rb_run_resume(run, ev);
        return;
    }
    if (run->opts.goal == RB_RUN_BENCHMARK)
        rb_run_first_step(run);
    rb_run_write_run(run);
    rb_run_write_reaches(run);
    for (size_t i = 0; i < run->opts.nhosts && run->stage != RB_STAGE_DONE; i++)
        rb_run_greet(run, &run->hosts[i], ev->now_ns);
}

static void tick(rb_run_t *run, uint64_t now_ns)
{
    if (now_ns < run->next_beat_ns)
        return;
    /* We slept, not the agents: their answers may wait in the socket. */
    bool we_slept = now_ns > run->next_beat_ns + 2 * RB_BEAT_NS;
    run->next_beat_ns = now_ns + RB_BEAT_NS;
    rb_run_keep_budget(run, now_ns);
    bool connecting = run->stage <= RB_STAGE_PROBE && !run->resuming; /* nobody has rows yet */
    if (!connecting && !rb_run_sync(run, now_ns) && run->stage == RB_STAGE_DONE)
        return;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_run_host_t *host = &run->hosts[i];
        /* Who was given up is left to the end of its lease; who is freed, alone. */
        if (host->link == LINK_UP && run->opts.goal != RB_RUN_STOP)
            rb_run_send_beat(run, host, now_ns);
        else if (host->link == LINK_CONNECTING)
            rb_run_greet(run, host, now_ns);
        if (we_slept)
            host->heard_ns = now_ns;
    }
    rb_run_collect(run, now_ns);
    rb_run_check_silence(run, now_ns);
    if (run->stage != RB_STAGE_RUN || now_ns < run->next_clocks_ns)
        return;
    run->next_clocks_ns = now_ns + RB_CLOCK_ROWS_NS;
    rb_run_write_clocks(run, now_ns);
}

static void broken(rb_run_t *run, const rb_run_event_t *ev)
{
    rb_err_t err;
    rb_err_set(&err, RB_ERR_NET, "%s", ev->text);
    rb_run_fail_host(run, &run->hosts[ev->host - 1], ev->now_ns, &err);
}

void rb_run_step(rb_run_t *run, const rb_run_event_t *ev)
{
    if (run->stage == RB_STAGE_DONE)
        return;
    if (ev->wall_clock != NULL)
        run->wall_clock = *ev->wall_clock;
    switch (ev->kind) {
    case RB_RUN_START:
        start(run, ev);
        break;
    case RB_RUN_TICK:
        tick(run, ev->now_ns);
        break;
    case RB_RUN_MESSAGE:
        rb_run_on_message(run, ev);
        break;
    case RB_RUN_ROW:
        rb_run_on_row(run, ev);
        break;
    case RB_RUN_BROKEN:
        broken(run, ev);
        break;
    case RB_RUN_REFUSED:
        rb_run_refused(run, ev);
        break;
    case RB_RUN_RIVAL:
        rb_run_note(run, &run->hosts[ev->host - 1], ev->now_ns, "name_taken", ev->text);
        break;
    case RB_RUN_GONE:
        run->hosts[ev->host - 1].stranger = true;
        rb_run_lose(run, &run->hosts[ev->host - 1], ev->now_ns, ev->text);
        break;
    case RB_RUN_INTERRUPT:
        rb_run_interrupt(run, ev->now_ns);
        break;
    case RB_RUN_VERDICT:
        rb_run_verdict(run, ev->now_ns, ev->text);
        break;
    }
    rb_run_advance(run, ev->now_ns);
}

uint64_t rb_run_deadline_ns(const rb_run_t *run)
{
    return run->next_beat_ns;
}
