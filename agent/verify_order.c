#include "agent/verify_order.h"

#include "agent/workload/permutation.h"

bool rb_order_is_known(const rb_order_t *o)
{
    switch (o->kind) {
    case RB_ORDER_SEQUENTIAL:
        return o->period > 0;
    case RB_ORDER_PERMUTED:
        return o->period > 0 && o->period <= RB_MAX_PERMUTATION;
    }
    return false;
}

/* The write of that pass to the block. */
static uint64_t in_pass(const rb_order_t *o, uint64_t pass, uint64_t block)
{
    rb_permutation_t shuffle;
    rb_permutation_init(&shuffle, o->period, o->seed, pass);
    return pass * o->period + rb_permutation_index(&shuffle, block);
}

static uint64_t block_of(const rb_order_t *o, uint64_t sequence)
{
    rb_permutation_t shuffle;
    rb_permutation_init(&shuffle, o->period, o->seed, sequence / o->period);
    return rb_permutation_at(&shuffle, sequence % o->period);
}

uint64_t rb_order_next(const rb_order_t *o, uint64_t sequence)
{
    uint64_t pass;
    if (!rb_order_is_known(o) || sequence > UINT64_MAX / 2 || o->period > UINT64_MAX / 4)
        return UINT64_MAX;
    if (o->kind == RB_ORDER_SEQUENTIAL)
        return sequence + o->period;
    pass = sequence / o->period + 1;
    return in_pass(o, pass, block_of(o, sequence));
}

uint64_t rb_order_newest(const rb_order_t *o, uint64_t sequence, uint64_t max)
{
    RB_ASSERT(rb_order_next(o, sequence) <= max);
    if (o->kind == RB_ORDER_SEQUENTIAL)
        return max - (max - sequence) % o->period;
    uint64_t pass = max / o->period, block = block_of(o, sequence);
    uint64_t newest = in_pass(o, pass, block);
    return newest <= max ? newest : in_pass(o, pass - 1, block);
}

uint64_t rb_order_end(const rb_order_t *o, uint64_t oldest)
{
    if (!rb_order_is_known(o))
        return UINT64_MAX;
    /* The last block of a pass may be the first of the next one. */
    return o->kind == RB_ORDER_SEQUENTIAL ? oldest + o->period
                                          : (oldest / o->period + 1) * o->period;
}
