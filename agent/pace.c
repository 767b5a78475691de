#include "agent/pace.h"

#include <math.h>

typedef unsigned __int128 wide_t;

static void begin_poisson(rb_pace_t *p)
{
    p->at_ns = 0;
    rb_rng_seed(&p->rng, p->seed, 0, 3);
    rb_pace_poisson_step(p);
}

void rb_pace_init(rb_pace_t *p, const rb_pace_opts_t *opts, uint64_t start_ns)
{
    RB_ASSERT(opts->rate > 0 && opts->rate <= RB_PACE_MAX_RATE && opts->cost > 0);
    RB_ASSERT(opts->share > 0 && opts->index < opts->share);
    wide_t one = (wide_t)opts->cost * RB_NS_PER_S, step = one * opts->share;
    *p = (rb_pace_t){.start_ns = start_ns,
                     .rate = opts->rate,
                     .step_ns = (uint64_t)RB_MIN(step / opts->rate, (wide_t)INT64_MAX),
                     .step_rest = (uint64_t)(step % opts->rate),
                     .poisson = opts->process == RB_PACE_POISSON,
                     .mean_ns = (double)step / (double)opts->rate,
                     .seed = opts->seed};
    if (p->poisson) {
        begin_poisson(p);
        return;
    }
    p->start_ns += (uint64_t)RB_MIN(one * opts->index / opts->rate, (wide_t)INT64_MAX);
    p->due_ns = p->start_ns;
}

void rb_pace_poisson_step(rb_pace_t *p)
{
    p->at_ns -= p->mean_ns * log1p(-rb_rng_double(&p->rng));
    p->due_ns = p->start_ns + (uint64_t)p->at_ns;
}

static uint64_t count_poisson(const rb_pace_t *p, uint64_t at_ns)
{
    rb_pace_t again = *p;
    uint64_t n = 0;
    for (begin_poisson(&again); again.due_ns < at_ns; n++)
        rb_pace_poisson_step(&again);
    return n;
}

uint64_t rb_pace_due_before(const rb_pace_t *p, uint64_t at_ns)
{
    if (p->poisson)
        return count_poisson(p, at_ns);
    if (at_ns <= p->start_ns)
        return 0;
    wide_t step = (wide_t)p->step_ns * p->rate + p->step_rest;
    return (uint64_t)(((wide_t)(at_ns - p->start_ns) * p->rate + step - 1) / step);
}
