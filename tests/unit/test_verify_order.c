/* test_verify_order.c - the write that comes next to a block, against the writes themselves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/verify_order.h"
#include "agent/workload/permutation.h"

enum { PASSES = 5, MOST = 70 };

/* The block that write number `sequence` goes to, as the workload has it. */
static uint64_t block_of(const rb_order_t *o, uint64_t sequence)
{
    rb_permutation_t p;
    if (o->kind == RB_ORDER_SEQUENTIAL)
        return sequence % o->period;
    rb_permutation_init(&p, o->period, o->seed, sequence / o->period);
    return rb_permutation_at(&p, sequence % o->period);
}

static void expect_as_written(const rb_order_t *o)
{
    static uint64_t blocks[PASSES * MOST];
    uint64_t total = PASSES * o->period;
    for (uint64_t s = 0; s < total; s++)
        blocks[s] = block_of(o, s);
    for (uint64_t s = 0; s < total; s++) {
        uint64_t next = s + 1, last = s;
        while (next < total && blocks[next] != blocks[s])
            next++;
        if (next == total)
            continue;
        assert_int_equal(rb_order_next(o, s), next);
        for (uint64_t max = next; max < total; max++) {
            last = blocks[max] == blocks[s] ? max : RB_MAX(last, next);
            assert_int_equal(rb_order_newest(o, s, max), last);
        }
    }
}

static void next_and_newest_are_as_written(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= MOST; n += n < 9 ? 1 : 12) {
        expect_as_written(&(rb_order_t){RB_ORDER_SEQUENTIAL, n, 0});
        expect_as_written(&(rb_order_t){RB_ORDER_PERMUTED, n, n * 77});
    }
}

/* No write before the end is to a block that one from `oldest` on goes to; the end of a sequential
 * order is that one. */
static void writes_before_the_end_overtake_none(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= MOST; n += 3)
        for (uint64_t oldest = 0; oldest < 3 * n; oldest++) {
            const rb_order_t seq = {RB_ORDER_SEQUENTIAL, n, 0}, perm = {RB_ORDER_PERMUTED, n, n};
            assert_int_equal(rb_order_end(&seq, oldest), oldest + n);
            uint64_t end = rb_order_end(&perm, oldest);
            assert_true(end > oldest);
            for (uint64_t s = oldest; s < end; s++)
                assert_true(rb_order_next(&perm, s) >= end);
        }
}

/* What a damaged or foreign header may hold. */
static void nonsense_is_no_order(void **state)
{
    (void)state;
    const rb_order_t bad[] = {{RB_ORDER_NONE, 8, 0},
                              {RB_ORDER_SEQUENTIAL, 0, 0},
                              {RB_ORDER_SEQUENTIAL, UINT64_MAX, 0},
                              {RB_ORDER_PERMUTED, 0, 0},
                              {RB_ORDER_PERMUTED, RB_MAX_PERMUTATION + 1, 0},
                              {3, 8, 0}};
    for (size_t i = 0; i < RB_LEN(bad); i++)
        assert_true(rb_order_next(&bad[i], 5) == UINT64_MAX);
    assert_true(rb_order_next(&(rb_order_t){RB_ORDER_SEQUENTIAL, 8, 0}, UINT64_MAX - 3) ==
                UINT64_MAX);
    assert_true(rb_order_end(&bad[0], 7) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(next_and_newest_are_as_written),
        cmocka_unit_test(writes_before_the_end_overtake_none),
        cmocka_unit_test(nonsense_is_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
