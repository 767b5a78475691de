#include "agent/backend/uring.h"

#include <errno.h>
#include <liburing.h>

/* user_data of the cancel request: no slot. */
#define CANCEL UINT64_MAX

typedef struct {
    struct io_uring ring;
    uint32_t iodepth, bs_bytes;
    size_t stride_bytes;
    uint8_t *buffers[RB_OP_COUNT];
    uint32_t first_buffer[RB_OP_COUNT]; /* index of the op's first registered buffer */
} uring_t;

static void uring_free(uring_t **u)
{
    free(*u);
    *u = NULL;
}

static int setup_ring(uring_t *u, rb_err_t *err)
{
    /* The queue of submissions holds two batches: a batch is queued only when the last one left
     * nothing behind, and a cancel must still find room. SUBMIT_ALL: one bad entry must not hold
     * back those behind it. */
    struct io_uring_params p = {
        .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_SUBMIT_ALL |
                 IORING_SETUP_CQSIZE,
        .cq_entries = 2 * RB_MAX(u->iodepth, (uint32_t)(2 * RB_BATCH)),
    };
    int rc = io_uring_queue_init_params(2 * RB_BATCH, &u->ring, &p);
    if (rc == -EINVAL)
        return rb_err_set(err, RB_ERR_IO,
                          "io_uring: this kernel is too old; 6.1 or newer is needed");
    if (rc == -EPERM || rc == -ENOSYS)
        return rb_err_set(
            err, RB_ERR_IO,
            "io_uring: switched off on this host; allow it "
            "(sysctl kernel.io_uring_disabled=0, or the container's seccomp profile)");
    if (rc < 0)
        return rb_err_errno(err, -rc, "io_uring: make a ring");
    return 0;
}

static int register_buffers(uring_t *u, rb_err_t *err)
{
    struct iovec *iov = rb_calloc((size_t)RB_OP_COUNT * u->iodepth, sizeof(*iov));
    uint32_t n = 0;
    for (uint32_t op = 0; op < RB_OP_COUNT; op++) {
        u->first_buffer[op] = n;
        for (uint32_t slot = 0; u->buffers[op] != NULL && slot < u->iodepth; slot++)
            iov[n++] = (struct iovec){u->buffers[op] + slot * u->stride_bytes, u->bs_bytes};
    }
    int rc = io_uring_register_buffers(&u->ring, iov, n);
    free(iov);
    if (rc == -ENOMEM)
        return rb_err_set(err, RB_ERR_IO,
                          "io_uring: %u buffers of %u bytes are more locked memory than allowed; "
                          "raise the limit (ulimit -l, LimitMEMLOCK=) or lower iodepth or bs",
                          n, u->bs_bytes);
    if (rc < 0)
        return rb_err_errno(err, -rc, "io_uring: register %u buffers", n);
    return 0;
}

static int register_all(uring_t *u, int fd, rb_err_t *err)
{
    int rc = io_uring_register_ring_fd(&u->ring);
    if (rc < 0)
        return rb_err_errno(err, -rc, "io_uring: register the ring");
    rc = io_uring_register_files(&u->ring, &fd, 1);
    if (rc < 0)
        return rb_err_errno(err, -rc, "io_uring: register the file");
    return register_buffers(u, err);
}

static void *uring_open(const rb_backend_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(uring_free) uring_t *u = rb_calloc(1, sizeof(*u));
    u->iodepth = opts->iodepth;
    u->bs_bytes = opts->bs_bytes;
    u->stride_bytes = opts->stride_bytes;
    memcpy(u->buffers, opts->buffers, sizeof(u->buffers));
    if (setup_ring(u, err) < 0)
        return NULL;
    if (register_all(u, opts->fd, err) < 0) {
        io_uring_queue_exit(&u->ring);
        return NULL;
    }
    return RB_MOVE(u);
}

static void uring_queue(void *self, const rb_io_t *ios, uint32_t n)
{
    uring_t *u = self;
    for (uint32_t i = 0; i < n; i++) {
        const rb_io_t *io = &ios[i];
        struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
        int code = io->op == RB_OP_READ ? IORING_OP_READ_FIXED : IORING_OP_WRITE_FIXED;
        uint8_t *buffer = u->buffers[io->op] + io->slot * u->stride_bytes;
        io_uring_prep_rw(code, sqe, 0, buffer, u->bs_bytes, io->offset_bytes);
        sqe->buf_index = (uint16_t)(u->first_buffer[io->op] + io->slot);
        sqe->flags = IOSQE_FIXED_FILE;
        sqe->user_data = io->slot;
    }
}

/* The kernel's own count of what it took: the return value is lost behind -ETIME. */
static int left_behind(uring_t *u, int rc)
{
    if (rc < 0 && rc != -ETIME && rc != -EINTR && rc != -EAGAIN && rc != -EBUSY && rc != -ENOMEM)
        return rc;
    return (int)io_uring_sq_ready(&u->ring);
}

static int uring_submit(void *self)
{
    uring_t *u = self;
    /* With a look at what is complete: a worker that never has to wait must see it as well. */
    return left_behind(u, io_uring_submit_and_get_events(&u->ring));
}

static int uring_wait(void *self, uint64_t timeout_ns)
{
    uring_t *u = self;
    struct io_uring_cqe *cqe;
    struct __kernel_timespec ts = {.tv_sec = (int64_t)(timeout_ns / RB_NS_PER_S),
                                   .tv_nsec = (int64_t)(timeout_ns % RB_NS_PER_S)};
    /* For 1: a wait for 0 returns -EAGAIN at once. */
    return left_behind(u, io_uring_submit_and_wait_timeout(&u->ring, &cqe, 1, &ts, NULL));
}

static uint32_t uring_reap(void *self, rb_done_t *ret_done, uint32_t max)
{
    uring_t *u = self;
    struct io_uring_cqe *cqe;
    unsigned head;
    uint32_t n = 0, seen = 0;
    io_uring_for_each_cqe(&u->ring, head, cqe)
    {
        if (n == max)
            break;
        seen++;
        if (cqe->user_data != CANCEL)
            ret_done[n++] = (rb_done_t){(uint32_t)cqe->user_data, cqe->res};
    }
    io_uring_cq_advance(&u->ring, seen);
    return n;
}

static void uring_cancel(void *self)
{
    uring_t *u = self;
    struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
    io_uring_prep_cancel64(sqe, 0, IORING_ASYNC_CANCEL_ANY);
    sqe->user_data = CANCEL;
    io_uring_submit(&u->ring);
}

static void uring_close(void *self)
{
    uring_t *u = self;
    /* The ring itself is torn down by a kernel worker some time later; the file must be free now.
     */
    io_uring_unregister_files(&u->ring);
    io_uring_unregister_buffers(&u->ring);
    io_uring_queue_exit(&u->ring);
    free(u);
}

const rb_backend_t rb_backend_uring = {
    .name = "uring",
    .open = uring_open,
    .queue = uring_queue,
    .submit = uring_submit,
    .wait = uring_wait,
    .reap = uring_reap,
    .cancel = uring_cancel,
    .close = uring_close,
};
