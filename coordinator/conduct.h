/* conduct.h - the coordinator around its pure run: hub, journal, fold and live view wired to events
 * and actions.
 *
 * One thread: rb_conduct returns when the run is over. SIGINT and SIGTERM must be blocked by the
 * caller; they end the run in order, a second one at once.
 */
#pragma once

#include "coordinator/fleet.h"
#include "coordinator/journal.h"
#include "coordinator/live/terminal.h"
#include "coordinator/merge.h"
#include "coordinator/run.h"

typedef struct {
    rb_run_opts_t run; /* hosts and marks are filled in from the fleet */
    const rb_fleet_t *fleet;
    const char *journal_path; /* to be made; NULL: nothing is kept, or: */
    rb_journal_t *journal;    /* of a run that is resumed */
    rb_live_t *live;
    rb_fold_t *fold; /* fed with every row; NULL: none */
    /* Before anything is touched: rb_run_sink_t's `loaded`; NULL: nobody asks. */
    int (*approve)(void *ctx, const rb_run_t *run, rb_err_t *err);
    void *approve_ctx;
} rb_conduct_opts_t; /* borrowed for the call */

/* The run as it ended, to be asked for inventory, verdicts and outcome; it borrows from opts and
 * fleet. NULL: it could not begin. */
rb_run_t *rb_conduct(const rb_conduct_opts_t *opts, rb_err_t *err);
