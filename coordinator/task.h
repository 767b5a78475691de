/* task.h - what run, check, hosts and clean share: fleet and conductor from the options, for one
 * goal.
 *
 * Main thread.
 */
#pragma once

#include "coordinator/conduct.h"
#include "coordinator/options.h"
#include "coordinator/run_dir.h"

typedef struct {
    rb_run_goal_t goal;
    const Rackbench__Plan *plan; /* resolved; NULL for RB_RUN_INVENTORY */
    const char *directory;       /* of the run; NULL: nothing is kept */
    rb_fold_t *fold;             /* or NULL */
    const char *name;            /* without a plan: what is done */
    bool shows_drives;           /* RB_RUN_BENCHMARK: those that will be written; or, not NULL: */
    const char *confirmed;       /* the table of them (consent.h) that a person said yes to */
    char id[RB_RUN_ID];
    uint64_t wall_ns;
    /* A run that is resumed: */
    rb_hostlist_t *hosts;  /* taken */
    const char *listen;    /* or NULL */
    rb_journal_t *journal; /* borrowed */
    const rb_resume_t *resume;
} rb_task_opts_t;

typedef struct {
    rb_fleet_t *fleet;
    rb_live_t *live;
    rb_run_t *run;      /* over; NULL: it could not begin */
    rb_bytes_t *traces; /* of the plan's KV caches */
    const char *marks[3];
    size_t nmarks;
    const Rackbench__Plan *plan;
} rb_task_t;

/* Does it all. -1 when it could not begin; else the outcome is in task->run. */
int rb_task_run(rb_task_t *task, const rb_task_opts_t *opts, const rb_options_t *options,
                rb_err_t *err);
void rb_task_clear(rb_task_t *task);

/* How a run is shown on standard error (json_lines: on standard output) while it goes on. */
rb_live_mode_t rb_task_live_mode(const rb_options_t *options);

/* The end of a run that keeps a directory: result.json, the report, what is still to be fetched. A
 * new run that failed before anything was measured leaves no directory.
 * Exit status; its one error line goes to err. */
int rb_task_report(const rb_task_t *task, const rb_task_opts_t *opts, const rb_options_t *options,
                   rb_err_t *err);

/* Exit status of the run that is over; its one error line goes to err. */
int rb_task_status(const rb_task_t *task, rb_err_t *err);
