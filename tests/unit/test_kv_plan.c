/* test_kv_plan.c - what the planner of a KV tier does, request by request: published figures, and
 * what a few requests do to a small tier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/clock.h"
#include "tests/unit/kv_rig.h"

/* Source: statistics of the FAST'25 conversation trace, LRU over blocks. */
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
        rb_kv_plan_opts_t opts = fleet("hash", 1, 1, rows[i].slots);
        rb_kv_account_t a = run_plan(&opts, trace);
        double hit = (double)a.drive_hits / (double)a.references;
        if (hit < rows[i].hit - .0005 || hit >= rows[i].hit + .0005)
            fail_msg("%llu blocks: hit ratio %.5f, not %.3f", (unsigned long long)rows[i].slots,
                     hit, rows[i].hit);
        assert_int_equal(a.references, 288500);
        assert_int_equal(a.written_blocks - a.evicted_blocks, rows[i].slots);
    }
    rb_kv_plan_opts_t opts = fleet("hash", 1, 1, RB_KV_UNLIMITED);
    uint64_t begin_ns = rb_clock_now_ns();
    rb_kv_account_t a = run_plan(&opts, trace);
    print_message("%.0f ns a block\n", (double)(rb_clock_now_ns() - begin_ns) / 288500);
    assert_int_equal(a.written_blocks, 182790);
    assert_int_equal(a.drive_hits, 288500 - 182790);
}

/* "R0.0 D1.2 W3.2": operation, block, slot of the parts of the steps, steps with | between. */
static void assert_steps(const rb_kv_plan_opts_t *opts, const char *requests, const char *want)
{
    static const char letters[] = {'R', 'W', 'D'};
    char got[4000] = "";
    size_t at = 0;
    rb_kv_step_t step;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = tiny(requests);
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(opts, trace);
    while (rb_kv_plan_step(plan, &step)) {
        at += (size_t)snprintf(got + at, sizeof(got) - at, "%s", step.request ? "|" : "");
        for (size_t i = 0; i < step.nparts; i++) {
            const rb_kv_part_t *p = &step.parts[i];
            at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%c%d.%u", i ? " " : "",
                                   letters[p->op], (int)p->block, p->slot);
        }
    }
    assert_string_equal(got, want);
}

static void test_lru(void **state)
{
    (void)state;
    rb_kv_plan_opts_t opts = fleet("hash", 1, 1, 3);
    /* deepest first; the leaf 2 goes for the leaf 3, and the roots stay */
    assert_steps(&opts, "0 1 2|0 1 3|0 1 2",
                 "W2.0 W1.1 W0.2|R0.2 R1.1 D2.0 W3.0|"
                 "R0.2 R1.1 D3.0 W2.0");
    /* a prompt larger than the tier keeps its begin; what it hits is not put out for its end */
    assert_steps(&opts, "0 1 2 3|0 1 2 3", "W3.0 W2.1 W1.2 D3.0 W0.0|R0.0 R1.2 R2.1 D2.1 W3.1");
    /* what lies behind the first miss is no hit, and is not written again */
    assert_steps(&opts, "0 1 2|3|0 1 2", "W2.0 W1.1 W0.2|D2.0 W3.0|R0.2 R1.1 D3.0 W2.0");
}

static void test_policies(void **state)
{
    (void)state;
    rb_kv_plan_opts_t opts = fleet("hash", 1, 1, 2);
    assert_steps(&opts, "0|1|0|2|0", "W0.0|W1.1|R0.0|D1.1 W2.1|R0.0");
    opts.policy = RB_KV_POLICY_FIFO; /* use does not keep 0 */
    assert_steps(&opts, "0|1|0|2|0", "W0.0|W1.1|R0.0|D0.0 W2.0|D1.1 W0.1");
    opts.policy = RB_KV_POLICY_NONE; /* first come, first kept */
    assert_steps(&opts, "0|1|0|2|1", "W0.0|W1.1|R0.0||R1.1");
    opts.policy = RB_KV_POLICY_LRU;
    opts.full = true; /* of -1, which nobody asks for */
    assert_steps(&opts, "0|0|1", "D-1.0 W0.0|R0.0|D-1.1 W1.1");
}

static void test_admission(void **state)
{
    (void)state;
    rb_kv_plan_opts_t opts = fleet("hash", 1, 1, RB_KV_UNLIMITED);
    opts.admission = RB_KV_ADMIT_SECOND_TOUCH;
    assert_steps(&opts, "0 1|0 2|0 1", "|W0.0|R0.0 W1.1");
    opts.loops = 2; /* the next loop has other blocks, and has not named them yet */
    assert_steps(&opts, "0|0|0", "|W0.0|R0.0||W1.1|R1.1");
}

static void test_front(void **state)
{
    (void)state;
    rb_kv_plan_opts_t opts = fleet("hash", 1, 1, RB_KV_UNLIMITED);
    opts.gpu_blocks = 1;
    opts.dram_blocks = 1;
    /* all is written; a hit in memory reads nothing: 1 is in dram, 0 has fallen out */
    assert_steps(&opts, "0|1|2|1|0", "W0.0|W1.1|W2.2||R0.0");
    opts.write_back = true; /* written when it falls out, once */
    assert_steps(&opts, "0|1|2|1|0|3|4", "||W0.0||R0.0 W2.1|W1.2|");
    opts.admission = RB_KV_ADMIT_SECOND_TOUCH;
    assert_steps(&opts, "0|0|1|2|3", "|||W0.0|");
}

static void test_loops(void **state)
{
    (void)state;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = conversation();
    rb_kv_plan_opts_t opts = fleet("hash", 1, 1, 10000);
    uint64_t once = run_plan(&opts, trace).drive_hits;
    opts.loops = 3;
    rb_kv_account_t a = run_plan(&opts, trace);
    assert_int_equal(a.drive_hits, 3 * once); /* nothing is hit across loops */
    assert_int_equal(a.references, 3 * 288500);
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(&opts, trace);
    rb_kv_step_t step;
    uint64_t last_ns = 0;
    while (rb_kv_plan_step(plan, &step)) {
        assert_true(step.due_ns >= last_ns);
        last_ns = step.due_ns;
    }
    rb_kv_account_t filled = rb_kv_plan_filled(plan);
    assert_int_equal(filled.written_blocks, filled.evicted_blocks); /* one out, one in */
    assert_true(filled.requests > 30000 && filled.requests < 36093);
}

/* Blocks are written when they are computed: 100 tokens a second, after arrival. */
static void test_made(void **state)
{
    (void)state;
    rb_kv_step_t step;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = tiny("0 1|0 1 2 3");
    rb_kv_plan_opts_t opts = fleet("hash", 1, 1, RB_KV_UNLIMITED);
    opts.prefill_tokens_per_s = 100;
    opts.speed_ppm = 2000000;
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *plan = plan_new(&opts, trace);
    assert_true(rb_kv_plan_step(plan, &step));
    assert_int_equal(step.parts[0].due_ns, 20 * RB_NS_PER_MS); /* block 1, the second */
    assert_int_equal(step.parts[1].due_ns, 10 * RB_NS_PER_MS);
    assert_true(rb_kv_plan_step(plan, &step));
    assert_int_equal(step.due_ns, 500 * RB_NS_PER_MS);
    assert_int_equal(step.hit_tokens, 2);
    assert_int_equal(step.parts[0].op, RB_KV_PART_READ);
    assert_int_equal(step.parts[0].due_ns, 500 * RB_NS_PER_MS);
    assert_int_equal(step.parts[2].depth, 3); /* two blocks were hit, two are computed */
    assert_int_equal(step.parts[2].due_ns, 520 * RB_NS_PER_MS);
    assert_false(rb_kv_plan_step(plan, &step));
}

static void assert_refused(rb_kv_plan_opts_t opts, const char *want)
{
    rb_err_t err = {0};
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = tiny("0 1|0 1 2 3");
    assert_null(rb_kv_plan_new(&opts, trace, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    if (strstr(err.text, want) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, want);
}

static void test_refused(void **state)
{
    (void)state;
    rb_kv_plan_opts_t opts = fleet("hash", 1, 1, 0);
    assert_refused(opts, "no room for a single block");
    opts = fleet("hash", 1, 1, RB_KV_UNLIMITED);
    opts.full = true;
    assert_refused(opts, "give a capacity");
    opts = fleet("hash", 1, 1, 5);
    opts.full = true;
    opts.policy = RB_KV_POLICY_NONE;
    assert_refused(opts, "nothing would ever be written");
    opts = fleet("hash", 1, 1, 5);
    opts.write_back = true;
    assert_refused(opts, "needs a front tier");
    opts.write_back = false;
    opts.loops = UINT32_MAX;
    assert_refused(opts, "fewer loops");
    assert_refused(fleet("stripe(3)", 1, 2, 5), "stripe(3) needs 3 drives, and there are 2");
    assert_refused(fleet("mirror(2)", 1, 2, 5), "mirror(2) needs 2 hosts, and there are 1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published), cmocka_unit_test(test_lru),
        cmocka_unit_test(test_policies),  cmocka_unit_test(test_admission),
        cmocka_unit_test(test_front),     cmocka_unit_test(test_loops),
        cmocka_unit_test(test_made),      cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
