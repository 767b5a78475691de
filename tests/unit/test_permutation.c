/* test_permutation.c - each block exactly once a pass, each pass in an order of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/workload/permutation.h"
#include "common/clock.h"
#include "tests/unit/chi_square.h"

static void assert_covers(uint64_t n, uint64_t seed, uint64_t pass)
{
    rb_permutation_t p;
    uint8_t *seen = rb_calloc(n, 1);
    rb_permutation_init(&p, n, seed, pass);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t block = rb_permutation_at(&p, i);
        assert_true(block < n);
        assert_int_equal(rb_permutation_index(&p, block), i);
        if (seen[block]++)
            fail_msg("n %llu pass %llu: block %llu comes twice", (unsigned long long)n,
                     (unsigned long long)pass, (unsigned long long)block);
    }
    free(seen);
}

static void test_covers_all_once(void **state)
{
    (void)state;
    const uint64_t large[] = {65535, 65536, 65537, 262144, 262145, 1000003};
    for (uint64_t n = 1; n <= 300; n++)
        for (uint64_t pass = 0; pass < 3; pass++)
            assert_covers(n, 7, pass);
    for (size_t i = 0; i < RB_LEN(large); i++)
        assert_covers(large[i], 9, i);
}

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* At the limit the whole is out of reach: no two of a million places share a block. */
static void test_large(void **state)
{
    (void)state;
    enum { PLACES = 1000000 };
    const uint64_t sizes[] = {RB_MAX_PERMUTATION, (1ull << 46) + 1};
    uint64_t *blocks = rb_calloc(PLACES, sizeof(*blocks));
    for (size_t s = 0; s < RB_LEN(sizes); s++) {
        rb_permutation_t p;
        rb_permutation_init(&p, sizes[s], 7, 1);
        for (uint64_t i = 0; i < PLACES; i++) {
            blocks[i] = rb_permutation_at(&p, i < PLACES / 2 ? i : sizes[s] - 1 - i);
            assert_true(blocks[i] < sizes[s]);
            assert_true(rb_permutation_index(&p, blocks[i]) ==
                        (i < PLACES / 2 ? i : sizes[s] - 1 - i));
        }
        qsort(blocks, PLACES, sizeof(*blocks), compare);
        for (size_t i = 1; i < PLACES; i++)
            assert_true(blocks[i - 1] < blocks[i]);
        assert_true(blocks[PLACES - 1] > sizes[s] / 100 * 99);
    }
    free(blocks);
}

/* In how many places two orders of n agree; one is expected of independent orders. */
static uint64_t agreements(uint64_t n, const rb_permutation_t *a, const rb_permutation_t *b)
{
    uint64_t same = 0;
    for (uint64_t i = 0; i < n; i++)
        same += rb_permutation_at(a, i) == rb_permutation_at(b, i);
    return same;
}

static void test_passes_and_seeds_differ(void **state)
{
    (void)state;
    enum { N = 100000 };
    rb_permutation_t first, again, pass, seed, swapped;
    rb_permutation_init(&first, N, 1, 2);
    rb_permutation_init(&again, N, 1, 2);
    rb_permutation_init(&pass, N, 1, 3);
    rb_permutation_init(&seed, N, 2, 2);
    rb_permutation_init(&swapped, N, 2, 1);
    assert_int_equal(agreements(N, &first, &again), N);
    assert_true(agreements(N, &first, &pass) < 10);
    assert_true(agreements(N, &first, &seed) < 10);
    assert_true(agreements(N, &first, &swapped) < 10);
}

/* Over many passes, each block comes first alike, and last alike; just above a power of two too. */
static void test_every_place_is_even(void **state)
{
    (void)state;
    enum { N = 129, PASSES = 200000 };
    static uint64_t first[N], last[N];
    for (uint64_t pass = 0; pass < PASSES; pass++) {
        rb_permutation_t p;
        rb_permutation_init(&p, N, 5, pass);
        first[rb_permutation_at(&p, 0)]++;
        last[rb_permutation_at(&p, N - 1)]++;
    }
    assert_true(chi_square_even(first, N) < CHI_SQUARE_LIMIT);
    assert_true(chi_square_even(last, N) < CHI_SQUARE_LIMIT);
}

/* The distance from a place's block to the next one's is uniform: no runs, no fixed stride. */
static void test_neighbours_are_apart(void **state)
{
    (void)state;
    enum { CELLS = 256, PLACES = 1000000 };
    const uint64_t n = (1ull << 40) - 12345;
    static uint64_t counts[CELLS];
    rb_permutation_t p;
    rb_permutation_init(&p, n, 11, 0);
    for (uint64_t i = 0; i < PLACES; i++) {
        uint64_t here = rb_permutation_at(&p, i), next = rb_permutation_at(&p, i + 1);
        uint64_t distance = next >= here ? next - here : next + n - here;
        counts[(unsigned __int128)distance * CELLS / n]++;
    }
    assert_true(chi_square_even(counts, CELLS) < CHI_SQUARE_LIMIT);
}

static void test_cost(void **state)
{
    (void)state;
    enum { PLACES = 2000000 };
    const uint64_t sizes[] = {1ull << 28, (1ull << 28) + 1, 1ull << 42};
    for (size_t s = 0; s < RB_LEN(sizes); s++) {
        rb_permutation_t p;
        rb_permutation_init(&p, sizes[s], 1, 0);
        uint64_t sum = 0, start_ns = rb_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        for (uint64_t i = 0; i < PLACES; i++)
            sum += rb_permutation_at(&p, i);
        double each_ns = (double)(rb_clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) / PLACES;
        print_message("permutation of %llu: %.1f ns a block, mean %.3f\n",
                      (unsigned long long)sizes[s], each_ns,
                      (double)sum / PLACES / (double)sizes[s]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_covers_all_once),         cmocka_unit_test(test_large),
        cmocka_unit_test(test_passes_and_seeds_differ), cmocka_unit_test(test_every_place_is_even),
        cmocka_unit_test(test_neighbours_are_apart),    cmocka_unit_test(test_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
