#include "coordinator/analysis/latency_search.h"
#include "coordinator/plan/check_rules.h"
#include "coordinator/plan/expand.h"
#include "coordinator/plan/search.h"

static int percentile(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    uint32_t ppm;
    rb_err_t why;
    if (!job->latency_percentile)
        return 0;
    if (!job->has_latency_target_ns)
        return rb_rule_fail(s, "latency_percentile",
                            "latency_percentile needs a target: add latency_target: 2ms");
    if (rb_search_percentile(job->latency_percentile, &ppm, &why) != 0)
        return rb_rule_fail(s, "latency_percentile", "latency_percentile: %s", why.text);
    return 0;
}

/* The rate is what is searched for. */
static int rate(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (!job->has_latency_target_ns)
        return 0;
    if (job->has_rate_iops || job->has_rate_bytes)
        return rb_rule_fail(s, job->has_rate_iops ? "rate_iops" : "rate_bytes",
                            "latency_target searches for the rate; leave %s out, or latency_target",
                            job->has_rate_iops ? "rate_iops" : "rate");
    if (job->thinktime_ns > 0)
        return rb_rule_fail(s, "thinktime_ns",
                            "latency_target searches in open loops, which have no thinktime; leave "
                            "one of them out");
    if (job->has_rate_scope && job->rate_scope != RACKBENCH__RATE_SCOPE__KIND__cluster)
        return rb_rule_fail(s, "rate_scope",
                            "latency_target searches for the rate of the whole cluster; leave "
                            "rate_scope out");
    return 0;
}

/* Each step lasts as long as the phase. */
static int length(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (!job->has_latency_target_ns)
        return 0;
    const char *key = job->has_io_size_bytes ? "io_size"
                      : job->has_number_ios  ? "number_ios"
                      : job->has_loops       ? "loops"
                                             : NULL;
    if (key)
        return rb_rule_fail(s, job->has_io_size_bytes ? "io_size_bytes" : key,
                            "latency_target searches in steps of ramp_time and runtime; leave %s "
                            "out",
                            key);
    if (!job->has_runtime_ns)
        return rb_rule_fail(s, "latency_target_ns",
                            "latency_target needs runtime: each step of the search lasts ramp_time "
                            "and runtime");
    return 0;
}

static rb_rule_t *const rules[] = {percentile, rate, length};

int rb_check_search(const rb_scope_t *s)
{
    return rb_rules_ask(s, rules, RB_LEN(rules));
}

int rb_check_searches(const rb_scope_t *s)
{
    int first = rb_search_job(s->phase);
    if (first >= 0 && s->phase->point != NULL)
        return rb_rule_fail(s, "sweep",
                            "phase '%s' has a sweep and a job with a latency_target; put them in "
                            "separate phases",
                            s->phase->name);
    for (size_t i = (size_t)first + 1; first >= 0 && i < s->phase->n_jobs; i++) {
        RB_AUTO(rb_free_str)
        char *key =
            rb_asprintf("jobs.%zu.%s", i,
                        rb_search_over_speed(s->phase->jobs[i]) ? "kv_cache" : "latency_target_ns");
        if (rb_search_is(s->phase->jobs[i]))
            return rb_rule_fail(s, key,
                                "jobs '%s' and '%s' of phase '%s' both search for a rate; put "
                                "them in separate phases",
                                s->phase->jobs[first]->name, s->phase->jobs[i]->name,
                                s->phase->name);
    }
    return 0;
}

/* A step of a search, or a point of a sweep, is numbered as a phase is. */
int rb_check_step_count(const rb_scope_t *s)
{
    size_t steps = 0;
    for (size_t i = 0; i < s->plan->n_phases; i++)
        steps += rb_search_job(s->plan->phases[i]) >= 0 ? RB_SEARCH_MAX_STEPS
                                                        : rb_sweep_points(s->plan->phases[i]);
    if (steps <= RB_MAX_PHASES)
        return 0;
    return rb_rule_fail(s, "phases",
                        "%zu phases, points of sweeps and steps of searches (%d each); at most %d "
                        "are right",
                        steps, RB_SEARCH_MAX_STEPS, RB_MAX_PHASES);
}
