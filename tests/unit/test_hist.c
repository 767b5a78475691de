/* test_hist.c - the histogram against a sorted array of the same samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <cmocka.h>

#include "common/hist.h"
#include "common/rng.h"

enum { SAMPLES = 50000 };

typedef uint64_t draw_fn(rb_rng_t *rng);

static uint64_t draw_constant(rb_rng_t *rng)
{
    (void)rng;
    return 86200;
}

static uint64_t draw_small(rb_rng_t *rng)
{
    return rb_rng_below(rng, 300);
}

static uint64_t draw_uniform(rb_rng_t *rng)
{
    return 20000 + rb_rng_below(rng, 1000000);
}

/* Most are near 80 us; one in a thousand waits for up to seconds. */
static uint64_t draw_two_humps(rb_rng_t *rng)
{
    bool slow = rb_rng_below(rng, 1000) == 0;
    return slow ? rb_rng_below(rng, 3 * RB_NS_PER_S) : 80000 + rb_rng_below(rng, 10000);
}

static uint64_t draw_pareto(rb_rng_t *rng)
{
    double value = 50000 * pow(1 - rb_rng_double(rng), -1 / 0.7);
    return value >= 1.8e19 ? UINT64_MAX : (uint64_t)value;
}

/* Every octave is as likely as any other, up to the last bucket. */
static uint64_t draw_any_octave(rb_rng_t *rng)
{
    return rb_rng_next(rng) >> rb_rng_below(rng, 64);
}

static draw_fn *const draws[] = {draw_constant,  draw_small,  draw_uniform,
                                 draw_two_humps, draw_pareto, draw_any_octave};

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t *draw_samples(draw_fn *draw, rb_hist_t *h)
{
    rb_rng_t rng;
    uint64_t *samples = rb_calloc(SAMPLES, sizeof(*samples));
    rb_rng_seed(&rng, 7, 0, 0);
    for (size_t i = 0; i < SAMPLES; i++) {
        samples[i] = draw(&rng);
        rb_hist_record(h, samples[i]);
    }
    qsort(samples, SAMPLES, sizeof(*samples), compare);
    return samples;
}

static void assert_hist_equal(const rb_hist_t *a, const rb_hist_t *b)
{
    assert_memory_equal(a, b, sizeof(*a));
}

static void assert_hist_empty(const rb_hist_t *h)
{
    rb_hist_t *empty = rb_hist_new();
    assert_hist_equal(h, empty);
    rb_hist_destroy(&empty);
    assert_null(empty);
}

static void test_buckets_tile_the_range(void **state)
{
    (void)state;
    uint64_t next = 0;
    for (uint32_t i = 0; i < RB_HIST_BUCKETS; i++) {
        uint64_t low = rb_hist_lowest(i), high = rb_hist_highest(i);
        assert_int_equal(low, next);
        assert_int_equal(rb_hist_index(low), i);
        assert_int_equal(rb_hist_index(high), i);
        assert_true((double)(high - low) <= (double)low / 128);
        next = high + 1;
    }
    assert_int_equal(next, 0); /* the last bucket ends at UINT64_MAX */
}

static void check_quantiles(const rb_hist_t *h, const uint64_t *sorted)
{
    for (uint64_t ppm = 0; ppm <= 1000000; ppm += 50) {
        uint64_t rank = (ppm * SAMPLES + 999999) / 1000000;
        uint64_t exact = sorted[rank == 0 ? 0 : rank - 1];
        uint64_t got = rb_hist_quantile(h, (double)ppm / 1e6);
        assert_true(got >= exact);
        assert_true((double)(got - exact) <= 0.008 * (double)exact);
        assert_true(got <= sorted[SAMPLES - 1]);
        assert_int_equal(got, RB_MIN(rb_hist_highest(rb_hist_index(exact)), h->max));
    }
}

static void test_quantiles(void **state)
{
    (void)state;
    for (size_t d = 0; d < RB_LEN(draws); d++) {
        rb_hist_t *h = rb_hist_new();
        uint64_t *sorted = draw_samples(draws[d], h);
        assert_int_equal(h->count, SAMPLES);
        assert_int_equal(h->min, sorted[0]);
        assert_int_equal(h->max, sorted[SAMPLES - 1]);
        check_quantiles(h, sorted);
        free(sorted);
        rb_hist_destroy(&h);
    }
}

static void test_quantile_edges(void **state)
{
    (void)state;
    rb_hist_t *h = rb_hist_new();
    assert_int_equal(rb_hist_quantile(h, 0.5), 0);
    for (uint64_t i = 1; i <= 100; i++)
        rb_hist_record(h, i);
    /* 0.07 * 100 is above 7 in doubles, and 7 is the nearest rank. */
    assert_int_equal(rb_hist_quantile(h, 0.07), 7);
    assert_int_equal(rb_hist_quantile(h, 0.99), 99);
    assert_int_equal(rb_hist_quantile(h, 0.991), 100);
    assert_int_equal(rb_hist_quantile(h, 0), 1);
    rb_hist_clear(h);
    rb_hist_record(h, 1000001);
    assert_int_equal(rb_hist_quantile(h, 0.5), 1000001); /* capped at max */
    rb_hist_record(h, UINT64_MAX);
    assert_int_equal(rb_hist_quantile(h, 1), UINT64_MAX);
    rb_hist_destroy(&h);
}

static void test_merge_of_splits_is_the_whole(void **state)
{
    (void)state;
    enum { PARTS = 7 };
    for (size_t d = 0; d < RB_LEN(draws); d++) {
        rb_hist_t *whole = rb_hist_new(), *merged = rb_hist_new(), *parts[PARTS];
        uint64_t *samples = draw_samples(draws[d], whole);
        for (size_t i = 0; i < PARTS; i++)
            parts[i] = rb_hist_new();
        for (size_t i = 0; i < SAMPLES; i++)
            rb_hist_record(parts[i * i % (PARTS - 1)], samples[i]); /* the last one stays empty */
        for (size_t i = 0; i < PARTS; i++)
            rb_hist_merge(merged, parts[i]);
        assert_hist_equal(merged, whole);
        for (size_t i = 0; i < PARTS; i++) {
            rb_hist_clear(parts[i]);
            assert_hist_empty(parts[i]);
            rb_hist_destroy(&parts[i]);
        }
        free(samples);
        rb_hist_destroy(&whole);
        rb_hist_destroy(&merged);
    }
}

static void test_sparse_round_trip(void **state)
{
    (void)state;
    for (size_t d = 0; d < RB_LEN(draws); d++) {
        rb_hist_t *h = rb_hist_new(), *back = rb_hist_new();
        rb_hist_sparse_t sparse;
        free(draw_samples(draws[d], h));
        rb_hist_to_sparse(h, &sparse);
        assert_true(sparse.npairs > 0);
        assert_int_equal(rb_hist_merge_sparse(back, &sparse), 0);
        assert_hist_equal(back, h);
        assert_int_equal(rb_hist_merge_sparse(back, &sparse), 0);
        assert_int_equal(back->count, 2 * SAMPLES);
        rb_hist_clear(back);
        assert_hist_empty(back);
        rb_hist_sparse_clear(&sparse);
        assert_null(sparse.pairs);
        rb_hist_destroy(&h);
        rb_hist_destroy(&back);
    }
}

static void test_sparse_empty(void **state)
{
    (void)state;
    rb_hist_t *h = rb_hist_new();
    rb_hist_sparse_t sparse;
    rb_hist_to_sparse(h, &sparse);
    assert_int_equal(sparse.npairs, 0);
    assert_null(sparse.pairs);
    assert_int_equal(rb_hist_merge_sparse(h, &sparse), 0);
    sparse = (rb_hist_sparse_t){0}; /* an absent one, whose min says nothing */
    assert_int_equal(rb_hist_merge_sparse(h, &sparse), 0);
    assert_hist_empty(h);
    rb_hist_destroy(&h);
}

/* Each row is a valid sparse histogram with one thing wrong. */
static void test_sparse_refused(void **state)
{
    (void)state;
    uint64_t low = rb_hist_lowest(200), high = rb_hist_lowest(300);
    struct {
        rb_hist_sparse_t sparse;
        rb_hist_pair_t pairs[2];
        int want;
    } rows[] = {
        {{.count = 5, .min = low, .max = high}, {{200, 2}, {300, 3}}, 0},
        {{.count = 5, .min = low, .max = high}, {{200, 2}, {RB_HIST_BUCKETS, 3}}, -1},
        {{.count = 5, .min = high, .max = low}, {{300, 2}, {200, 3}}, -1},
        {{.count = 5, .min = low, .max = low}, {{200, 2}, {200, 3}}, -1},
        {{.count = 6, .min = low, .max = high}, {{200, 2}, {300, 3}}, -1},
        {{.count = 3, .min = low, .max = high}, {{200, 0}, {300, 3}}, -1},
        {{.count = 1, .min = low, .max = high}, {{200, 2}, {300, UINT64_MAX}}, -1},
        {{.count = 5, .min = low - 1, .max = high}, {{200, 2}, {300, 3}}, -1},
        {{.count = 5, .min = low, .max = high * 2}, {{200, 2}, {300, 3}}, -1},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_hist_t *h = rb_hist_new();
        rows[i].sparse.npairs = 2;
        rows[i].sparse.pairs = rows[i].pairs;
        assert_int_equal(rb_hist_merge_sparse(h, &rows[i].sparse), rows[i].want);
        if (rows[i].want < 0)
            assert_hist_empty(h);
        rb_hist_destroy(&h);
    }
}

static void test_mean_and_stddev(void **state)
{
    (void)state;
    rb_hist_t *h = rb_hist_new();
    assert_true(rb_hist_mean(h) == 0 && rb_hist_stddev(h) == 0);
    uint64_t *samples = draw_samples(draw_uniform, h);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < SAMPLES; i++)
        sum += (double)samples[i];
    for (size_t i = 0; i < SAMPLES; i++)
        squares += pow((double)samples[i] - sum / SAMPLES, 2);
    assert_true(rb_hist_mean(h) == sum / SAMPLES);
    double exact = sqrt(squares / SAMPLES);
    assert_true(fabs(rb_hist_stddev(h) - exact) < 0.005 * exact);
    free(samples);
    rb_hist_clear(h);
    for (int i = 0; i < 10; i++)
        rb_hist_record(h, 123456789);
    assert_true(rb_hist_stddev(h) < 1e-3);
    rb_hist_clear(h);
    rb_hist_record(h, 0);
    rb_hist_record(h, 256); /* its bucket is 256..257 and stands for 257, as in HdrHistogram */
    assert_true(fabs(rb_hist_stddev(h) - 128.5) < 1e-9);
    rb_hist_destroy(&h);
}

static void test_count_above(void **state)
{
    (void)state;
    rb_hist_t *h = rb_hist_new();
    assert_int_equal(rb_hist_count_above(h, 0), 0);
    uint64_t *sorted = draw_samples(draw_any_octave, h);
    for (size_t i = 0; i < SAMPLES; i += 97) {
        uint64_t border = rb_hist_highest(rb_hist_index(sorted[i])), want = 0;
        for (size_t k = SAMPLES; k-- > 0 && sorted[k] > border;)
            want++;
        assert_int_equal(rb_hist_count_above(h, sorted[i]), want);
    }
    assert_int_equal(rb_hist_count_above(h, UINT64_MAX), 0);
    free(sorted);
    rb_hist_destroy(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_buckets_tile_the_range),
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_quantile_edges),
        cmocka_unit_test(test_merge_of_splits_is_the_whole),
        cmocka_unit_test(test_sparse_round_trip),
        cmocka_unit_test(test_sparse_empty),
        cmocka_unit_test(test_sparse_refused),
        cmocka_unit_test(test_mean_and_stddev),
        cmocka_unit_test(test_count_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
