/* Plans that search for a rate: their keys, defaults and rules. */
#include "coordinator/plan/search.h"
#include "tests/unit/plan_fixture.h"

#define SEARCH "runtime: 1s, latency_target: 2ms"
/* Two jobs, in lines 5 and 6 from column 10 on. */
#define TWO(first, then)                                                                           \
    "targets: {s: {size: 1GiB}}\nphases:\n  - runtime: 1s\n    jobs:\n      - {" first             \
    "}\n      - {" then "}\n"

static const bad_plan_t bad[] = {
    {JOB("latency_target: 2ms"), "p.yaml:5:10: latency_target needs runtime: each step of the "
                                 "search lasts ramp_time and runtime"},
    {JOB("latency_target: 1ns, runtime: 1s"),
     "p.yaml:5:10: latency_target: 1ns is out of range; 1us to 1h is right"},
    {JOB("runtime: 1s, latency_percentile: 99"),
     "p.yaml:5:23: latency_percentile needs a target: add latency_target: 2ms"},
    {JOB(SEARCH ", latency_percentile: 100"),
     "p.yaml:5:44: latency_percentile: '100' is no percentile; 99, 99.9 or 99.9% is right, above 0 "
     "and below 100 with at most 4 digits after the point"},
    {JOB(SEARCH ", rate_iops: 5"),
     "p.yaml:5:44: latency_target searches for the rate; leave rate_iops out, or latency_target"},
    {JOB(SEARCH ", rate: 1m"),
     "p.yaml:5:44: latency_target searches for the rate; leave rate out, or latency_target"},
    {JOB(SEARCH ", rate_scope: host"), "p.yaml:5:44: latency_target searches for the rate of the "
                                       "whole cluster; leave rate_scope out"},
    {JOB(SEARCH ", number_ios: 5"), "p.yaml:5:44: latency_target searches in steps of ramp_time "
                                    "and runtime; leave number_ios out"},
    {JOB(SEARCH ", io_size: 1m"),
     "p.yaml:5:44: latency_target searches in steps of ramp_time and runtime; leave io_size out"},
    {JOB(SEARCH ", thinktime: 1ms"),
     "p.yaml:5:44: latency_target searches in open loops, which have no thinktime; leave one of "
     "them out"},
    {TWO("latency_target: 2ms", "latency_target: 2ms"),
     "p.yaml:6:10: jobs 'j0' and 'j1' of phase 'phase0' both search for a rate; put them in "
     "separate phases"},
};

static void test_bad(void **state)
{
    (void)state;
    expect_messages(bad, RB_LEN(bad));
}

static void test_defaults(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(JOB(SEARCH));
    const Rackbench__Job *job = plan->phases[0]->jobs[0];
    assert_string_equal(job->latency_percentile, "99");
    assert_int_equal(rb_search_percentile_ppm(job), 990000);
    assert_int_equal(job->rate_scope, RACKBENCH__RATE_SCOPE__KIND__cluster);
    assert_int_equal(rb_search_job(plan->phases[0]), 0);
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *none = resolved_plan(JOB("runtime: 1s, rate_process: linear, rate_iops: 1"));
    assert_false(none->phases[0]->jobs[0]->has_rate_scope);
    assert_int_equal(rb_search_job(none->phases[0]), -1);
}

/* With what else it may stand, and a job beside it. */
static void test_good(void **state)
{
    (void)state;
    static const char *const good[] = {
        JOB(SEARCH ", rate_process: poisson, rate_scope: cluster, latency_percentile: 99.9%"),
        JOB(SEARCH ", ramp_time: 1s, rw: randrw, iodepth: 64"),
        TWO("latency_target: 2ms", "rate_iops: 5"),
    };
    expect_good(good, RB_LEN(good));
}

static void test_percentiles(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t ppm; /* 0: refused */
    } texts[] = {
        {"99", 990000}, {"99%", 990000}, {"99.9", 999000}, {"99.9%", 999000}, {"99.9999", 999999},
        {"50", 500000}, {"0.0001", 1},   {"0", 0},         {"100", 0},        {"99.99999", 0},
        {"p99", 0},     {"", 0},         {"99ppm", 0},     {"-1", 0},         {"99 %", 0},
        {"99%%", 0},    {"1e2", 0},      {".9", 0},
    };
    for (size_t i = 0; i < RB_LEN(texts); i++) {
        uint32_t ppm = 0;
        rb_err_t err = {0};
        int rc = rb_search_percentile(texts[i].text, &ppm, &err);
        if ((rc == 0) != (texts[i].ppm > 0) || ppm != texts[i].ppm)
            fail_msg("'%s' is %u ppm, rc %d", texts[i].text, ppm, rc);
    }
}

/* p99 of 1000 operations has 10 beyond it. */
static void test_certainty(void **state)
{
    (void)state;
    assert_int_equal((int)(rb_search_certain_iops(990000, 10 * RB_NS_PER_S) + 0.5), 100);
    assert_int_equal((int)(rb_search_certain_iops(999000, RB_NS_PER_S / 2) + 0.5), 20000);
    assert_int_equal(rb_search_certain_ns(990000, 100), 10 * RB_NS_PER_S);
    assert_int_equal(rb_search_certain_ns(990000, 99), 11 * RB_NS_PER_S);
    assert_true(rb_search_certain_ns(999999, 1e-9) > 0); /* and no overflow */
}

/* A step is numbered like a phase: 170 searches of 24 steps and 16 phases are 4096 and no more. */
static void test_steps_are_limited(void **state)
{
    (void)state;
    for (int n = 186; n <= 187; n++) {
        char *text = NULL;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        fputs("targets: {s: {size: 1GiB}}\nphases:\n", out);
        for (int i = 0; i < n; i++)
            fprintf(out, "  - jobs: [{%s}]\n", i < 170 ? SEARCH : "runtime: 1s");
        fclose(out);
        if (n == 186) {
            RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(text);
            assert_int_equal(plan->n_phases, 186);
        } else {
            expect_message(text, size, RESOLVED,
                           "p.yaml:2:1: 4097 phases, points of sweeps and steps of searches (24 "
                           "each); at most 4096 "
                           "are right");
        }
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),       cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_good),      cmocka_unit_test(test_percentiles),
        cmocka_unit_test(test_certainty), cmocka_unit_test(test_steps_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
