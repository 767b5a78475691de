/* uring_ring.h - a ring as its two backends share it: made, entered and reaped without liburing's
 * helpers, which cost more than all the rest.
 *
 * Submission entry i belongs to slot i for good, so that what does not change of it is written
 * once; the array of indices that the kernel reads (SQARRAY) says which are submitted. One entry
 * more is the ring's own, for probes and the cancel request.
 * Hot, and inline because calls would cost a fifth of all that a worker does: push, reap, enter.
 * The worker's thread.
 */
#pragma once

#include <liburing.h>

#include "agent/backend/backend.h"

typedef enum { RB_RING_PLAIN, RB_RING_BIG } rb_ring_size_t; /* BIG: SQE128 and CQE32 */
typedef enum { RB_RING_INTERRUPT, RB_RING_POLLED } rb_ring_wait_t;

typedef struct {
    /* submission: the tail is ours, the head the kernel's */
    uint8_t *sqes;
    uint32_t *array, *sq_tail, *sq_head, *sq_flags;
    uint32_t tail, taken; /* pushed, and what the kernel had taken when we last looked */
    uint32_t sq_mask, sqe_shift;
    /* completion */
    const uint8_t *cqes;
    uint32_t *cq_tail, *cq_head;
    uint32_t head, cq_mask, cqe_shift;
    bool copies; /* entries are big, or some are the ring's own */
    rb_done_t copied[RB_MAX_BATCH];
    bool special; /* the functions that end in _plain will not do: copies, polled, sqpoll, or more
                   * that the backend knows */

    uint64_t timeout_ns; /* that ts stands for */
    struct __kernel_timespec ts;
    struct io_uring_getevents_arg wait_arg; /* points to ts: a ring that is open must not move */

    int enter_fd;
    uint32_t own; /* index of the ring's own entry: iodepth */
    rb_ring_wait_t how;
    bool sqpoll;
    struct io_uring ring;
} rb_ring_t;

_Static_assert(sizeof(rb_done_t) == sizeof(struct io_uring_cqe) &&
                   offsetof(rb_done_t, slot) == offsetof(struct io_uring_cqe, user_data) &&
                   offsetof(rb_done_t, res) == offsetof(struct io_uring_cqe, res),
               "rb_done_t is laid out as a completion");

static inline struct io_uring_sqe *rb_ring_sqe(const rb_ring_t *r, uint32_t slot)
{
    return (struct io_uring_sqe *)(void *)(r->sqes + ((size_t)slot << r->sqe_shift));
}

/* Entry `slot` goes with the next enter. */
static inline void rb_ring_push(rb_ring_t *r, uint32_t slot)
{
    r->array[r->tail++ & r->sq_mask] = slot;
}

/* As reap of rb_backend_t. Without those of the ring's own entry. */
uint32_t rb_ring_reap(rb_ring_t *r, uint32_t max, const rb_done_t **ret_done);

/* The same: completions as the kernel wrote them, where it wrote them. The next enter gives them
 * back. */
static inline uint32_t rb_ring_reap_plain(rb_ring_t *r, uint32_t max, const rb_done_t **ret_done)
{
    uint32_t at = r->head & r->cq_mask;
    uint32_t n = __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) - r->head;
    uint32_t to_end = r->cq_mask + 1 - at; /* what lies behind it is for the next call */
    n = RB_MIN(n, max);
    n = RB_MIN(n, to_end);
    *ret_done = (const rb_done_t *)(const void *)r->cqes + at;
    r->head += n;
    return n;
}

/* Room for opts->iodepth operations and the ring's own. Registers ring, file and buffers. Takes
 * back `sqthread_poll` and `hipri` where rb_backend_refuse lets it. */
int rb_ring_open(rb_ring_t *r, const rb_backend_opts_t *opts, rb_ring_size_t size,
                 rb_ring_wait_t how, rb_err_t *err);
void rb_ring_close(rb_ring_t *r);

/* Index of the registered buffer of an op that has buffers, and a slot. */
uint16_t rb_ring_buffer(const rb_backend_opts_t *opts, rb_op_t op, uint32_t slot);

/* As submit and wait of rb_backend_t, of every kind of ring. */
int rb_ring_submit(rb_ring_t *r);
int rb_ring_wait(rb_ring_t *r, uint32_t min, uint64_t timeout_ns);

/* The part of enter that is not hot. */
int rb_ring_not_all_taken(rb_ring_t *r, int rc);

static inline int rb_ring_enter(rb_ring_t *r, uint32_t min, uint32_t flags,
                                struct io_uring_getevents_arg *arg)
{
    uint32_t n = r->tail - r->taken;
    __atomic_store_n(r->cq_head, r->head, __ATOMIC_RELEASE);
    __atomic_store_n(r->sq_tail, r->tail, __ATOMIC_RELEASE);
    int rc = io_uring_enter2((unsigned)r->enter_fd, n, min, flags | IORING_ENTER_REGISTERED_RING,
                             (void *)arg, sizeof(*arg));
    if (__builtin_expect(rc != (int)n, 0))
        return rb_ring_not_all_taken(r, rc);
    r->taken = r->tail;
    return 0;
}

/* With a look at what is complete where the kernel says that there is something: a worker that
 * never has to wait must see it as well, and asking for nothing costs 5 ns an operation. */
static inline int rb_ring_submit_plain(rb_ring_t *r)
{
    uint32_t news = __atomic_load_n(r->sq_flags, __ATOMIC_RELAXED) &
                    (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW);
    return rb_ring_enter(r, 0, news != 0 ? IORING_ENTER_GETEVENTS : 0u, NULL);
}

static inline void rb_ring_set_timeout(rb_ring_t *r, uint64_t timeout_ns)
{
    if (timeout_ns == r->timeout_ns)
        return;
    r->timeout_ns = timeout_ns;
    r->ts = (struct __kernel_timespec){.tv_sec = (int64_t)(timeout_ns / RB_NS_PER_S),
                                       .tv_nsec = (int64_t)(timeout_ns % RB_NS_PER_S)};
}

static inline int rb_ring_wait_plain(rb_ring_t *r, uint32_t min, uint64_t timeout_ns)
{
    rb_ring_set_timeout(r, timeout_ns);
    return rb_ring_enter(r, min, IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &r->wait_arg);
}

void rb_ring_cancel(rb_ring_t *r);

/* Submits the ring's own entry, which the caller filled in, with nothing else in flight. Blocks for
 * its result, at most some seconds: -ETIME then. */
int32_t rb_ring_try(rb_ring_t *r);
