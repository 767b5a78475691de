/* The coordinator's run: what it says and journals, and how it ends. */
#include "coordinator/run.h"

#include "tests/unit/run_fixture.h"

#define DRAINING  RACKBENCH__BEAT_ACK__STATE__draining
#define PREPARING RACKBENCH__BEAT_ACK__STATE__preparing
#define READY     RACKBENCH__BEAT_ACK__STATE__ready
#define ARMED     RACKBENCH__BEAT_ACK__STATE__armed
#define LOADED    RACKBENCH__BEAT_ACK__STATE__loaded
#define CONTINUE  RACKBENCH__PLAN__ON_HOST_LOSS__continue

static void test_normal_course(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    agent_row(f, 1, 1);
    drained(f, 1, 1);
    drained(f, 2, 1);
    assert_false(rb_run_done(f->run)); /* row 1 of h2 is not in */
    agent_row(f, 2, 1);
    expect(f, "Bye1 Bye2 ");
    expect_end(f, "done", RB_OK, "");
    assert_int_equal(f->agent_rows, 2);
    assert_int_equal(f->rows[RB_ROW_RUN], 1);
    assert_int_equal(f->rows[RB_ROW_HOST], 2);
    assert_int_equal(f->rows[RB_ROW_CLOCK], 4);
    assert_int_equal(f->last[RB_ROW_PHASE_START].phase_start.nhosts, 2);
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.nlost, 0);
    assert_false(f->last[RB_ROW_PHASE_END].phase_end.truncated);
    assert_string_equal(f->last[RB_ROW_RUN_END].run_end.status, "done");
}

static void test_phases_follow_each_other(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    f->plan.n_phases = 2;
    reach_run(f);
    drained(f, 1, 0);
    expect(f, "");
    drained(f, 2, 0);
    expect(f, "Prepare1 Prepare2 ");
    SAY(f, 1, READY, ready, Ready, .phase = 0); /* late, of the phase before */
    SAY(f, 2, READY, ready, Ready, .phase = 1);
    rb_run_view_t view;
    rb_run_view(f->run, f->now_ns, &view);
    assert_int_equal(view.stage, RB_STAGE_PREPARE);
    assert_int_equal(view.reached, 1);
}

static void test_lost_commands_and_answers(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_load(f);
    tick(f);
    pump(f); /* owned: Load was lost */
    expect(f, "Load1 Load2 ");
    all_enter(f, LOADED);
    f->states[1] = PREPARING;
    tick(f);
    pump(f); /* h1 is at it, h2 knows nothing of it */
    expect(f, "Prepare1 Prepare2 Prepare2 ");
    f->states[1] = READY;
    tick(f);
    pump(f); /* h1's Ready was lost */
    expect(f, "Prepare1 Prepare2 ");
    all_enter(f, READY);
    tick(f);
    pump(f);
    expect(f, "Arm1 Arm2 Arm1 Arm2 ");
    enter(f, 1, ARMED);
    f->states[2] = LOADED; /* Armed and Drained of h2 were lost */
    tick(f);
    pump(f);
    expect(f, "Stop2 ");
    f->states[1] = LOADED; /* Drained of h1 was lost */
    drained(f, 2, 0);
    tick(f);
    pump(f);
    expect(f, "Stop1 ");
    drained(f, 1, 0);
    expect_end(f, "done", RB_OK, "");
}

static void test_rows_in_order_each_once(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    agent_row(f, 1, 2); /* 1 was lost */
    assert_int_equal(f->agent_rows, 0);
    agent_row(f, 1, 1);
    agent_row(f, 1, 1);
    agent_row(f, 1, 2);
    assert_int_equal(f->agent_rows, 2);
    tick(f);
    assert_int_equal(f->acked[1], 2);
    assert_int_equal(f->acked[2], 0);
}

static void test_busy_agent_ends_the_run(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    static char other[] = "other";
    start(f);
    SAY(f, 2, BUSY, busy, Busy, .run_id = other, .since_wall_ns = 0);
    expect(f, "Hello1 Hello2 Bye1 Bye2 ");
    expect_end(f, "failed", RB_ERR_NET, "agent h2: busy with run other since 1970-01-01 00:00:00");
}

static void test_unreachable_host(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    start(f);
    welcome(f, 1);
    silence(f, 2, 6 * RB_NS_PER_S);
    expect_end(f, "host_lost", RB_ERR_NET, "agent h2: no answer from a2:7411 within 5.0 s");
    f->said[0] = '\0';
    assert_true(f->now_ns < 1006 * RB_NS_PER_S);
}

static void test_late_welcome_is_set_free(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    f->plan.on_host_loss = CONTINUE;
    start(f);
    welcome(f, 1);
    silence(f, 2, 5500 * RB_NS_PER_MS);
    assert_false(rb_run_done(f->run));
    f->said[0] = '\0';
    welcome(f, 2);
    expect(f, "Bye2 ");
}

/* In the middle of a phase, policy abort: the others stop and keep their figures. */
static void test_lost_host_stops_the_others(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    silence(f, 2, 3400 * RB_NS_PER_MS);
    expect(f, "Stop1 ");
    silence(f, 2, RB_NS_PER_MS); /* h1 is still at work: it did not get Stop */
    f->states[1] = DRAINING;
    silence(f, 2, RB_NS_PER_MS);
    expect(f, "Stop1 ");
    drained(f, 1, 0);
    wait_for_rows(f);
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h2: no answer for 3.");
    assert_true(f->last[RB_ROW_PHASE_END].phase_end.truncated);
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.nlost, 1);
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.lost[0], 2);
}

/* The others are done, and what they measured is whole. */
static void test_host_lost_while_draining(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    silence(f, 0, 10 * RB_NS_PER_S);
    drained(f, 1, 0);
    silence(f, 2, 5600 * RB_NS_PER_MS);
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h2: no answer");
    assert_false(f->last[RB_ROW_PHASE_END].phase_end.truncated);
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.nlost, 1);
}

static void lose_second_and_finish(fixture_t *f)
{
    f->plan.on_host_loss = CONTINUE;
    reach_run(f);
    f->beats[2] = 0;
    silence(f, 2, 4 * RB_NS_PER_S);
    expect(f, "");
    assert_int_equal(f->rows[RB_ROW_NOTE], 2); /* no_answer came first */
    assert_string_equal(f->last[RB_ROW_NOTE].note.kind, "host_lost");
    f->beats[2] = 0;
    tick(f);
    assert_int_equal(f->beats[2], 0); /* its lease is not kept up */
    drained(f, 1, 0);
    wait_for_rows(f);
    assert_true(rb_run_done(f->run));
    assert_int_equal(rb_run_rows_missing(f->run), 1);
    expect(f, "Bye1 "); /* h2 keeps its rows */
}

static void test_min_hosts(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *given = fixture_new();
    given->plan.min_hosts = 1;
    lose_second_and_finish(given);
    expect_end(given, "done", RB_OK, "");
    RB_AUTO(fixture_destroy) fixture_t *not_given = fixture_new();
    lose_second_and_finish(not_given);
    expect_end(not_given, "host_lost", RB_ERR_LOST, "1 of 2 hosts were lost");
    RB_AUTO(fixture_destroy) fixture_t *more = fixture_new();
    more->plan.min_hosts = 2;
    more->plan.on_host_loss = CONTINUE;
    reach_run(more);
    silence(more, 2, 3400 * RB_NS_PER_MS);
    expect(more, "Stop1 ");
    drained(more, 1, 0);
    wait_for_rows(more);
    expect_end(more, "host_lost", RB_ERR_LOST, "agent h2: no answer");
}

static void test_interrupt_once_drains(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    interrupt(f);
    expect(f, "Stop1 Stop2 ");
    drained(f, 1, 0);
    drained(f, 2, 0);
    expect_end(f, "truncated", RB_ERR_INTERRUPTED, "interrupted");
    assert_true(f->last[RB_ROW_PHASE_END].phase_end.truncated);
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.nlost, 0);
}

static void test_interrupt_twice_ends_at_once(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    interrupt(f);
    drained(f, 1, 0);
    interrupt(f);
    expect(f, "Stop1 Stop2 Bye1 Bye2 ");
    expect_end(f, "truncated", RB_ERR_INTERRUPTED, "interrupted");
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.nlost, 1);
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.lost[0], 2);
}

static void test_interrupt_before_a_phase_just_ends(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_load(f);
    interrupt(f);
    expect(f, "Bye1 Bye2 ");
    expect_end(f, "truncated", RB_ERR_INTERRUPTED, "interrupted");
    assert_int_equal(f->rows[RB_ROW_PHASE_END], 0);
    RB_AUTO(fixture_destroy) fixture_t *full = fixture_new();
    reach_load(full);
    full->rows_left = 1; /* the note, but not RUN_END */
    interrupt(full);
    expect(full, ""); /* the run can be resumed */
    expect_end(full, "truncated", RB_ERR_INTERRUPTED, "interrupted");
}

static void test_fault_is_passed_on(void **state)
{
    (void)state;
    static char text[] = "drive x: Input/output error";
    Rackbench__Fault fault = RACKBENCH__FAULT__INIT;
    fault.code = RB_ERR_IO;
    fault.text = text;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    SAY(f, 1, DRAINED, drained, Drained, .phase = 0, .fault = &fault);
    expect(f, "Stop2 ");
    drained(f, 2, 0);
    expect_end(f, "failed", RB_ERR_IO, "agent h1: drive x: Input/output error");
}

/* One host was ready and fails while the other still prepares. */
static void test_failure_after_ready(void **state)
{
    (void)state;
    static char text[] = "no word";
    Rackbench__Fault fault = RACKBENCH__FAULT__INIT;
    fault.code = RB_ERR_LOST;
    fault.text = text;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_load(f);
    all_enter(f, LOADED);
    enter(f, 1, READY);
    SAY(f, 1, FAILED, failed, Failed, .phase = 0, .fault = &fault);
    silence(f, 1, 1600 * RB_NS_PER_MS);
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h1: no word");
}

static void test_refusal(void **state)
{
    (void)state;
    static char path[] = "/dev/sda", reason[] = "/dev/sda is mounted on /";
    Rackbench__Subject subject = RACKBENCH__SUBJECT__INIT, *subjects[] = {&subject};
    subject.path = path;
    subject.refused = reason;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_load(f);
    SAY(f, 1, LOADED, loaded, Loaded, .n_subjects = 1, .subjects = subjects);
    assert_false(rb_run_done(f->run)); /* all refusals are collected first */
    enter(f, 2, LOADED);
    expect(f, "Bye1 Bye2 ");
    expect_end(f, "refused", RB_ERR_UNSAFE, "agent h1: refused: /dev/sda is mounted on /");
}

static void test_unsafe_fault_is_a_refusal(void **state)
{
    (void)state;
    static char text[] = "drive x is in use";
    Rackbench__Fault fault = RACKBENCH__FAULT__INIT;
    fault.code = RB_ERR_UNSAFE;
    fault.text = text;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_load(f);
    SAY(f, 2, LOADED, loaded, Loaded, .fault = &fault);
    expect_end(f, "refused", RB_ERR_UNSAFE, "agent h2: drive x is in use");
}

/* Whatever row the journal refuses, the run ends, and says nothing after Bye. */
static void test_full_journal_ends_the_run(void **state)
{
    (void)state;
    for (size_t rows = 0; rows <= 11; rows++) {
        RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
        f->rows_left = rows;
        start(f);
        welcome(f, 1);
        welcome(f, 2);
        pump(f);
        all_enter(f, LOADED);
        all_enter(f, READY);
        all_enter(f, ARMED);
        drained(f, 1, 0);
        drained(f, 2, 0);
        expect_end(f, "failed", RB_ERR_IO, "no space left");
        /* Who is known to hold rows keeps them. */
        size_t held = rb_run_rows_missing(f->run);
        assert_int_equal(held, rows <= 3 ? 0 : rows == 4 ? 1 : 2);
        const char *bye = strstr(f->said, "Bye");
        assert_string_equal(bye != NULL ? bye : "", held == 0   ? "Bye1 Bye2 "
                                                    : held == 1 ? "Bye2 "
                                                                : "");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_course),
        cmocka_unit_test(test_phases_follow_each_other),
        cmocka_unit_test(test_lost_commands_and_answers),
        cmocka_unit_test(test_rows_in_order_each_once),
        cmocka_unit_test(test_busy_agent_ends_the_run),
        cmocka_unit_test(test_unreachable_host),
        cmocka_unit_test(test_late_welcome_is_set_free),
        cmocka_unit_test(test_lost_host_stops_the_others),
        cmocka_unit_test(test_host_lost_while_draining),
        cmocka_unit_test(test_min_hosts),
        cmocka_unit_test(test_interrupt_once_drains),
        cmocka_unit_test(test_interrupt_twice_ends_at_once),
        cmocka_unit_test(test_interrupt_before_a_phase_just_ends),
        cmocka_unit_test(test_fault_is_passed_on),
        cmocka_unit_test(test_failure_after_ready),
        cmocka_unit_test(test_refusal),
        cmocka_unit_test(test_unsafe_fault_is_a_refusal),
        cmocka_unit_test(test_full_journal_ends_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
