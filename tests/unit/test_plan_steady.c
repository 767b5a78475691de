/* Plans with a steady_state: defaults, rules, and the phase that it becomes. */
#include "coordinator/plan/emit.h"
#include "coordinator/plan/expand.h"
#include "coordinator/plan/steady.h"
#include "tests/unit/plan_fixture.h"

/* The keys are in line 4, from column 5 on; the job in line 5. */
#define STEADY(keys, job)                                                                          \
    "targets: {s: {size: 1GiB}}\nphases:\n  - name: p\n    " keys "\n    jobs: [{" job "}]\n"

static const bad_plan_t bad[] = {
    {STEADY("steady_state: {window: 1}", "runtime: 1s"),
     "p.yaml:4:20: window: 1 is out of range; 2 to 1000 is right"},
    {STEADY("steady_state: {window: 9, max: 8}", "runtime: 1s"),
     "p.yaml:4:20: window: 9 rounds are more than max, 8; make max larger"},
    {STEADY("steady_state: {metric: speed}", "runtime: 1s"),
     "p.yaml:4:20: metric: 'speed' is no metric; iops, bw, mean, or a percentile of response like "
     "p99 or p99.9 is right"},
    {STEADY("steady_state: {round: 1s}", "runtime: 1s"),
     "p.yaml:4:20: a round lasts as long as the phase's runtime; write runtime: 60s"},
    {STEADY("steady_state: {}", "number_ios: 5"),
     "p.yaml:4:5: steady_state: job 'j0' needs a runtime, that of a round, and no io_size or "
     "number_ios"},
    {STEADY("steady_state: {}", "runtime: 1s, rate_iops: 5"),
     "p.yaml:4:5: steady_state: job 'j0' has a rate or a latency_target; only what goes as fast as "
     "it can comes to rest by itself"},
    {STEADY("steady_state: {}", "runtime: 1500ms"),
     "p.yaml:4:5: steady_state: rounds are made of whole windows, and runtime is no multiple of "
     "the "
     "plan's interval (1s where it says auto); choose another"},
    {STEADY("steady_state: {}", "runtime: 1s, ramp_time: 100ms"),
     "p.yaml:4:5: steady_state: rounds are made of whole windows, and ramp_time is no multiple of "
     "the plan's interval (1s where it says auto); choose another"},
    {STEADY("steady_state: {max: 1000}", "runtime: 364d"),
     "p.yaml:5:13: runtime: 52w is out of range"},
};

static void test_bad(void **state)
{
    (void)state;
    expect_messages(bad, RB_LEN(bad) - 1);
    rb_err_t err;
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = load_plan(bad[RB_LEN(bad) - 1].text, &places);
    assert_int_equal(rb_plan_resolve(plan, places, &err), -1);
    assert_non_null(strstr(err.text, "is out of range; 1ms to"));
}

static void test_rounds(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan =
        resolved_plan(STEADY("steady_state: {slope: 2.5%}", "runtime: 1m, ramp_time: 2s"));
    const Rackbench__SteadyState *s = plan->phases[0]->steady_state;
    assert_true(s->window == 5 && s->max == 25 && s->range_ppm == 200000 && s->slope_ppm == 25000);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *run = rb_plan_expand(plan);
    assert_int_equal(run->phases[0]->steady_state->round_ns, 60 * RB_NS_PER_S);
    assert_int_equal(run->phases[0]->jobs[0]->runtime_ns, 25 * 60 * RB_NS_PER_S);
    assert_int_equal(plan->phases[0]->jobs[0]->runtime_ns, 60 * RB_NS_PER_S);
    RB_AUTO(rb_free_str) char *text = rb_plan_emit(plan);
    assert_non_null(strstr(text, "slope: 2.5%\n"));
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *again = resolved_plan(text);
    assert_plans_equal(plan, again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_rounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
