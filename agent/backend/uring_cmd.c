#include "agent/backend/uring_cmd.h"

#include <errno.h>
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "agent/backend/nvme_format.h"
#include "agent/backend/uring_ring.h"
#include "agent/buffer.h"

enum {
    FLUSH = 0x00,
    WRITE = 0x01,
    READ = 0x02,
    WRITE_ZEROES = 0x08,
    DATASET_MANAGEMENT = 0x09,
    IDENTIFY = 0x06 /* of the admin commands */
};
enum { IDENTIFY_NAMESPACE = 0, IDENTIFY_CONTROLLER = 1 }; /* CNS */
#define DEALLOCATE        (1u << 2)
#define FORCE_UNIT_ACCESS (1u << 30)
enum { MAX_BLOCKS = 65536 }; /* of one command */

/* A range of Dataset Management. */
typedef struct {
    uint32_t attributes, nblocks;
    uint64_t first_block;
} range_t;

typedef struct {
    rb_ring_t ring;
    rb_backend_opts_t o;
    uint32_t nsid, block_shift;
    uint32_t *sizes; /* [iodepth] that a completion without error stands for [bytes] */
    range_t *ranges; /* [iodepth] */
} passthrough_t;

static void passthrough_free(passthrough_t **p)
{
    if (*p != NULL) {
        free((*p)->sizes);
        rb_buffer_free((*p)->ranges, (*p)->o.iodepth * sizeof(range_t));
    }
    free(*p);
    *p = NULL;
}

/* Into data [RB_NVME_IDENTIFY_BYTES]. */
static int identify(const passthrough_t *p, uint32_t cns, uint8_t *data, rb_err_t *err)
{
    const char *what = cns == IDENTIFY_CONTROLLER ? "controller of" : "namespace";
    struct nvme_admin_cmd cmd = {.opcode = IDENTIFY,
                                 .nsid = cns == IDENTIFY_CONTROLLER ? 0 : p->nsid,
                                 .addr = (uintptr_t)data,
                                 .data_len = RB_NVME_IDENTIFY_BYTES,
                                 .cdw10 = cns};
    int rc = ioctl(p->o.fd, NVME_IOCTL_ADMIN_CMD, &cmd);
    if (rc < 0)
        return rb_err_errno(err, errno, "identify %s %u", what, p->nsid);
    if (rc > 0)
        return rb_err_set(err, RB_ERR_IO, "identify %s %u: NVMe status 0x%x", what, p->nsid,
                          (unsigned)rc);
    return 0;
}

/* Are there the commands that not every drive has? */
static int check_commands(const passthrough_t *p, uint8_t *data, rb_err_t *err)
{
    bool trims = p->o.ops & 1u << RB_OP_TRIM;
    if (!trims && !p->o.zeroes)
        return 0;
    if (identify(p, IDENTIFY_CONTROLLER, data, err) < 0)
        return -1;
    if (trims && !(rb_nvme_commands(data) & RB_NVME_DATASET_MANAGEMENT))
        return rb_err_set(err, RB_ERR_INPUT,
                          "the drive knows no Dataset Management; leave trims out of the job");
    if (p->o.zeroes && !(rb_nvme_commands(data) & RB_NVME_WRITE_ZEROES))
        return rb_err_set(err, RB_ERR_INPUT,
                          "the drive knows no Write Zeroes; set write_mode: write");
    return 0;
}

static int get_to_know(passthrough_t *p, rb_err_t *err)
{
    struct stat st;
    int nsid = fstat(p->o.fd, &st) == 0 && S_ISCHR(st.st_mode) ? ioctl(p->o.fd, NVME_IOCTL_ID) : -1;
    if (nsid <= 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "ioengine: io_uring_cmd needs an NVMe drive's character device "
                          "(/dev/ng0n1 for /dev/nvme0n1); name that or set ioengine: io_uring");
    p->nsid = (uint32_t)nsid;
    uint8_t *data = rb_buffer_new(RB_NVME_IDENTIFY_BYTES);
    int rc = identify(p, IDENTIFY_NAMESPACE, data, err);
    if (rc == 0)
        rc = rb_nvme_block_shift(data, &p->block_shift, err);
    if (rc == 0)
        rc = check_commands(p, data, err);
    rb_buffer_free(data, RB_NVME_IDENTIFY_BYTES);
    return rc;
}

static struct nvme_uring_cmd *prepare(passthrough_t *p, uint32_t slot, uint8_t opcode)
{
    struct io_uring_sqe *sqe = rb_ring_sqe(&p->ring, slot);
    struct nvme_uring_cmd *cmd = (void *)sqe->cmd;
    memset(sqe, 0, 2 * sizeof(*sqe));
    sqe->opcode = IORING_OP_URING_CMD;
    sqe->flags = IOSQE_FIXED_FILE;
    sqe->cmd_op = NVME_URING_CMD_IO;
    sqe->user_data = slot;
    cmd->opcode = opcode;
    cmd->nsid = p->nsid;
    return cmd;
}

static void set_blocks(const passthrough_t *p, struct nvme_uring_cmd *cmd, uint64_t offset_bytes,
                       uint32_t size_bytes)
{
    uint64_t first = offset_bytes >> p->block_shift;
    cmd->data_len = size_bytes;
    cmd->cdw10 = (uint32_t)first;
    cmd->cdw11 = (uint32_t)(first >> 32);
    cmd->cdw12 = (size_bytes >> p->block_shift) - 1;
    if (p->o.stable && cmd->opcode == WRITE)
        cmd->cdw12 |= FORCE_UNIT_ACCESS;
}

static void prepare_rw(passthrough_t *p, const rb_io_t *io, uint32_t slot)
{
    struct nvme_uring_cmd *cmd = prepare(p, slot, io->op == RB_OP_READ ? READ : WRITE);
    struct io_uring_sqe *sqe = rb_ring_sqe(&p->ring, slot);
    sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
    sqe->buf_index = rb_ring_buffer(&p->o, io->op, slot);
    cmd->addr = (uintptr_t)(p->o.buffers[io->op] + slot * p->o.stride_bytes);
    set_blocks(p, cmd, io->offset_bytes, io->size_bytes);
}

static void prepare_trim(passthrough_t *p, const rb_io_t *io, uint32_t slot)
{
    struct nvme_uring_cmd *cmd = prepare(p, slot, DATASET_MANAGEMENT);
    p->ranges[slot] = (range_t){.nblocks = io->size_bytes >> p->block_shift,
                                .first_block = io->offset_bytes >> p->block_shift};
    cmd->addr = (uintptr_t)&p->ranges[slot];
    cmd->data_len = sizeof(range_t);
    cmd->cdw11 = DEALLOCATE;
}

static void prepare_zeroes(passthrough_t *p, const rb_io_t *io, uint32_t slot)
{
    struct nvme_uring_cmd *cmd = prepare(p, slot, WRITE_ZEROES);
    set_blocks(p, cmd, io->offset_bytes, io->size_bytes);
    cmd->data_len = 0;
}

static void prepare_any(passthrough_t *p, const rb_io_t *io, uint32_t slot)
{
    switch (io->op) {
    case RB_OP_READ:
        prepare_rw(p, io, slot);
        break;
    case RB_OP_WRITE:
        if (p->o.zeroes)
            prepare_zeroes(p, io, slot);
        else
            prepare_rw(p, io, slot);
        break;
    case RB_OP_TRIM:
        prepare_trim(p, io, slot);
        break;
    case RB_OP_SYNC:
        prepare(p, slot, FLUSH);
        break;
    case RB_OP_COUNT:
        rb_assert_failed("op is one of its values", __FILE__, __LINE__);
    }
}

/* What a later command of the same kind in the same entry has in common with the one before it. */
static bool prepared(const passthrough_t *p, const rb_io_t *io, uint32_t slot)
{
    const struct io_uring_sqe *sqe = rb_ring_sqe(&p->ring, slot);
    const struct nvme_uring_cmd *cmd = (const void *)sqe->cmd;
    return sqe->opcode == IORING_OP_URING_CMD &&
           cmd->opcode == (io->op == RB_OP_READ ? READ : WRITE);
}

static void passthrough_queue(void *self, const rb_io_t *ios, const uint32_t *slots, uint32_t n)
{
    passthrough_t *p = self;
    for (uint32_t i = 0; i < n; i++) {
        const rb_io_t *io = &ios[i];
        uint32_t slot = slots[i];
        if (io->op <= RB_OP_WRITE && prepared(p, io, slot))
            set_blocks(p, (void *)rb_ring_sqe(&p->ring, slot)->cmd, io->offset_bytes,
                       io->size_bytes);
        else
            prepare_any(p, io, slot);
        p->sizes[slot] = io->op <= RB_OP_WRITE ? io->size_bytes : 0;
        rb_ring_push(&p->ring, slot);
    }
}

static uint32_t passthrough_reap(void *self, uint32_t max, const rb_done_t **ret_done)
{
    passthrough_t *p = self;
    uint32_t n = rb_ring_reap(&p->ring, max, ret_done);
    rb_done_t *done = p->ring.copied; /* as of big entries */
    for (uint32_t i = 0; i < n; i++) {
        int32_t res = done[i].res;
        /* Above 0 it is the drive's status. */
        done[i].res = res == 0 ? (int32_t)p->sizes[done[i].slot] : res > 0 ? -EIO : res;
    }
    return n;
}

/* The most that one command moves; a range that is trimmed or zeroed moves nothing. */
static uint32_t most_moved(const passthrough_t *p)
{
    bool moves = p->o.buffers[RB_OP_READ] != NULL || p->o.buffers[RB_OP_WRITE] != NULL;
    return moves ? p->o.max_bytes : 1u << p->block_shift;
}

/* One read, as large as they come: 0, an NVMe status, or -errno. */
static int32_t try_read(passthrough_t *p)
{
    uint32_t bytes = most_moved(p);
    uint8_t *block = rb_buffer_new(bytes);
    struct nvme_uring_cmd *cmd = prepare(p, p->ring.own, READ);
    cmd->addr = (uintptr_t)block;
    set_blocks(p, cmd, 0, bytes);
    int32_t res = rb_ring_try(&p->ring);
    rb_buffer_free(block, bytes);
    return res;
}

static int open_ring(passthrough_t *p, rb_err_t *err)
{
    rb_ring_wait_t how = p->o.hipri ? RB_RING_POLLED : RB_RING_INTERRUPT;
    char why[128];
    if (rb_ring_open(&p->ring, &p->o, RB_RING_BIG, how, err) < 0)
        return -1;
    int32_t res = try_read(p);
    if (res == 0)
        return 0;
    rb_ring_close(&p->ring);
    if (p->o.hipri && res == -EOPNOTSUPP) {
        p->o.hipri = false;
        snprintf(why, sizeof(why), "the target does not support polled I/O: reads complete with %s",
                 strerrorname_np(-res));
        if (rb_backend_refuse(&p->o, why, "drop hipri", "completions come by interrupt", err) < 0)
            return -1;
        return open_ring(p, err);
    }
    if (res == -EINVAL)
        return rb_err_set(err, RB_ERR_INPUT,
                          "NVMe passthrough: the drive takes no read of %u bytes in one command "
                          "(EINVAL); lower bs or set ioengine: io_uring",
                          most_moved(p));
    if (res == -EOPNOTSUPP || res == -EACCES)
        return rb_err_set(err, RB_ERR_INPUT,
                          "NVMe passthrough: the kernel refuses it (%s); set ioengine: io_uring",
                          strerrorname_np(-res));
    if (res > 0)
        return rb_err_set(err, RB_ERR_IO, "NVMe passthrough: a read ends with NVMe status 0x%x",
                          (unsigned)res);
    return rb_err_errno(err, -res, "NVMe passthrough: read");
}

static void *passthrough_open(const rb_backend_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(passthrough_free) passthrough_t *p = rb_calloc(1, sizeof(*p));
    p->o = *opts;
    if (get_to_know(p, err) < 0)
        return NULL;
    if (opts->max_bytes >> p->block_shift > MAX_BLOCKS) {
        rb_err_set(err, RB_ERR_INPUT, "bs must be at most %d blocks of the drive", MAX_BLOCKS);
        return NULL;
    }
    if (opts->max_bytes % (1u << p->block_shift) != 0) {
        rb_err_set(err, RB_ERR_INPUT, "bs must be a multiple of the drive's blocks of %u bytes",
                   1u << p->block_shift);
        return NULL;
    }
    p->sizes = rb_calloc(opts->iodepth, sizeof(*p->sizes));
    p->ranges = rb_buffer_new(opts->iodepth * sizeof(*p->ranges));
    return open_ring(p, err) < 0 ? NULL : RB_MOVE(p);
}

static int passthrough_submit(void *self)
{
    passthrough_t *p = self;
    return rb_ring_submit(&p->ring);
}

static int passthrough_wait(void *self, uint32_t min, uint64_t timeout_ns)
{
    passthrough_t *p = self;
    return rb_ring_wait(&p->ring, min, timeout_ns);
}

static void passthrough_cancel(void *self)
{
    passthrough_t *p = self;
    rb_ring_cancel(&p->ring);
}

static void passthrough_close(void *self)
{
    passthrough_t *p = self;
    rb_ring_close(&p->ring);
    passthrough_free(&p);
}

const rb_backend_t rb_backend_uring_cmd = {
    .name = "io_uring_cmd",
    .max_iodepth = RB_MAX_IODEPTH,
    .open = passthrough_open,
    .queue = passthrough_queue,
    .submit = passthrough_submit,
    .wait = passthrough_wait,
    .reap = passthrough_reap,
    .cancel = passthrough_cancel,
    .close = passthrough_close,
};
