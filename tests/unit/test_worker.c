/* The worker's loop over a made-up device: stalls, errors, submissions left behind, clock drift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/worker.h"
#include "agent/worker_cut.h"
#include "tests/unit/worker_rig.h"

static void a_stalled_window_has_an_age(void **state)
{
    (void)state;
    prepare(100 * RB_NS_PER_MS);
    device.stall_from_ns = t0_ns + 50 * RB_NS_PER_MS;
    device.stall_to_ns = t0_ns + 260 * RB_NS_PER_MS;
    rb_worker_loop(worker);
    const rb_op_stat_t *s = take();
    assert_true(s->ops > 10);
    assert_int_equal(s->inflight, 2);
    assert_in_range(s->oldest_inflight_ns, 45 * RB_NS_PER_MS, 80 * RB_NS_PER_MS);
    rb_windows_consume(&worker->windows);
    s = take();
    assert_int_equal(s->ops, 0);
    assert_int_equal(s->inflight, 2);
    assert_in_range(s->oldest_inflight_ns, 145 * RB_NS_PER_MS, 180 * RB_NS_PER_MS);
    rb_windows_consume(&worker->windows);
    s = take();
    assert_true(s->ops > 10);
    assert_in_range(s->service.max, 205 * RB_NS_PER_MS, 240 * RB_NS_PER_MS);
}

static void an_open_loop_knows_its_stall(void **state)
{
    (void)state;
    device.service_ns = 100;
    job.rate_iops = 1000;
    job.runtime_ns = RB_NS_PER_S;
    prepare(RB_NS_PER_S);
    device.stall_from_ns = t0_ns + 300 * RB_NS_PER_MS;
    device.stall_to_ns = t0_ns + 500 * RB_NS_PER_MS;
    rb_worker_loop(worker);
    add_up();
    const rb_op_stat_t *s = &sum[RB_PART_MAIN];
    /* P(response > x) = (0.2 s - x) / 1 s: p90 is 100 ms; only two were in service. */
    assert_in_range(s->ops, 998, 1000);
    assert_int_equal(worker->account.offered_ops, 1000);
    assert_in_range(rb_hist_quantile(&s->response, 0.9), 90 * RB_NS_PER_MS, 130 * RB_NS_PER_MS);
    assert_in_range(s->response.max, 195 * RB_NS_PER_MS, 260 * RB_NS_PER_MS);
    assert_in_range(rb_hist_quantile(&s->service, 0.99), 0, 10 * RB_NS_PER_MS);
}

static void what_outlives_te_is_unfinished(void **state)
{
    (void)state;
    prepare(RB_NS_PER_S);
    device.stall_from_ns = t0_ns + 250 * RB_NS_PER_MS;
    device.stall_to_ns = t0_ns + 400 * RB_NS_PER_MS;
    rb_worker_loop(worker);
    add_up();
    const rb_worker_account_t *a = &worker->account;
    assert_int_equal(a->end_ns, t0_ns + job.runtime_ns);
    assert_int_equal(a->unfinished, 2);
    assert_in_range(a->oldest_unfinished_ns, 45 * RB_NS_PER_MS, 70 * RB_NS_PER_MS);
    assert_int_equal(sum[RB_PART_DRAINED].ops, 2);
    assert_int_equal(sum[RB_PART_MAIN].ops + 2, device.sent);
    assert_int_equal(a->wall_ns, job.runtime_ns - (a->first_submit_ns - t0_ns));
    assert_true(a->done_ns >= device.stall_to_ns);
}

static void what_is_given_up_is_cancelled(void **state)
{
    (void)state;
    prepare(RB_NS_PER_S);
    device.stall_from_ns = t0_ns + 100 * RB_NS_PER_MS;
    device.stall_to_ns = UINT64_MAX;
    rb_crew_stop(&crew, t0_ns + 150 * RB_NS_PER_MS);
    atomic_store(&crew.give_up, true);
    rb_worker_loop(worker);
    add_up();
    assert_true(device.cancelled);
    assert_int_equal(worker->account.cancelled, 2);
    assert_int_equal(worker->account.end_ns, t0_ns + 150 * RB_NS_PER_MS);
    assert_int_equal(worker->account.errors.nfirst, 0);
    assert_int_equal(sum[RB_PART_DRAINED].ops + sum[RB_PART_DRAINED].errors, 0);
}

static void an_error_stops_the_host(void **state)
{
    (void)state;
    device.fail_at = 21;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    add_up();
    assert_int_equal(sum[RB_PART_MAIN].errors, 1);
    assert_in_range(sum[RB_PART_MAIN].ops, 19, 21);
    assert_int_equal(sum[RB_PART_MAIN].ops, sum[RB_PART_MAIN].response.count);
    assert_int_equal(worker->account.errors.nfirst, 1);
    assert_int_equal(worker->account.errors.first[0].res, -EIO);
    assert_int_equal(atomic_load(&crew.stop_ns), worker->account.errors.first[0].at_ns);
    assert_int_equal(device.sent, sum[RB_PART_MAIN].ops + sum[RB_PART_DRAINED].ops + 1);
}

static void a_broken_backend_ends_the_worker(void **state)
{
    (void)state;
    device.broken = -EBADF;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    assert_int_equal(worker->account.errors.nfirst, 1);
    assert_int_equal(worker->account.errors.first[0].op, RB_OP_COUNT);
    assert_int_equal(worker->account.errors.first[0].res, -EBADF);
}

static void what_stayed_behind_is_not_lost(void **state)
{
    (void)state;
    device.leave_behind = 5;
    job.iodepth = 32;
    job.number_ios = 1000;
    job.runtime_ns = 0;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    add_up();
    assert_int_equal(sum[RB_PART_MAIN].ops, 1000);
    assert_int_equal(device.sent, 1000);
    assert_true(worker->account.finished);
}

static void an_instant_device_is_filled_too(void **state)
{
    (void)state;
    device.service_ns = 0;
    job.iodepth = 32;
    job.number_ios = 1000;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    assert_int_equal(device.deepest, 32);
    assert_in_range(worker->turn->count, 100, 1000); /* one a reap */
}

static void borders_follow_the_common_clock(void **state)
{
    (void)state;
    drift_ppb = 200 * 1000 * 1000; /* this clock runs 20 % fast */
    job.ramp_time_ns = 100 * RB_NS_PER_MS;
    job.runtime_ns = 100 * RB_NS_PER_MS;
    prepare(100 * RB_NS_PER_MS);
    rb_worker_loop(worker);
    assert_int_equal(worker->account.end_ns - t0_ns, 240 * RB_NS_PER_MS);
    assert_int_equal(worker->account.wall_ns, 120 * RB_NS_PER_MS);
    const rb_part_t parts[] = {RB_PART_RAMP, RB_PART_MAIN, RB_PART_DRAINED};
    for (uint64_t i = 0; i < RB_LEN(parts); i++, rb_windows_consume(&worker->windows)) {
        const rb_window_t *win = rb_windows_peek(&worker->windows);
        assert_int_equal(win->part, parts[i]);
        assert_int_equal(win->index, i); /* the borders coincide: no empty window between */
        assert_int_equal(win->span, 1);
        assert_int_equal(win->running, parts[i] != RB_PART_DRAINED);
    }
    assert_null(rb_windows_peek(&worker->windows));
}

static bool may_take_precedence(void)
{
    struct sched_param lowest = {1}, none = {0};
    if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0)
        return false;
    sched_setscheduler(0, SCHED_OTHER, &none);
    return true;
}

static void precedence_ends_with_the_first_submission(void **state)
{
    (void)state;
    bool may = may_take_precedence();
    job.runtime_ns = 20 * RB_NS_PER_MS;
    prepare(RB_NS_PER_S);
    rb_start_raise(&worker->start);
    rb_worker_loop(worker);
    /* Threads that the kernel makes for the submission are to be ordinary ones. */
    assert_int_equal(device.first_policy, may ? SCHED_FIFO | SCHED_RESET_ON_FORK : SCHED_OTHER);
    assert_int_equal(device.last_policy & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
    assert_int_equal(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
}

static void precedence_ends_with_a_stop_before_t0(void **state)
{
    (void)state;
    prepare(RB_NS_PER_S);
    rb_start_raise(&worker->start);
    rb_crew_stop(&crew, 1);
    rb_worker_loop(worker);
    assert_int_equal(device.sent, 0);
    assert_int_equal(sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, SCHED_OTHER);
}

/* After 1 s the worker hears that its clock gained 100 ms: the border that is next comes later by
 * that, and so does the end. */
static void borders_follow_what_is_told(void **state)
{
    (void)state;
    job.runtime_ns = 1200 * RB_NS_PER_MS;
    device.service_ns = 10 * RB_NS_PER_MS;
    prepare(300 * RB_NS_PER_MS);
    rb_timeline_t line = rb_timeline_new(t0_ns, 0);
    assert_true(rb_timeline_tell(&line, 900 * RB_NS_PER_MS, t0_ns + RB_NS_PER_S, 0));
    rb_crew_tell(&crew, &line);
    rb_worker_loop(worker);
    assert_int_equal(worker->account.end_ns - t0_ns, 1300 * RB_NS_PER_MS);
    assert_int_equal(worker->index, 4);
    add_up();
    assert_in_range(sum[RB_PART_MAIN].ops, 50, 262); /* 130 each of two slots */
}

/* It lost 500 ms: the end has passed, and is not moved before what has been measured. */
static void an_end_that_has_passed_is_now(void **state)
{
    (void)state;
    job.runtime_ns = 1200 * RB_NS_PER_MS;
    prepare(300 * RB_NS_PER_MS);
    rb_timeline_t line = rb_timeline_new(t0_ns, 0);
    assert_true(rb_timeline_tell(&line, 1500 * RB_NS_PER_MS, t0_ns + RB_NS_PER_S, 0));
    rb_crew_tell(&crew, &line);
    rb_worker_loop(worker);
    assert_int_equal(worker->account.end_ns - t0_ns, RB_NS_PER_S);
    for (uint64_t index = 0; rb_windows_peek(&worker->windows) != NULL; index++) {
        assert_true(rb_windows_peek(&worker->windows)->index >= index);
        index = rb_windows_peek(&worker->windows)->index;
        rb_windows_consume(&worker->windows);
    }
}

/* One late turn in which the clock is looked up and a stop is due. */
static void a_late_turn_keeps_them_in_order(void **state)
{
    (void)state;
    job.runtime_ns = 2 * RB_NS_PER_S;
    prepare(300 * RB_NS_PER_MS);
    rb_timeline_t line = rb_timeline_new(t0_ns, 0);
    assert_true(rb_timeline_tell(&line, 900 * RB_NS_PER_MS, t0_ns + RB_NS_PER_S, 0));
    rb_crew_tell(&crew, &line);
    rb_worker_schedule(worker);
    rb_worker_cut(worker, t0_ns + 1001 * RB_NS_PER_MS);
    assert_int_equal(worker->border_ns - t0_ns, 1300 * RB_NS_PER_MS);
    assert_int_equal(worker->te_ns - t0_ns, 2100 * RB_NS_PER_MS);
    assert_true(rb_timeline_tell(&line, 1900 * RB_NS_PER_MS, t0_ns + 2000 * RB_NS_PER_MS, 0));
    rb_crew_tell(&crew, &line);
    rb_crew_stop(&crew, t0_ns + 2050 * RB_NS_PER_MS);
    rb_worker_end_at(worker, t0_ns + 2050 * RB_NS_PER_MS);
    rb_worker_cut(worker, t0_ns + 2080 * RB_NS_PER_MS);
    assert_int_equal(worker->te_ns - t0_ns, 2050 * RB_NS_PER_MS);
    assert_int_equal(worker->part, RB_PART_DRAINED);
}

static void a_stop_is_not_undone_by_what_is_told(void **state)
{
    (void)state;
    job.runtime_ns = 1200 * RB_NS_PER_MS;
    prepare(300 * RB_NS_PER_MS);
    rb_timeline_t line = rb_timeline_new(t0_ns, 0);
    assert_true(rb_timeline_tell(&line, 900 * RB_NS_PER_MS, t0_ns + RB_NS_PER_S, 0));
    rb_crew_tell(&crew, &line);
    rb_crew_stop(&crew, t0_ns + 1100 * RB_NS_PER_MS);
    rb_worker_loop(worker);
    assert_int_equal(worker->account.end_ns - t0_ns, 1100 * RB_NS_PER_MS);
}

static void each_change_of_part_has_a_slot(void **state)
{
    (void)state;
    rb_windows_t w;
    rb_windows_init(&w, 1u << RB_OP_READ);
    assert_true(rb_windows_room(&w, RB_PART_RAMP));
    rb_windows_publish(&w);
    assert_false(rb_windows_room(&w, RB_PART_RAMP));
    assert_true(rb_windows_room(&w, RB_PART_MAIN));
    rb_windows_publish(&w);
    assert_false(rb_windows_room(&w, RB_PART_MAIN));
    assert_true(rb_windows_room(&w, RB_PART_DRAINED));
    rb_windows_publish(&w);
    assert_false(rb_windows_room(&w, RB_PART_DRAINED));
    rb_windows_current(&w)->ops[RB_OP_READ]->ops = 42;
    rb_windows_publish(&w); /* the last one needs no successor */
    for (int i = 0; i < 3; i++)
        rb_windows_consume(&w);
    assert_int_equal(rb_windows_peek(&w)->ops[RB_OP_READ]->ops, 42);
    rb_windows_consume(&w);
    assert_null(rb_windows_peek(&w));
    rb_windows_clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stalled_window_has_an_age, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_open_loop_knows_its_stall, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_outlives_te_is_unfinished, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_given_up_is_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_error_stops_the_host, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_broken_backend_ends_the_worker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_stayed_behind_is_not_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_instant_device_is_filled_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(borders_follow_the_common_clock, set_up, tear_down),
        cmocka_unit_test_setup_teardown(precedence_ends_with_the_first_submission, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(precedence_ends_with_a_stop_before_t0, set_up, tear_down),
        cmocka_unit_test_setup_teardown(borders_follow_what_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_end_that_has_passed_is_now, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_late_turn_keeps_them_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_stop_is_not_undone_by_what_is_told, set_up, tear_down),
        cmocka_unit_test(each_change_of_part_has_a_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
