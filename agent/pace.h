/* pace.h - due times of an open loop. Nothing is ever dropped: an operation that cannot be
 * submitted in time keeps its due time and waits here.
 *
 * linear:  operation i of worker w, of `share` workers that split one rate, is due at
 *          start + floor(w x cost x 1e9 / rate) + floor(i x share x cost x 1e9 / rate) ns:
 *          the workers' schedules interleave, and their union is evenly spaced at the whole rate.
 * poisson: the gaps are exponential with mean share x cost x 1e9 / rate ns; the union of the
 * workers' is Poisson at the whole rate (superposition). One owner, the worker; hot, a few adds per
 * operation (poisson: one logarithm).
 */
#pragma once

#include "common/base.h"
#include "common/rng.h"

#define RB_PACE_MAX_RATE ((1ull << 62) - 1)

typedef enum { RB_PACE_LINEAR, RB_PACE_POISSON } rb_pace_process_t;

typedef struct {
    uint64_t rate;  /* of all workers that share it, units per second; [1, RB_PACE_MAX_RATE] */
    uint64_t cost;  /* units an operation takes: 1, or its bytes; > 0 */
    uint64_t share; /* workers that split the rate; > 0 */
    uint64_t index; /* of this one, [0, share) */
    rb_pace_process_t process;
    uint64_t seed; /* poisson */
} rb_pace_opts_t;

typedef struct {
    uint64_t start_ns; /* linear: due time of operation 0 */
    uint64_t due_ns;   /* of the next operation */
    /* linear: one step is step_ns + step_rest / rate; `rest` are the remainders so far */
    uint64_t rate, step_ns, step_rest, rest;
    /* poisson */
    bool poisson;
    double mean_ns, at_ns; /* at_ns: since start */
    rb_rng_t rng;
    uint64_t seed;
} rb_pace_t;

void rb_pace_init(rb_pace_t *p, const rb_pace_opts_t *opts, uint64_t start_ns);

/* Operations due before at_ns, from start on: exact, counted apart from rb_pace_take. Poisson:
 * draws them all again, about 20 ns each. */
uint64_t rb_pace_due_before(const rb_pace_t *p, uint64_t at_ns);

void rb_pace_poisson_step(rb_pace_t *p);

static inline void rb_pace_step(rb_pace_t *p)
{
    if (p->poisson) {
        rb_pace_poisson_step(p);
        return;
    }
    p->due_ns += p->step_ns;
    p->rest += p->step_rest;
    if (p->rest >= p->rate) {
        p->rest -= p->rate;
        p->due_ns++;
    }
}

/* Takes up to n operations that are due at now_ns or before. */
static inline uint32_t rb_pace_take(rb_pace_t *p, uint64_t now_ns, uint64_t *ret_due_ns, uint32_t n)
{
    uint32_t taken = 0;
    while (taken < n && p->due_ns <= now_ns) {
        ret_due_ns[taken++] = p->due_ns;
        rb_pace_step(p);
    }
    return taken;
}
