/* test_kv_plan.c - what the planner of a KV tier does, request by request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/llm/kv_plan.h"
#include "tests/unit/conversation.h"

static rb_kv_drive_t one_drive[] = {{.slots = RB_KV_UNLIMITED, .weight = 1}};

static rb_kv_plan_opts_t single(uint64_t slots)
{
    one_drive[0].slots = slots;
    return (rb_kv_plan_opts_t){
        .place = {.rule = RB_KV_HASH, .ways = 1, .ndrives = 1, .drives = one_drive}, .nhosts = 1};
}

static rb_kv_plan_t *plan_new(const rb_kv_plan_opts_t *opts, const rb_trace_t *trace)
{
    rb_err_t err = {0};
    rb_kv_plan_t *plan = rb_kv_plan_new(opts, trace, &err);
    if (plan == NULL)
        fail_msg("%s", err.text);
    return plan;
}

static rb_kv_account_t run(const rb_kv_plan_opts_t *opts, const rb_trace_t *trace)
{
    rb_kv_step_t step;
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(opts, trace);
    while (rb_kv_plan_step(plan, &step))
        ;
    return *rb_kv_plan_account(plan);
}

/* The published figures. Source: statistics of the FAST'25 conversation trace, LRU over blocks. */
static void test_published(void **state)
{
    (void)state;
    static const struct {
        uint64_t slots;
        double hit;
    } rows[] = {{1000, .045},  {5000, .112},  {10000, .212},
                {20000, .288}, {50000, .355}, {100000, .364}};
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_kv_plan_opts_t opts = single(rows[i].slots);
        rb_kv_account_t a = run(&opts, trace);
        double hit = (double)a.drive_hits / (double)a.references;
        if (hit < rows[i].hit - .0005 || hit >= rows[i].hit + .0005)
            fail_msg("%llu blocks: hit ratio %.5f, not %.3f", (unsigned long long)rows[i].slots,
                     hit, rows[i].hit);
        assert_int_equal(a.references, 288500);
        assert_int_equal(a.written_blocks - a.evicted_blocks, rows[i].slots);
    }
    rb_kv_plan_opts_t opts = single(RB_KV_UNLIMITED);
    uint64_t begin_ns = rb_clock_now_ns();
    rb_kv_account_t a = run(&opts, trace);
    print_message("%.0f ns a block\n", (double)(rb_clock_now_ns() - begin_ns) / 288500);
    assert_int_equal(a.written_blocks, 182790);
    assert_int_equal(a.drive_hits, 288500 - 182790);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
