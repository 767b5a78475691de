#include <errno.h>

#include "agent/buffer.h"
#include "agent/worker_cut.h"
#include "common/clock.h"

#define SPIN_NS     (200 * RB_NS_PER_US) /* before T0: a sleeper wakes up some 50 us late */
#define MAX_WAIT_NS (RB_STOP_POLL_MS * RB_NS_PER_MS)

static void stop_submitting(rb_worker_t *w, uint64_t now_ns)
{
    if (w->submitting)
        w->account.end_ns = now_ns;
    w->submitting = false;
}

/* An error ends this worker and, through stop_ns, all of this host. */
static void note_error(rb_worker_t *w, const rb_io_error_t *error)
{
    rb_worker_account_t *a = &w->account;
    if (a->nerrors < RB_MAX_IO_ERRORS)
        a->errors[a->nerrors++] = *error;
    stop_submitting(w, error->at_ns);
    rb_crew_stop(w->o.crew, error->at_ns);
}

static void io_failed(rb_worker_t *w, const rb_slot_t *slot, int32_t res, uint64_t now_ns)
{
    if (w->cancelled && res == -ECANCELED)
        return;
    rb_windows_current(&w->windows)->ops[slot->op]->errors++;
    note_error(w, &(rb_io_error_t){now_ns, slot->offset_bytes, slot->op, res});
}

static inline void account(rb_worker_t *w, uint32_t n, uint64_t now_ns)
{
    rb_window_t *win = rb_windows_current(&w->windows);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = w->done[i].slot;
        rb_slot_t *slot = &w->slots[index];
        if (w->done[i].res == (int32_t)w->block.bs_bytes) {
            rb_op_stat_t *stat = win->ops[slot->op];
            stat->ops++;
            rb_hist_record(&stat->service, now_ns - slot->submit_ns);
            rb_hist_record(&stat->response, now_ns - slot->due_ns);
        } else {
            io_failed(w, slot, w->done[i].res, now_ns);
        }
        slot->submit_ns = 0;
        slot->due_ns = now_ns;
        w->free[w->nfree++] = index;
    }
    w->inflight -= n;
    if (n > 0)
        w->account.done_ns = now_ns;
}

/* Takes the next batch from the workload into free slots. */
static inline void fill(rb_worker_t *w, uint64_t now_ns)
{
    uint32_t n = RB_MIN((uint32_t)RB_BATCH, w->nfree);
    w->queued = 0;
    if (!w->submitting || w->behind)
        return;
    if (n > w->left_ops)
        n = (uint32_t)w->left_ops;
    if (w->open_loop)
        n = rb_pace_take(&w->pace, now_ns, w->due, n);
    uint32_t got = n > 0 ? w->load->next(&w->block, w->ios, n) : 0;
    for (uint32_t i = 0; i < got; i++) {
        rb_io_t *io = &w->ios[i];
        io->slot = w->free[--w->nfree];
        rb_slot_t *slot = &w->slots[io->slot];
        slot->offset_bytes = io->offset_bytes;
        slot->op = io->op;
        if (w->open_loop)
            slot->due_ns = w->due[i];
        if (io->op == RB_OP_WRITE)
            rb_buffer_stamp(w->write_buffers + io->slot * w->stride_bytes, w->block.bs_bytes,
                            io->offset_bytes, w->sequence++);
    }
    w->left_ops -= got;
    if (got < n || w->left_ops == 0) {
        w->account.finished = true;
        stop_submitting(w, now_ns);
    }
    if (got > 0)
        w->o.backend->queue(w->io, w->ios, got);
    w->inflight += got;
    w->queued = got;
}

static inline uint64_t stamp(rb_worker_t *w)
{
    uint64_t now_ns = rb_clock_now_ns();
    for (uint32_t i = 0; i < w->queued; i++)
        w->slots[w->ios[i].slot].submit_ns = now_ns;
    return now_ns;
}

static inline void entered(rb_worker_t *w, int left, uint64_t now_ns)
{
    w->queued = 0;
    w->behind = left > 0;
    if (left >= 0)
        return;
    note_error(w, &(rb_io_error_t){now_ns, 0, RB_OP_COUNT, left});
    w->broken = true;
}

static inline void end_turn(rb_worker_t *w, uint64_t now_ns)
{
    if (w->part == RB_PART_MAIN && w->turn_start_ns != 0)
        rb_hist_record(w->turn, now_ns - w->turn_start_ns);
    w->turn_start_ns = 0;
}

static inline void begin_turn(rb_worker_t *w, uint64_t now_ns)
{
    end_turn(w, now_ns);
    w->turn_start_ns = now_ns;
}

static void submit(rb_worker_t *w)
{
    uint64_t now_ns = stamp(w);
    entered(w, w->o.backend->submit(w->io), now_ns);
}

static uint64_t timeout_ns(const rb_worker_t *w, uint64_t now_ns)
{
    uint64_t until_ns = RB_MIN(w->cut_ns, now_ns + MAX_WAIT_NS);
    if (w->open_loop && w->submitting && w->nfree > 0)
        until_ns = RB_MIN(until_ns, w->pace.due_ns);
    return until_ns > now_ns ? until_ns - now_ns : 0;
}

static void submit_and_wait(rb_worker_t *w)
{
    uint64_t now_ns = stamp(w);
    end_turn(w, now_ns);
    entered(w, w->o.backend->wait(w->io, timeout_ns(w, now_ns)), now_ns);
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

static bool over(const rb_worker_t *w)
{
    return w->broken || (!w->submitting && w->inflight == 0);
}

static inline void turn(rb_worker_t *w)
{
    /* All free slots are filled before the next reap: else a target that completes within the
     * submission would never hold more than one batch, whatever the iodepth. */
    uint32_t n = w->filling ? 0 : w->o.backend->reap(w->io, w->done, RB_BATCH);
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
    account(w, n, now_ns);
    fill(w, now_ns);
    if (w->part == RB_PART_DRAINED)
        hurry_drain(w, now_ns);
    w->filling = w->queued == RB_BATCH && w->nfree > 0;
    /* A full batch: more may be complete, or free. Do not sleep on it. */
    if (w->queued == RB_BATCH)
        submit(w);
    else if (n < RB_BATCH && !over(w))
        submit_and_wait(w);
    else if (w->queued > 0)
        submit(w);
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

void rb_worker_loop(rb_worker_t *w)
{
    rb_worker_schedule(w);
    for (uint32_t i = 0; i < w->iodepth; i++)
        w->slots[i].due_ns = w->t0_ns;
    if (w->open_loop)
        rb_pace_init(&w->pace, w->o.job->rate_iops, w->t0_ns);
    w->submitting = true;
    fill(w, w->t0_ns);
    if (!await_t0(w)) {
        w->account.finished = false;
        return;
    }
    w->account.first_submit_ns = stamp(w);
    entered(w, w->o.backend->submit(w->io), w->account.first_submit_ns);
    if (w->part == RB_PART_MAIN)
        rb_worker_main_begins(w, w->account.first_submit_ns);
    while (!over(w))
        turn(w);
    rb_worker_last_cut(w, rb_clock_now_ns());
}
