/* steady.h - what a plan says about steady state. Any thread; no state. */
#pragma once

#include "common/err.h"
#include "coordinator/analysis/steady_state.h"
#include "rackbench.pb-c.h"

enum { RB_MAX_ROUNDS = 1000 };

typedef enum { RB_STEADY_IOPS, RB_STEADY_BW, RB_STEADY_MEAN, RB_STEADY_QUANTILE } rb_steady_what_t;

typedef struct {
    rb_steady_what_t kind;
    double quantile; /* of response */
} rb_steady_metric_t;

/* iops, bw, mean, p99, p99.9: RB_ERR_INPUT when it is none of these. */
int rb_steady_metric(const char *text, rb_steady_metric_t *ret, rb_err_t *err);
/* Of a plan that was checked; a damaged journal's window counts as the nearest that is right. */
rb_steady_rule_t rb_steady_rule(const Rackbench__SteadyState *steady);
