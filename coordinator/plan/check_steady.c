#include "coordinator/plan/limits.h"
#include "coordinator/plan/search.h"
#include "coordinator/plan/steady.h"

int rb_check_steady(const rb_scope_t *s)
{
    const Rackbench__SteadyState *steady = s->phase->steady_state;
    rb_steady_metric_t metric;
    rb_err_t why;
    if (steady == NULL)
        return 0;
    rb_scope_t inner = *s;
    snprintf(inner.path, sizeof(inner.path), "%.40s.steady_state", s->path);
    if (rb_limits_ask(&inner, &steady->base) != 0)
        return -1;
    if (rb_steady_metric(steady->metric, &metric, &why) != 0)
        return rb_rule_fail(&inner, "metric", "metric: %s", why.text);
    if (steady->has_round_ns)
        return rb_rule_fail(&inner, "round_ns",
                            "a round lasts as long as the phase's runtime; "
                            "write runtime: 60s");
    if (steady->window > steady->max)
        return rb_rule_fail(&inner, "window",
                            "window: %u rounds are more than max, %u; make max larger",
                            steady->window, steady->max);
    return 0;
}

static int whole_windows(const rb_scope_t *s, const char *key, uint64_t ns)
{
    uint64_t interval_ns = s->plan->interval_ns > 0 ? s->plan->interval_ns : RB_NS_PER_S;
    if (ns % interval_ns == 0)
        return 0;
    return rb_rule_fail(s, "steady_state",
                        "steady_state: rounds are made of whole windows, and %s is no multiple of "
                        "the plan's interval (1s where it says auto); choose another",
                        key);
}

int rb_check_rounds(const rb_scope_t *s)
{
    const Rackbench__SteadyState *steady = s->phase->steady_state;
    for (size_t i = 0; steady != NULL && i < s->phase->n_jobs; i++) {
        const Rackbench__Job *job = s->phase->jobs[i];
        if (!job->has_runtime_ns || job->has_io_size_bytes || job->has_number_ios)
            return rb_rule_fail(s, "steady_state",
                                "steady_state: job '%s' needs a runtime, that of a round, and no "
                                "io_size or number_ios",
                                job->name);
        if (job->rate_iops > 0 || job->rate_bytes > 0 || job->has_latency_target_ns)
            return rb_rule_fail(s, "steady_state",
                                "steady_state: job '%s' has a rate or a latency_target; only what "
                                "goes as fast as it can comes to rest by itself",
                                job->name);
        if (whole_windows(s, "runtime", steady->round_ns) != 0 ||
            whole_windows(s, "ramp_time", job->ramp_time_ns) != 0)
            return -1;
    }
    return 0;
}
