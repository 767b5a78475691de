/* worker_due.h - operations that are due at a time of their own: by a rate, or after a pause.
 *
 * Part of the worker's loop that a closed loop without pauses does not enter. The worker's thread;
 * hot.
 */
#pragma once

#include "agent/worker.h"

/* RB_ERR_INPUT: no schedule can keep the job's rate or pause. Not hot. */
int rb_worker_check_due(const Rackbench__Job *job, rb_err_t *err);
/* When the first operations are due: at T0, after the start delay, or by the schedule of an open
 * loop. */
void rb_worker_begin(rb_worker_t *w);
/* Open loop: of at most n operations those that are due, into w->due; there are n free slots. */
uint32_t rb_worker_take_due(rb_worker_t *w, uint64_t now_ns, uint32_t n);
/* Pauses: the last n of the free slots became free just now. */
void rb_worker_think(rb_worker_t *w, uint32_t n, uint64_t now_ns);
/* The operations that are about to be submitted, in the slots `taken`: sets due times of an open
 * loop, and counts how late this worker is. What became due while no slot was free had to wait for
 * the target: that tells nothing of the worker. */
void rb_worker_stamp_due(rb_worker_t *w, const uint32_t *taken, uint64_t now_ns);
/* Until when the worker may sleep, as something is due soon after; UINT64_MAX: not before something
 * completes. */
uint64_t rb_worker_wake_ns(const rb_worker_t *w);
