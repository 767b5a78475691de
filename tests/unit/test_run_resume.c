/* Rows of hosts that were lost, and a run that is taken up again. */
#include "coordinator/run.h"

#include "tests/unit/resume_fixture.h"

#define DRAINING RACKBENCH__BEAT_ACK__STATE__draining
#define CONTINUE RACKBENCH__PLAN__ON_HOST_LOSS__continue

/* A lost host that answers again hands over what it has, and the run waits for that. */
static void test_rows_of_a_lost_host_are_taken(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    f->plan.on_host_loss = CONTINUE;
    reach_run(f);
    f->beats[2] = 0;
    silence(f, 2, 4 * RB_NS_PER_S);
    uint64_t seq = f->collects[2];
    assert_true(seq > 0);
    f->states[2] = DRAINING;
    f->beats[2] = seq;
    beat_ack(f, 2, 0);
    assert_string_equal(f->last[RB_ROW_NOTE].note.kind, "host_back");
    drained(f, 1, 0);
    silence(f, 2, 1600 * RB_NS_PER_MS);
    assert_false(rb_run_done(f->run)); /* it is back, and not done */
    agent_row(f, 2, 1);
    f->states[2] = LOADED;
    f->beats[2] = f->collects[2];
    f->last_row = 2;
    beat_ack(f, 2, 0);
    assert_false(rb_run_done(f->run));
    tick(f);
    assert_int_equal(f->acked[2], 1);
    agent_row(f, 2, 2);
    assert_string_equal(f->last[RB_ROW_NOTE].note.kind, "rows_in");
    expect(f, "Bye1 Bye2 ");
    expect_end(f, "host_lost", RB_ERR_LOST, "1 of 2 hosts were lost");
    assert_int_equal(rb_run_rows_missing(f->run), 0);
}

/* The journal is as large as it was: in the phase that goes on windows merge as they did before. */
static void test_journal_keeps_its_size(void **state)
{
    (void)state;
    for (int full = 0; full <= 1; full++) {
        RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
        before_t before;
        resume_in_phase(f, &before);
        f->opts.journal_max_bytes = 1000000;
        before.resume.journal_bytes = full ? 900000 : 100000;
        greet(f, ARMED);
        tick(f);
        assert_int_equal(f->spans[1], full ? RB_MAX_SPAN : 0);
    }
}

/* Only what is safe is acknowledged, and what cannot be made safe ends the run. */
static void test_failing_sync(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    agent_row(f, 1, 1);
    f->sync_fails = true;
    tick(f);
    assert_int_equal(f->acked[1], 0);
    expect(f, "Stop1 Stop2 ");
    drained(f, 1, 1);
    drained(f, 2, 0);
    expect(f, "");
    expect_end(f, "failed", RB_ERR_IO, "journal: Input/output error");
    assert_int_equal(rb_run_rows_missing(f->run), 2);
}

/* Within the lease nothing has happened to the agents: the phase ends as planned. */
static void test_phase_goes_on(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_phase(f, &before);
    greet(f, ARMED);
    expect(f, "Hello1 Hello2 ");
    assert_int_equal(f->rows[RB_ROW_RUN], 0);
    assert_int_equal(f->last[RB_ROW_NOTE].seq, 20);
    assert_string_equal(f->last[RB_ROW_NOTE].note.kind, "resumed");
    agent_row(f, 1, 3); /* it is in the journal */
    agent_row(f, 1, 4);
    assert_int_equal(f->agent_rows, 1);
    for (uint32_t host = 1; host <= HOSTS; host++)
        worker_row(f, host, host == 1 ? 5 : 4, 10 * (int64_t)RB_NS_PER_S);
    drained(f, 1, 5);
    drained(f, 2, 4);
    expect(f, "Bye1 Bye2 ");
    expect_end(f, "done", RB_OK, "");
    assert_false(f->last[RB_ROW_PHASE_END].phase_end.truncated);
}

/* After it they have stopped: the phase is cut, and the next one is run. */
static void test_cut_phase_and_the_next(void **state)
{
    (void)state;
    static char text[] = "no word";
    Rackbench__Fault fault = RACKBENCH__FAULT__INIT;
    fault.code = RB_ERR_LOST;
    fault.text = text;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    f->plan.n_phases = 2;
    resume_in_phase(f, &before);
    greet(f, LOADED);
    expect(f, "Hello1 Hello2 Stop1 Stop2 "); /* to hear of their end */
    for (uint32_t host = 1; host <= HOSTS; host++) {
        worker_row(f, host, 4, (int64_t)((2 + host) * RB_NS_PER_S));
        SAY(f, host, DRAINED, drained, Drained, .phase = 0, .last_row = 4, .fault = &fault);
    }
    assert_true(f->last[RB_ROW_PHASE_END].phase_end.truncated);
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.te_at_ns, 4 * RB_NS_PER_S);
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.nlost, 0);
    assert_non_null(strstr(f->said, "Load1 Load2 "));
    f->said[0] = '\0';
    all_enter(f, LOADED);
    expect(f, "Prepare1 Prepare2 ");
    for (uint32_t host = 1; host <= HOSTS; host++)
        SAY(f, host, READY, ready, Ready, .phase = 1);
    pump(f);
    for (uint32_t host = 1; host <= HOSTS; host++)
        SAY(f, host, ARMED, armed, Armed, .phase = 1);
    for (uint32_t host = 1; host <= HOSTS; host++)
        SAY(f, host, DRAINED, drained, Drained, .phase = 1, .last_row = 4);
    expect_end(f, "truncated", RB_ERR_INTERRUPTED, "a phase was cut short");
}

static void test_collect_only_stops_what_runs(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    f->plan.n_phases = 2;
    f->opts.collect_only = true;
    resume_in_phase(f, &before);
    greet(f, ARMED);
    expect(f, "Hello1 Hello2 Stop1 Stop2 ");
    drained(f, 1, 3);
    drained(f, 2, 3);
    expect(f, "Bye1 Bye2 ");
    expect_end(f, "truncated", RB_ERR_INTERRUPTED, "interrupted");
}

/* Whoever has fewer rows than the journal is another process, and gives nothing. */
static void test_stranger_is_lost(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_phase(f, &before);
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    f->states[1] = ARMED;
    f->last_row = 3;
    beat_ack(f, 1, 0);
    f->last_row = 0;
    beat_ack(f, 2, 0);
    f->last_row = 3;
    pump(f);
    expect(f, "Hello1 Hello2 Stop1 "); /* the rows of h1 are taken before the run ends */
    agent_row(f, 2, 4);
    assert_int_equal(f->agent_rows, 0);
    drained(f, 1, 3);
    expect(f, "Bye1 Bye2 ");
    expect_end(f, "host_lost", RB_ERR_LOST,
               "agent h2: it was restarted, or freed (rackbench stop)");
}

/* Rows that another journal has do not come any more: nobody waits for them, and whoever has them
 * keeps its agents. */
static void test_rows_acknowledged_elsewhere(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_phase(f, &before);
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    f->states[1] = f->states[2] = ARMED;
    f->last_row = 9;
    f->first_row = 4; /* the first that the journal lacks */
    beat_ack(f, 1, 0);
    f->first_row = 8;
    beat_ack(f, 2, 0);
    f->first_row = 4;
    pump(f);
    expect(f, "Hello1 Hello2 Stop1 ");
    for (uint64_t seq = 4; seq <= 9; seq++)
        agent_row(f, 1, seq);
    drained(f, 1, 9);
    expect(f, "Bye1 ");
    expect_end(
        f, "host_lost", RB_ERR_LOST,
        "agent h2: its rows 4 to 7 were acknowledged to another journal: this one is a copy");
}

/* The same of a host that was lost before. */
static void test_lost_rows_acknowledged_elsewhere(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_phase(f, &before);
    before.end = (rb_row_run_end_t){(char *)"host_lost", RB_ERR_LOST, 42, (char *)"agent h2: x"};
    before.resume.under_way = false;
    before.resume.complete = &before.end;
    before.hosts[1].lost = true;
    before.hosts[1].why = "x";
    f->last_row = 9;
    f->first_row = 5;
    start(f);
    f->states[2] = LOADED;
    f->beats[2] = f->collects[2];
    beat_ack(f, 2, 0);
    expect(f, "");
    assert_int_equal(rb_run_rows_missing(f->run), 0);
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h2: x");
}

/* A host that was there is lost if it is not found again. */
static void test_host_that_does_not_come_back(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_phase(f, &before);
    start(f);
    welcome(f, 1);
    f->states[1] = LOADED;
    pump(f);
    silence(f, 2, f->opts.connect_timeout_ns + RB_NS_PER_S);
    while (f->beats[1] != 0)
        beat_ack(f, 1, 0);
    drained(f, 1, 3);
    silence(f, 2, 20 * RB_NS_PER_S);
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h2: no answer from");
}

/* Another coordinator of the run may just have died, or live: it is asked again until it is known.
 */
static void test_another_coordinator_of_the_run(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_phase(f, &before);
    start(f);
    expect(f, "Hello1 Hello2 ");
    for (uint32_t host = 1; host <= HOSTS; host++)
        SAY(f, host, BUSY, busy, Busy, .run_id = (char *)(uintptr_t)f->opts.id, .since_wall_ns = 0);
    tick(f);
    expect(f, "Hello1 Hello2 ");
    silence(f, 2, 12 * RB_NS_PER_S);
    expect_end(f, "host_lost", RB_ERR_LOST,
               "5.0 s: another coordinator of this run is at work; this directory is a copy");
}

static void test_taken_by_another_run(void **state)
{
    (void)state;
    static char other[] = "other";
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    f->plan.on_host_loss = CONTINUE;
    resume_in_phase(f, &before);
    start(f);
    welcome(f, 1);
    SAY(f, 2, BUSY, busy, Busy, .run_id = other, .since_wall_ns = 0);
    f->states[1] = LOADED;
    pump(f);
    drained(f, 1, 3);
    expect_end(f, "host_lost", RB_ERR_LOST, "1 of 2 hosts were lost");
    assert_int_equal(f->last[RB_ROW_PHASE_END].phase_end.lost[0], 2);
}

/* ARM had not reached one of them: it cannot start now. */
static void test_host_that_was_not_armed(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_phase(f, &before);
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    f->states[1] = ARMED;
    f->states[2] = READY;
    pump(f);
    expect(f, "Hello1 Hello2 Stop1 Stop2 ");
}

/* A complete run that lost a host: its rows come, the outcome stays. */
static void test_complete_run_collects(void **state)
{
    (void)state;
    before_t before;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    resume_in_phase(f, &before);
    before.end = (rb_row_run_end_t){(char *)"host_lost", RB_ERR_LOST, 42, (char *)"agent h2: x"};
    before.resume.under_way = false;
    before.resume.complete = &before.end;
    before.hosts[1].lost = true;
    before.hosts[1].why = "x";
    f->last_row = 4;
    start(f);
    expect(f, ""); /* Collect, and nothing to h1 */
    f->states[2] = LOADED;
    f->beats[2] = f->collects[2];
    beat_ack(f, 2, 0);
    assert_false(rb_run_done(f->run));
    agent_row(f, 2, 4);
    expect(f, "Bye2 ");
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h2: x");
    assert_int_equal(f->last[RB_ROW_RUN_END].run_end.at_ns, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_a_lost_host_are_taken),
        cmocka_unit_test(test_journal_keeps_its_size),
        cmocka_unit_test(test_failing_sync),
        cmocka_unit_test(test_phase_goes_on),
        cmocka_unit_test(test_cut_phase_and_the_next),
        cmocka_unit_test(test_collect_only_stops_what_runs),
        cmocka_unit_test(test_stranger_is_lost),
        cmocka_unit_test(test_rows_acknowledged_elsewhere),
        cmocka_unit_test(test_lost_rows_acknowledged_elsewhere),
        cmocka_unit_test(test_host_that_does_not_come_back),
        cmocka_unit_test(test_another_coordinator_of_the_run),
        cmocka_unit_test(test_taken_by_another_run),
        cmocka_unit_test(test_host_that_was_not_armed),
        cmocka_unit_test(test_complete_run_collects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
