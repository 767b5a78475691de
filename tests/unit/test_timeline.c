/* Where the common clock lies on a host's own: ahead by what was told last, behind on the line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/timeline.h"

#define DAY_NS (24ull * 3600 * RB_NS_PER_S)
#define T0_NS  (5 * RB_NS_PER_S)

/* A clock that runs `ppb` fast, at a time since T0. */
static uint64_t clock_at(uint64_t at_ns, int64_t ppb)
{
    return T0_NS + at_ns + (uint64_t)(int64_t)((__int128)at_ns * ppb / 1000000000);
}

static void assert_near(uint64_t got_ns, uint64_t want_ns, uint64_t most_ns)
{
    assert_in_range(got_ns + most_ns, want_ns, want_ns + 2 * most_ns);
}

static void a_wrong_drift_does_not_add_up(void **state)
{
    (void)state;
    rb_timeline_t line = rb_timeline_new(T0_NS, 0);
    /* As armed, 100 ppm that nobody knew of come to 121 s in 14 days. */
    assert_int_equal(rb_timeline_local_ns(&line, 14 * DAY_NS), T0_NS + 14 * DAY_NS);
    for (uint64_t at_ns = RB_NS_PER_S; at_ns <= 14 * DAY_NS; at_ns += 3600 * RB_NS_PER_S) {
        /* The drift told is 1 ppm off: a microsecond in the second that it is used for. */
        assert_true(rb_timeline_tell(&line, at_ns, clock_at(at_ns, 100000), 99000));
        uint64_t next_ns = at_ns + RB_NS_PER_S;
        assert_near(rb_timeline_local_ns(&line, next_ns), clock_at(next_ns, 100000), 1001);
        assert_near((uint64_t)rb_timeline_at_ns(&line, clock_at(next_ns, 100000)), next_ns, 1001);
    }
}

static void what_lies_behind_is_on_the_line(void **state)
{
    (void)state;
    rb_timeline_t line = rb_timeline_new(T0_NS, -77000);
    assert_true(rb_timeline_tell(&line, 14 * DAY_NS, clock_at(14 * DAY_NS, -100000), 50000));
    assert_int_equal(rb_timeline_at_ns(&line, T0_NS), 0);
    assert_int_equal(rb_timeline_local_ns(&line, 0), T0_NS);
    assert_near((uint64_t)rb_timeline_at_ns(&line, clock_at(7 * DAY_NS, -100000)), 7 * DAY_NS, 2);
    assert_near(rb_timeline_local_ns(&line, 7 * DAY_NS), clock_at(7 * DAY_NS, -100000), 2);
    assert_int_equal(rb_timeline_at_ns(&line, T0_NS - 1000), -1000); /* a submission too early */
}

static void both_ways_agree(void **state)
{
    (void)state;
    rb_timeline_t line = rb_timeline_new(T0_NS, 200000000);
    assert_int_equal(rb_timeline_local_ns(&line, RB_NS_PER_S), T0_NS + 1200 * RB_NS_PER_MS);
    assert_int_equal(rb_timeline_at_ns(&line, T0_NS + 1200 * RB_NS_PER_MS), RB_NS_PER_S);
}

static void what_cannot_be_is_not_believed(void **state)
{
    (void)state;
    rb_timeline_t line = rb_timeline_new(T0_NS, 0), before;
    assert_true(rb_timeline_tell(&line, 10 * RB_NS_PER_S, T0_NS + 10 * RB_NS_PER_S, 7));
    before = line;
    assert_false(rb_timeline_tell(&line, 10 * RB_NS_PER_S, T0_NS + 11 * RB_NS_PER_S, 0));
    assert_false(rb_timeline_tell(&line, 9 * RB_NS_PER_S, T0_NS + 9 * RB_NS_PER_S, 0)); /* older */
    assert_false(rb_timeline_tell(&line, 11 * RB_NS_PER_S, T0_NS, 0));
    assert_false(rb_timeline_tell(&line, 11 * RB_NS_PER_S, T0_NS + 2 * DAY_NS, 0));
    assert_false(rb_timeline_tell(&line, UINT64_MAX, T0_NS + 11 * RB_NS_PER_S, 0));
    assert_false(rb_timeline_tell(&line, 1ull << 62, T0_NS + 1, 0));
    assert_memory_equal(&line, &before, sizeof(line));
    /* A machine that was suspended for ten minutes, and a drift beyond any quartz. */
    assert_true(rb_timeline_tell(&line, 700 * RB_NS_PER_S, T0_NS + 100 * RB_NS_PER_S, INT64_MAX));
    assert_int_equal(line.drift_ppb, RB_TIMELINE_MAX_DRIFT_PPB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_drift_does_not_add_up),
        cmocka_unit_test(what_lies_behind_is_on_the_line),
        cmocka_unit_test(both_ways_agree),
        cmocka_unit_test(what_cannot_be_is_not_believed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
