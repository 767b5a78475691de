/* Operations that are due at a time of their own: the pauses of thinktime, and how late the worker
 * is (lateness), apart from what the target is to blame for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/worker.h"
#include "agent/worker_due.h"
#include "tests/unit/worker_rig.h"

static void pauses_end_in_the_order_they_began(void **state)
{
    (void)state;
    rb_think_t t;
    rb_slot_t slots[3] = {{.op = RB_OP_READ}, {.op = RB_OP_WRITE}, {.op = RB_OP_TRIM}};
    uint32_t freed[3] = {2, 0, 1}, woken[3];
    rb_think_init(&t, 100, 1, 3);
    assert_true(rb_think_due_ns(&t, slots) == UINT64_MAX);
    assert_int_equal(rb_think_pause(&t, slots, freed, 1, 1000), 0);
    assert_int_equal(rb_think_pause(&t, slots, freed + 1, 2, 1010), 0);
    assert_int_equal(rb_think_due_ns(&t, slots), 1100);
    assert_int_equal(rb_think_wake(&t, slots, woken, 1099), 0);
    assert_int_equal(rb_think_wake(&t, slots, woken, 1100), 1);
    assert_int_equal(woken[0], 2);
    assert_int_equal(rb_think_due_ns(&t, slots), 1110);
    /* around the end of the ring */
    assert_int_equal(rb_think_pause(&t, slots, woken, 1, 1105), 0);
    assert_int_equal(rb_think_wake(&t, slots, woken, 5000), 3);
    assert_int_equal(woken[0], 0);
    assert_int_equal(woken[1], 1);
    assert_int_equal(woken[2], 2);
    assert_int_equal(slots[2].due_ns, 1205);
    rb_think_clear(&t);
}

static void a_slot_pauses_after_its_blocks(void **state)
{
    (void)state;
    rb_think_t t;
    rb_slot_t slots[2] = {{.op = RB_OP_WRITE}, {.op = RB_OP_WRITE}};
    uint32_t freed[2] = {0, 1}, woken[2];
    rb_think_init(&t, 100, 3, 2);
    for (uint64_t round = 1; round <= 9; round++) {
        freed[0] = 0;
        uint32_t left = rb_think_pause(&t, slots, freed, 1, round);
        assert_int_equal(left, round % 3 == 0 ? 0 : 1);
        assert_int_equal(rb_think_wake(&t, slots, woken, UINT64_MAX - 1), 1 - left);
    }
    slots[1].op = RB_OP_SYNC; /* never counts */
    for (int i = 0; i < 9; i++) {
        freed[0] = 1;
        assert_int_equal(rb_think_pause(&t, slots, freed, 1, 1), 1);
        assert_int_equal(freed[0], 1);
    }
    rb_think_clear(&t);
}

static const rb_op_stat_t *run_for(uint64_t runtime_ns)
{
    job.runtime_ns = runtime_ns;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    add_up();
    return &sum[RB_PART_MAIN];
}

/* Each slot's cycle is response + pause, response being service + what the worker was late: the
 * rate is slots / cycle. */
static void expect_cycles(const rb_op_stat_t *s, double pause_ns)
{
    double cycle_ns = rb_hist_mean(&s->response) + pause_ns;
    double expected = job.iodepth * (double)job.runtime_ns / cycle_ns;
    assert_true((double)s->ops < expected * 1.02 + job.iodepth);
    assert_true((double)s->ops > expected * 0.98 - job.iodepth);
}

static void thinktime_sets_the_rate(void **state)
{
    (void)state;
    job.iodepth = 4;
    job.thinktime_ns = 10 * RB_NS_PER_MS;
    const rb_op_stat_t *s = run_for(800 * RB_NS_PER_MS);
    expect_cycles(s, 10 * (double)RB_NS_PER_MS);
    /* 4 / (1 ms + 10 ms), and no more than that. */
    assert_in_range(s->ops, 200, 4 * 800 / 11 + 4);
    assert_in_range(device.deepest, 4, 4);
    /* Due at the end of the pause: neither the pause is in the response, nor is it left out. */
    assert_true(rb_hist_mean(&s->response) >= rb_hist_mean(&s->service));
    assert_true(rb_hist_quantile(&s->response, 0.5) < 8 * RB_NS_PER_MS);
    assert_int_equal(worker->lateness->count, device.sent);
    double late_ns = rb_hist_mean(&s->response) - rb_hist_mean(&s->service);
    assert_true(fabs(rb_hist_mean(worker->lateness) - late_ns) < late_ns * 0.2 + 20000);
    /* It sleeps in between. */
    assert_true(worker->account.cpu_ns < worker->account.wall_ns / 10);
}

static void thinktime_blocks_pauses_less_often(void **state)
{
    (void)state;
    job.iodepth = 2;
    job.thinktime_ns = 20 * RB_NS_PER_MS;
    job.has_thinktime_blocks = true;
    job.thinktime_blocks = 4;
    const rb_op_stat_t *s = run_for(800 * RB_NS_PER_MS);
    expect_cycles(s, 20.0 / 4 * (double)RB_NS_PER_MS);
    assert_in_range(s->ops, 150, 2 * 800 * 4 / 24 + 8);
}

static void a_limit_holds_with_pauses(void **state)
{
    (void)state;
    job.iodepth = 8;
    job.thinktime_ns = 3 * RB_NS_PER_MS;
    job.number_ios = 50;
    run_for(0);
    assert_int_equal(device.sent, 50);
    assert_int_equal(sum[RB_PART_MAIN].ops, 50);
    assert_true(worker->account.finished);
}

static void an_end_is_not_slept_over(void **state)
{
    (void)state;
    job.thinktime_ns = 3600 * RB_NS_PER_S;
    uint64_t start_ns = rb_clock_now_ns();
    run_for(100 * RB_NS_PER_MS);
    assert_int_equal(device.sent, 2);
    assert_true(rb_clock_now_ns() - start_ns < RB_NS_PER_S);
}

/* 1000 a second, two slots, a worker that overslept until 10 ms: what had become due by then is
 * late by its fault, also what had to wait for a slot after that; what became due from then on is
 * not, until slots are left over. */
static void what_waited_is_told_from_what_was_overslept(void **state)
{
    (void)state;
    rb_pace_opts_t opts = {.rate = 1000, .cost = 1, .share = 1};
    job.rate_iops = 1000;
    prepare(RB_NS_PER_S);
    rb_pace_init(&worker->pace, &opts, 0);
    assert_int_equal(rb_worker_take_due(worker, 10 * RB_NS_PER_MS + 1, 2), 2);
    assert_true(worker->waited_ns == UINT64_MAX);
    worker->nfree = 0;
    assert_int_equal(rb_worker_take_due(worker, 11 * RB_NS_PER_MS, 0), 0);
    worker->nfree = 1;
    for (uint64_t i = 2; i < 20; i++) {
        assert_int_equal(rb_worker_take_due(worker, (10 + i) * RB_NS_PER_MS, 1), 1);
        assert_int_equal(worker->due[0], i * RB_NS_PER_MS);
        assert_int_equal(worker->due[0] < worker->waited_ns, i <= 10);
    }
    worker->nfree = 20; /* more than a batch is due */
    assert_int_equal(rb_worker_take_due(worker, 36 * RB_NS_PER_MS, RB_BATCH), 8);
    assert_int_equal(worker->waited_ns, 10 * RB_NS_PER_MS + 1);
    worker->nfree = 12;
    assert_int_equal(rb_worker_take_due(worker, 36 * RB_NS_PER_MS, RB_BATCH), 8);
    assert_int_equal(worker->waited_ns, 10 * RB_NS_PER_MS + 1);
    worker->nfree = 4;
    assert_int_equal(rb_worker_take_due(worker, 36 * RB_NS_PER_MS, 4), 1);
    assert_int_equal(worker->waited_ns, 10 * RB_NS_PER_MS + 1);
    assert_int_equal(rb_worker_take_due(worker, 37 * RB_NS_PER_MS, 3), 1);
    assert_true(worker->waited_ns == UINT64_MAX);
    worker->nfree = 2;
}

/* What waits for a slot is late by the target's doing: it is in the response, not in lateness. */
static void a_full_queue_is_not_the_workers_lateness(void **state)
{
    (void)state;
    job.rate_iops = 1000;
    job.runtime_ns = 600 * RB_NS_PER_MS;
    device.service_ns = 100;
    prepare(RB_NS_PER_S);
    device.stall_from_ns = t0_ns + 100 * RB_NS_PER_MS;
    device.stall_to_ns = t0_ns + 300 * RB_NS_PER_MS;
    rb_worker_loop(worker);
    add_up();
    assert_in_range(sum[RB_PART_MAIN].response.max, 195 * RB_NS_PER_MS, 260 * RB_NS_PER_MS);
    /* Two of those due in the stall found a slot, about 198 did not, and some after it. */
    assert_in_range(worker->lateness->count, 330, 403);
    assert_true(rb_hist_quantile(worker->lateness, 0.9) < 50 * RB_NS_PER_MS);
    assert_true(worker->lateness->max < 150 * RB_NS_PER_MS);
    assert_true(worker->lateness->max > 0);
}

/* All the time before T0 + 300 ms it looks at the clock, and so is never late by a sleep. */
static void a_worker_may_spin_until_it_is_due(void **state)
{
    (void)state;
    uint64_t slept_ns = 0;
    job.rate_iops = 100;
    for (int spins = 0; spins < 2; spins++) {
        device = (device_t){.service_ns = 1000};
        job.due_spin_ns = spins ? 20 * RB_NS_PER_MS : 0;
        run_for(300 * RB_NS_PER_MS);
        uint64_t cpu_ns = worker->account.cpu_ns;
        assert_in_range(worker->lateness->count, 28, 30);
        if (spins)
            assert_true(cpu_ns > 5 * slept_ns && cpu_ns > 30 * RB_NS_PER_MS);
        slept_ns = cpu_ns;
        rb_worker_destroy(&worker);
    }
}

static void a_closed_loop_has_no_lateness(void **state)
{
    (void)state;
    run_for(50 * RB_NS_PER_MS);
    assert_null(worker->lateness);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pauses_end_in_the_order_they_began),
        cmocka_unit_test(a_slot_pauses_after_its_blocks),
        cmocka_unit_test_setup_teardown(thinktime_sets_the_rate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(thinktime_blocks_pauses_less_often, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_limit_holds_with_pauses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_end_is_not_slept_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_waited_is_told_from_what_was_overslept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_full_queue_is_not_the_workers_lateness, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_worker_may_spin_until_it_is_due, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_closed_loop_has_no_lateness, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
