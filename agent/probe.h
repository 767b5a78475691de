/* probe.h - one piece of work that may block on a drive, in a thread of its own, so that the main
 * thread goes on to answer.
 *
 * Who started it takes it when it is done, or leaves it to itself: then the thread frees what it
 * works with, whenever the drive lets go of it. Nothing else is shared. What begins is cheap (a
 * thread: some 50 us), and what hangs for good costs a thread until the drive answers or the
 * process ends.
 */
#pragma once

#include "common/err.h"

enum { RB_MAX_PROBES = 64 }; /* that are under way, those left to themselves included */

typedef struct rb_probe rb_probe_t;

typedef struct {
    void (*work)(void *ctx); /* in the thread */
    void (*drop)(void *ctx); /* frees ctx, in the thread, once nobody waits for it */
    void *ctx;
    int event_fd; /* an eventfd, written when it is done; outlives the wait for it */
} rb_probe_opts_t;

/* ctx goes to the probe. NULL: it stays the caller's; RB_ERR_IO: RB_MAX_PROBES hang already,
 * RB_ERR_INTERNAL: no thread to be had. Main thread, like all but the last function. */
rb_probe_t *rb_probe_start(const rb_probe_opts_t *opts, rb_err_t *err);
bool rb_probe_done(rb_probe_t *probe);
/* It is done: hands ctx back. */
void *rb_probe_take(rb_probe_t **probe);
/* Leaves it to itself; NULL: nothing. */
void rb_probe_abandon(rb_probe_t **probe);
/* What it is at, into buf [size], and for how long [ns]. */
uint64_t rb_probe_at(rb_probe_t *probe, char *buf, size_t size);
/* Threads that still work, with whatever they were given. */
size_t rb_probes_under_way(void);

/* The work that this thread does turns to `what`, a path mostly. Any thread; nothing in those that
 * are no probe. */
void rb_probe_note(const char *what);
