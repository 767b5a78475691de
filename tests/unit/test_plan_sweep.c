/* Plans with sweeps: what they say, their rules, and the phases that their points become. */
#include "coordinator/plan/emit.h"
#include "coordinator/plan/expand.h"
#include "tests/unit/plan_fixture.h"

/* The sweep is in line 4, from column 5 on; its job in line 5. */
#define SWEEP(keys, job)                                                                           \
    "targets: {s: {size: 1GiB}}\nphases:\n  - name: p\n    " keys "\n    jobs: [{" job "}]\n"

static const bad_plan_t bad[] = {
    {SWEEP("sweep: {iodeph: [1]}", ""),
     "p.yaml:4:13: sweep: 'iodeph' is no key of a job that takes one value; did you mean "
     "'iodepth'?"},
    {SWEEP("sweep: {name: [a, b]}", ""),
     "p.yaml:4:13: sweep: 'name' is no key of a job that takes one value; it cannot be swept"},
    {SWEEP("sweep: {iodepth: []}", ""),
     "p.yaml:4:13: sweep: a key without values; [1, 2, 4] is right"},
    {SWEEP("sweep: {bs: [4k], bs_bytes: [8k]}", ""),
     "p.yaml:4:23: sweep: this key stands there twice; remove one"},
    {SWEEP("sweep: {iodepth: [1, many]}", ""),
     "p.yaml:4:26: sweep: iodepth: \"many\" is not a count: it does not begin with a digit; write "
     "a "
     "whole number, or one with k M G T P (thousand, million, ...)"},
    {SWEEP("sweep: {iodepth: [1, 0]}", ""),
     "p.yaml:4:13: iodepth: 0 is out of range; 1 to 4096 is right (at the point iodepth 0)"},
    {SWEEP("sweep: {numjobs: [1, 2], bs: [4k, 1000]}", ""),
     "p.yaml:4:30: bs: 1000B is no multiple of 512, which direct I/O needs; round it, or set "
     "direct: false (at the point numjobs 1, bs 1000)"},
    {SWEEP("sweep: {iodepth: [1, 2], numjobs: [1]}\n    sweep_mode: zip", ""),
     "p.yaml:4:30: sweep_mode: zip pairs values, and numjobs has 1 where iodepth has 2; give all "
     "keys as many (or sweep_mode: cross)"},
    {SWEEP("sweep_mode: zip", ""), "p.yaml:4:5: sweep_mode without a sweep; add sweep: {KEY: "
                                   "[...]}, or leave it out"},
    {SWEEP("point: {number: 1}", ""),
     "p.yaml:4:5: point is what a sweep makes; write sweep: {KEY: [...]}"},
    {SWEEP("sweep: {iodepth: [1]}", "runtime: 1s, latency_target: 2ms"),
     "p.yaml:4:5: phase 'p' has a sweep and a job with a latency_target; put them in separate "
     "phases (at the point iodepth 1)"},
};

static void test_bad(void **state)
{
    (void)state;
    expect_messages(bad, RB_LEN(bad));
}

static Rackbench__Plan *expanded(const char *text)
{
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(text);
    return rb_plan_expand(plan);
}

static void expect_point(const Rackbench__Plan *run, size_t index, const char *text)
{
    RB_AUTO(rb_free_str) char *point = rb_point_text(run->phases[index]);
    assert_string_equal(point, text);
    assert_int_equal(run->phases[index]->point->number, index + 1);
    assert_int_equal(run->phases[index]->point->phase, 0);
    assert_string_equal(run->phases[index]->name, "p");
    assert_int_equal(run->phases[index]->n_sweep, 0);
    assert_false(run->phases[index]->has_sweep_mode);
}

/* The last key changes fastest; a value of the sweep goes before the job's own. */
static void test_cross(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *run = expanded(SWEEP("sweep: {iodepth: [1, 8], bs: [4k, 64KiB]}", "bs: 8k"));
    static const char *const points[] = {"iodepth 1, bs 4k", "iodepth 1, bs 64KiB",
                                         "iodepth 8, bs 4k", "iodepth 8, bs 64KiB"};
    assert_int_equal(run->n_phases, RB_LEN(points));
    for (size_t i = 0; i < RB_LEN(points); i++) {
        const Rackbench__Job *job = run->phases[i]->jobs[0];
        expect_point(run, i, points[i]);
        assert_int_equal(run->phases[i]->point->of, RB_LEN(points));
        assert_int_equal(job->iodepth, i < 2 ? 1 : 8);
        assert_int_equal(job->bs_bytes, i % 2 == 0 ? 4096 : 65536);
        assert_true(job->has_direct && job->direct); /* a point has the defaults of any phase */
    }
}

static void test_zip(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *run =
        expanded(SWEEP("sweep: {iodepth: [1, 8], numjobs: [4, 2]}\n    sweep_mode: zip", ""));
    assert_int_equal(run->n_phases, 2);
    expect_point(run, 0, "iodepth 1, numjobs 4");
    expect_point(run, 1, "iodepth 8, numjobs 2");
}

/* What is a default for one point would be wrong for another. */
static void test_defaults_go_by_the_point(void **state)
{
    (void)state;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *run = expanded(SWEEP("sweep: {rw: [randread, randrw]}", ""));
    assert_false(run->phases[0]->jobs[0]->has_rwmixread);
    assert_int_equal(run->phases[1]->jobs[0]->rwmixread, 50);
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *split = expanded(SWEEP("sweep: {bssplit: [4k/50:8k/50]}", ""));
    assert_false(split->phases[0]->jobs[0]->has_bs_bytes);
}

/* --set replaces a sweep as it does any key; what is printed loads back to the same. */
static void test_set_and_emit(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(rb_places_destroy) rb_places_t *places = NULL;
    RB_AUTO(rb_plan_destroy)
    Rackbench__Plan *plan = load_plan(SWEEP("sweep: {iodepth: [1]}", ""), &places);
    assert_int_equal(rb_plan_set(plan, "phases.p.sweep={numjobs: [1, 2], bs: 4k}", places, &err),
                     0);
    assert_int_equal(rb_plan_resolve(plan, places, &err), 0);
    assert_int_equal(rb_sweep_points(plan->phases[0]), 2);
    RB_AUTO(rb_free_str) char *text = rb_plan_emit(plan);
    assert_non_null(strstr(text, "sweep: {numjobs: [1, 2], bs: [4k]}"));
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *again = resolved_plan(text);
    assert_plans_equal(plan, again);
}

/* Points are numbered as phases are: so many there may be. */
static void test_too_many(void **state)
{
    (void)state;
    RB_AUTO(rb_free_str) char *list = rb_strdup("1");
    for (int i = 0; i < 64; i++) {
        char *longer = rb_asprintf("%s, 1", list);
        free(list);
        list = longer;
    }
    RB_AUTO(rb_free_str)
    char *text = rb_asprintf("targets: {s: {size: 1GiB}}\nphases:\n  - sweep: {iodepth: [%s], "
                             "numjobs: [%s]}\n    jobs: [{}]\n",
                             list, list);
    expect_message(text, strlen(text), RESOLVED,
                   "p.yaml:2:1: 4097 phases, points of sweeps and steps of searches (24 each); at "
                   "most 4096 are right");
}

/* Each point is a copy of its phase. */
static void test_too_large(void **state)
{
    (void)state;
    char path[500];
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    RB_AUTO(rb_free_str) char *jobs = rb_strdup("{}");
    for (int i = 0; i < 60; i++) {
        char *longer = rb_asprintf("%s, {cpus_allowed: \"%s\"}", jobs, path);
        free(jobs);
        jobs = longer;
    }
    RB_AUTO(rb_free_str)
    char *text = rb_asprintf(
        "targets: {s: {size: 1GiB}}\nphases:\n  - sweep: {iodepth: [1, 2, 3, 4, 5, 6, 7, 8], "
        "numjobs: [1, 2, 3, 4, 5, 6, 7, 8], offset: [0, 4k, 8k, 16k, 32k]}\n    jobs: [%s]\n",
        jobs);
    expect_message(text, strlen(text), RESOLVED,
                   "p.yaml:3:5: the plan has over 8 MiB with all points of its sweeps; split it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),          cmocka_unit_test(test_cross),
        cmocka_unit_test(test_zip),          cmocka_unit_test(test_defaults_go_by_the_point),
        cmocka_unit_test(test_set_and_emit), cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
