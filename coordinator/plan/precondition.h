/* precondition.h - which fills a phase needs before it, and the phases that they are.
 *
 * The fill state of a target is what its last fill was, transfer size and sequential or random; a
 * phase that writes anything else leaves it in none. Reads change nothing. Any thread.
 * Source: measurement.md 6.
 */
#pragma once

#include "rackbench.pb-c.h"

#include <stdbool.h>
#include <stddef.h>

/* How a target was filled. */
typedef struct {
    uint64_t bs_bytes; /* 0: not known */
    bool random;
} rb_fill_state_t;

/* states [plan->n_targets]: after all phases in `run` so far. Appends what `phase`, which is about
 * to be run, needs before it, and notes what both leave behind. */
void rb_precondition(Rackbench__Plan *run, rb_fill_state_t *states, const Rackbench__Phase *phase);

/* Bytes of a fill on one host as far as the plan tells: files. 0: devices, whose size agents know.
 */
uint64_t rb_fill_file_bytes(const Rackbench__Plan *plan, const Rackbench__Phase *fill);
