/* worker_hung.h - operations that have been in flight for long, each told once, while it hangs.
 *
 * The worker looks at each border of a window, the main thread takes what it found. No lock: an
 * entry is complete before the count that includes it is stored. Of a phase the first RB_MAX_HUNG
 * of a worker are told.
 */
#pragma once

#include <stdatomic.h>

#include "agent/worker_slot.h"

enum { RB_MAX_HUNG = 16 };
#define RB_HUNG_NS (2 * RB_NS_PER_S)

typedef struct {
    uint64_t at_ns, age_ns, offset_bytes;
    uint32_t size_bytes;
    rb_op_t op;
} rb_hung_op_t;

typedef struct {
    rb_hung_op_t ops[RB_MAX_HUNG];
    _Atomic uint32_t found;
    uint32_t taken;    /* main thread */
    uint32_t iodepth;  /* worker, as the next */
    uint64_t *told_ns; /* [iodepth] submission of the operation that was told of each slot */
} rb_hung_t;

void rb_hung_init(rb_hung_t *h, uint32_t iodepth);
void rb_hung_clear(rb_hung_t *h);

/* Worker: O(iodepth). slots [iodepth]. Returns how many it found that were not told yet. */
uint32_t rb_hung_look(rb_hung_t *h, const rb_slot_t *slots, uint64_t now_ns);
/* Main thread: the next one; NULL: none. */
const rb_hung_op_t *rb_hung_take(rb_hung_t *h);
