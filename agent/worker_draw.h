/* worker_draw.h - what a worker does next, as far as it is not inline in its loop.
 *
 * The worker's thread; called once for a batch or for several, so that a call costs little.
 */
#pragma once

#include "agent/worker.h"

/* Has n <= RB_MAX_BATCH operations in ios [at, drawn), or all there are. Calling the workload costs
 * as much as several operations, so it is for many also where one at a time is taken; unless
 * workers share what it gives out. */
void rb_worker_draw(rb_worker_t *w, uint32_t n);

/* How many of the first n of ios come before number_ios or io_size is reached; SYNCs count for
 * neither. */
uint32_t rb_worker_within_limits(rb_worker_t *w, uint32_t n);
