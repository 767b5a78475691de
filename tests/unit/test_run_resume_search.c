/* A search that is taken up again goes on from what its steps have shown, and a sweep at the point
 * that was cut short. */
#include "coordinator/run.h"

#include "tests/unit/resume_fixture.h"

/* The job of the plan's only phase searches; the journal ends in its second step. */
static void resume_in_search(fixture_t *f, before_t *b)
{
    static char percentile[] = "99";
    f->job.has_runtime_ns = f->job.has_latency_target_ns = true; /* it is copied */
    f->job.latency_target_ns = 20 * RB_NS_PER_MS;
    f->job.latency_percentile = percentile;
    resume_in_phase(f, b);
    rb_latency_search_t *search = &b->resume.search;
    rb_latency_search_init(search, f->job.latency_target_ns, 990000);
    rb_latency_search_take(search, &(rb_search_figures_t){.ops = 10000,
                                                          .length_ns = 10 * RB_NS_PER_S,
                                                          .quantile_ns = 50 * RB_NS_PER_MS});
    assert_int_equal(search->rate_iops, 500);
    b->resume.next_phase = b->resume.nsteps = 2;
    b->resume.phase = f->at_phase = 1;
    b->resume.step = 2;
}

static void expect_step(fixture_t *f, uint32_t number, uint64_t rate_iops)
{
    expect(f, "Prepare1 Prepare2 ");
    assert_true(f->prepared == number && f->overridden && f->rate_iops == rate_iops);
    assert_int_equal(f->rows[RB_ROW_STEP], 1);
    assert_int_equal(f->last[RB_ROW_STEP].step.step, number + 1);
}

static void drain_step(fixture_t *f, int64_t end_at_ns, Rackbench__Fault *fault)
{
    for (uint32_t host = 1; host <= HOSTS; host++) {
        worker_row(f, host, 4, end_at_ns);
        SAY(f, host, DRAINED, drained, Drained, .phase = 1, .last_row = 4, .fault = fault);
    }
}

/* The step under way counts, and the search goes on from what it was told before. */
static void test_search_goes_on(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_search(f, &before);
    f->prepared = 1;
    f->rate_iops = 500;
    greet(f, ARMED);
    expect(f, "Hello1 Hello2 ");
    step(f, (rb_run_event_t){.kind = RB_RUN_VERDICT, .text = "out of reach"});
    expect(f, ""); /* who ends early in it was alone for too long */
    drain_step(f, 10 * (int64_t)RB_NS_PER_S, NULL);
    assert_false(f->last[RB_ROW_PHASE_END].phase_end.truncated);
    assert_true(f->last[RB_ROW_SEARCH].search.kept &&
                f->last[RB_ROW_SEARCH].search.rate_iops == 500);
    expect(f, "Load1 Load2 ");
    all_enter(f, LOADED);
    expect_step(f, 2, 707);
}

/* A step that was cut short says nothing: it is run again. */
static void test_cut_step_is_run_again(void **state)
{
    (void)state;
    static char text[] = "no word";
    Rackbench__Fault fault = RACKBENCH__FAULT__INIT;
    fault.code = RB_ERR_LOST;
    fault.text = text;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_search(f, &before);
    greet(f, LOADED);
    expect(f, "Hello1 Hello2 Stop1 Stop2 ");
    drain_step(f, 4 * (int64_t)RB_NS_PER_S, &fault);
    assert_true(f->last[RB_ROW_PHASE_END].phase_end.truncated);
    assert_int_equal(f->rows[RB_ROW_SEARCH], 0);
    assert_non_null(strstr(f->said, "Load1 Load2 "));
    f->said[0] = '\0';
    all_enter(f, LOADED);
    expect_step(f, 2, 500);
}

/* Of a sweep the point that was cut short is run again, another phase is not; and one that was not
 * cut is over. */
static void test_cut_point_is_run_again(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        Rackbench__Point point = RACKBENCH__POINT__INIT;
        before_t before;
        RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
        f->job.has_runtime_ns = true;
        f->plan.n_phases = 2;
        f->phase.point = kind > 0 ? &point : NULL;
        resume_in_phase(f, &before);
        before.resume.under_way = false;
        before.resume.cut_step = before.resume.was_cut = kind < 2;
        before.resume.step = 1;
        greet(f, LOADED);
        expect(f, "Hello1 Hello2 Load1 Load2 ");
        all_enter(f, LOADED);
        expect(f, "Prepare1 Prepare2 ");
        assert_int_equal(f->prepared, 1);
        assert_int_equal(f->rows[RB_ROW_STEP], kind == 1);
        if (kind != 1)
            continue;
        assert_int_equal(f->last[RB_ROW_STEP].step.plan_phase, 0);
        assert_int_equal(f->last[RB_ROW_STEP].step.step, 2);
    }
}

/* The journal ends behind a STEP row, or before the figures of the step that it follows. */
static void test_between_steps(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++) {
        before_t before;
        RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
        resume_in_search(f, &before);
        before.resume.under_way = false;
        before.resume.told = told;
        before.resume.nsteps = told ? 3 : 2;
        f->prepared = 1;
        f->rate_iops = 500;
        greet(f, LOADED);
        expect(f, "Hello1 Hello2 Load1 Load2 ");
        assert_int_equal(f->rows[RB_ROW_SEARCH], !told);
        all_enter(f, LOADED);
        expect(f, "Prepare1 Prepare2 ");
        assert_int_equal(f->prepared, 2);
        assert_int_equal(f->rate_iops, told ? 500 : 707);
        assert_int_equal(f->rows[RB_ROW_STEP], !told);
    }
}

static void test_collect_only_leaves_steps_out(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_search(f, &before);
    before.resume.under_way = false;
    before.resume.told = true;
    f->opts.collect_only = true;
    greet(f, LOADED);
    expect(f, "Hello1 Hello2 Bye1 Bye2 ");
    expect_end(f, "truncated", RB_ERR_INTERRUPTED, "the phases that were left not run");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_goes_on),
        cmocka_unit_test(test_cut_step_is_run_again),
        cmocka_unit_test(test_cut_point_is_run_again),
        cmocka_unit_test(test_between_steps),
        cmocka_unit_test(test_collect_only_leaves_steps_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
