/* workload.h - what I/O comes next: one small table of functions, called per batch by one worker.
 *
 * Hot: no lock, no allocation, no log. State belongs to the worker that calls; what several workers
 * share (a cursor) is atomic and named as such.
 */
#pragma once

#include "agent/backend/backend.h"

typedef struct {
    const char *name;
    /* Fills offset_bytes, size_bytes and op (of a SYNC also flags) of up to n <= RB_MAX_BATCH
     * operations. Fewer than n: there is no more to do. */
    uint32_t (*next)(void *self, rb_io_t *ios, uint32_t n);
} rb_workload_t;
