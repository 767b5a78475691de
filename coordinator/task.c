#include "coordinator/task.h"

#include "common/clock.h"
#include "coordinator/consent.h"
#include "coordinator/kv_traces.h"
#include "coordinator/merge_kv.h"
#include "coordinator/run_report.h"
#include "coordinator/watts.h"
#include "proto/select.h"

#include <signal.h>
#include <unistd.h>

enum { DEFAULT_LOCAL = 4 };

/* Embedded agents all see the same devices, so a plan that names devices gets one of them. */
static uint32_t local_agents(const rb_options_t *options, const Rackbench__Plan *plan)
{
    if (options->local > 0)
        return options->local;
    for (size_t i = 0; plan != NULL && i < plan->n_targets; i++)
        if (plan->targets[i]->n_devices > 0)
            return 1;
    return DEFAULT_LOCAL;
}

static rb_fleet_t *open_fleet(const rb_options_t *options, const rb_task_opts_t *task,
                              rb_err_t *err)
{
    rb_fleet_opts_t opts = {.hosts = options->hosts,
                            .list = task->hosts,
                            .local = local_agents(options, task->plan),
                            .listen = task->hosts != NULL ? task->listen : options->listen,
                            .scratch = options->scratch,
                            .allow_paths = options->paths,
                            .nallow_paths = options->npaths,
                            .allow_devices = options->devices,
                            .nallow_devices = options->ndevices,
                            .allow_wipe = options->allow_wipe,
                            .insecure = options->insecure,
                            .key = options->key,
                            .known_hosts = options->known_hosts};
    return rb_fleet_new(&opts, err);
}

static bool runs_somewhere(const rb_fleet_t *fleet, const Rackbench__Job *job)
{
    for (size_t i = 0; i < fleet->list->nitems; i++)
        if (rb_job_on_host(job, fleet->hosts[i].nlabels, fleet->hosts[i].labels))
            return true;
    return false;
}

/* A job that no host takes would be an empty result. */
static int check_labels(const rb_fleet_t *fleet, const Rackbench__Plan *plan, rb_err_t *err)
{
    for (size_t i = 0; plan != NULL && i < plan->n_phases; i++)
        for (size_t k = 0; k < plan->phases[i]->n_jobs; k++) {
            const Rackbench__Job *job = plan->phases[i]->jobs[k];
            if (!runs_somewhere(fleet, job))
                return rb_err_set(
                    err, RB_ERR_INPUT,
                    "phase '%s': job '%s' runs on no host: none has the label %s=%s%s; "
                    "labels stand in hosts.yaml",
                    plan->phases[i]->name, job->name, job->on[0]->name, job->on[0]->value,
                    job->n_on > 1 ? " and the others" : "");
        }
    return 0;
}

rb_live_mode_t rb_task_live_mode(const rb_options_t *options)
{
    if (options->json_lines)
        return RB_LIVE_JSON_LINES;
    if (options->quiet)
        return RB_LIVE_QUIET;
    return isatty(STDERR_FILENO) ? RB_LIVE_TTY : RB_LIVE_PLAIN;
}

/* Before any thread is made: they end the run in order, through the conductor's loop. A hang-up
 * does not end it: a terminal may go away. */
static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
}

static bool is_scaled(const Rackbench__Plan *plan)
{
    for (size_t i = 0; plan != NULL && i < plan->n_phases; i++) {
        int job = rb_kv_job(plan->phases[i]);
        const char *scale = job < 0 ? NULL : plan->phases[i]->jobs[job]->kv_cache->scale;
        if (scale != NULL && strcmp(scale, "1") != 0 && strcmp(scale, "1/1") != 0)
            return true;
    }
    return false;
}

/* What weakens the whole run, and is known before it begins. */
static void set_marks(rb_task_t *task, const Rackbench__Plan *plan)
{
    if (task->fleet->insecure)
        task->marks[task->nmarks++] = "insecure";
    if (is_scaled(plan))
        task->marks[task->nmarks++] = "scaled";
    if (plan != NULL && strncmp(plan->name, "mlperf", strlen("mlperf")) == 0)
        task->marks[task->nmarks++] = "not an MLPerf result";
}

typedef struct {
    const rb_task_opts_t *opts;
    const rb_fleet_t *fleet;
} approval_t;

static int approve(void *ctx, const rb_run_t *run, rb_err_t *err)
{
    const approval_t *a = ctx;
    RB_AUTO(rb_free_str) char *table = rb_consent_table(run, a->opts->plan, a->fleet);
    return rb_consent_hold(table, a->opts->confirmed, err);
}

int rb_task_run(rb_task_t *task, const rb_task_opts_t *opts, const rb_options_t *options,
                rb_err_t *err)
{
    rb_conduct_opts_t conduct = {.fold = opts->fold};
    block_signals();
    *task = (rb_task_t){0};
    if (opts->goal == RB_RUN_BENCHMARK && rb_run_claim(opts->id, err) != 0)
        return -1;
    task->fleet = open_fleet(options, opts, err);
    if (task->fleet == NULL || check_labels(task->fleet, opts->plan, err) != 0)
        return -1;
    task->plan = opts->plan;
    set_marks(task, opts->plan);
    if (opts->goal == RB_RUN_BENCHMARK) {
        task->traces = rb_kv_traces_load(opts->plan, err);
        if (task->traces == NULL)
            return -1;
    }
    approval_t approval = {opts, task->fleet};
    task->live =
        rb_live_new(options->json_lines ? stdout : stderr,
                    opts->goal == RB_RUN_BENCHMARK ? rb_task_live_mode(options) : RB_LIVE_QUIET,
                    options->units);
    RB_AUTO(rb_free_str)
    char *journal =
        opts->directory != NULL ? rb_run_dir_path(opts->directory, "journal.rbj") : NULL;
    conduct.run.goal = opts->goal;
    conduct.run.id = opts->id;
    conduct.run.name = opts->plan != NULL ? opts->plan->name : opts->name;
    conduct.run.started_wall_ns = opts->wall_ns;
    conduct.run.plan = opts->plan;
    conduct.run.traces = task->traces;
    conduct.run.connect_timeout_ns = options->connect_timeout_ns;
    conduct.run.journal_max_bytes = options->journal_max_bytes;
    conduct.run.nmarks = task->nmarks;
    conduct.run.marks = task->marks;
    conduct.fleet = task->fleet;
    conduct.run.resume = opts->resume;
    conduct.run.collect_only = options->collect;
    conduct.journal = opts->journal;
    conduct.journal_path = opts->journal == NULL ? journal : NULL;
    conduct.live = task->live;
    conduct.approve = opts->shows_drives ? approve : NULL;
    conduct.approve_ctx = &approval;
    task->run = rb_conduct(&conduct, err);
    return task->run != NULL ? 0 : -1;
}

void rb_task_clear(rb_task_t *task)
{
    rb_run_destroy(&task->run);
    rb_kv_traces_free(task->traces, task->plan);
    task->traces = NULL;
    rb_live_destroy(&task->live);
    rb_fleet_destroy(&task->fleet);
}

/* What was read was not what had been written: no run that saw this is good, even if its jobs go on
 * after errors. */
static int check_blocks(const rb_fold_t *fold, rb_err_t *err)
{
    for (size_t i = 0; i < fold->nevents; i++) {
        const rb_fold_event_t *event = &fold->events[i];
        if (strcmp(event->kind, "verify_error") == 0)
            return rb_err_set(err, RB_ERR_IO, "%s", event->text);
    }
    return 0;
}

/* The meter has been read by now: its readings go behind the rest. */
static int add_watts(const rb_task_opts_t *opts, const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *journal = rb_run_dir_path(opts->directory, "journal.rbj");
    for (size_t i = 0; i < options->nwatts; i++)
        if (rb_watts_feed(opts->fold, journal, options->watts[i], err) != 0)
            return rb_err_wrap(err, "the run is as it was measured; rackbench report --watts adds "
                                    "them, once that is right");
    return 0;
}

int rb_task_report(const rb_task_t *task, const rb_task_opts_t *opts, const rb_options_t *options,
                   rb_err_t *err)
{
    rb_err_t report_err = {0};
    int status = rb_task_status(task, err);
    if (status == RB_OK && check_blocks(opts->fold, err) != 0)
        status = (int)err->code;
    rb_err_t watts_err;
    if (add_watts(opts, options, &watts_err) != 0 && status == RB_OK) {
        *err = watts_err;
        status = (int)err->code;
    }
    rb_err_t outcome = *err;
    int rc = rb_run_report(opts->directory, opts->fold, options, &outcome, &report_err);
    if (rc != 0 && status == RB_OK) {
        *err = report_err;
        status = (int)err->code;
    }
    size_t missing = rb_run_rows_missing(task->run);
    bool empty = status != RB_OK && !rb_fold_any_measured(opts->fold) && missing == 0;
    if (empty && opts->resume == NULL) {
        rb_run_dir_remove(opts->directory);
        fprintf(stderr, "nothing was measured: no run directory is left\n");
        return status;
    }
    fprintf(stderr, "run directory: %s\n", opts->directory);
    if (missing > 0 && !task->fleet->embedded)
        rb_run_hint(opts->directory, missing);
    return status;
}

int rb_task_status(const rb_task_t *task, rb_err_t *err)
{
    if (task->run == NULL)
        return (int)err->code;
    *err = rb_run_outcome(task->run)->err;
    return (int)err->code;
}
