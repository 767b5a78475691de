#include "agent/backend/uring.h"

#include <errno.h>
#include <fcntl.h>

#include "agent/backend/block_queue.h"
#include "agent/backend/trim.h"
#include "agent/backend/uring_hot.h"
#include "agent/backend/zero.h"
#include "agent/buffer.h"

#define DISCARD                _IO(0x12, 0) /* BLOCK_URING_CMD_DISCARD of linux/blkdev.h, Linux 6.12 */
#define NOT_PREPARED           UINT8_MAX    /* no opcode has this number */
#define NEITHER_READ_NOR_WRITE (1u << RB_OP_TRIM | 1u << RB_OP_SYNC)

static void uring_free(rb_uring_t **u)
{
    if (*u != NULL)
        free((*u)->trimmed);
    free(*u);
    *u = NULL;
}

/* One polled read, as a target that knows no polling takes it and then fails it. */
static int32_t try_polled(rb_uring_t *u)
{
    struct io_uring_sqe *sqe = rb_ring_sqe(&u->ring, u->ring.own);
    void *block = rb_buffer_new(RB_BUFFER_ALIGN);
    io_uring_prep_read(sqe, 0, block, RB_BUFFER_ALIGN, 0);
    sqe->flags = IOSQE_FIXED_FILE;
    int32_t res = rb_ring_try(&u->ring);
    rb_buffer_free(block, RB_BUFFER_ALIGN);
    return res;
}

static int open_polled(rb_uring_t *u, rb_err_t *err)
{
    char why[128];
    if (u->o.ops & NEITHER_READ_NOR_WRITE || u->o.zeroes) {
        u->o.hipri = false;
        return rb_backend_refuse(
            &u->o, "a polled ring takes reads and writes only, and the job trims, syncs or zeroes",
            "drop hipri", "completions come by interrupt", err);
    }
    if (rb_ring_open(&u->ring, &u->o, RB_RING_PLAIN, RB_RING_POLLED, err) < 0)
        return -1;
    int32_t res = try_polled(u);
    /* Older kernels complete the read by interrupt all the same: only the drive's queue tells. */
    bool has_queue = rb_block_queue(u->o.fd, "io_poll") != 0;
    if (res >= 0 && has_queue)
        return 0;
    rb_ring_close(&u->ring);
    u->o.hipri = false;
    if (res >= 0)
        snprintf(why, sizeof(why),
                 "the target does not support polled I/O: its drive has no poll queues");
    else
        snprintf(why, sizeof(why), "the target does not support polled I/O: reads complete with %s",
                 strerrorname_np(-res));
    return rb_backend_refuse(&u->o, why, "drop hipri", "completions come by interrupt", err);
}

static int open_ring(rb_uring_t *u, rb_err_t *err)
{
    if (u->o.hipri && open_polled(u, err) < 0)
        return -1;
    return u->o.hipri ? 0 : rb_ring_open(&u->ring, &u->o, RB_RING_PLAIN, RB_RING_INTERRUPT, err);
}

static void prepare_discard(struct io_uring_sqe *sqe, uint64_t offset_bytes, uint64_t size_bytes)
{
    /* liburing 2.3 has no helper for it. */
    sqe->opcode = IORING_OP_URING_CMD;
    sqe->cmd_op = DISCARD;
    sqe->addr = offset_bytes;
    sqe->addr3 = size_bytes;
}

static int open_trim(rb_uring_t *u, rb_err_t *err)
{
    if (rb_trim_check(&u->o, err) < 0)
        return -1;
    if (u->o.kind == RB_TARGET_FILE)
        return 0;
    /* Of no length: who knows the command calls that EINVAL. */
    struct io_uring_sqe *sqe = rb_ring_sqe(&u->ring, u->ring.own);
    memset(sqe, 0, sizeof(*sqe));
    prepare_discard(sqe, 0, 0);
    sqe->flags = IOSQE_FIXED_FILE;
    if (rb_ring_try(&u->ring) == -EINVAL)
        return 0;
    u->trims_now = u->ring.special = true;
    u->trimmed = rb_calloc(u->o.iodepth, sizeof(*u->trimmed));
    return rb_backend_refuse(&u->o, "this kernel has no asynchronous discard (6.12 has)",
                             "leave trims out of the job",
                             "ioctl(BLKDISCARD), while the worker's other I/O waits", err);
}

static void *uring_open(const rb_backend_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(uring_free) rb_uring_t *u = rb_calloc(1, sizeof(*u));
    u->o = *opts;
    memset(u->opcode, NOT_PREPARED, sizeof(u->opcode));
    u->opcode[RB_OP_READ] = IORING_OP_READ_FIXED;
    u->opcode[RB_OP_WRITE] = IORING_OP_WRITE_FIXED;
    if (open_ring(u, err) < 0)
        return NULL;
    if ((u->o.ops & 1u << RB_OP_TRIM && open_trim(u, err) < 0) ||
        (u->o.zeroes && rb_zero_check(&u->o, err) < 0)) {
        rb_ring_close(&u->ring);
        return NULL;
    }
    return RB_MOVE(u);
}

static void prepare_trim(rb_uring_t *u, struct io_uring_sqe *sqe, const rb_io_t *io)
{
    if (u->o.kind == RB_TARGET_FILE)
        io_uring_prep_fallocate(sqe, 0, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                (off_t)io->offset_bytes, io->size_bytes);
    else
        prepare_discard(sqe, io->offset_bytes, io->size_bytes);
    /* What refuses NOWAIT would fail a discard instead of leaving it to a thread of the kernel's.
     */
    sqe->flags = u->o.nowait_refused ? IOSQE_ASYNC : 0;
}

static void prepare_rw(const rb_uring_t *u, struct io_uring_sqe *sqe, const rb_io_t *io,
                       uint32_t slot)
{
    uint8_t *buffer = u->o.buffers[io->op] + slot * u->o.stride_bytes;
    io_uring_prep_rw(u->opcode[io->op], sqe, 0, buffer, io->size_bytes, io->offset_bytes);
    sqe->buf_index = rb_ring_buffer(&u->o, io->op, slot);
}

static void prepare_write(const rb_uring_t *u, struct io_uring_sqe *sqe, const rb_io_t *io,
                          uint32_t slot)
{
    if (u->o.zeroes)
        io_uring_prep_fallocate(sqe, 0, RB_ZERO_RANGE, (off_t)io->offset_bytes, io->size_bytes);
    else
        prepare_rw(u, sqe, io, slot);
}

/* Cold beside reads and writes in a row: all fields of an entry. */
static void prepare(rb_uring_t *u, const rb_io_t *io, uint32_t slot)
{
    struct io_uring_sqe *sqe = rb_ring_sqe(&u->ring, slot);
    memset(sqe, 0, sizeof(*sqe));
    switch (io->op) {
    case RB_OP_READ:
        prepare_rw(u, sqe, io, slot);
        break;
    case RB_OP_WRITE:
        prepare_write(u, sqe, io, slot);
        break;
    case RB_OP_TRIM:
        prepare_trim(u, sqe, io);
        break;
    case RB_OP_SYNC:
        io_uring_prep_fsync(sqe, 0,
                            io->flags == RB_IO_DATASYNC ? (unsigned)IORING_FSYNC_DATASYNC : 0u);
        break;
    case RB_OP_COUNT:
        rb_assert_failed("op is one of its values", __FILE__, __LINE__);
    }
    sqe->flags |= IOSQE_FIXED_FILE;
    sqe->user_data = slot;
}

void rb_uring_queue_other(rb_uring_t *u, const rb_io_t *io, uint32_t slot)
{
    if (io->op == RB_OP_TRIM && u->trims_now) {
        u->trims[u->ntrims] = *io;
        u->trim_slots[u->ntrims++] = slot;
        return;
    }
    prepare(u, io, slot);
    rb_ring_push(&u->ring, slot);
}

static void trim_now(rb_uring_t *u)
{
    for (uint32_t i = 0; i < u->ntrims; i++) {
        const rb_io_t *io = &u->trims[i];
        int32_t res = rb_trim_now(u->o.fd, u->o.kind, io->offset_bytes, io->size_bytes);
        u->trimmed[u->ntrimmed++] = (rb_done_t){.slot = u->trim_slots[i], .res = res};
    }
    u->ntrims = 0;
}

int rb_uring_submit_special(rb_uring_t *u)
{
    int left = rb_ring_submit(&u->ring);
    trim_now(u);
    return left;
}

int rb_uring_wait_special(rb_uring_t *u, uint32_t min, uint64_t timeout_ns)
{
    if ((u->ntrims | u->ntrimmed) != 0)
        return rb_uring_submit_special(u);
    return rb_ring_wait(&u->ring, min, timeout_ns);
}

uint32_t rb_uring_reap_special(rb_uring_t *u, uint32_t max, const rb_done_t **ret_done)
{
    if (u->ntrimmed == 0)
        return rb_ring_reap(&u->ring, max, ret_done);
    uint32_t n = RB_MIN(u->ntrimmed, max);
    u->ntrimmed -= n;
    *ret_done = u->trimmed + u->ntrimmed;
    return n;
}

static void uring_queue(void *self, const rb_io_t *ios, const uint32_t *slots, uint32_t n)
{
    rb_uring_queue(self, ios, slots, n);
}

static int uring_submit(void *self)
{
    return rb_uring_submit(self);
}

static int uring_wait(void *self, uint32_t min, uint64_t timeout_ns)
{
    return rb_uring_wait(self, min, timeout_ns);
}

static uint32_t uring_reap(void *self, uint32_t max, const rb_done_t **ret_done)
{
    return rb_uring_reap(self, max, ret_done);
}

static void uring_cancel(void *self)
{
    rb_uring_t *u = self;
    rb_ring_cancel(&u->ring);
}

static void uring_close(void *self)
{
    rb_uring_t *u = self;
    rb_ring_close(&u->ring);
    uring_free(&u);
}

const rb_backend_t rb_backend_uring = {
    .name = "io_uring",
    .max_iodepth = RB_MAX_IODEPTH,
    .open = uring_open,
    .queue = uring_queue,
    .submit = uring_submit,
    .wait = uring_wait,
    .reap = uring_reap,
    .cancel = uring_cancel,
    .close = uring_close,
};
