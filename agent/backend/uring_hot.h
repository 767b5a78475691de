/* uring_hot.h - the hot functions of the io_uring backend, inline for the loop that is made for it.
 *
 * The same as the table rb_backend_uring; self is an rb_uring_t.
 */
#pragma once

#include "agent/backend/uring_ring.h"

typedef struct {
    rb_ring_t ring;
    uint8_t opcode[RB_OP_COUNT]; /* of an entry that only wants offset and size of this op */
    rb_backend_opts_t o;

    /* trims by ioctl, which only fallback allows */
    bool trims_now;
    rb_io_t trims[RB_MAX_BATCH];
    uint32_t trim_slots[RB_MAX_BATCH];
    uint32_t ntrims, ntrimmed;
    rb_done_t *trimmed; /* [iodepth] */
} rb_uring_t;

/* What is not hot of the functions below. */
void rb_uring_queue_other(rb_uring_t *u, const rb_io_t *io, uint32_t slot);
int rb_uring_submit_special(rb_uring_t *u);
int rb_uring_wait_special(rb_uring_t *u, uint32_t min, uint64_t timeout_ns);
uint32_t rb_uring_reap_special(rb_uring_t *u, uint32_t max, const rb_done_t **ret_done);

static inline void rb_uring_queue(void *self, const rb_io_t *ios, const uint32_t *slots, uint32_t n)
{
    rb_uring_t *u = self;
    struct io_uring_sqe *sqes = u->ring.ring.sq.sqes;
    for (uint32_t i = 0; i < n; i++) {
        const rb_io_t *io = &ios[i];
        struct io_uring_sqe *sqe = &sqes[slots[i]];
        if (__builtin_expect(sqe->opcode == u->opcode[io->op], 1)) {
            sqe->off = io->offset_bytes;
            sqe->len = io->size_bytes;
            rb_ring_push(&u->ring, slots[i]);
        } else {
            rb_uring_queue_other(u, io, slots[i]);
        }
    }
}

static inline int rb_uring_submit(void *self)
{
    rb_uring_t *u = self;
    if (__builtin_expect(u->ring.special, 0))
        return rb_uring_submit_special(u);
    return rb_ring_submit_plain(&u->ring);
}

static inline int rb_uring_wait(void *self, uint32_t min, uint64_t timeout_ns)
{
    rb_uring_t *u = self;
    if (__builtin_expect(u->ring.special, 0))
        return rb_uring_wait_special(u, min, timeout_ns);
    return rb_ring_wait_plain(&u->ring, min, timeout_ns);
}

static inline uint32_t rb_uring_reap(void *self, uint32_t max, const rb_done_t **ret_done)
{
    rb_uring_t *u = self;
    if (__builtin_expect(u->ring.special, 0))
        return rb_uring_reap_special(u, max, ret_done);
    return rb_ring_reap_plain(&u->ring, max, ret_done);
}
