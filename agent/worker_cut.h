/* worker_cut.h - a worker's borders in time: windows, the end of the ramp, Te.
 *
 * The worker's thread. Called once a border, so it may cost: a scan of the slots, a write to the
 * eventfd, at a change of part a read of the thread's CPU clock.
 *
 * Borders are instants of the common clock. Once a second the worker looks where that stands: what
 * is still ahead moves with it, what has passed stays, so no border ever goes back behind another.
 */
#pragma once

#include "agent/worker.h"

/* Sets all borders from crew->armed_at. */
void rb_worker_schedule(rb_worker_t *w);
/* The worker's part of MAIN begins or ends at at_ns. */
void rb_worker_main_begins(rb_worker_t *w, uint64_t at_ns);
/* now_ns >= w->cut_ns: closes the windows that have ended, changes the part. */
void rb_worker_cut(rb_worker_t *w, uint64_t now_ns);
/* Te is te_ns, unless it is over already. */
void rb_worker_end_at(rb_worker_t *w, uint64_t te_ns);
/* Publishes the last window. */
void rb_worker_last_cut(rb_worker_t *w, uint64_t now_ns);
