/* block_next.h - the functions of the workload `block` that give out operations.
 *
 * Three lean ones for operations of one size, reads and writes or one kind alone; one for all that
 * a job may ask for, by rb_block_t's `place`. The worker; hot (block.h).
 */
#pragma once

#include "agent/workload/block.h"

extern const rb_workload_t rb_block_random_ops;     /* uniform */
extern const rb_workload_t rb_block_sequential_ops; /* by the worker's own position */
extern const rb_workload_t rb_block_shared_ops;     /* by the cursor */
extern const rb_workload_t rb_block_any_ops;
extern const rb_workload_t rb_block_listed_ops; /* reads of rb_block_list */
extern const rb_workload_t rb_block_fill_ops;   /* by `at`, to fill_blocks */

rb_block_place_t rb_block_place_pattern;
rb_block_place_t rb_block_place_sequential;
rb_block_place_t rb_block_place_cursor; /* sizes are all bs */
