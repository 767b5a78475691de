/* pace.h - due times of an open loop: operation i is due at start + floor(i x 1e9 / rate) ns.
 *
 * Nothing is ever dropped: an operation that cannot be submitted in time keeps its due time and
 * waits here. One owner, the worker; hot, a few adds per operation.
 */
#pragma once

#include "common/base.h"

typedef struct {
    uint64_t start_ns, rate_iops;
    uint64_t due_ns;                   /* of the next operation */
    uint64_t step_ns, step_rest, rest; /* 1e9 / rate, its remainder, and the remainders so far */
} rb_pace_t;

/* rate_iops > 0 */
void rb_pace_init(rb_pace_t *p, uint64_t rate_iops, uint64_t start_ns);

/* Operations due before at_ns, from start on: exact, counted apart from rb_pace_take. */
uint64_t rb_pace_due_before(const rb_pace_t *p, uint64_t at_ns);

/* Takes up to n operations that are due at now_ns or before. */
static inline uint32_t rb_pace_take(rb_pace_t *p, uint64_t now_ns, uint64_t *ret_due_ns, uint32_t n)
{
    uint32_t taken = 0;
    while (taken < n && p->due_ns <= now_ns) {
        ret_due_ns[taken++] = p->due_ns;
        p->due_ns += p->step_ns;
        p->rest += p->step_rest;
        if (p->rest >= p->rate_iops) {
            p->rest -= p->rate_iops;
            p->due_ns++;
        }
    }
    return taken;
}
