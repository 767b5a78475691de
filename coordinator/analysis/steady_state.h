/* steady_state.h - when a drive has come to rest: its figure of each round, in; the round, out.
 *
 * PTS: over a window of rounds, the range (largest - smallest) and the excursion of the fitted line
 * (|slope| x (window - 1)) are each at most a share of the mean. DEVIATION and SLOPE are fio's: the
 * largest distance from the mean, or the line's slope per round, is below a share of the mean.
 * Each drive latches at its own window: to ask all to hold in one would never end with many drives.
 *
 * Pure. Any thread.
 * Source: SNIA SSS PTS 2.0.2, 2.1.24; fio HOWTO, steadystate; measurement.md 6.
 */
#pragma once

#include "common/base.h"

typedef enum { RB_STEADY_PTS, RB_STEADY_DEVIATION, RB_STEADY_SLOPE } rb_steady_kind_t;

typedef struct {
    rb_steady_kind_t kind;
    uint32_t window;     /* rounds, at least 2 */
    double range, slope; /* limits, as shares of the mean; of fio's kinds the one that it has */
} rb_steady_rule_t;

/* Of one window, as shares of the mean. */
typedef struct {
    double mean, range, excursion, deviation, slope;
    bool holds;
} rb_steady_fit_t;

/* y [rule->window]; one that is not known is NAN, and nothing holds over it. */
rb_steady_fit_t rb_steady_fit(const rb_steady_rule_t *rule, const double *y);
/* The first round, from 1, at whose end a window holds; 0: none of y [n]. */
uint32_t rb_steady_latch(const rb_steady_rule_t *rule, const double *y, uint32_t n);
