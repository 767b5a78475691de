#include "coordinator/conduct.h"

#include "common/clock.h"
#include "coordinator/hub.h"
#include "coordinator/journal.h"
#include "coordinator/merge_rounds.h"
#include "coordinator/resume.h"
#include "coordinator/step_figures.h"
#include "proto/select.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define LIVE_PERIOD_NS RB_NS_PER_S
#define WALL_PERIOD_NS (10 * RB_NS_PER_S)
/* A wall clock is not set further than this while it is kept by NTP. */
#define SAME_CLOCK_NS (60 * (int64_t)RB_NS_PER_S)

typedef struct {
    const rb_conduct_opts_t *opts;
    rb_run_opts_t run_opts;
    rb_hub_t *hub;
    rb_run_t *run;
    rb_journal_t *journal; /* NULL: none */
    uint64_t next_live_ns, next_wall_ns;
    uint64_t watched;  /* windows of a search's step, or rounds, that were looked at */
    uint64_t shift_ns; /* run's clock - ours: not 0 after another boot than the run began in */
} conduct_t;

static void sink_send(void *ctx, uint32_t host, const Rackbench__ToAgent *msg)
{
    conduct_t *c = ctx;
    rb_hub_send(c->hub, host, msg);
}

/* The journal first: what the fold shows can be read again. */
static int sink_row(void *ctx, uint32_t host, const void *row, size_t size, rb_err_t *err)
{
    conduct_t *c = ctx;
    if (c->journal != NULL && rb_journal_append(c->journal, host, row, size, err) != 0)
        return -1;
    return c->opts->fold != NULL ? rb_fold_row(c->opts->fold, host, row, size, err) : 0;
}

static void sink_figures(void *ctx, uint32_t phase, uint32_t job, uint32_t percentile_ppm,
                         rb_search_figures_t *ret)
{
    const conduct_t *c = ctx;
    *ret = (rb_search_figures_t){0};
    if (c->opts->fold != NULL)
        rb_step_figures(c->opts->fold, phase, job, percentile_ppm, ret);
}

static int sink_sync(void *ctx, rb_err_t *err)
{
    conduct_t *c = ctx;
    return c->journal != NULL ? rb_journal_sync(c->journal, err) : 0;
}

/* What it shows comes in the place of the live line. */
static int sink_loaded(void *ctx, rb_err_t *err)
{
    const conduct_t *c = ctx;
    if (c->opts->approve == NULL)
        return 0;
    rb_live_end(c->opts->live);
    return c->opts->approve(c->opts->approve_ctx, c->run, err);
}

static uint64_t run_now_ns(const conduct_t *c)
{
    return rb_clock_now_ns() + c->shift_ns;
}

static void step(conduct_t *c, rb_run_event_t ev)
{
    if (ev.now_ns == 0)
        ev.now_ns = run_now_ns(c);
    ev.wall_ns = rb_clock_wall_ns();
    rb_wall_clock_t wall;
    if (ev.now_ns >= c->next_wall_ns) {
        c->next_wall_ns = ev.now_ns + WALL_PERIOD_NS;
        rb_wall_clock_read(&wall);
        wall.ahead_ns -= (int64_t)c->shift_ns;
        ev.wall_clock = &wall;
    }
    rb_run_step(c->run, &ev);
}

static void on_hub_event(conduct_t *c, const rb_hub_event_t *hub)
{
    static const rb_run_event_kind_t kinds[] = {[RB_HUB_MESSAGE] = RB_RUN_MESSAGE,
                                                [RB_HUB_ROW] = RB_RUN_ROW,
                                                [RB_HUB_BROKEN] = RB_RUN_BROKEN,
                                                [RB_HUB_REFUSED] = RB_RUN_REFUSED,
                                                [RB_HUB_RIVAL] = RB_RUN_RIVAL};
    step(c, (rb_run_event_t){.kind = kinds[hub->kind],
                             .now_ns = hub->now_ns + c->shift_ns,
                             .host = hub->host,
                             .message = hub->message,
                             .row = hub->row,
                             .row_size = hub->row_size,
                             .text = hub->text});
}

static const char *stage_word(const rb_run_view_t *view)
{
    switch (view->stage) {
    case RB_STAGE_CONNECT:
        return "connecting";
    case RB_STAGE_PROBE:
    case RB_STAGE_PROBE_PHASE:
        return "measuring clocks";
    case RB_STAGE_LOAD:
        return "checking";
    case RB_STAGE_PREPARE:
        return view->total_bytes > 0 ? "laying out" : "preparing";
    case RB_STAGE_RUN:
        return view->stopping ? "draining" : "running";
    case RB_STAGE_CLEAN:
        return "cleaning";
    case RB_STAGE_COLLECT:
        return "collecting";
    case RB_STAGE_DONE:
        return "done";
    }
    return "";
}

static bool fills(const Rackbench__Phase *phase, const char *target)
{
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (strcmp(phase->jobs[i]->target, target) == 0)
            return true;
    return false;
}

/* Of a fill the end is known by bytes: of all drives together. */
static void fill_bytes(const conduct_t *c, const Rackbench__Phase *phase, rb_live_state_t *state)
{
    const Rackbench__Plan *plan = c->run_opts.plan;
    state->word = "filling";
    for (size_t i = 0; i < c->run_opts.nhosts; i++) {
        const Rackbench__Loaded *loaded = rb_run_loaded(c->run, (uint32_t)i + 1);
        for (size_t k = 0; loaded != NULL && k < loaded->n_subjects; k++)
            if (fills(phase, plan->targets[loaded->subjects[k]->target]->name))
                state->total_bytes += phase->fill->passes * loaded->subjects[k]->size_bytes;
    }
    if (c->opts->fold != NULL)
        state->done_bytes = rb_step_bytes(c->opts->fold, state->phase_index);
}

static void fill_phase(const conduct_t *c, const rb_run_view_t *view, uint64_t now_ns,
                       rb_live_state_t *state)
{
    const Rackbench__Plan *plan = c->run_opts.plan;
    const Rackbench__Phase *phase = plan->phases[view->plan_phase];
    state->phase = phase->name;
    state->phase_number = view->plan_phase + 1;
    state->step = view->step;
    state->rate_iops = view->rate_iops;
    state->phases = (uint32_t)plan->n_phases;
    rb_live_name_point(state, phase);
    state->phase_index = view->phase;
    state->done_bytes = view->done_bytes;
    state->total_bytes = view->stage == RB_STAGE_PREPARE ? view->total_bytes : 0;
    if (view->stage != RB_STAGE_RUN)
        return;
    state->elapsed_ns = now_ns > view->t0_ns ? now_ns - view->t0_ns : 0;
    if (phase->fill != NULL && !view->stopping)
        fill_bytes(c, phase, state);
    if (phase->jobs[0]->has_runtime_ns)
        state->total_ns = rb_phase_ramp_ns(phase) + rb_phase_runtime_ns(phase);
}

static void show(conduct_t *c, uint64_t now_ns)
{
    if (now_ns < c->next_live_ns && !rb_run_done(c->run))
        return;
    c->next_live_ns = now_ns + LIVE_PERIOD_NS;
    rb_run_view_t view;
    rb_run_view(c->run, now_ns, &view);
    rb_live_state_t state = {.word = stage_word(&view),
                             .hosts_ready = (uint32_t)view.answering,
                             .hosts = (uint32_t)view.hosts,
                             .fold = c->opts->fold};
    if (view.stage == RB_STAGE_DONE)
        state.word = rb_run_outcome(c->run)->status;
    else if (view.stage >= RB_STAGE_PREPARE && view.stage <= RB_STAGE_RUN)
        fill_phase(c, &view, now_ns, &state);
    rb_live_update(c->opts->live, &state);
}

/* A step that cannot keep its target any more ends now. */
static void judge_so_far(conduct_t *c, const rb_latency_search_t *search, uint32_t phase,
                         uint32_t job)
{
    const Rackbench__Phase *run = rb_fold_plan_phase(c->opts->fold, phase);
    double length_s = (double)(rb_phase_ramp_ns(run) + rb_phase_runtime_ns(run)) / 1e9;
    uint64_t due = (uint64_t)((double)search->rate_iops * length_s) + 1;
    uint64_t late = rb_step_late_ops(c->opts->fold, phase, job, search->target_ns);
    char text[RB_MAX_TEXT], target[RB_FMT_SIZE];
    if (!rb_latency_search_hopeless(search, late, due))
        return;
    snprintf(text, sizeof(text),
             "out of reach: %" PRIu64
             " operations took longer than %s, more than p%g allows of the "
             "%" PRIu64 " that are due in the whole step",
             late, rb_fmt_ns(target, sizeof(target), search->target_ns),
             search->percentile_ppm / 1e4, due);
    step(c, (rb_run_event_t){.kind = RB_RUN_VERDICT, .text = text});
}

static void watch_search(conduct_t *c)
{
    uint32_t job;
    rb_run_view_t view;
    const rb_latency_search_t *search = rb_run_search(c->run, &job);
    const rb_fold_t *fold = c->opts->fold;
    if (search == NULL || fold == NULL || search->most_iops > 0) /* what is due is not known */
        return;
    rb_run_view(c->run, run_now_ns(c), &view);
    if (view.stopping || view.phase >= fold->nphases)
        return;
    uint64_t complete = fold->phases[view.phase].complete;
    if (complete == c->watched) /* the sums cost something: once a window */
        return;
    c->watched = complete;
    judge_so_far(c, search, view.phase, job);
}

/* Once every drive has come to rest, no more of the phase is needed. */
static void watch_steady(conduct_t *c)
{
    rb_run_view_t view;
    const rb_fold_t *fold = c->opts->fold;
    rb_run_view(c->run, run_now_ns(c), &view);
    if (fold == NULL || view.stage != RB_STAGE_RUN || view.stopping ||
        view.phase >= fold->nphases || rb_fold_round_ns(fold, view.phase) == 0)
        return;
    uint32_t rounds = rb_fold_rounds(fold, view.phase);
    if (rounds == c->watched) /* once a round */
        return;
    c->watched = rounds;
    rb_steady_t *steady = rb_fold_steady(fold, view.phase);
    char text[RB_MAX_TEXT];
    snprintf(text, sizeof(text), "steady state: %zu %s reached it by round %u", steady->ndrives,
             steady->ndrives == 1 ? "drive has" : "drives have", steady->last);
    if (steady->reached)
        step(c, (rb_run_event_t){.kind = RB_RUN_VERDICT, .text = text});
    rb_steady_destroy(&steady);
}

static void check_embedded(conduct_t *c)
{
    uint32_t dead = rb_fleet_dead(c->opts->fleet);
    if (dead != 0)
        step(c,
             (rb_run_event_t){.kind = RB_RUN_GONE, .host = dead, .text = "its process has ended"});
}

static int wait_ms(const conduct_t *c)
{
    uint64_t now_ns = run_now_ns(c);
    uint64_t due_ns = RB_MIN(rb_run_deadline_ns(c->run), c->next_live_ns);
    return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns) / RB_NS_PER_MS + 1);
}

static void loop(conduct_t *c, int signal_fd)
{
    while (!rb_run_done(c->run)) {
        rb_hub_event_t hub;
        struct signalfd_siginfo info;
        bool signalled = rb_hub_wait(c->hub, wait_ms(c), signal_fd);
        while (rb_hub_receive(c->hub, &hub))
            on_hub_event(c, &hub);
        if (signalled && read(signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
            step(c, (rb_run_event_t){.kind = RB_RUN_INTERRUPT});
        step(c, (rb_run_event_t){.kind = RB_RUN_TICK});
        check_embedded(c);
        watch_search(c);
        watch_steady(c);
        show(c, run_now_ns(c));
    }
}

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The clock that the run's times are in. It stands still while a machine is off: then the wall
 * clock tells how long. */
static uint64_t clock_shift_ns(const rb_resume_t *resume)
{
    if (resume == NULL || !resume->has_start)
        return 0;
    int64_t offset_ns = (int64_t)(rb_clock_wall_ns() - rb_clock_now_ns());
    int64_t shift_ns = offset_ns - resume->wall_offset_ns;
    bool same = shift_ns < SAME_CLOCK_NS && shift_ns > -SAME_CLOCK_NS;
    return same ? 0 : (uint64_t)shift_ns;
}

static int prepare(conduct_t *c, rb_err_t *err)
{
    const rb_fleet_t *fleet = c->opts->fleet;
    rb_run_sink_t sink = {c, sink_send, sink_row, sink_figures, sink_sync, sink_loaded};
    /* A name of its own: agents tell it from a coordinator of the same run that still lives. */
    RB_AUTO(rb_free_str)
    char *name = c->opts->run.resume == NULL
                     ? rb_strdup(c->opts->run.id)
                     : rb_asprintf("%s.%" PRIx64, c->opts->run.id, rb_clock_wall_ns());
    rb_hub_opts_t hub = {name, fleet->list, fleet->listen, fleet->has_key ? &fleet->key : NULL};
    c->journal = c->opts->journal;
    c->shift_ns = clock_shift_ns(c->opts->run.resume);
    if (c->opts->journal_path != NULL) {
        c->journal = rb_journal_create(c->opts->journal_path, err);
        if (c->journal == NULL)
            return -1;
    }
    c->hub = rb_hub_new(&hub, err);
    if (c->hub == NULL)
        return -1;
    c->run_opts = c->opts->run;
    c->run_opts.nhosts = fleet->list->nitems;
    c->run_opts.hosts = fleet->hosts;
    c->run_opts.listen = fleet->embedded ? "local" : fleet->listen;
    c->run = rb_run_new(&c->run_opts, &sink);
    return 0;
}

rb_run_t *rb_conduct(const rb_conduct_opts_t *opts, rb_err_t *err)
{
    conduct_t c = {.opts = opts};
    if (prepare(&c, err) == 0) {
        int signal_fd = open_signals();
        step(&c, (rb_run_event_t){.kind = RB_RUN_START});
        loop(&c, signal_fd);
        close(signal_fd);
        rb_live_end(opts->live);
    }
    rb_hub_destroy(&c.hub);
    if (opts->journal == NULL)
        rb_journal_destroy(&c.journal);
    return c.run;
}
