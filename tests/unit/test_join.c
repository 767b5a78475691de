/* test_join.c - requests put together from parts: who was last, by how much, and what counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/rng.h"
#include "coordinator/join.h"

static const rb_join_opts_t opts = {.prefill_tokens_per_s = 1000000};

static rb_kv_row_part_t part(uint32_t request, int64_t due_ns, int64_t end_ns)
{
    return (rb_kv_row_part_t){.request = request,
                              .part = end_ns < 1000     ? RB_PART_RAMP
                                      : end_ns < 100000 ? RB_PART_MAIN
                                                        : RB_PART_DRAINED,
                              .due_at_ns = due_ns,
                              .first_at_ns = due_ns + (end_ns - due_ns) / 2,
                              .end_at_ns = end_ns,
                              .bytes = 4096,
                              .blocks = 1,
                              .drives = 2,
                              .hosts = 2,
                              .tokens = 2};
}

static void add(rb_join_t *join, uint32_t host, rb_kv_row_part_t p)
{
    rb_join_add(join, host, &p);
}

/* The last block of all hosts is what counts; the first layer is that of the last block, too. */
static void test_last_block(void **state)
{
    (void)state;
    RB_AUTO(rb_join_destroy) rb_join_t *join = rb_join_new(&opts);
    rb_join_counts_t c;
    add(join, 2, part(7, 2000, 2100));
    rb_join_counts(join, &c);
    assert_int_equal(c.open, 1);
    assert_int_equal(c.requests, 0);
    add(join, 1, part(7, 2000, 2060));
    rb_join_counts(join, &c);
    assert_int_equal(c.open, 0);
    assert_int_equal(c.requests, 1);
    assert_int_equal(c.late_parts_ns, 40);
    assert_int_equal(rb_join_all(join)->restore->max, 100);
    assert_int_equal(rb_join_all(join)->first_layer->max, 50);
    assert_int_equal(rb_join_all(join)->bytes, 8192);
    assert_int_equal(rb_join_host(join, 2)->last, 1);
    assert_int_equal(rb_join_host(join, 2)->last_late_ns, 40);
    assert_int_equal(rb_join_host(join, 1)->last, 0);
    assert_null(rb_join_host(join, 3));
    assert_int_equal(rb_join_spread(join, 1)->restore->count, 1);
    assert_null(rb_join_spread(join, 0)->restore);
}

/* Two drives of one host: nobody waited for another host. */
static void test_one_host(void **state)
{
    (void)state;
    RB_AUTO(rb_join_destroy) rb_join_t *join = rb_join_new(&opts);
    rb_kv_row_part_t p = part(7, 2000, 2100);
    p.hosts = 1;
    add(join, 2, p);
    add(join, 2, p);
    assert_int_equal(rb_join_host(join, 2)->last, 0);
    assert_int_equal(rb_join_spread(join, 0)->restore->count, 1);
}

static void test_what_counts(void **state)
{
    (void)state;
    RB_AUTO(rb_join_destroy) rb_join_t *join = rb_join_new(&opts);
    rb_join_counts_t c;
    add(join, 1, part(1, 100, 900)); /* in the ramp, but its last block is not */
    add(join, 2, part(1, 100, 1000));
    add(join, 1, part(2, 100, 900));
    add(join, 2, part(2, 100, 999));
    add(join, 1, part(3, 99000, 100000));
    add(join, 2, part(3, 99000, 99001));
    rb_kv_row_part_t wrong = part(4, 3000, 6000);
    wrong.failed = 1;
    add(join, 1, wrong);
    rb_join_counts(join, &c);
    assert_int_equal(c.failed, 1); /* as soon as it is known */
    wrong.end_at_ns = 3001;
    add(join, 2, wrong);
    rb_join_counts(join, &c);
    assert_int_equal(c.requests, 2);
    assert_int_equal(c.outside, 2);
    assert_int_equal(c.failed, 1);
    assert_int_equal(c.slower, 1); /* 2 tokens take 2000 ns to compute; request 4 took 3000 */
}

static void test_classes(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        uint32_t scale, want;
    } rows[] = {
        {64 * RB_MIB, 1, 0},    {64 * RB_MIB + 1, 1, 1}, {4 * RB_GIB, 1, 2},
        {4 * RB_GIB + 1, 1, 3}, {RB_MIB, 64, 0},         {RB_MIB + 4096, 64, 1},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_join_opts_t o = opts;
        o.scale = rows[i].scale;
        RB_AUTO(rb_join_destroy) rb_join_t *join = rb_join_new(&o);
        rb_kv_row_part_t p = part(1, 2000, 3000);
        p.drives = 1;
        p.bytes = rows[i].bytes;
        add(join, 1, p);
        assert_non_null(rb_join_class(join, rows[i].want)->restore);
    }
}

enum { REQUESTS = 20000, DRIVES = 8 };

/* Many open at once, in any order: each is joined once, with its own latest end. */
static void test_many(void **state)
{
    (void)state;
    rb_rng_t rng;
    rb_rng_seed(&rng, 1, 2, 3);
    RB_AUTO(rb_join_destroy) rb_join_t *join = rb_join_new(&opts);
    static uint32_t order[REQUESTS * DRIVES];
    uint64_t sum = 0;
    for (uint32_t i = 0; i < RB_LEN(order); i++)
        order[i] = i;
    for (uint32_t i = RB_LEN(order); i > 1; i--) {
        uint32_t j = (uint32_t)rb_rng_below(&rng, i), swap = order[j];
        order[j] = order[i - 1];
        order[i - 1] = swap;
    }
    for (uint32_t i = 0; i < RB_LEN(order); i++) {
        uint32_t request = order[i] / DRIVES, drive = order[i] % DRIVES;
        int64_t due_ns = 2000 + request;
        rb_kv_row_part_t p = part(request, due_ns, due_ns + (int64_t)drive * 10 + request % 7);
        p.drives = DRIVES;
        add(join, drive + 1, p);
    }
    for (uint32_t i = 0; i < REQUESTS; i++)
        sum += (DRIVES - 1) * 10 + i % 7;
    rb_join_counts_t c;
    rb_join_counts(join, &c);
    assert_int_equal(c.open, 0);
    assert_int_equal(c.requests, REQUESTS);
    assert_int_equal(rb_join_all(join)->restore->sum, sum);
    assert_int_equal(rb_join_host(join, DRIVES)->last, REQUESTS);
    assert_int_equal(rb_join_host(join, DRIVES)->last_late_ns, 10ull * REQUESTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_block),  cmocka_unit_test(test_one_host),
        cmocka_unit_test(test_what_counts), cmocka_unit_test(test_classes),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
