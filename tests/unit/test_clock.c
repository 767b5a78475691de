/* A clock set apart: what a test's agent takes for the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"

static uint64_t real_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * RB_NS_PER_S + (uint64_t)ts.tv_nsec;
}

static int untouched(void **state)
{
    (void)state;
    rb_clock_gettime = clock_gettime;
    return 0;
}

static void it_is_the_machine_s_own(void **state)
{
    (void)state;
    uint64_t before_ns = real_ns(), now_ns = rb_clock_now_ns();
    assert_in_range(now_ns, before_ns, real_ns());
}

static void it_can_be_set_apart(void **state)
{
    (void)state;
    rb_err_t err;
    assert_int_equal(rb_clock_set_test_text("2h,100", &err), 0);
    uint64_t before_ns = real_ns(), now_ns = rb_clock_now_ns() - 7200 * RB_NS_PER_S;
    assert_in_range(now_ns, before_ns, real_ns() + RB_NS_PER_MS);
    assert_in_range(rb_clock_wall_ns(), 1700000000 * RB_NS_PER_S, UINT64_MAX); /* as it was */
}

static void it_drifts(void **state)
{
    (void)state;
    rb_err_t err;
    assert_int_equal(rb_clock_set_test(0, 500 * 1000 * 1000, &err), 0); /* half as fast again */
    uint64_t began_ns = real_ns(), from_ns = rb_clock_now_ns();
    rb_clock_sleep_until(from_ns + 60 * RB_NS_PER_MS);
    uint64_t passed_ns = rb_clock_now_ns() - from_ns, real_passed_ns = real_ns() - began_ns;
    assert_in_range(real_passed_ns, 40 * RB_NS_PER_MS, UINT64_MAX);
    /* However late we woke up. */
    assert_in_range(passed_ns, real_passed_ns / 2 * 3 - RB_NS_PER_MS,
                    real_passed_ns / 2 * 3 + RB_NS_PER_MS);
}

static void bad_texts_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } bad[] = {{"", "duration"},      {"2", "unit"},       {"2h,", "drift"}, {"2h,1x", "drift"},
               {"2h,1001", "1000"},   {"2h,nan", "drift"}, {"400d", "366d"}, {"-300d", "before 0"},
               {"2h,-1001", "-1000"}, {"--2h", "-2h"}};
    for (size_t i = 0; i < RB_LEN(bad); i++) {
        rb_err_t err = {0};
        if (rb_clock_set_test_text(bad[i].text, &err) == 0)
            fail_msg("'%s' was taken", bad[i].text);
        assert_int_equal(err.code, RB_ERR_INPUT);
        if (strstr(err.text, bad[i].why) == NULL)
            fail_msg("'%s': %s", bad[i].text, err.text);
        assert_ptr_equal(rb_clock_gettime, clock_gettime);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(it_is_the_machine_s_own, untouched),
        cmocka_unit_test_setup(it_can_be_set_apart, untouched),
        cmocka_unit_test_setup(it_drifts, untouched),
        cmocka_unit_test_setup(bad_texts_are_refused, untouched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
