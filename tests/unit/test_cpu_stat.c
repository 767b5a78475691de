/* test_cpu_stat.c - shares of the CPUs from the kernel's own words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/cpu_stat.h"
#include "common/clock.h"

static const char first[] = "cpu  1 2 3 4 5 6 7 8 9 10\n"
                            "cpu0 100 0 50 1000 20 5 5 10 0 0\n"
                            "cpu1 1 1 1 1 1 1 1 1 0 0\n"
                            "cpu9 100 0 0 900 0 0 0 0 0 0\n"
                            "intr 1 2 3\n";
/* cpu0: 10 user, 5 nice, 20 system, 40 idle, 5 wait, 3 irq, 12 softirq, 5 steal. */
static const char second[] = "cpu  1 2 3 4 5 6 7 8 9 10\n"
                             "cpu0 110 5 70 1040 25 8 17 15 7 7\n"
                             "cpu2 1 1 1 1 1 1 1 1 0 0\n"
                             "cpu9 100 0 0 900 0 0 0 0 0 0\n";

static void shares_are_of_the_ticks_between(void **state)
{
    (void)state;
    static rb_cpu_stat_t a, b;
    rb_cpu_share_t shares[RB_MAX_CPUS];
    assert_int_equal(rb_cpu_stat_parse(first, &a), 0);
    assert_int_equal(rb_cpu_stat_parse(second, &b), 0);
    /* cpu1 went and cpu2 came in between; cpu9 counted nothing */
    assert_int_equal(rb_cpu_stat_shares(&a, &b, shares), 1);
    assert_int_equal(shares[0].cpu, 0);
    assert_int_equal(shares[0].busy_ppm, 500000);
    assert_int_equal(shares[0].softirq_ppm, 150000);
    assert_int_equal(shares[0].steal_ppm, 50000);
    rb_cpu_share_t two[] = {{.steal_ppm = 50000}, {.steal_ppm = 150000}};
    assert_int_equal(rb_cpu_stat_steal_ppm(two, 2), 100000);
    assert_int_equal(rb_cpu_stat_steal_ppm(two, 0), 0);
}

static void idle_that_goes_back_counts_as_none(void **state)
{
    (void)state;
    static rb_cpu_stat_t a, b;
    rb_cpu_share_t shares[RB_MAX_CPUS];
    assert_int_equal(rb_cpu_stat_parse("cpu3 0 0 0 100 50 0 0 0\n", &a), 0);
    assert_int_equal(rb_cpu_stat_parse("cpu3 10 0 0 100 45 0 0 0\n", &b), 0);
    assert_int_equal(rb_cpu_stat_shares(&a, &b, shares), 1);
    assert_int_equal(shares[0].cpu, 3);
    assert_int_equal(shares[0].busy_ppm, 1000000);
}

static void other_kernels_are_refused(void **state)
{
    (void)state;
    static rb_cpu_stat_t a;
    assert_int_equal(rb_cpu_stat_parse("cpu0 1 2 3 4\n", &a), -1);
    assert_int_equal(rb_cpu_stat_parse("", &a), 0);
    assert_int_equal(rb_cpu_stat_parse("cpu5000 1 1 1 1 1 1 1 1\n", &a), 0);
}

/* A CPU that we keep busy is busy, and it is our time. */
static void this_host_tells(void **state)
{
    (void)state;
    static rb_cpu_stat_t a, b;
    rb_cpu_share_t shares[RB_MAX_CPUS];
    uint32_t most_ppm = 0;
    assert_int_equal(rb_cpu_stat_read(&a), 0);
    uint64_t until_ns = rb_clock_ns(CLOCK_PROCESS_CPUTIME_ID) + 200 * RB_NS_PER_MS;
    while (rb_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns)
        ;
    assert_int_equal(rb_cpu_stat_read(&b), 0);
    size_t n = rb_cpu_stat_shares(&a, &b, shares);
    assert_true(n >= 1);
    for (size_t i = 0; i < n; i++)
        most_ppm = RB_MAX(most_ppm, shares[i].busy_ppm);
    /* where we moved between CPUs each of them has its part */
    assert_true(most_ppm >= 500000 / n);
    assert_true(b.agent_ns - a.agent_ns >= 200 * RB_NS_PER_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_of_the_ticks_between),
        cmocka_unit_test(idle_that_goes_back_counts_as_none),
        cmocka_unit_test(other_kernels_are_refused),
        cmocka_unit_test(this_host_tells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
