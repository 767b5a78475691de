/* The steps of a run: a search in the course of the run, and verdicts that end a phase. */
#include "coordinator/run.h"

#include "tests/unit/run_fixture.h"

static const rb_row_search_t *last_search(const fixture_t *f)
{
    return &f->last[RB_ROW_SEARCH].search;
}

static void searches(Rackbench__Job *job)
{
    static char percentile[] = "99";
    job->has_latency_target_ns = true;
    job->latency_target_ns = 20 * RB_NS_PER_MS;
    job->latency_percentile = percentile;
}

static void test_search_between_phases(void **state)
{
    (void)state;
    static char after[] = "after";
    static const uint64_t rates[] = {0, 500, 707, 707, 594, 594, 544, 544, 521, 521, 510, 510};
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    Rackbench__Phase plain = RACKBENCH__PHASE__INIT;
    Rackbench__Job job = RACKBENCH__JOB__INIT, *jobs[] = {&job};
    job.runtime_ns = RB_NS_PER_S;
    plain.name = after;
    plain.n_jobs = 1;
    plain.jobs = jobs;
    f->plan.n_phases = 2;
    f->phases[1] = &plain;
    searches(&f->job);
    reach_load(f);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__loaded);
    expect(f, "Prepare1 Prepare2 ");
    for (uint32_t i = 0; i < RB_LEN(rates); i++) {
        rb_run_view_t view;
        rb_run_view(f->run, f->now_ns, &view);
        assert_true(view.plan_phase == 0 && view.step == i + 1 && view.rate_iops == rates[i]);
        assert_true(f->prepared == i && f->overridden && f->rate_iops == rates[i]);
        assert_int_equal(f->last[RB_ROW_STEP].step.step, i + 1);
        do_step(f, i);
        expect(f, "Arm1 Arm2 Prepare1 Prepare2 ");
        assert_true(last_search(f)->phase == i && last_search(f)->rate_iops == rates[i]);
        assert_true(last_search(f)->kept == (rates[i] == 500));
        assert_string_equal(last_search(f)->verdict, i + 1 < RB_LEN(rates) ? "" : "found");
    }
    assert_true(f->prepared == RB_LEN(rates) && f->overridden); /* agents know it as phase 1 */
    assert_int_equal(f->last[RB_ROW_STEP].step.plan_phase, 1);
    assert_int_equal(f->last[RB_ROW_STEP].step.step, 1);
    do_step(f, RB_LEN(rates));
    expect(f, "Arm1 Arm2 Bye1 Bye2 ");
    expect_end(f, "done", RB_OK, "");
    assert_int_equal(f->rows[RB_ROW_SEARCH], RB_LEN(rates));
}

static void test_plain_plans_have_no_steps(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    f->plan.n_phases = 2;
    reach_load(f);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__loaded);
    do_step(f, 0);
    assert_true(f->prepared == 1 && !f->overridden);
    do_step(f, 1);
    expect_end(f, "done", RB_OK, "");
    assert_int_equal(f->rows[RB_ROW_STEP] + f->rows[RB_ROW_SEARCH], 0);
}

/* Stopped in a step: no verdict, and nothing more is run. */
static void test_interrupt_ends_a_search(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    searches(&f->job);
    reach_run(f);
    interrupt(f);
    drained(f, 1, 0);
    drained(f, 2, 0);
    expect_end(f, "truncated", RB_ERR_INTERRUPTED, "");
    assert_int_equal(f->rows[RB_ROW_SEARCH], 0);
    assert_true(f->last[RB_ROW_PHASE_END].phase_end.truncated);
}

/* Whatever row the journal refuses: the run ends, and agents keep their rows for who resumes it. */
static void test_full_journal_ends_a_search(void **state)
{
    (void)state;
    for (size_t rows = 8; rows <= 16; rows++) { /* 8: all before the first STEP row */
        RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
        searches(&f->job);
        f->rows_left = rows;
        reach_load(f);
        all_enter(f, RACKBENCH__BEAT_ACK__STATE__loaded);
        for (uint32_t i = 0; i < 3 && !rb_run_done(f->run); i++)
            do_step(f, i);
        expect_end(f, "failed", RB_ERR_IO, "no space left");
        assert_null(strstr(f->said, "Bye"));
        assert_int_equal(rb_run_rows_missing(f->run), HOSTS);
    }
}

static void verdict(fixture_t *f, const char *reason)
{
    step(f, (rb_run_event_t){.kind = RB_RUN_VERDICT, .text = reason});
}

static void test_verdict_ends_it_for_all(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_load(f);
    verdict(f, "too soon"); /* nothing runs yet */
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__loaded);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__ready);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__armed);
    expect(f, "Prepare1 Prepare2 Arm1 Arm2 ");
    verdict(f, "enough");
    expect(f, "Stop1 Stop2 ");
    verdict(f, "more than enough"); /* it ends already */
    expect(f, "");
    drained(f, 1, 0);
    drained(f, 2, 0);
    expect_end(f, "done", RB_OK, "");
    const rb_row_phase_end_t *end = &f->last[RB_ROW_PHASE_END].phase_end;
    assert_false(end->truncated);
    assert_string_equal(end->reason, "enough");
    assert_true(end->te_at_ns < 10 * (int64_t)RB_NS_PER_S);
}

/* All were draining already: it cut nothing. */
static void test_late_verdict_is_none(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    drained(f, 1, 0);
    f->now_ns += 11 * RB_NS_PER_S;
    verdict(f, "enough");
    expect(f, "Stop2 ");
    drained(f, 2, 0);
    expect_end(f, "done", RB_OK, "");
    assert_string_equal(f->last[RB_ROW_PHASE_END].phase_end.reason, "");
    assert_true(f->last[RB_ROW_PHASE_END].phase_end.te_at_ns == INT64_MAX);
}

/* Of two that end a phase the first says when, and the fault still counts. */
static void test_interrupt_after_a_verdict(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    verdict(f, "enough");
    interrupt(f);
    expect(f, "Stop1 Stop2 ");
    drained(f, 1, 0);
    drained(f, 2, 0);
    expect_end(f, "truncated", RB_ERR_INTERRUPTED, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_search_between_phases),
        cmocka_unit_test(test_plain_plans_have_no_steps),
        cmocka_unit_test(test_interrupt_ends_a_search),
        cmocka_unit_test(test_full_journal_ends_a_search),
        cmocka_unit_test(test_verdict_ends_it_for_all),
        cmocka_unit_test(test_late_verdict_is_none),
        cmocka_unit_test(test_interrupt_after_a_verdict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
