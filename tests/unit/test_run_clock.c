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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_clock_is_told_while_a_phase_runs),
        cmocka_unit_test(test_clocks_are_journaled_now_and_then),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
