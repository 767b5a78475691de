/* What a run does about its hosts' clocks once they are armed. */
#include "coordinator/run.h"
#include "tests/unit/run_fixture.h"

static uint64_t since_t0_ns(const fixture_t *f)
{
    return f->sent_ns[1] - f->last[RB_ROW_PHASE_START].phase_start.t0_ns;
}

static void test_the_clock_is_told_while_a_phase_runs(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_run(f);
    assert_int_equal(f->told[1].at_ns, 0); /* before T0 ARM says it all */
    for (int i = 0; i < 4; i++) {
        tick(f);
        pump(f);
        for (uint32_t host = 1; host <= HOSTS; host++) {
            assert_int_equal(f->told[host].at_ns, since_t0_ns(f));
            /* The fixture's agents have our clock, but for what a message takes. */
            assert_in_range(f->told[host].local_ns, f->sent_ns[host] - 50 * RB_NS_PER_US,
                            f->sent_ns[host] + 50 * RB_NS_PER_US);
        }
    }
    drained(f, 1, 0);
    tick(f);
    assert_int_equal(f->told[1].at_ns, 0);
    assert_int_equal(f->told[2].at_ns, since_t0_ns(f));
}

static void test_clocks_are_journaled_now_and_then(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    f->job.runtime_ns = 3600 * RB_NS_PER_S;
    reach_run(f);
    assert_int_equal(f->rows[RB_ROW_CLOCK], 4);
    silence(f, 0, RB_CLOCK_ROWS_NS - RB_NS_PER_S);
    assert_int_equal(f->rows[RB_ROW_CLOCK], 4);
    silence(f, 0, RB_CLOCK_ROWS_NS);
    assert_int_equal(f->rows[RB_ROW_CLOCK], 6);
    silence(f, 0, RB_CLOCK_ROWS_NS);
    assert_int_equal(f->rows[RB_ROW_CLOCK], 8);
}

/* h1 answers its first Beat, and its wall clock lies an hour from what messages tell. */
static void disagree(fixture_t *f)
{
    rb_wall_clock_t ours = {0, true, RB_NS_PER_MS, 0};
    Rackbench__WallClock theirs = RACKBENCH__WALL_CLOCK__INIT;
    theirs.ahead_ns = 3600 * (int64_t)RB_NS_PER_S;
    theirs.synchronised = true;
    theirs.maxerror_ns = RB_NS_PER_MS;
    uint64_t seq = f->beats[1];
    f->beats[1] = 0;
    step(f, (rb_run_event_t){.kind = RB_RUN_TICK, .wall_clock = &ours});
    SAY(f, 1, BEAT_ACK, beat_ack, BeatAck, .seq = seq, .t1_ns = f->sent_ns[1], .t2_ns = f->now_ns,
        .state = RACKBENCH__BEAT_ACK__STATE__owned, .wall_clock = &theirs);
}

static void reach_probe(fixture_t *f)
{
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    expect(f, "Hello1 Hello2 ");
}

static void test_a_wall_clock_that_disagrees_is_noted(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_probe(f);
    disagree(f);
    assert_int_equal(f->rows[RB_ROW_NOTE], 1);
    assert_string_equal(f->last[RB_ROW_NOTE].note.kind, "clock_disagrees");
    assert_true(f->beats[1] != 0); /* probing goes on */
    disagree(f);
    assert_int_equal(f->rows[RB_ROW_NOTE], 1); /* it was said */
}

static void test_a_note_that_the_journal_refuses_is_the_end(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    reach_probe(f);
    f->rows_left = 0;
    disagree(f);
    expect_end(f, "failed", RB_ERR_IO, "no space left");
    expect(f, "");                    /* they keep their rows */
    assert_int_equal(f->beats[1], 0); /* nobody is asked anything after the end */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_clock_is_told_while_a_phase_runs),
        cmocka_unit_test(test_clocks_are_journaled_now_and_then),
        cmocka_unit_test(test_a_wall_clock_that_disagrees_is_noted),
        cmocka_unit_test(test_a_note_that_the_journal_refuses_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
