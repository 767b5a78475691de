/* verify_order.h - which write comes to a block next, where one counter goes over all blocks of a
 * region before it comes back to any: sequential, or the passes of a permutation (permutation.h).
 *
 * A block that holds a write of such a counter is stale once its newest write is seen elsewhere to
 * be as far as the next one to this block: the next one is lost. That needs no more than the two
 * writes, as long as none is in flight that follows the newest; so a counter must not give out a
 * write while an earlier one to the same block is in flight (rb_order_end).
 *
 * Pure. Of a permutation some 50 ns, else a few.
 */
#pragma once

#include "common/base.h"

typedef enum { RB_ORDER_NONE, RB_ORDER_SEQUENTIAL, RB_ORDER_PERMUTED } rb_order_kind_t;

/* As blocks carry it: what is read from a drive may be anything. */
typedef struct {
    uint32_t kind;   /* rb_order_kind_t; another one counts as NONE */
    uint64_t period; /* blocks of the region: writes from one to a block to the next to it, or of a
                        pass; 0 counts as NONE */
    uint64_t seed;   /* of the permutation; another one is another order in any case */
} rb_order_t;

bool rb_order_is_known(const rb_order_t *o);

/* The next write after `sequence` to the same block; UINT64_MAX: not known. */
uint64_t rb_order_next(const rb_order_t *o, uint64_t sequence);
/* The last write up to `max` to the same block; rb_order_next is known and at most max. */
uint64_t rb_order_newest(const rb_order_t *o, uint64_t sequence, uint64_t max);
/* The first write that must wait while write `oldest` is in flight and all before it are complete;
 * UINT64_MAX without order. */
uint64_t rb_order_end(const rb_order_t *o, uint64_t oldest);
