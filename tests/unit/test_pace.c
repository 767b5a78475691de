#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/pace.h"

static void due_times_are_exact(void **state)
{
    (void)state;
    const uint64_t rates[] = {1, 3, 7, 1000, 999983, 1000000, 123456789, 1000000000, 3000000000u};
    for (size_t r = 0; r < RB_LEN(rates); r++) {
        rb_pace_t p;
        rb_pace_init(&p, rates[r], 5000);
        for (uint64_t i = 0; i < 100000; i++) {
            uint64_t due;
            assert_int_equal(rb_pace_take(&p, UINT64_MAX, &due, 1), 1);
            if (due != 5000 + i * RB_NS_PER_S / rates[r])
                fail_msg("rate %lu: operation %lu is due at %lu", rates[r], i, due);
        }
    }
}

static void nothing_is_dropped_and_nothing_is_early(void **state)
{
    (void)state;
    rb_pace_t p;
    uint64_t due[8];
    rb_pace_init(&p, 1000, 0);
    assert_int_equal(rb_pace_take(&p, 0, due, 8), 1);
    assert_int_equal(rb_pace_take(&p, RB_NS_PER_MS - 1, due, 8), 0);
    assert_int_equal(rb_pace_take(&p, RB_NS_PER_MS, due, 8), 1);
    /* After a second without a slot they all come, each with the due time it had. */
    uint64_t want = 2;
    for (uint32_t n; (n = rb_pace_take(&p, RB_NS_PER_S, due, 8)) > 0;)
        for (uint32_t i = 0; i < n; i++)
            assert_int_equal(due[i], want++ * RB_NS_PER_MS);
    assert_int_equal(want, 1001);
}

static void the_count_agrees_with_the_due_times(void **state)
{
    (void)state;
    const uint64_t rates[] = {1, 3, 7, 999, 1000, 123457, 3000000000u};
    for (size_t r = 0; r < RB_LEN(rates); r++) {
        rb_pace_t p;
        uint64_t taken = 0, due;
        rb_pace_init(&p, rates[r], 1000);
        assert_int_equal(rb_pace_due_before(&p, 1000), 0);
        assert_int_equal(rb_pace_due_before(&p, 1001), RB_MAX(1u, rates[r] / RB_NS_PER_S + 0u));
        for (uint64_t at = 1000; at < 200000; at += 371) {
            while (p.due_ns < at)
                taken += rb_pace_take(&p, at - 1, &due, 1);
            assert_int_equal(rb_pace_due_before(&p, at), taken);
        }
        assert_int_equal(rb_pace_due_before(&p, 1000 + 86400 * RB_NS_PER_S), 86400 * rates[r]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(due_times_are_exact),
        cmocka_unit_test(nothing_is_dropped_and_nothing_is_early),
        cmocka_unit_test(the_count_agrees_with_the_due_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
