/* latency_search.h - the highest rate of a cluster that keeps a response time.
 *
 * First a closed loop at the job's iodepth: what it reaches is the ceiling. Then open loops, each
 * at the rate that the steps before leave in question: from half the ceiling down (each stride is
 * the square of the last, so that a target out of reach is told soon) until one keeps the target,
 * then the geometric middle of the highest rate that kept it and the lowest that did not, until
 * these are within 2 %, or one operation a second apart. Where the closed loop itself kept the
 * target, an open loop at the ceiling is asked first: if it keeps it too, iodepth is the limit and
 * not the target.
 *
 * A rate that does not keep the target is asked a second time, and fails if it fails twice: one
 * stall of a machine that is busy otherwise would end the search far below the answer.
 *
 * A step keeps the target when its quantile of response is at most the target, and when it did at
 * least 99 % of what was due: a backlog that grows keeps nothing.
 *
 * A search can climb instead, where a closed loop has no meaning: from a first rate it doubles
 * until one does not keep the target, or the most there is keeps it.
 *
 * Pure: figures in, the next rate or the verdict out. Any thread.
 */
#pragma once

#include "common/base.h"

enum { RB_SEARCH_MAX_STEPS = 24, RB_SEARCH_PERCENTILE_PPM = 990000 };

/* What a step did in M, on all hosts. */
typedef struct {
    uint64_t offered_ops; /* due in M; 0 in the closed loop */
    uint64_t ops;         /* completed in M: reads, writes and trims, without errors */
    uint64_t length_ns;   /* |M| */
    uint64_t quantile_ns; /* of response, at the percentile; 0: nothing completed */
    bool uncertain;       /* fewer than 10 operations beyond it */
} rb_search_figures_t;

typedef enum {
    RB_SEARCH_GOES_ON,
    RB_SEARCH_FOUND,   /* the lowest rate that failed is at most 2 % above the best */
    RB_SEARCH_CEILING, /* the target is kept at all that iodepth can do, or at the most there is */
    RB_SEARCH_NOT_REACHED, /* not even at the lowest rate tried */
    RB_SEARCH_COARSE,      /* no steps left, or no whole rate: the best is more than 2 % in doubt */
    RB_SEARCH_NO_DATA      /* a step completed nothing at all */
} rb_search_verdict_t;
/* "", "found", "ceiling", "not_reached", "coarse", "no_data" */
const char *rb_search_word(rb_search_verdict_t verdict);

typedef struct {
    uint64_t target_ns;
    uint32_t percentile_ppm;
    uint32_t steps;      /* taken */
    uint64_t rate_iops;  /* of the step to run next; 0: the closed loop */
    uint64_t best_iops;  /* highest that kept the target; 0: none yet */
    uint64_t worst_iops; /* lowest that did not, or the ceiling */
    bool ceiling_failed; /* worst_iops did not keep it; else nobody asked */
    bool failed_once;    /* the step to run next asks the same rate again */
    uint64_t most_iops;  /* it climbs, up to this; 0: it begins with a closed loop */
    uint64_t stride;     /* the next rate down is worst_iops / stride */
    rb_search_verdict_t verdict;
} rb_latency_search_t;

/* target_ns > 0; percentile_ppm in (0, 1000000). */
void rb_latency_search_init(rb_latency_search_t *search, uint64_t target_ns,
                            uint32_t percentile_ppm);
/* Right after it: no closed loop, the first step is at first_iops; 0 < first_iops <= most_iops. */
void rb_latency_search_climb(rb_latency_search_t *search, uint64_t first_iops, uint64_t most_iops);
/* The figures of the step at search->rate_iops; returns whether it kept the target. Sets the next
 * rate, or the verdict. Only while the verdict is GOES_ON. */
bool rb_latency_search_take(rb_latency_search_t *search, const rb_search_figures_t *figures);
/* Can the step under way not keep the target any more? late_ops took longer than the target so far,
 * due_ops are due from T0 to the end of M: more of them never complete in M. Never of the closed
 * loop, which is to find the ceiling. */
bool rb_latency_search_hopeless(const rb_latency_search_t *search, uint64_t late_ops,
                                uint64_t due_ops);
