#include "coordinator/analysis/steady_state.h"

#include <math.h>

/* Least squares over x = 0, 1, ... */
static double slope_of(const double *y, uint32_t n, double mean)
{
    double middle = (n - 1) / 2.0, xy = 0, xx = 0;
    for (uint32_t i = 0; i < n; i++) {
        xy += (i - middle) * (y[i] - mean);
        xx += (i - middle) * (i - middle);
    }
    return xy / xx;
}

static bool holds(const rb_steady_rule_t *rule, const rb_steady_fit_t *f)
{
    switch (rule->kind) {
    case RB_STEADY_PTS:
        return f->range <= rule->range && f->excursion <= rule->slope;
    case RB_STEADY_DEVIATION:
        return f->deviation < rule->range;
    case RB_STEADY_SLOPE:
        return f->slope < rule->slope;
    }
    return false;
}

rb_steady_fit_t rb_steady_fit(const rb_steady_rule_t *rule, const double *y)
{
    rb_steady_fit_t f = {0};
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < rule->window; i++) {
        f.mean += y[i] / rule->window;
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    if (!(f.mean > 0)) /* NAN, too */
        return f;
    f.range = (high - low) / f.mean;
    f.deviation = fmax(high - f.mean, f.mean - low) / f.mean;
    f.slope = fabs(slope_of(y, rule->window, f.mean)) / f.mean;
    f.excursion = f.slope * (rule->window - 1);
    f.holds = holds(rule, &f);
    return f;
}

uint32_t rb_steady_latch(const rb_steady_rule_t *rule, const double *y, uint32_t n)
{
    for (uint32_t end = rule->window; end <= n; end++)
        if (rb_steady_fit(rule, y + end - rule->window).holds)
            return end;
    return 0;
}
