/* test_rng.c - the published sequence, streams that differ, and even spread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <cmocka.h>

#include "common/rng.h"

/* Source: xoshiro256plusplus.c by its authors, run from the state {1, 2, 3, 4}. */
static void test_known_sequence(void **state)
{
    (void)state;
    const uint64_t want[] = {41943041ull,
                             58720359ull,
                             3588806011781223ull,
                             3591011842654386ull,
                             9228616714210784205ull,
                             9973669472204895162ull};
    rb_rng_t rng = {{1, 2, 3, 4}};
    for (size_t i = 0; i < RB_LEN(want); i++)
        assert_int_equal(rb_rng_next(&rng), want[i]);
}

static void test_seeds_make_streams(void **state)
{
    (void)state;
    enum { SIDE = 8, SEEDS = SIDE * SIDE * SIDE };
    static uint64_t first[SEEDS];
    for (uint64_t i = 0; i < SEEDS; i++) {
        rb_rng_t rng, again;
        rb_rng_seed(&rng, i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE);
        rb_rng_seed(&again, i / SIDE / SIDE, i / SIDE % SIDE, i % SIDE);
        first[i] = rb_rng_next(&rng);
        assert_int_equal(first[i], rb_rng_next(&again));
        for (uint64_t k = 0; k < i; k++)
            assert_int_not_equal(first[i], first[k]);
    }
}

/* A sum of squared deviations over `cells` - 1 degrees of freedom stays within 5 sigma. */
static void assert_even(const uint64_t *counts, size_t cells, double total)
{
    double chi2 = 0, freedom = (double)(cells - 1);
    for (size_t i = 0; i < cells; i++)
        chi2 += pow((double)counts[i] - total / (double)cells, 2) / (total / (double)cells);
    assert_true(fabs(chi2 - freedom) < 5 * sqrt(2 * freedom));
}

static void test_below_is_even(void **state)
{
    (void)state;
    enum { CELLS = 1000, DRAWS = 1000000 };
    uint64_t counts[CELLS] = {0};
    rb_rng_t rng;
    rb_rng_seed(&rng, 1, 2, 3);
    for (int i = 0; i < DRAWS; i++) {
        uint64_t x = rb_rng_below(&rng, CELLS);
        assert_true(x < CELLS);
        counts[x]++;
    }
    assert_even(counts, CELLS, DRAWS);
    for (int i = 0; i < 100; i++)
        assert_int_equal(rb_rng_below(&rng, 1), 0);
}

/* With n = 3/4 of 2^64, without rejection every third value would come up twice as often. */
static void test_below_rejects(void **state)
{
    (void)state;
    enum { DRAWS = 300000 };
    uint64_t counts[3] = {0};
    rb_rng_t rng;
    rb_rng_seed(&rng, 4, 5, 6);
    for (int i = 0; i < DRAWS; i++)
        counts[rb_rng_below(&rng, 3ull << 62) % 3]++;
    assert_even(counts, 3, DRAWS);
}

static void test_double_is_even(void **state)
{
    (void)state;
    enum { CELLS = 100, DRAWS = 1000000 };
    uint64_t counts[CELLS] = {0};
    rb_rng_t rng;
    rb_rng_seed(&rng, 7, 8, 9);
    for (int i = 0; i < DRAWS; i++) {
        double x = rb_rng_double(&rng);
        assert_true(x >= 0 && x < 1);
        counts[(size_t)(x * CELLS)]++;
    }
    assert_even(counts, CELLS, DRAWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_sequence), cmocka_unit_test(test_seeds_make_streams),
        cmocka_unit_test(test_below_is_even),  cmocka_unit_test(test_below_rejects),
        cmocka_unit_test(test_double_is_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
