/* worker_rig.h - a worker over a made-up device, for tests: stalls, errors, submissions left
 * behind.
 */
#pragma once

#include <errno.h>
#include <sched.h>

#include "agent/worker.h"
#include "common/clock.h"

/* A device that completes each operation after service_ns, except that nothing completes within a
 * stall. */
typedef struct {
    uint64_t service_ns, stall_from_ns, stall_to_ns;
    uint64_t jitter_ns;    /* service_ns is up to this longer */
    uint64_t ready_ns[64]; /* by slot; 0: not in flight */
    uint64_t start_ns[64]; /* of the slot's last operation, as the worker has it */
    uint32_t queued[64], nqueued, leave_behind;
    uint32_t deepest;       /* most that was in flight */
    uint64_t sent, fail_at; /* the fail_at-th operation fails; 0: none */
    int32_t res[64];
    rb_done_t done[RB_MAX_BATCH];
    uint64_t fail_each;                /* each of these fails; 0: none */
    int32_t fail_with;                 /* instead of EIO; 0: that */
    uint32_t wait_min;                 /* largest asked for */
    uint32_t largest;                  /* batch */
    uint64_t next_bytes, out_of_order; /* where a sequential job goes on; how often it did not */
    int broken;
    bool cancelled;
    int first_policy, last_policy; /* the scheduler's, of the thread that submits */
} device_t;

static device_t device;
static rb_worker_t *worker;

static inline void *device_open(const rb_backend_opts_t *opts, rb_err_t *err)
{
    (void)err;
    assert_true(opts->iodepth <= 64);
    return &device;
}

static inline void device_queue(void *self, const rb_io_t *ios, const uint32_t *slots, uint32_t n)
{
    device_t *d = self;
    assert_int_equal(d->nqueued, 0);
    assert_true(n <= RB_MAX_BATCH);
    d->largest = RB_MAX(d->largest, n);
    for (uint32_t i = 0; i < n; i++) {
        d->out_of_order += ios[i].offset_bytes != d->next_bytes;
        d->next_bytes = ios[i].offset_bytes + ios[i].size_bytes;
        assert_int_equal(d->ready_ns[slots[i]], 0);
        assert_int_equal(ios[i].size_bytes, 4096);
        d->queued[d->nqueued++] = slots[i];
    }
}

static inline bool fails(const device_t *d, uint64_t n)
{
    return n == d->fail_at || (d->fail_each > 0 && n % d->fail_each == 0);
}

static inline int device_submit(void *self)
{
    device_t *d = self;
    uint64_t now_ns = rb_clock_now_ns();
    d->last_policy = sched_getscheduler(0);
    if (d->sent == 0)
        d->first_policy = d->last_policy;
    if (d->broken != 0)
        return d->broken;
    while (d->nqueued > d->leave_behind) {
        uint32_t slot = d->queued[--d->nqueued];
        d->start_ns[slot] = worker->slots[slot].submit_ns;
        d->ready_ns[slot] =
            now_ns + d->service_ns + (d->jitter_ns > 0 ? d->sent * 7919 % d->jitter_ns : 0);
        d->res[slot] = fails(d, ++d->sent) ? (d->fail_with != 0 ? d->fail_with : -EIO) : 4096;
    }
    d->leave_behind = 0;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < RB_LEN(d->ready_ns); i++)
        depth += d->ready_ns[i] != 0;
    d->deepest = RB_MAX(d->deepest, depth);
    return (int)d->nqueued;
}

static inline uint64_t ready_at(const device_t *d, uint32_t slot)
{
    uint64_t at_ns = d->ready_ns[slot];
    if (at_ns == 0)
        return UINT64_MAX;
    return at_ns >= d->stall_from_ns && at_ns < d->stall_to_ns ? d->stall_to_ns : at_ns;
}

static inline int device_wait(void *self, uint32_t min, uint64_t timeout_ns)
{
    device_t *d = self;
    int left = device_submit(d);
    assert_true(min >= 1);
    d->wait_min = RB_MAX(d->wait_min, min);
    uint64_t until_ns = rb_clock_now_ns() + timeout_ns;
    assert_true(timeout_ns <= RB_STOP_POLL_MS * RB_NS_PER_MS);
    for (uint32_t i = 0; i < RB_LEN(d->ready_ns); i++)
        until_ns = RB_MIN(until_ns, ready_at(d, i));
    struct timespec ts = {(time_t)(until_ns / RB_NS_PER_S), (long)(until_ns % RB_NS_PER_S)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
    return left;
}

static inline uint32_t device_reap(void *self, uint32_t max, const rb_done_t **ret_done)
{
    device_t *d = self;
    uint64_t now_ns = rb_clock_now_ns();
    uint32_t n = 0;
    for (uint32_t i = 0; i < RB_LEN(d->ready_ns) && n < max; i++) {
        if (ready_at(d, i) > now_ns)
            continue;
        d->done[n++] = (rb_done_t){.slot = i, .res = d->res[i]};
        d->ready_ns[i] = 0;
    }
    *ret_done = d->done;
    return n;
}

static inline void device_cancel(void *self)
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

static inline void device_close(void *self)
{
    (void)self;
}

static const rb_backend_t made_up = {
    .name = "made-up",
    .max_iodepth = 64,
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
static uint64_t t0_ns;
static int64_t drift_ppb; /* of this clock */

/* What all windows of a worker say together. */
static rb_op_stat_t sum[RB_PART_COUNT];

static inline int set_up(void **state)
{
    (void)state;
    rb_subject_t at = {.size_bytes = RB_GIB, .logical_block_bytes = 512, .path = "/proc/self/exe"};
    memset(&device, 0, sizeof(device));
    memset(sum, 0, sizeof(sum));
    drift_ppb = 0;
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

static inline int tear_down(void **state)
{
    (void)state;
    rb_worker_destroy(&worker);
    rb_worker_subject_clear(&subject);
    rb_crew_clear(&crew);
    return 0;
}

static inline void prepare(uint64_t interval_ns)
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
    rb_crew_arm(&crew, t0_ns, drift_ppb);
}

static inline const rb_op_stat_t *take(void)
{
    const rb_window_t *win = rb_windows_peek(&worker->windows);
    return win == NULL ? NULL : win->ops[RB_OP_READ];
}

static inline void add_up(void)
{
    for (const rb_op_stat_t *s; (s = take()) != NULL; rb_windows_consume(&worker->windows)) {
        rb_op_stat_t *into = &sum[rb_windows_peek(&worker->windows)->part];
        into->ops += s->ops;
        into->bytes += s->bytes;
        into->errors += s->errors;
        if (into->service.count == 0) {
            rb_hist_clear(&into->service);
            rb_hist_clear(&into->response);
        }
        rb_hist_merge(&into->service, &s->service);
        rb_hist_merge(&into->response, &s->response);
    }
}
