#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

#include "agent/pace.h"
#include "tests/unit/chi_square.h"

static rb_pace_t pace(rb_pace_opts_t opts, uint64_t start_ns)
{
    rb_pace_t p;
    opts.cost = opts.cost ? opts.cost : 1;
    opts.share = opts.share ? opts.share : 1;
    rb_pace_init(&p, &opts, start_ns);
    return p;
}

static void due_times_are_exact(void **state)
{
    (void)state;
    const uint64_t rates[] = {1, 3, 7, 1000, 999983, 1000000, 123456789, 1000000000, 3000000000u};
    for (size_t r = 0; r < RB_LEN(rates); r++) {
        rb_pace_t p = pace((rb_pace_opts_t){.rate = rates[r]}, 5000);
        for (uint64_t i = 0; i < 100000; i++) {
            uint64_t due;
            assert_int_equal(rb_pace_take(&p, UINT64_MAX, &due, 1), 1);
            if (due != 5000 + i * RB_NS_PER_S / rates[r])
                fail_msg("rate %lu: operation %lu is due at %lu", rates[r], i, due);
        }
    }
}

/* 100 MiB/s in blocks of 128 KiB are 800 operations a second. */
static void a_rate_in_bytes_counts_them(void **state)
{
    (void)state;
    rb_pace_t p = pace((rb_pace_opts_t){.rate = 100 * RB_MIB, .cost = 128 * RB_KIB}, 0);
    assert_int_equal(p.step_ns, RB_NS_PER_S / 800);
    assert_int_equal(rb_pace_due_before(&p, 10 * RB_NS_PER_S), 8000);
}

/* Three workers on one rate: together the schedule of one. */
static void workers_that_share_a_rate_interleave(void **state)
{
    (void)state;
    rb_pace_t all[3];
    for (uint64_t w = 0; w < 3; w++)
        all[w] = pace((rb_pace_opts_t){.rate = 1000, .share = 3, .index = w}, 0);
    for (uint64_t i = 0; i < 3000; i++) {
        uint64_t due;
        assert_int_equal(rb_pace_take(&all[i % 3], UINT64_MAX, &due, 1), 1);
        assert_int_equal(due, i * RB_NS_PER_MS);
    }
}

static void nothing_is_dropped_and_nothing_is_early(void **state)
{
    (void)state;
    rb_pace_t p = pace((rb_pace_opts_t){.rate = 1000}, 0);
    uint64_t due[8];
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
    for (int process = RB_PACE_LINEAR; process <= RB_PACE_POISSON; process++)
        for (size_t r = 0; r < RB_LEN(rates); r++) {
            rb_pace_t p = pace((rb_pace_opts_t){.rate = rates[r],
                                                .process = (rb_pace_process_t)process,
                                                .seed = 7},
                               1000);
            uint64_t taken = 0, due;
            assert_int_equal(rb_pace_due_before(&p, 1000), 0);
            for (uint64_t at = 1000; at < 200000; at += 3710) {
                while (p.due_ns < at)
                    taken += rb_pace_take(&p, at - 1, &due, 1);
                assert_int_equal(rb_pace_due_before(&p, at), taken);
            }
        }
    rb_pace_t day = pace((rb_pace_opts_t){.rate = 123457}, 1000);
    assert_int_equal(rb_pace_due_before(&day, 1000 + 86400 * RB_NS_PER_S), 86400 * 123457ull);
}

/* Gaps of a Poisson process: exponential, by a chi-square over 20 equally likely bins. */
static void poisson_gaps_are_exponential(void **state)
{
    (void)state;
    enum { N = 200000, BINS = 20 };
    rb_pace_t p = pace(
        (rb_pace_opts_t){
            .rate = 4000, .share = 4, .index = 1, .process = RB_PACE_POISSON, .seed = 1},
        0);
    uint64_t last = 0, due = 0, bins[BINS] = {0};
    double chi = 0;
    for (int i = 0; i < N; i++) {
        rb_pace_take(&p, UINT64_MAX, &due, 1);
        double u = 1 - exp(-(double)(due - last) / 1e6);
        bins[RB_MIN((int)(u * BINS), BINS - 1)]++;
        last = due;
    }
    for (int i = 0; i < BINS; i++)
        chi += pow((double)bins[i] - (double)N / BINS, 2) / ((double)N / BINS);
    assert_true(chi < 43.8); /* 0.1 % of chi-square with 19 degrees of freedom */
    assert_true(fabs((double)due / N / 1e6 - 1) < 0.01);
}

/* Arrivals in each of 20,000 windows of 1 ms by four workers that split 4000 a second: 4 a window,
 * Poisson distributed. Workers that ran in step, or gaps that depend on each other, would not. */
static void poisson_workers_add_up_to_poisson(void **state)
{
    (void)state;
    enum { WORKERS = 4, WINDOWS = 20000, MOST = 12 };
    static uint32_t arrivals[WINDOWS];
    uint64_t counts[MOST + 1] = {0}, due;
    double share[MOST + 1], rest = 1;
    memset(arrivals, 0, sizeof(arrivals));
    for (uint64_t w = 0; w < WORKERS; w++) {
        rb_pace_t p = pace((rb_pace_opts_t){.rate = 4000,
                                            .share = WORKERS,
                                            .index = w,
                                            .process = RB_PACE_POISSON,
                                            .seed = 7 ^ w << 24}, /* as a worker has it */
                           0);
        while (rb_pace_take(&p, WINDOWS * RB_NS_PER_MS - 1, &due, 1) == 1)
            arrivals[due / RB_NS_PER_MS]++;
    }
    for (int i = 0; i < WINDOWS; i++)
        counts[RB_MIN(arrivals[i], (uint32_t)MOST)]++;
    for (int k = 0; k < MOST; k++)
        rest -= share[k] = k == 0 ? exp(-4) : share[k - 1] * 4 / k;
    share[MOST] = rest;
    assert_true(chi_square_excess(counts, share, MOST + 1) < CHI_SQUARE_LIMIT);
}

static void poisson_workers_differ(void **state)
{
    (void)state;
    rb_pace_t a = pace((rb_pace_opts_t){.rate = 10, .process = RB_PACE_POISSON, .seed = 1}, 0);
    rb_pace_t b = pace((rb_pace_opts_t){.rate = 10, .process = RB_PACE_POISSON, .seed = 2}, 0);
    assert_int_not_equal(a.due_ns, b.due_ns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(due_times_are_exact),
        cmocka_unit_test(a_rate_in_bytes_counts_them),
        cmocka_unit_test(workers_that_share_a_rate_interleave),
        cmocka_unit_test(nothing_is_dropped_and_nothing_is_early),
        cmocka_unit_test(the_count_agrees_with_the_due_times),
        cmocka_unit_test(poisson_gaps_are_exponential),
        cmocka_unit_test(poisson_workers_add_up_to_poisson),
        cmocka_unit_test(poisson_workers_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
