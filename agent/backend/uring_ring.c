#include "agent/backend/uring_ring.h"

#include <errno.h>

#include "common/clock.h"

#define TRY_NS (5 * RB_NS_PER_S)

static uint32_t setup_flags(const rb_backend_opts_t *opts, rb_ring_size_t size, rb_ring_wait_t how)
{
    /* SUBMIT_ALL: one bad entry must not hold back those behind it. */
    uint32_t flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;
    /* The thread of SQPOLL does the work that DEFER_TASKRUN would leave to us: not both. */
    flags |= opts->sqthread_poll ? IORING_SETUP_SQPOLL
                                 : IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG;
    flags |= how == RB_RING_POLLED ? IORING_SETUP_IOPOLL : 0u;
    flags |= size == RB_RING_BIG ? IORING_SETUP_SQE128 | IORING_SETUP_CQE32 : 0u;
    return flags;
}

static int setup(rb_ring_t *r, uint32_t iodepth, uint32_t flags, rb_err_t *err)
{
    struct io_uring_params p = {.flags = flags,
                                .cq_entries = 2 * RB_MAX(iodepth, (uint32_t)RB_BATCH)};
    int rc = io_uring_queue_init_params(iodepth + 1, &r->ring, &p);
    if (rc == -EINVAL)
        return rb_err_set(err, RB_ERR_IO,
                          "io_uring: this kernel is too old; 6.1 or newer is needed");
    if (rc == -EPERM || rc == -ENOSYS)
        return rb_err_set(
            err, RB_ERR_IO,
            "io_uring: switched off on this host; allow it "
            "(sysctl kernel.io_uring_disabled=0, or the container's seccomp profile), or set "
            "ioengine: sync");
    if (rc < 0)
        return rb_err_errno(err, -rc, "io_uring: make a ring");
    return 0;
}

uint16_t rb_ring_buffer(const rb_backend_opts_t *opts, rb_op_t op, uint32_t slot)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < op; i++)
        before += opts->buffers[i] != NULL ? opts->iodepth : 0;
    return (uint16_t)(before + slot);
}

static int register_buffers(rb_ring_t *r, const rb_backend_opts_t *o, rb_err_t *err)
{
    struct iovec *iov = rb_calloc((size_t)RB_OP_COUNT * o->iodepth, sizeof(*iov));
    uint32_t n = 0;
    for (uint32_t op = 0; op < RB_OP_COUNT; op++)
        for (uint32_t slot = 0; o->buffers[op] != NULL && slot < o->iodepth; slot++)
            iov[n++] = (struct iovec){o->buffers[op] + slot * o->stride_bytes, o->max_bytes};
    int rc = n > 0 ? io_uring_register_buffers(&r->ring, iov, n) : 0;
    free(iov);
    if (rc == -ENOMEM)
        return rb_err_set(err, RB_ERR_IO,
                          "io_uring: %u buffers of %u bytes are more locked memory than allowed; "
                          "raise the limit (ulimit -l, LimitMEMLOCK=) or lower iodepth or bs",
                          n, o->max_bytes);
    if (rc < 0)
        return rb_err_errno(err, -rc, "io_uring: register %u buffers", n);
    return 0;
}

static int register_all(rb_ring_t *r, const rb_backend_opts_t *opts, rb_err_t *err)
{
    int rc = io_uring_register_ring_fd(&r->ring);
    if (rc < 0)
        return rb_err_errno(err, -rc, "io_uring: register the ring");
    rc = io_uring_register_files(&r->ring, &opts->fd, 1);
    if (rc < 0)
        return rb_err_errno(err, -rc, "io_uring: register the file");
    return register_buffers(r, opts, err);
}

static void take_pointers(rb_ring_t *r)
{
    const struct io_uring_sq *sq = &r->ring.sq;
    const struct io_uring_cq *cq = &r->ring.cq;
    r->sqes = (uint8_t *)sq->sqes;
    r->array = sq->array;
    r->sq_tail = sq->ktail;
    r->sq_head = sq->khead;
    r->sq_flags = sq->kflags;
    r->sq_mask = sq->ring_mask;
    r->cqes = (const uint8_t *)cq->cqes;
    r->cq_tail = cq->ktail;
    r->cq_head = cq->khead;
    r->cq_mask = cq->ring_mask;
    r->enter_fd = r->ring.enter_ring_fd;
}

int rb_ring_open(rb_ring_t *r, const rb_backend_opts_t *opts, rb_ring_size_t size,
                 rb_ring_wait_t how, rb_err_t *err)
{
    rb_backend_opts_t o = *opts;
    char why[128];
    memset(r, 0, sizeof(*r));
    if (setup(r, o.iodepth, setup_flags(&o, size, how), err) < 0) {
        if (!o.sqthread_poll)
            return -1;
        snprintf(why, sizeof(why), "the kernel does not give a submission thread (%.80s)",
                 err->text);
        if (rb_backend_refuse(&o, why, "drop sqthread_poll", "the worker submits itself", err) < 0)
            return -1;
        o.sqthread_poll = false;
        if (setup(r, o.iodepth, setup_flags(&o, size, how), err) < 0)
            return -1;
    }
    r->sqe_shift = size == RB_RING_BIG ? 7 : 6;
    r->cqe_shift = size == RB_RING_BIG ? 5 : 4;
    r->copies = size == RB_RING_BIG;
    r->special = r->copies || o.sqthread_poll || how == RB_RING_POLLED;
    r->wait_arg = (struct io_uring_getevents_arg){.ts = (uintptr_t)&r->ts};
    r->own = o.iodepth;
    r->how = how;
    r->sqpoll = o.sqthread_poll;
    if (register_all(r, &o, err) < 0) {
        io_uring_queue_exit(&r->ring);
        return -1;
    }
    take_pointers(r);
    return 0;
}

void rb_ring_close(rb_ring_t *r)
{
    /* The ring itself is torn down by a kernel worker some time later; the file must be free now.
     */
    io_uring_unregister_files(&r->ring);
    io_uring_unregister_buffers(&r->ring);
    io_uring_queue_exit(&r->ring);
}

int rb_ring_not_all_taken(rb_ring_t *r, int rc)
{
    /* The kernel's own count of what it took: a -ETIME would hide it. */
    r->taken = __atomic_load_n(r->sq_head, __ATOMIC_ACQUIRE);
    if (rc < 0 && rc != -ETIME && rc != -EINTR && rc != -EAGAIN && rc != -EBUSY && rc != -ENOMEM)
        return rc;
    return (int)(r->tail - r->taken);
}

/* What a submission thread has not taken yet it takes in its own time, and there is room for all.
 */
static int enter_sqpoll(rb_ring_t *r, uint32_t min, struct io_uring_getevents_arg *arg)
{
    /* In this order for both: the thread looks at the tail once more after it has said that it
     * sleeps. */
    __atomic_store_n(r->sq_tail, r->tail, __ATOMIC_SEQ_CST);
    __atomic_store_n(r->cq_head, r->head, __ATOMIC_RELEASE);
    uint32_t flags = IORING_ENTER_GETEVENTS | IORING_ENTER_REGISTERED_RING;
    bool asleep = __atomic_load_n(r->sq_flags, __ATOMIC_SEQ_CST) & IORING_SQ_NEED_WAKEUP;
    if (min == 0 && !asleep)
        return 0;
    flags |= asleep ? IORING_ENTER_SQ_WAKEUP : 0u;
    flags |= arg != NULL ? IORING_ENTER_EXT_ARG : 0u;
    int rc = io_uring_enter2((unsigned)r->enter_fd, r->tail - r->taken, min, flags, (void *)arg,
                             arg != NULL ? sizeof(*arg) : 0);
    int left = rb_ring_not_all_taken(r, rc);
    return left < 0 ? left : 0;
}

/* Of big entries, and without the ring's own. */
static uint32_t reap_copy(rb_ring_t *r, uint32_t max, const rb_done_t **ret_done)
{
    uint32_t n = 0, tail = __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE);
    for (; r->head != tail && n < max; r->head++) {
        const struct io_uring_cqe *cqe =
            (const void *)(r->cqes + ((size_t)(r->head & r->cq_mask) << r->cqe_shift));
        r->copied[n] = (rb_done_t){.slot = cqe->user_data, .res = cqe->res};
        n += cqe->user_data != r->own;
    }
    *ret_done = r->copied;
    return n;
}

static uint32_t complete(const rb_ring_t *r)
{
    return __atomic_load_n(r->cq_tail, __ATOMIC_ACQUIRE) - r->head;
}

uint32_t rb_ring_reap(rb_ring_t *r, uint32_t max, const rb_done_t **ret_done)
{
    return r->copies ? reap_copy(r, max, ret_done) : rb_ring_reap_plain(r, max, ret_done);
}

int rb_ring_submit(rb_ring_t *r)
{
    if (r->sqpoll)
        return enter_sqpoll(r, 0, NULL);
    /* Nobody says that something is complete where it has to be polled for. */
    if (r->how == RB_RING_POLLED)
        return rb_ring_enter(r, 0, IORING_ENTER_GETEVENTS, NULL);
    return rb_ring_submit_plain(r);
}

/* Looks again and again: a wait in the kernel would know no timeout here. */
static int wait_polled(rb_ring_t *r, uint32_t min, uint64_t timeout_ns)
{
    uint64_t until_ns = rb_clock_now_ns() + timeout_ns;
    int left;
    do
        left = rb_ring_submit(r);
    while (left >= 0 && complete(r) < min && rb_clock_now_ns() < until_ns);
    return left;
}

int rb_ring_wait(rb_ring_t *r, uint32_t min, uint64_t timeout_ns)
{
    if (r->sqpoll) {
        rb_ring_set_timeout(r, timeout_ns);
        return enter_sqpoll(r, min, &r->wait_arg);
    }
    if (r->how == RB_RING_POLLED)
        return wait_polled(r, min, timeout_ns);
    return rb_ring_wait_plain(r, min, timeout_ns);
}

void rb_ring_cancel(rb_ring_t *r)
{
    struct io_uring_sqe *sqe = rb_ring_sqe(r, r->own);
    memset(sqe, 0, sizeof(*sqe));
    io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY);
    sqe->user_data = r->own;
    r->copies = r->special = true;
    rb_ring_push(r, r->own);
    rb_ring_submit(r);
}

int32_t rb_ring_try(rb_ring_t *r)
{
    uint64_t until_ns = rb_clock_now_ns() + TRY_NS;
    rb_ring_sqe(r, r->own)->user_data = r->own;
    rb_ring_push(r, r->own);
    while (complete(r) == 0) {
        int left = rb_ring_wait(r, 1, RB_NS_PER_S);
        if (left < 0)
            return left;
        if (rb_clock_now_ns() > until_ns)
            return -ETIME;
    }
    const struct io_uring_cqe *cqe =
        (const void *)(r->cqes + ((size_t)(r->head++ & r->cq_mask) << r->cqe_shift));
    return cqe->res;
}
