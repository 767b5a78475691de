/* test_budget.c - a journal's size over runs that are too long to be run. */
#include "coordinator/budget.h"

#include "proto/sample.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define GB  1000000000ull
#define DAY 86400ull

typedef struct {
    rb_budget_t budget;
    size_t hosts, drives;
    uint64_t seconds; /* planned */
    double pairs;     /* of a histogram of one second */
    uint32_t widest;
} model_t;

/* A row of 8 drives: two histograms each, that fill ever more slowly as the span grows. */
static size_t row_bytes(const model_t *m, uint32_t span)
{
    double pairs = m->pairs;
    for (uint32_t s = 1; s < span; s *= 2)
        pairs *= 1.15;
    return (size_t)((double)m->drives / (double)m->hosts * (40 + 2 * 3 * pairs));
}

static void run_to_end(model_t *m)
{
    rb_budget_guess(&m->budget, m->drives, m->hosts);
    uint64_t at_s = 0;
    while (at_s < m->seconds) {
        uint32_t span = rb_budget_span(&m->budget, m->hosts, m->seconds - at_s);
        m->widest = RB_MAX(m->widest, span);
        at_s += span;
        for (size_t h = 0; h < m->hosts; h++) {
            size_t size = row_bytes(m, span);
            assert_false(rb_budget_is_spent(&m->budget, size));
            rb_budget_row(&m->budget, RB_BUDGET_WINDOW, size);
        }
    }
}

static model_t model_of(size_t hosts, size_t drives, uint64_t seconds, double pairs)
{
    model_t m = {.hosts = hosts, .drives = drives, .seconds = seconds, .pairs = pairs};
    rb_budget_init(&m.budget, 10 * GB);
    return m;
}

static void test_two_weeks_of_128_drives(void **state)
{
    (void)state;
    static const double pairs[] = {20, 100, 300, 600, 1500};
    for (size_t i = 0; i < RB_LEN(pairs); i++) {
        model_t m = model_of(16, 128, 14 * DAY, pairs[i]);
        run_to_end(&m);
        print_message("%.0f pairs: %.2f GB, windows of %u s\n", pairs[i],
                      (double)m.budget.used_bytes / 1e9, m.widest);
        assert_true(m.budget.used_bytes < 10 * GB);
        assert_true(m.budget.used_bytes > 2 * GB); /* resolution is not given away */
    }
}

static void test_short_runs_keep_every_window(void **state)
{
    (void)state;
    model_t m = model_of(16, 128, 3600, 600);
    run_to_end(&m);
    assert_int_equal(m.widest, 1);
}

/* The guess was far too high: the first rows show it, and the span falls. */
static void test_span_falls(void **state)
{
    (void)state;
    model_t m = model_of(4, 4, 14 * DAY, 2);
    m.budget.max_bytes = GB;
    run_to_end(&m);
    assert_true(m.widest > 4);
    assert_int_equal(m.budget.span, 1);
}

static void test_no_limit(void **state)
{
    (void)state;
    rb_budget_t b;
    rb_budget_init(&b, 0);
    rb_budget_guess(&b, 1000, 1);
    assert_int_equal(rb_budget_span(&b, 1, UINT64_MAX), 1);
    assert_false(rb_budget_is_spent(&b, SIZE_MAX / 2));
}

/* Nothing is left: as coarse as can be, and the next row is one too many. */
static void test_spent(void **state)
{
    (void)state;
    rb_budget_t b;
    rb_budget_init(&b, 1000);
    rb_budget_row(&b, RB_BUDGET_OTHER, 900);
    assert_int_equal(rb_budget_span(&b, 1, 1), RB_MAX_SPAN);
    assert_false(rb_budget_is_spent(&b, 76));
    assert_true(rb_budget_is_spent(&b, 77));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_weeks_of_128_drives),
        cmocka_unit_test(test_short_runs_keep_every_window),
        cmocka_unit_test(test_span_falls),
        cmocka_unit_test(test_no_limit),
        cmocka_unit_test(test_spent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
