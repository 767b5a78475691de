/* What two wall clocks say of two clocks, and when that is a contradiction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "coordinator/opinion.h"

#define US ((int64_t)RB_NS_PER_US)
#define S  ((int64_t)RB_NS_PER_S)

/* Our clock began 100 s before the wall's zero, theirs 40 s: theirs is 60 s behind ours. */
static const rb_wall_clock_t ours = {100 * S, true, 20 * RB_NS_PER_US, 37};
static const rb_wall_clock_t theirs = {160 * S, true, 30 * RB_NS_PER_US, 37};

static void an_offset_follows_from_both(void **state)
{
    (void)state;
    rb_opinion_t opinion;
    assert_true(rb_opinion(&ours, &theirs, &opinion));
    assert_int_equal(opinion.offset_ns, -60 * S);
    assert_int_equal(opinion.bound_ns, 50 * US);
}

static void who_is_not_synchronised_has_none(void **state)
{
    (void)state;
    rb_opinion_t opinion;
    rb_wall_clock_t free_running = theirs, never_read = {0};
    free_running.synchronised = false;
    assert_false(rb_opinion(&ours, &free_running, &opinion));
    assert_false(rb_opinion(&free_running, &theirs, &opinion));
    assert_false(rb_opinion(&never_read, &theirs, &opinion));
}

static void a_leap_second_is_no_contradiction(void **state)
{
    (void)state;
    rb_opinion_t opinion;
    rb_wall_clock_t leapt = theirs; /* UTC was set back by a second there, not yet here */
    leapt.ahead_ns -= S;
    leapt.tai_s++;
    assert_true(rb_opinion(&ours, &leapt, &opinion));
    assert_int_equal(opinion.offset_ns, -60 * S);
    leapt.tai_s = 0; /* who does not know TAI is taken by UTC */
    assert_true(rb_opinion(&ours, &leapt, &opinion));
    assert_int_equal(opinion.offset_ns, -59 * S);
}

static void both_bounds_count(void **state)
{
    (void)state;
    rb_opinion_t opinion = {-60 * S, 50 * RB_NS_PER_US};
    rb_clock_estimate_t estimate = {.offset_ns = -60 * S + 150 * US, .bound_ns = 100 * US};
    assert_false(rb_opinion_disagrees(&opinion, &estimate));
    estimate.offset_ns++;
    assert_true(rb_opinion_disagrees(&opinion, &estimate));
    estimate.offset_ns = -60 * S - 150 * US;
    assert_false(rb_opinion_disagrees(&opinion, &estimate));
    estimate.offset_ns--;
    assert_true(rb_opinion_disagrees(&opinion, &estimate));
}

static void it_is_read_beside_our_clock(void **state)
{
    (void)state;
    rb_wall_clock_t wall;
    rb_wall_clock_read(&wall);
    int64_t now_ns = (int64_t)(rb_clock_wall_ns() - rb_clock_now_ns());
    assert_in_range(now_ns - wall.ahead_ns + S, 0, 2 * S);
    assert_true(wall.maxerror_ns > 0);
}

static void a_test_can_set_it(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_wall_clock_t before, after;
    static const char *const bad[] = {"", "5ms", "5,1ms", "5ms,", "5ms,x", "400000d,1s"};
    for (size_t i = 0; i < RB_LEN(bad); i++) {
        assert_int_equal(rb_wall_clock_set_test(bad[i], &err), -1);
        assert_int_equal(err.code, RB_ERR_INPUT);
    }
    assert_int_equal(rb_wall_clock_set_test(NULL, &err), 0);
    rb_wall_clock_read(&before);
    assert_int_equal(rb_wall_clock_set_test("-1h,10us", &err), 0);
    rb_wall_clock_read(&after);
    assert_in_range(before.ahead_ns - after.ahead_ns, 3599 * S, 3601 * S);
    assert_true(after.synchronised);
    assert_in_range(after.maxerror_ns, 10 * RB_NS_PER_US, RB_NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_offset_follows_from_both),
        cmocka_unit_test(who_is_not_synchronised_has_none),
        cmocka_unit_test(a_leap_second_is_no_contradiction),
        cmocka_unit_test(both_bounds_count),
        cmocka_unit_test(it_is_read_beside_our_clock),
        cmocka_unit_test(a_test_can_set_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
