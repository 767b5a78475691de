#include <errno.h>

#include "agent/backend/uring.h"
#include "agent/backend/uring_hot.h"
#include "agent/worker_cut.h"
#include "agent/worker_draw.h"
#include "agent/worker_due.h"
#include "agent/worker_kv.h"
#include "agent/worker_start.h"
#include "agent/worker_verify.h"
#include "common/clock.h"

#define INLINE      static inline __attribute__((always_inline))
#define MAX_WAIT_NS (RB_STOP_POLL_MS * RB_NS_PER_MS)

/* A constant wherever it is passed on, so that jobs of the two simple kinds pay for nothing else:
 * reads as fast as they go, by io_uring (or what else has no data to make and nothing due at a time
 * of its own); of iodepth 1. */
typedef enum { ANY, READS, ONE_READ } job_t;

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
        if (w->kv != NULL)
            rb_worker_kv_done(w, (uint32_t)(slot - w->slots), false);
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

/* `checks` is a constant, so that who does not verify pays nothing for it. n <= RB_BATCH. */
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
    w->nfree += n;
    w->inflight -= n;
    if (n > 0)
        w->account.done_ns = now_ns;
}

static __attribute__((noinline)) void settle_checked(rb_worker_t *w, const rb_done_t *done,
                                                     uint32_t n, uint64_t now_ns)
{
    settle(w, done, n, now_ns, true);
}

static __attribute__((noinline)) void settle_many(rb_worker_t *w, const rb_done_t *done, uint32_t n,
                                                  uint64_t now_ns)
{
    for (uint32_t i = 0; i < n; i += RB_BATCH) {
        uint32_t some = RB_MIN(n - i, (uint32_t)RB_BATCH);
        now_ns = i > 0 ? rb_clock_now_ns() : now_ns;
        if (w->checks)
            settle_checked(w, done + i, some, now_ns);
        else
            settle(w, done + i, some, now_ns, false);
        if (w->thinks)
            rb_worker_think(w, some, now_ns);
    }
}

INLINE void account(rb_worker_t *w, const rb_done_t *done, uint32_t n, uint64_t now_ns, job_t kind)
{
    if (kind == ONE_READ) {
        if (n > 0)
            settle(w, done, 1, now_ns, false);
    } else if (n > RB_BATCH || (kind == ANY && w->checks && n > 0)) {
        settle_many(w, done, n, now_ns);
    } else {
        settle(w, done, n, now_ns, false);
        if (kind == ANY && w->thinks)
            rb_worker_think(w, n, now_ns);
    }
}

/* From the workload, up to n; fewer: there is no more to do. */
INLINE uint32_t next(rb_worker_t *w, uint32_t n, job_t kind)
{
    if (kind == ANY && w->counted) {
        w->taken = w->ios;
        return rb_worker_within_limits(w, w->load->next(&w->block, w->ios, n));
    }
    n = n > w->left_ops ? (uint32_t)w->left_ops : n;
    if (w->drawn - w->at < n) {
        rb_worker_draw(w, n);
        n = RB_MIN(n, w->drawn);
    }
    w->taken = w->ios + w->at;
    w->at += n;
    w->left_ops -= n;
    return n;
}

/* Takes the next batch from the workload; its slots learn of it in `stamp`. */
INLINE void fill(rb_worker_t *w, const rb_backend_t *io, uint64_t now_ns, job_t kind)
{
    uint32_t n = kind == ONE_READ ? w->nfree : RB_MIN(w->batch, w->nfree);
    if (!w->submitting || w->behind)
        return;
    if (kind == ANY && w->guards)
        n = rb_worker_room(w, n);
    if (kind == ANY && w->open_loop)
        n = rb_worker_take_due(w, now_ns, n);
    if (n == 0)
        return;
    uint32_t got = next(w, n, kind);
    if (got > 0) {
        w->nfree -= got;
        if (kind == ANY && w->fills)
            rb_worker_fill(w, got);
        io->queue(w->io, w->taken, w->free + w->nfree, kind == ONE_READ ? 1 : got);
    }
    w->inflight += got;
    w->queued = got;
    if (got < n || w->left_ops == 0) {
        w->account.finished = true;
        stop_submitting(w, now_ns);
    }
}

/* Slots `taken` start at now_ns what `ios` says. */
INLINE void start(rb_worker_t *w, const rb_io_t *ios, const uint32_t *taken, uint32_t n,
                  uint64_t now_ns)
{
    rb_slot_t *slots = w->slots;
    for (uint32_t i = 0; i < n; i++) {
        const rb_io_t *io = &ios[i];
        rb_slot_t *slot = &slots[taken[i]];
        slot->submit_ns = now_ns;
        slot->offset_bytes = io->offset_bytes;
        slot->size_bytes = io->size_bytes;
        slot->op = io->op;
    }
}

static __attribute__((noinline)) uint64_t start_many(rb_worker_t *w, const uint32_t *taken,
                                                     uint64_t now_ns)
{
    for (uint32_t i = 0; i < w->queued; i += RB_BATCH) {
        now_ns = i > 0 ? rb_clock_now_ns() : now_ns;
        start(w, w->taken + i, taken + i, RB_MIN(w->queued - i, (uint32_t)RB_BATCH), now_ns);
    }
    return now_ns;
}

/* The last thing before the submission: the clock, and the slots that it starts. */
INLINE uint64_t stamp(rb_worker_t *w, job_t kind)
{
    uint64_t now_ns = rb_clock_now_ns();
    const uint32_t *taken = w->free + w->nfree;
    if (kind == ONE_READ) {
        if (w->queued > 0)
            start(w, w->taken, taken, 1, now_ns);
    } else if (w->queued > RB_BATCH) {
        now_ns = start_many(w, taken, now_ns);
    } else {
        start(w, w->taken, taken, w->queued, now_ns);
    }
    if (kind == ANY && w->lateness != NULL)
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

INLINE void begin_turn(rb_worker_t *w, uint64_t now_ns, job_t kind)
{
    if (kind != ONE_READ) /* which waits at the end of each */
        end_turn(w, now_ns);
    if (w->part == RB_PART_MAIN)
        w->turn_start_ns = now_ns;
}

INLINE void submit(rb_worker_t *w, const rb_backend_t *io, job_t kind)
{
    uint64_t now_ns = stamp(w, kind);
    entered(w, io->submit(w->io), now_ns);
}

INLINE uint64_t timeout_ns(const rb_worker_t *w, uint64_t now_ns, job_t kind)
{
    uint64_t until_ns = w->cut_ns;
    if (kind == ANY && w->lateness != NULL && w->submitting)
        until_ns = RB_MIN(until_ns, rb_worker_wake_ns(w));
    if (__builtin_expect(until_ns >= now_ns + MAX_WAIT_NS, 1))
        return MAX_WAIT_NS;
    return until_ns > now_ns ? until_ns - now_ns : 0;
}

INLINE void submit_and_wait(rb_worker_t *w, const rb_backend_t *io, job_t kind)
{
    uint64_t now_ns = stamp(w, kind);
    uint32_t min =
        kind != ONE_READ && w->wait_min > 1 ? RB_MIN(w->wait_min, RB_MAX(w->inflight, 1u)) : 1;
    end_turn(w, now_ns);
    uint64_t limit_ns = timeout_ns(w, now_ns, kind);
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
INLINE bool turn(rb_worker_t *w, const rb_backend_t *io, job_t kind)
{
    /* All free slots are filled before the next reap: else a target that completes within the
     * submission would never hold more than one batch, whatever the iodepth. */
    const rb_done_t *done = NULL;
    bool filling = kind != ONE_READ && w->filling;
    uint32_t n = filling ? 0 : io->reap(w->io, kind == ONE_READ ? 1 : w->batch, &done);
    uint64_t now_ns = rb_clock_now_ns();
    if (!filling)
        begin_turn(w, now_ns, kind);
    uint64_t stop_ns = atomic_load_explicit(&w->o.crew->stop_ns, memory_order_relaxed);
    /* Not before the last turn: what it accounted for is already in a window of MAIN. */
    if (stop_ns < w->te_ns)
        rb_worker_end_at(w, RB_MAX(stop_ns, w->now_ns));
    if (now_ns >= w->cut_ns)
        rb_worker_cut(w, now_ns);
    w->now_ns = now_ns;
    account(w, done, n, now_ns, kind);
    fill(w, io, now_ns, kind);
    if (w->part == RB_PART_DRAINED)
        hurry_drain(w, now_ns);
    bool full = kind != ONE_READ && w->queued == w->batch;
    w->filling = full && w->nfree > 0;
    /* A full batch: more may be complete, or free. Do not sleep on it. */
    if (full)
        submit(w, io, kind);
    else if (over(w))
        return false;
    else if (kind == ONE_READ || n < w->batch)
        submit_and_wait(w, io, kind);
    else if (w->queued > 0)
        submit(w, io, kind);
    return true;
}

/* The table of rb_backend_uring, with functions that the compiler sees into: calling them costs a
 * fifth of all that a worker does. */
static const rb_backend_t uring = {.queue = rb_uring_queue,
                                   .submit = rb_uring_submit,
                                   .wait = rb_uring_wait,
                                   .reap = rb_uring_reap};

static void run(rb_worker_t *w)
{
    bool reads = w->lateness == NULL && !w->counted && !w->checks && !w->guards && !w->fills &&
                 w->write_buffers == NULL;
    if (w->o.backend != &rb_backend_uring)
        while (turn(w, w->o.backend, ANY))
            ;
    else if (reads && w->iodepth == 1)
        while (turn(w, &uring, ONE_READ))
            ;
    else if (reads)
        while (turn(w, &uring, READS))
            ;
    else
        while (turn(w, &uring, ANY))
            ;
}

void rb_worker_loop(rb_worker_t *w)
{
    rb_worker_schedule(w);
    rb_worker_begin(w);
    w->submitting = true;
    fill(w, w->o.backend, w->t0_ns, ANY);
    if (!rb_start_await(w->o.crew, w->t0_ns)) {
        rb_start_done(&w->start);
        w->account.finished = false;
        return;
    }
    uint64_t start_ns = stamp(w, ANY);
    if (w->queued > 0) /* else nothing is due yet */
        w->account.first_submit_ns = start_ns;
    entered(w, w->o.backend->submit(w->io), start_ns);
    rb_start_done(&w->start);
    if (w->part == RB_PART_MAIN)
        rb_worker_main_begins(w, start_ns);
    run(w);
    tell_stale(w, rb_clock_now_ns());
    rb_worker_last_cut(w, rb_clock_now_ns());
}
