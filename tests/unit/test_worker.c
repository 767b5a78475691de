/* The worker's loop over a made-up device: stalls, errors, submissions left behind, clock drift. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <unistd.h>
#include <cmocka.h>

#include "agent/worker.h"
#include "common/clock.h"

/* A device that completes each operation after service_ns, except that nothing completes within a
 * stall. */
typedef struct {
    uint64_t service_ns, stall_from_ns, stall_to_ns;
    uint64_t ready_ns[64]; /* by slot; 0: not in flight */
    uint32_t queued[64], nqueued, leave_behind;
    uint32_t deepest;       /* most that was in flight */
    uint64_t sent, fail_at; /* the fail_at-th operation fails; 0: none */
    int32_t res[64];
    int broken;
    bool cancelled;
} device_t;

static device_t device;

static void *device_open(const rb_backend_opts_t *opts, rb_err_t *err)
{
    (void)err;
    assert_true(opts->iodepth <= 64);
    return &device;
}

static void device_queue(void *self, const rb_io_t *ios, uint32_t n)
{
    device_t *d = self;
    assert_int_equal(d->nqueued, 0);
    assert_true(n <= RB_BATCH);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(d->ready_ns[ios[i].slot], 0);
        d->queued[d->nqueued++] = ios[i].slot;
    }
}

static int device_submit(void *self)
{
    device_t *d = self;
    uint64_t now_ns = rb_clock_now_ns();
    if (d->broken != 0)
        return d->broken;
    while (d->nqueued > d->leave_behind) {
        uint32_t slot = d->queued[--d->nqueued];
        d->ready_ns[slot] = now_ns + d->service_ns;
        d->res[slot] = ++d->sent == d->fail_at ? -EIO : 4096;
    }
    d->leave_behind = 0;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < RB_LEN(d->ready_ns); i++)
        depth += d->ready_ns[i] != 0;
    d->deepest = RB_MAX(d->deepest, depth);
    return (int)d->nqueued;
}

static uint64_t ready_at(const device_t *d, uint32_t slot)
{
    uint64_t at_ns = d->ready_ns[slot];
    if (at_ns == 0)
        return UINT64_MAX;
    return at_ns >= d->stall_from_ns && at_ns < d->stall_to_ns ? d->stall_to_ns : at_ns;
}

static int device_wait(void *self, uint64_t timeout_ns)
{
    device_t *d = self;
    int left = device_submit(d);
    uint64_t until_ns = rb_clock_now_ns() + timeout_ns;
    assert_true(timeout_ns <= RB_STOP_POLL_MS * RB_NS_PER_MS);
    for (uint32_t i = 0; i < RB_LEN(d->ready_ns); i++)
        until_ns = RB_MIN(until_ns, ready_at(d, i));
    struct timespec ts = {(time_t)(until_ns / RB_NS_PER_S), (long)(until_ns % RB_NS_PER_S)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
    return left;
}

static uint32_t device_reap(void *self, rb_done_t *ret_done, uint32_t max)
{
    device_t *d = self;
    uint64_t now_ns = rb_clock_now_ns();
    uint32_t n = 0;
    for (uint32_t i = 0; i < RB_LEN(d->ready_ns) && n < max; i++) {
        if (ready_at(d, i) > now_ns)
            continue;
        ret_done[n++] = (rb_done_t){i, d->res[i]};
        d->ready_ns[i] = 0;
    }
    return n;
}

static void device_cancel(void *self)
{
    device_t *d = self;
    d->cancelled = true;
    d->stall_to_ns = 0;
    for (uint32_t i = 0; i < RB_LEN(d->ready_ns); i++) {
        if (d->ready_ns[i] == 0)
            continue;
        d->ready_ns[i] = 1;
        d->res[i] = -ECANCELED;
    }
}

static void device_close(void *self)
{
    (void)self;
}

static const rb_backend_t made_up = {
    .name = "made-up",
    .open = device_open,
    .queue = device_queue,
    .submit = device_submit,
    .wait = device_wait,
    .reap = device_reap,
    .cancel = device_cancel,
    .close = device_close,
};

static rb_crew_t crew;
static rb_worker_subject_t subject;
static Rackbench__Job job;
static _Atomic uint64_t cursor;
static rb_worker_t *worker;
static uint64_t t0_ns;

/* What all windows of a worker say together. */
static rb_op_stat_t sum[RB_PART_COUNT];

static int set_up(void **state)
{
    (void)state;
    rb_subject_t at = {.size_bytes = RB_GIB, .logical_block_bytes = 512, .path = "/proc/self/exe"};
    memset(&device, 0, sizeof(device));
    memset(sum, 0, sizeof(sum));
    device.service_ns = RB_NS_PER_MS;
    rb_crew_init(&crew);
    rb_worker_subject_init(&subject, &at);
    rackbench__job__init(&job);
    job.name = "j";
    job.rw = RACKBENCH__RW__MODE__randread;
    job.has_iodepth = true;
    job.iodepth = 2;
    job.runtime_ns = 300 * RB_NS_PER_MS;
    job.has_direct = true; /* buffered: the file is only opened, nothing reads it */
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rb_worker_destroy(&worker);
    rb_worker_subject_clear(&subject);
    rb_crew_clear(&crew);
    return 0;
}

static void prepare(uint64_t interval_ns)
{
    rb_err_t err;
    rb_worker_opts_t o = {.crew = &crew,
                          .subject = &subject,
                          .job = &job,
                          .cursor = &cursor,
                          .backend = &made_up,
                          .interval_ns = interval_ns};
    worker = rb_worker_new(&o, &err);
    assert_non_null(worker);
    assert_int_equal(rb_worker_prepare(worker, &err), 0);
    t0_ns = rb_clock_now_ns() + 5 * RB_NS_PER_MS;
    rb_crew_arm(&crew, t0_ns, crew.drift_ppb);
}

static const rb_op_stat_t *take(void)
{
    const rb_window_t *win = rb_windows_peek(&worker->windows);
    return win == NULL ? NULL : win->ops[RB_OP_READ];
}

static void add_up(void)
{
    for (const rb_op_stat_t *s; (s = take()) != NULL; rb_windows_consume(&worker->windows)) {
        rb_op_stat_t *into = &sum[rb_windows_peek(&worker->windows)->part];
        into->ops += s->ops;
        into->errors += s->errors;
        if (into->service.count == 0) {
            rb_hist_clear(&into->service);
            rb_hist_clear(&into->response);
        }
        rb_hist_merge(&into->service, &s->service);
        rb_hist_merge(&into->response, &s->response);
    }
}

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
    assert_int_equal(worker->account.nerrors, 0);
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
    assert_int_equal(worker->account.nerrors, 1);
    assert_int_equal(worker->account.errors[0].res, -EIO);
    assert_int_equal(atomic_load(&crew.stop_ns), worker->account.errors[0].at_ns);
    assert_int_equal(device.sent, sum[RB_PART_MAIN].ops + sum[RB_PART_DRAINED].ops + 1);
}

static void a_broken_backend_ends_the_worker(void **state)
{
    (void)state;
    device.broken = -EBADF;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    assert_int_equal(worker->account.nerrors, 1);
    assert_int_equal(worker->account.errors[0].op, RB_OP_COUNT);
    assert_int_equal(worker->account.errors[0].res, -EBADF);
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
    crew.drift_ppb = 200 * 1000 * 1000; /* this clock runs 20 % fast */
    job.ramp_time_ns = 100 * RB_NS_PER_MS;
    job.runtime_ns = 100 * RB_NS_PER_MS;
    prepare(100 * RB_NS_PER_MS);
    rb_worker_loop(worker);
    assert_int_equal(worker->account.end_ns - t0_ns, 240 * RB_NS_PER_MS);
    assert_int_equal(worker->account.wall_ns, 120 * RB_NS_PER_MS);
    assert_int_equal(rb_crew_to_common_ns(240 * RB_NS_PER_MS, crew.drift_ppb), 200 * RB_NS_PER_MS);
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
        cmocka_unit_test(each_change_of_part_has_a_slot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
