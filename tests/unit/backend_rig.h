/* backend_rig.h - a backend on a real target for tests: a loop device with direct I/O over tmpfs,
 * or a file there. */
#pragma once

#include "agent/backend/sync.h"
#include "agent/backend/uring.h"
#include "agent/buffer.h"
#include "common/clock.h"
#include "tests/unit/scratch_disk.h"

enum { DISK = 4 * 1024 * 1024, MAX = 65536, DEPTH = 4 }; /* [bytes] */
#define ALL_OPS ((1u << RB_OP_COUNT) - 1)
#define READS   (1u << RB_OP_READ)

static char dir[64], file[96];
static rb_test_loop_t loop = {.fd = -1};

/* A backend that is open on one of the two, with buffers of its own. */
typedef struct {
    const rb_backend_t *b;
    void *io;
    rb_backend_opts_t o;
    rb_told_t told;
    uint8_t *memory;
} rig_t;

static inline int set_up(void **state)
{
    (void)state;
    char image[96];
    snprintf(dir, sizeof(dir), "/dev/shm/rb-backend-XXXXXX");
    RB_ASSERT(mkdtemp(dir) != NULL);
    snprintf(image, sizeof(image), "%s/image", dir);
    snprintf(file, sizeof(file), "%s/file", dir);
    rb_test_image(image, DISK);
    rb_test_image(file, DISK);
    rb_test_loop_up(&loop, image);
    RB_ASSERT(ioctl(loop.fd, LOOP_SET_DIRECT_IO, 1ul) == 0);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    rb_test_loop_down(&loop);
    rb_test_remove_tree(dir);
    return 0;
}

static inline void rig_init(rig_t *r, const rb_backend_t *b, rb_target_kind_t kind, uint32_t ops)
{
    memset(r, 0, sizeof(*r));
    r->b = b;
    r->memory = rb_buffer_new((size_t)2 * DEPTH * MAX);
    r->o = (rb_backend_opts_t){
        .fd = open(kind == RB_TARGET_DEVICE ? loop.path : file, O_RDWR | O_DIRECT | O_CLOEXEC),
        .kind = kind,
        .iodepth = b == &rb_backend_sync ? 1 : DEPTH,
        .ops = ops,
        .max_bytes = MAX,
        .stride_bytes = MAX,
        .buffers = {r->memory, r->memory + (size_t)DEPTH * MAX},
        .told = &r->told};
    assert_true(r->o.fd >= 0);
}

static inline void rig_open(rig_t *r)
{
    rb_err_t err = {0};
    r->io = r->b->open(&r->o, &err);
    if (r->io == NULL)
        fail_msg("%s", err.text);
}

static inline void rig_close(rig_t *r)
{
    if (r->io != NULL)
        r->b->close(r->io);
    close(r->o.fd);
    rb_buffer_free(r->memory, (size_t)2 * DEPTH * MAX);
}

static inline int32_t perform(rig_t *r, uint32_t slot, rb_io_t io)
{
    const rb_done_t *done;
    uint64_t until_ns = rb_clock_now_ns() + 10 * RB_NS_PER_S;
    r->b->queue(r->io, &io, &slot, 1);
    while (r->b->reap(r->io, RB_BATCH, &done) == 0) {
        assert_int_equal(r->b->wait(r->io, 1, RB_NS_PER_S), 0);
        assert_true(rb_clock_now_ns() < until_ns);
    }
    assert_int_equal(done->slot, slot);
    return done->res;
}

static inline int32_t rw(rig_t *r, rb_op_t op, uint32_t slot, uint64_t offset_bytes,
                         uint32_t size_bytes)
{
    return perform(r, slot,
                   (rb_io_t){.offset_bytes = offset_bytes, .size_bytes = size_bytes, .op = op});
}

static inline bool holds(const rig_t *r, uint32_t slot, uint8_t byte, size_t from, size_t to)
{
    const uint8_t *at = r->o.buffers[RB_OP_READ] + (size_t)slot * MAX;
    for (size_t i = from; i < to; i++)
        if (at[i] != byte)
            return false;
    return true;
}
