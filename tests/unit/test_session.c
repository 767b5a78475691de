/* The agent's session: what it does and says, as one line of words per course. */
#include "agent/session.h"

#include "tests/unit/session_fixture.h"

static void test_normal_course(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    make_row(a, "w1");
    make_row(a, "w2");
    report(a, RB_SESSION_DRAINED);
    expect(a, "row:w1 row:w2 Drained(0 rows 2 fault 0) ");
    beat(a, 2);
    expect(a, "BeatAck(2) ");
    prepare(a, 1);
    report(a, RB_SESSION_PROGRESS);
    report(a, RB_SESSION_READY);
    arm(a, 1);
    stop(a, 1, 9000);
    report(a, RB_SESSION_DRAINED);
    expect(a, "prepare(1) Progress Ready arm(5000,-3) Armed stop(9000) Drained(1 rows 2 fault 0) ");
    prepare(a, 0); /* long done */
    expect(a, "");
    bye(a);
    expect(a, "release ");
    assert_false(rb_session_owned(a->session));
    assert_int_equal(rb_session_next_row(a->session), 1);
}

static void test_lost_answers_are_given_again(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    hello(a, "c", run1);
    hello(a, "c", run1);
    load(a);
    load(a);       /* still at it: Loaded will come */
    prepare(a, 0); /* nor is there anything to prepare */
    report(a, RB_SESSION_LOADED);
    expect(a, "Welcome Welcome load(2 phases, h1) Loaded ");
    load(a);
    report(a, RB_SESSION_LOADED);
    expect(a, "load(2 phases, h1) Loaded ");
    prepare(a, 0);
    prepare(a, 0); /* still at it: Ready will come */
    report(a, RB_SESSION_READY);
    prepare(a, 0);
    expect(a, "prepare(0) Ready Ready ");
    arm(a, 0);
    arm(a, 0);
    expect(a, "arm(5000,-3) Armed Armed ");
    report(a, RB_SESSION_DRAINED);
    stop(a, 0, 0);
    expect(a, "Drained(0 rows 0 fault 0) Drained(0 rows 0 fault 0) ");
    prepare(a, 0); /* done: not once more */
    arm(a, 0);
    expect(a, "");
    prepare(a, 1);
    report(a, RB_SESSION_FAILED);
    prepare(a, 1);
    arm(a, 1);
    stop(a, 1, 0);
    expect(a, "prepare(1) Failed(fault 4) Failed(fault 4) Failed(fault 4) Failed(fault 4) ");
}

static void test_others_are_busy_and_unheard(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    hello(a, "x", run2);
    expect(a, "Busy(run1 to x) ");
    HEAR(a, "x", STOP, stop, Stop, stop, .phase = 0, .te_ns = 0);
    HEAR(a, "x", BEAT, beat, Beat, beat, .seq = 1);
    HEAR(a, "x", BYE, bye, Bye, bye, .reason = NULL);
    expect(a, "");
    assert_int_equal(rb_session_state(a->session), RACKBENCH__BEAT_ACK__STATE__armed);
}

static void test_rows_are_sent_again_when_acknowledgements_stand_still(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    make_row(a, "r1");
    make_row(a, "r2");
    make_row(a, "r3");
    beat(a, 1);
    expect(a, "row:r1 row:r2 row:r3 BeatAck(5) ");
    wait(a, 500 * RB_NS_PER_MS);
    beat(a, 2); /* it moves */
    expect(a, "BeatAck(5) ");
    wait(a, 500 * RB_NS_PER_MS);
    beat(a, 2);
    expect(a, "BeatAck(5) row:r3 ");
    beat(a, 2); /* just sent: give it time */
    expect(a, "BeatAck(5) ");
    beat(a, 3);
    wait(a, 500 * RB_NS_PER_MS);
    beat(a, 3);
    expect(a, "BeatAck(5) BeatAck(5) ");
    assert_int_equal(rb_session_next_row(a->session), 4);
}

/* HEAR with a Discipline in the Beat. */
static void tell_clock(agent_t *a, uint32_t phase)
{
    Rackbench__Discipline d = RACKBENCH__DISCIPLINE__INIT;
    d.phase = phase;
    d.at_ns = 7;
    d.local_ns = 5007;
    d.drift_ppb = -9;
    HEAR(a, "c", BEAT, beat, Beat, beat, .seq = ++a->seq, .discipline = &d);
}

static void test_the_clock_is_told_to_the_phase_that_runs(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    tell_clock(a, 1); /* another phase's */
    tell_clock(a, 0);
    expect(a, "BeatAck(5) discipline(7,5007,-9) BeatAck(5) ");
    stop(a, 0, 6000);
    tell_clock(a, 0);
    report(a, RB_SESSION_DRAINED);
    tell_clock(a, 0); /* nothing runs any more */
    expect(a, "stop(6000) discipline(7,5007,-9) BeatAck(6) Drained(0 rows 0 fault 0) BeatAck(2) ");
}

static void test_full_outbox_takes_no_rows(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    size_t size = RB_MAX_OUTBOX / 4;
    char *row = rb_calloc(1, size);
    for (size_t i = 0; i < 4; i++) {
        assert_true(rb_session_takes_rows(a->session));
        step(a, (rb_session_event_t){.kind = RB_SESSION_ROW, .row = row, .row_size = size});
    }
    assert_false(rb_session_takes_rows(a->session));
    beat(a, 1);
    assert_true(rb_session_takes_rows(a->session));
    free(row);
}

static void test_lease_ends_io_and_is_the_reason(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    assert_int_equal(rb_session_deadline_ns(a->session), a->now_ns + LEASE_NS);
    wait(a, LEASE_NS - 1);
    expect(a, "");
    wait(a, 1);
    expect(a, "note(lease_expired) stop(0) ");
    make_row(a, "kept"); /* not sent: nobody listens */
    expect(a, "");
    hello(a, "x", run2); /* not before its I/O is over */
    expect(a, "Busy(run1 to x) ");
    report(a, RB_SESSION_DRAINED);
    expect(a, "Drained(0 rows 1 fault 5) ");
    wait(a, LEASE_NS);
    expect(a, ""); /* once is enough */
    hello(a, "c2", run1);
    HEAR(a, "c2", BEAT, beat, Beat, beat, .seq = 1);
    wait(a, 500 * RB_NS_PER_MS);
    HEAR(a, "c2", BEAT, beat, Beat, beat, .seq = 2);
    expect(a, "Welcome BeatAck(2) row:kept BeatAck(2) row:kept ");
}

static void collect(agent_t *a, uint64_t acked)
{
    HEAR(a, "c", COLLECT, collect, Collect, collect, .seq = ++a->seq, .acked_row = acked);
}

/* Given up: I/O ends at once, rows are handed over, the lease is not kept up. */
static void test_collect_ends_io_and_takes_rows(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    make_row(a, "r1");
    wait(a, LEASE_NS / 2);
    a->said[0] = '\0';
    collect(a, 0);
    expect(a, "note(given_up) stop(0) BeatAck(6) ");
    wait(a, LEASE_NS / 4);
    collect(a, 0); /* also where the end that was told is still to come */
    expect(a, "stop(0) BeatAck(6) row:r1 ");
    report(a, RB_SESSION_DRAINED);
    expect(a, "Drained(0 rows 1 fault 5) ");
    hello(a, "c", run1); /* its own may come back */
    expect(a, "Welcome ");
    collect(a, 0);
    expect(a, "BeatAck(2) row:r1 ");
    wait(a, LEASE_NS);
    expect(a, ""); /* I/O has ended before that */
    make_row(a, "r2");
    collect(a, 1);
    expect(a, "BeatAck(2) row:r2 ");
    hello(a, "x", run2);
    expect(a, "release Welcome ");
}

/* A coordinator that was started anew does not know that this was prepared. */
static void test_load_begins_anew(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    hello(a, "c", run1);
    load(a);
    report(a, RB_SESSION_LOADED);
    prepare(a, 0);
    report(a, RB_SESSION_READY);
    a->said[0] = '\0';
    hello(a, "c", run1);
    load(a);
    report(a, RB_SESSION_LOADED);
    prepare(a, 0);
    report(a, RB_SESSION_READY);
    arm(a, 0);
    expect(a, "Welcome load(2 phases, h1) Loaded prepare(0) Ready arm(5000,-3) Armed ");
    load(a); /* not while there is I/O */
    expect(a, "");
    stop(a, 0, 0);
    report(a, RB_SESSION_DRAINED);
    load(a);
    report(a, RB_SESSION_LOADED);
    prepare(a, 0); /* it was run */
    expect(a, "stop(0) Drained(0 rows 0 fault 0) load(2 phases, h1) Loaded ");
    prepare(a, 1);
    expect(a, "prepare(1) ");
}

/* The engine gives up what was ready, so ARM must not reach it any more. */
static void test_lease_ends_what_was_ready(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    hello(a, "c", run1);
    load(a);
    report(a, RB_SESSION_LOADED);
    prepare(a, 0);
    report(a, RB_SESSION_READY);
    a->said[0] = '\0';
    wait(a, LEASE_NS);
    arm(a, 0);
    expect(a, "note(lease_expired) stop(0) ");
    report(a, RB_SESSION_FAILED);
    expect(a, "Failed(fault 5) ");
}

/* A Beat for an agent that was restarted finds nobody's agent, and is told so. */
static void test_a_restarted_agent_says_idle(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    beat(a, 7);
    load(a);
    expect(a, "BeatAck(0) ");
}

static void test_goodbye_to_the_owner_only(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    rb_session_leave(a->session, "SIGTERM");
    expect(a, "");
    hello(a, "c", run1);
    rb_session_leave(a->session, "SIGTERM");
    expect(a, "Welcome Leaving ");
}

static void test_joins_until_somebody_calls(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new("h1");
    wait(a, 0);
    wait(a, 249 * RB_NS_PER_MS);
    expect(a, "Join ");
    wait(a, RB_NS_PER_MS);
    hello(a, "c", run1);
    wait(a, RB_NS_PER_S);
    expect(a, "Join Welcome ");
}

static void test_clean_before_any_phase_only(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    hello(a, "c", run1);
    HEAR(a, "c", CLEAN, clean, Clean, clean, .plan = &a->plan);
    report(a, RB_SESSION_CLEANED);
    expect(a, "Welcome clean(2 phases, h1) Cleaned ");
    RB_AUTO(agent_destroy) agent_t *b = agent_armed();
    HEAR(b, "c", CLEAN, clean, Clean, clean, .plan = &b->plan);
    expect(b, "");
}

/* A step beyond the plan's phases must bring its phase along. */
static void test_a_step_brings_its_phase(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    hello(a, "c", run1);
    load(a);
    report(a, RB_SESSION_LOADED);
    prepare(a, 2); /* the plan has two */
    expect(a, "Welcome load(2 phases, h1) Loaded ");
    HEAR(a, "c", PREPARE, prepare, Prepare, prepare, .phase = 2, .override = &a->phase);
    report(a, RB_SESSION_READY);
    HEAR(a, "c", PREPARE, prepare, Prepare, prepare, .phase = 2, .override = &a->phase);
    arm(a, 2);
    expect(a, "prepare(2) Ready Ready arm(5000,-3) Armed ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_course),
        cmocka_unit_test(test_lost_answers_are_given_again),
        cmocka_unit_test(test_others_are_busy_and_unheard),
        cmocka_unit_test(test_rows_are_sent_again_when_acknowledgements_stand_still),
        cmocka_unit_test(test_the_clock_is_told_to_the_phase_that_runs),
        cmocka_unit_test(test_full_outbox_takes_no_rows),
        cmocka_unit_test(test_lease_ends_io_and_is_the_reason),
        cmocka_unit_test(test_lease_ends_what_was_ready),
        cmocka_unit_test(test_collect_ends_io_and_takes_rows),
        cmocka_unit_test(test_load_begins_anew),
        cmocka_unit_test(test_a_restarted_agent_says_idle),
        cmocka_unit_test(test_goodbye_to_the_owner_only),
        cmocka_unit_test(test_joins_until_somebody_calls),
        cmocka_unit_test(test_clean_before_any_phase_only),
        cmocka_unit_test(test_a_step_brings_its_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
