/* think.h - thinktime, start_delay: slots of a closed loop that pause before their next operation.
 *
 * Each slot pauses by itself: for time_ns from the reap of its last operation on, after every
 * `blocks` of its operations; SYNCs do not count. All pause equally long, so that the first to
 * begin is the first to end: a queue. One owner, the worker; no allocation but in init.
 * fio pauses the whole job instead: it waits for all that is in flight, then sleeps. With iodepth 1
 * this is the same.
 */
#pragma once

#include "agent/worker_slot.h"
#include "common/base.h"

#define RB_THINK_MAX_NS (24 * 3600 * RB_NS_PER_S)

typedef struct {
    uint64_t time_ns;
    uint32_t blocks; /* operations of a slot from one pause to the next */
    uint32_t size, first, n;
    uint32_t
        *queue; /* [size] ring of slots that pause: n from `first` on, in the order of due_ns */
    uint32_t *count; /* [size] operations of each slot since its last pause */
} rb_think_t;

/* time_ns [1, RB_THINK_MAX_NS], blocks > 0. */
void rb_think_init(rb_think_t *t, uint64_t time_ns, uint32_t blocks, uint32_t iodepth);
void rb_think_clear(rb_think_t *t); /* idempotent; also of one that is all zero */

/* freed [n]: slots whose operation was reaped at now_ns. Those that pause now are taken out, and
 * are due when their pause ends. Returns how many are left. */
uint32_t rb_think_pause(rb_think_t *t, rb_slot_t *slots, uint32_t *freed, uint32_t n,
                        uint64_t now_ns);
/* Before the first operation: the slots [n] pause until they are due, all at the same time. */
void rb_think_hold(rb_think_t *t, const uint32_t *slots, uint32_t n);
/* Slots whose pause is over, into ret_slots [as many as pause]; returns how many. */
uint32_t rb_think_wake(rb_think_t *t, const rb_slot_t *slots, uint32_t *ret_slots, uint64_t now_ns);

/* When the next pause ends; UINT64_MAX: nobody pauses. */
static inline uint64_t rb_think_due_ns(const rb_think_t *t, const rb_slot_t *slots)
{
    return t->n > 0 ? slots[t->queue[t->first]].due_ns : UINT64_MAX;
}
