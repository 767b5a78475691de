#include "coordinator/plan/steady.h"

#include "coordinator/plan/search.h"

int rb_steady_metric(const char *text, rb_steady_metric_t *ret, rb_err_t *err)
{
    static const char *const words[] = {"iops", "bw", "mean"};
    uint32_t ppm;
    rb_err_t why;
    for (rb_steady_what_t i = 0; text != NULL && i < RB_LEN(words); i++)
        if (strcmp(text, words[i]) == 0) {
            *ret = (rb_steady_metric_t){.kind = i};
            return 0;
        }
    if (text == NULL || text[0] != 'p' || rb_search_percentile(text + 1, &ppm, &why) != 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "'%.64s' is no metric; iops, bw, mean, or a percentile of response like "
                          "p99 or p99.9 is right",
                          text != NULL ? text : "");
    *ret = (rb_steady_metric_t){.kind = RB_STEADY_QUANTILE, .quantile = ppm / 1e6};
    return 0;
}

rb_steady_rule_t rb_steady_rule(const Rackbench__SteadyState *steady)
{
    static const rb_steady_kind_t kinds[] = {
        [RACKBENCH__STEADY_CRITERION__KIND__pts] = RB_STEADY_PTS,
        [RACKBENCH__STEADY_CRITERION__KIND__deviation] = RB_STEADY_DEVIATION,
        [RACKBENCH__STEADY_CRITERION__KIND__slope] = RB_STEADY_SLOPE,
    };
    return (rb_steady_rule_t){.kind = kinds[RB_MIN((unsigned)steady->criterion, 2u)],
                              .window = RB_MIN(RB_MAX(steady->window, 2u), (uint32_t)RB_MAX_ROUNDS),
                              .range = (double)steady->range_ppm / 1e6,
                              .slope = (double)steady->slope_ppm / 1e6};
}
