/* watch.h - what a run is doing, told from its journal by another process than the one that runs
 * it.
 *
 * The fold of the journal is all there is: no message is sent, and whoever may read the run
 * directory may watch. Times are wall-clock times, so the machine that reads should be the
 * coordinator's, or its clock right. Main thread; pure.
 */
#pragma once

#include "coordinator/live/terminal.h"

typedef enum {
    RB_WATCH_ANSWERING, /* its rows come, or none are due */
    RB_WATCH_SILENT,    /* its windows are more than two seconds behind */
    RB_WATCH_LOST       /* the run gave it up */
} rb_watch_kind_t;

typedef struct {
    rb_watch_kind_t kind;
    const char *why;    /* LOST: the reason. Borrowed from the fold */
    uint64_t behind_ns; /* SILENT: since the end of its last window */
} rb_watch_host_t;

/* Of a host of the fold, from 1. wall_ns: now, since 1970. */
rb_watch_host_t rb_watch_host(const rb_fold_t *fold, uint32_t host, uint64_t wall_ns);

/* What a live view shows. Borrows from the fold. */
void rb_watch_state(const rb_fold_t *fold, uint64_t wall_ns, rb_live_state_t *ret);

typedef struct {
    uint64_t ns;
    bool open_end; /* there are phases bound by bytes or operations, which take longer */
    bool at_most;  /* there are searches: they take as many steps as they may */
} rb_watch_left_t;

/* To the end of the run by its plan, without the time to lay out files. */
rb_watch_left_t rb_watch_left(const rb_fold_t *fold, uint64_t wall_ns);

/* The wall-clock time of an event [ns since 1970]; 0: not known before the first phase. */
uint64_t rb_watch_event_wall_ns(const rb_fold_t *fold, const rb_fold_event_t *event);
