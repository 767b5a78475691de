/* merge_rounds.h - rounds of a phase with a steady_state, as the fold has them: which drive has
 * come to rest in which, and which of them are M.
 *
 * Main thread; pure. Round r lasts from ramp + (r - 1) x round to ramp + r x round; M is the window
 * that ends with the first round by which every drive has latched, or with the last whole one.
 * Source: measurement.md 6.
 */
#pragma once

#include "coordinator/analysis/steady_state.h"
#include "coordinator/merge.h"

typedef struct {
    uint32_t host, target, drive;
    const char *path;    /* borrowed from the fold */
    double *values;      /* [rounds] of the metric; NAN: not known */
    uint32_t latched;    /* round, from 1; 0: in none */
    rb_steady_fit_t fit; /* over M */
} rb_steady_drive_t;

typedef struct {
    rb_steady_rule_t rule;
    const Rackbench__SteadyState *as; /* borrowed */
    uint32_t rounds;                  /* that all hosts have done */
    bool reached;                     /* every drive has latched */
    uint32_t first, last;             /* of M; 0: there is no whole round */
    size_t ndrives;
    rb_steady_drive_t *drives; /* [ndrives] of hosts that were not lost */
} rb_steady_t;

/* NULL: the phase has no steady_state. */
rb_steady_t *rb_fold_steady(const rb_fold_t *fold, uint32_t phase);
void rb_steady_destroy(rb_steady_t **steady);

uint64_t rb_fold_round_ns(const rb_fold_t *fold, uint32_t phase); /* 0: it has no rounds */
/* Whole rounds that all hosts have delivered. */
uint32_t rb_fold_rounds(const rb_fold_t *fold, uint32_t phase);
