#include <errno.h>

#include "agent/backend/uring.h"
#include "agent/backend/uring_hot.h"
#include "agent/worker_cut.h"
#include "agent/worker_due.h"
#include "agent/worker_verify.h"
#include "common/clock.h"

#define INLINE      static inline __attribute__((always_inline))
#define SPIN_NS     (200 * RB_NS_PER_US) /* before T0: a sleeper wakes up some 50 us late */
#define MAX_WAIT_NS (RB_STOP_POLL_MS * RB_NS_PER_MS)

static void stop_submitting(rb_worker_t *w, uint64_t now_ns)
{
    if (w->submitting)
        w->account.end_ns = now_ns;
    w->submitting = false;
}

/* Unless the job tolerates it, an error ends this worker and, through stop_ns, all of this host. */
static void note_error(rb_worker_t *w, const rb_io_error_t *error)
{
    if (!rb_worker_errors_add(&w->account.errors, error))
        return;
    stop_submitting(w, error->at_ns);
    rb_crew_stop(w->o.crew, error->at_ns);
}

INLINE void succeeded(rb_op_stat_t *stat, const rb_slot_t *slot, uint64_t now_ns)
{
    stat->ops++;
    stat->bytes += slot->size_bytes;
    rb_hist_record(&stat->service, now_ns - slot->submit_ns);
    rb_hist_record(&stat->response, now_ns - slot->due_ns);
}

/* A TRIM or a range of zeros that went well, or any operation that did not. */
static __attribute__((noinline)) void other_result(rb_worker_t *w, const rb_slot_t *slot,
                                                   int32_t res, uint64_t now_ns)
{
    rb_op_stat_t *stat = w->win->ops[slot->op];
    bool moves_nothing = slot->op == RB_OP_TRIM || (slot->op == RB_OP_WRITE && w->zeroes);
    if (moves_nothing && res == 0) {
        succeeded(stat, slot, now_ns);
        return;
    }
    rb_worker_unwritten(w, (uint32_t)(slot - w->slots));
    if (w->cancelled && res == -ECANCELED)
        return;
    stat->errors++;
    note_error(w,
               &(rb_io_error_t){now_ns, slot->offset_bytes, slot->size_bytes, slot->op, res, {0}});
}

static void note_wrong(rb_worker_t *w, rb_io_error_t *error, uint64_t now_ns)
{
    error->at_ns = now_ns;
    w->win->ops[RB_OP_READ]->errors++;
    note_error(w, error);
}

/* Is a block that was read what its writer left there? If not, it is an error of its own kind. */
static bool is_right(rb_worker_t *w, uint32_t index, uint64_t now_ns)
{
    rb_io_error_t error;
    if (rb_worker_check(w, index, &error))
        return true;
    note_wrong(w, &error, now_ns);
    return false;
}

static void tell_stale(rb_worker_t *w, uint64_t now_ns)
{
    rb_io_error_t error;
    while (rb_worker_take_stale(w, &error))
        note_wrong(w, &error, now_ns);
}

/* `checks` is a constant, so that who does not verify pays nothing for it. */
INLINE void settle(rb_worker_t *w, const rb_done_t *done, uint32_t n, uint64_t now_ns, bool checks)
{
    rb_op_stat_t *const *stats = w->win->ops;
    rb_slot_t *slots = w->slots;
    uint32_t *freed = w->free + w->nfree;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = (uint32_t)done[i].slot;
        rb_slot_t *slot = &slots[index];
        if (done[i].res != (int32_t)slot->size_bytes)
            other_result(w, slot, done[i].res, now_ns);
        else if (!checks || is_right(w, index, now_ns))
            succeeded(stats[slot->op], slot, now_ns);
        slot->submit_ns = 0;
        slot->due_ns = now_ns;
        freed[i] = index;
    }
}

static __attribute__((noinline)) void settle_checked(rb_worker_t *w, const rb_done_t *done,
                                                     uint32_t n, uint64_t now_ns)
{
    settle(w, done, n, now_ns, true);
}

INLINE void account(rb_worker_t *w, const rb_done_t *done, uint32_t n, uint64_t now_ns)
{
    if (w->checks)
        settle_checked(w, done, n, now_ns);
    else
        settle(w, done, n, now_ns, false);
    w->nfree += n;
    w->inflight -= n;
    if (n > 0)
        w->account.done_ns = now_ns;
    if (w->thinks)
        rb_worker_think(w, n, now_ns);
}

/* How many of the batch come before number_ios or io_size is reached; SYNCs count for neither. */
static uint32_t within_limits(rb_worker_t *w, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const rb_io_t *io = &w->ios[i];
        if (io->op == RB_OP_SYNC)
            continue;
        if (w->left_ops == 0 || w->left_bytes == 0)
            return i;
        w->left_ops--;
        w->left_bytes -= RB_MIN((uint64_t)io->size_bytes, w->left_bytes);
    }
    return n;
}

/* From the workload, up to n; fewer: there is no more to do. */
INLINE uint32_t next(rb_worker_t *w, uint32_t n)
{
    uint32_t got;
    if (w->counted)
        return within_limits(w, w->load->next(&w->block, w->ios, n));
    got = w->load->next(&w->block, w->ios, n > w->left_ops ? (uint32_t)w->left_ops : n);
    w->left_ops -= got;
    return got;
}

/* Takes the next batch from the workload; its slots learn of it in `stamp`. */
INLINE void fill(rb_worker_t *w, const rb_backend_t *io, uint64_t now_ns)
{
    uint32_t n = RB_MIN((uint32_t)RB_BATCH, w->nfree);
    w->queued = 0;
    if (!w->submitting || w->behind)
        return;
    if (w->guards)
        n = rb_worker_room(w, n);
    if (w->open_loop)
        n = rb_worker_take_due(w, now_ns, n);
    if (n == 0)
        return;
    uint32_t got = next(w, n);
    if (got > 0) {
        w->nfree -= got;
        if (w->fills)
            rb_worker_fill(w, got);
        io->queue(w->io, w->ios, w->free + w->nfree, got);
    }
    w->inflight += got;
    w->queued = got;
    if (got < n || w->left_ops == 0) {
        w->account.finished = true;
        stop_submitting(w, now_ns);
    }
}

/* The last thing before the submission: the clock, and the slots that it starts. */
INLINE uint64_t stamp(rb_worker_t *w)
{
    uint64_t now_ns = rb_clock_now_ns();
    rb_slot_t *slots = w->slots;
    const uint32_t *taken = w->free + w->nfree;
    uint32_t n = w->queued;
    for (uint32_t i = 0; i < n; i++) {
        const rb_io_t *io = &w->ios[i];
        rb_slot_t *slot = &slots[taken[i]];
        slot->submit_ns = now_ns;
        slot->offset_bytes = io->offset_bytes;
        slot->size_bytes = io->size_bytes;
        slot->op = io->op;
    }
    if (w->lateness != NULL)
        rb_worker_stamp_due(w, taken, now_ns);
    return now_ns;
}

INLINE void entered(rb_worker_t *w, int left, uint64_t now_ns)
{
    w->queued = 0;
    w->behind = left > 0;
    if (left >= 0)
        return;
    note_error(w, &(rb_io_error_t){now_ns, 0, 0, RB_OP_COUNT, left, {0}});
    w->broken = true;
}

INLINE void end_turn(rb_worker_t *w, uint64_t now_ns)
{
    if (w->turn_start_ns != 0)
        rb_hist_record(w->turn, now_ns - w->turn_start_ns);
    w->turn_start_ns = 0;
}

INLINE void begin_turn(rb_worker_t *w, uint64_t now_ns)
{
    end_turn(w, now_ns);
    if (w->part == RB_PART_MAIN)
        w->turn_start_ns = now_ns;
}

INLINE void submit(rb_worker_t *w, const rb_backend_t *io)
{
    uint64_t now_ns = stamp(w);
    entered(w, io->submit(w->io), now_ns);
}

INLINE uint64_t timeout_ns(const rb_worker_t *w, uint64_t now_ns)
{
    uint64_t until_ns = w->cut_ns;
    if (w->lateness != NULL && w->submitting)
        until_ns = RB_MIN(until_ns, rb_worker_wake_ns(w));
    return until_ns > now_ns ? RB_MIN(until_ns - now_ns, MAX_WAIT_NS) : 0;
}

INLINE void submit_and_wait(rb_worker_t *w, const rb_backend_t *io)
{
    uint64_t now_ns = stamp(w);
    uint32_t min = w->wait_min > 1 ? RB_MIN(w->wait_min, RB_MAX(w->inflight, 1u)) : 1;
    end_turn(w, now_ns);
    uint64_t limit_ns = timeout_ns(w, now_ns);
    /* Even a wait of no length may give the CPU to somebody else. */
    entered(w, limit_ns > 0 ? io->wait(w->io, min, limit_ns) : io->submit(w->io), now_ns);
}

/* What does not come back in time is asked to; it still has to come. */
static void hurry_drain(rb_worker_t *w, uint64_t now_ns)
{
    bool late = now_ns > w->te_ns && now_ns - w->te_ns >= RB_DRAIN_S * RB_NS_PER_S;
    if (w->cancelled || w->behind || (!late && !atomic_load(&w->o.crew->give_up)))
        return;
    w->cancelled = true;
    w->account.cancelled = w->inflight;
    w->o.backend->cancel(w->io);
}

INLINE bool over(const rb_worker_t *w)
{
    return w->inflight == 0 ? !w->submitting || w->broken : w->broken;
}

/* false: it was the last. */
INLINE bool turn(rb_worker_t *w, const rb_backend_t *io)
{
    /* All free slots are filled before the next reap: else a target that completes within the
     * submission would never hold more than one batch, whatever the iodepth. */
    const rb_done_t *done = NULL;
    uint32_t n = w->filling ? 0 : io->reap(w->io, &done);
    uint64_t now_ns = rb_clock_now_ns();
    if (!w->filling)
        begin_turn(w, now_ns);
    uint64_t stop_ns = atomic_load_explicit(&w->o.crew->stop_ns, memory_order_relaxed);
    /* Not before the last turn: what it accounted for is already in a window of MAIN. */
    if (stop_ns < w->te_ns)
        rb_worker_end_at(w, RB_MAX(stop_ns, w->now_ns));
    if (now_ns >= w->cut_ns)
        rb_worker_cut(w, now_ns);
    w->now_ns = now_ns;
    account(w, done, n, now_ns);
    fill(w, io, now_ns);
    if (w->part == RB_PART_DRAINED)
        hurry_drain(w, now_ns);
    w->filling = w->queued == RB_BATCH && w->nfree > 0;
    /* A full batch: more may be complete, or free. Do not sleep on it. */
    if (w->queued == RB_BATCH)
        submit(w, io);
    else if (over(w))
        return false;
    else if (n < RB_BATCH)
        submit_and_wait(w, io);
    else if (w->queued > 0)
        submit(w, io);
    return true;
}

/* Sleeps, then spins to T0. false: stopped before it. */
static bool await_t0(rb_worker_t *w)
{
    uint64_t now_ns, wake_ns = w->t0_ns - SPIN_NS;
    while ((now_ns = rb_clock_now_ns()) < wake_ns) {
        if (atomic_load(&w->o.crew->stop_ns) <= w->t0_ns)
            return false;
        uint64_t until_ns = RB_MIN(wake_ns, now_ns + MAX_WAIT_NS);
        struct timespec ts = {(time_t)(until_ns / RB_NS_PER_S), (long)(until_ns % RB_NS_PER_S)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
    }
    while (rb_clock_now_ns() < w->t0_ns)
        ;
    return atomic_load(&w->o.crew->stop_ns) > w->t0_ns;
}

/* The table of rb_backend_uring, with functions that the compiler sees into: calling them costs a
 * fifth of all that a worker does. */
static const rb_backend_t uring = {.queue = rb_uring_queue,
                                   .submit = rb_uring_submit,
                                   .wait = rb_uring_wait,
                                   .reap = rb_uring_reap};

static void run(rb_worker_t *w)
{
    if (w->o.backend == &rb_backend_uring)
        while (turn(w, &uring))
            ;
    else
        while (turn(w, w->o.backend))
            ;
}

void rb_worker_loop(rb_worker_t *w)
{
    rb_worker_schedule(w);
    for (uint32_t i = 0; i < w->iodepth; i++)
        w->slots[i].due_ns = w->t0_ns;
    w->account.first_due_ns = w->t0_ns;
    if (w->open_loop)
        rb_worker_begin_pace(w);
    w->submitting = true;
    fill(w, w->o.backend, w->t0_ns);
    if (!await_t0(w)) {
        w->account.finished = false;
        return;
    }
    uint64_t start_ns = stamp(w);
    if (!w->open_loop) /* else nothing may be due yet */
        w->account.first_submit_ns = start_ns;
    entered(w, w->o.backend->submit(w->io), start_ns);
    if (w->part == RB_PART_MAIN)
        rb_worker_main_begins(w, start_ns);
    run(w);
    tell_stale(w, rb_clock_now_ns());
    rb_worker_last_cut(w, rb_clock_now_ns());
}
