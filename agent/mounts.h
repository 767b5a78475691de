/* mounts.h - what of a block graph is mounted or swap.
 *
 * From /proc/self/mountinfo, where that shows nothing from the mounts of every other mount
 * namespace that a process is in, and from /proc/swaps. A namespace without a process is not seen
 * here; what is mounted there is still open exclusively. Any thread; no state; a millisecond for a
 * thousand processes.
 */
#pragma once

#include "agent/block_graph.h"
#include "common/err.h"

/* Adds uses of kind MOUNT and SWAP. RB_ERR_IO, RB_ERR_INPUT: /proc cannot be read. */
int rb_mounts_find(rb_block_graph_t *graph, rb_err_t *err);
