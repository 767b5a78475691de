#include "agent/workload/block_next.h"

static inline rb_op_t draw_op(rb_block_t *b)
{
    if (!b->mixed)
        return b->op;
    return (rb_rng_next(&b->rng) >> 32) < b->read_below ? RB_OP_READ : RB_OP_WRITE;
}

static uint32_t next_random(void *self, rb_io_t *ios, uint32_t n)
{
    rb_block_t *b = self;
    rb_rng_t rng = b->rng; /* in registers for the batch */
    uint64_t base_bytes = b->base_bytes, bs_bytes = b->bs_bytes, nblocks = b->nblocks;
    for (uint32_t i = 0; i < n; i++) {
        ios[i].offset_bytes = base_bytes + rb_rng_below(&rng, nblocks) * bs_bytes;
        ios[i].size_bytes = (uint32_t)bs_bytes;
        ios[i].op = b->op;
    }
    b->rng = rng;
    if (b->mixed)
        for (uint32_t i = 0; i < n; i++)
            ios[i].op = draw_op(b);
    return n;
}

static void take_sequential(rb_block_t *b, rb_io_t *ios, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ios[i].offset_bytes = b->base_bytes + b->at * b->bs_bytes;
        ios[i].size_bytes = (uint32_t)b->bs_bytes;
        ios[i].op = draw_op(b);
        if (++b->at == b->nblocks)
            b->at = 0;
    }
}

static uint32_t next_sequential(void *self, rb_io_t *ios, uint32_t n)
{
    take_sequential(self, ios, n);
    return n;
}

static uint32_t next_shared(void *self, rb_io_t *ios, uint32_t n)
{
    rb_block_t *b = self;
    uint64_t start = atomic_fetch_add_explicit(b->cursor, n, memory_order_relaxed);
    if (b->once)
        n = start >= b->nblocks ? 0 : (uint32_t)RB_MIN((uint64_t)n, b->nblocks - start);
    b->at = start % b->nblocks;
    take_sequential(b, ios, n);
    return n;
}

static uint32_t next_listed(void *self, rb_io_t *ios, uint32_t n)
{
    rb_block_t *b = self;
    n = (uint32_t)RB_MIN((uint64_t)n, b->nlisted - b->at);
    for (uint32_t i = 0; i < n; i++) {
        ios[i].offset_bytes = b->listed[b->at + i].offset_bytes;
        ios[i].size_bytes = (uint32_t)b->bs_bytes;
        ios[i].op = RB_OP_READ;
    }
    b->at += n;
    return n;
}

/* ---- all that a job may ask for ---- */

static inline const rb_bssplit_side_t *sizes_of(const rb_block_t *b, rb_op_t op)
{
    return &b->sizes.side[op == RB_OP_READ ? RB_BSSPLIT_READ : RB_BSSPLIT_WRITE];
}

static inline rb_op_t draw_any_op(rb_block_t *b)
{
    if (!b->mixed)
        return b->op;
    uint64_t draw = rb_rng_next(&b->rng) >> 32;
    if (draw < b->trim_below)
        return RB_OP_TRIM;
    return draw < b->read_below ? RB_OP_READ : RB_OP_WRITE;
}

static inline void draw_io(rb_block_t *b, rb_io_t *io)
{
    io->op = draw_any_op(b);
    const rb_bssplit_side_t *sizes = sizes_of(b, io->op);
    uint64_t size_bytes = sizes->nsizes == 1 ? sizes->max_bytes : rb_bssplit_draw(sizes, &b->rng);
    io->size_bytes = (uint32_t)size_bytes;
    if (io->op == RB_OP_WRITE && ++b->since_sync == b->sync_every) {
        b->since_sync = 0;
        b->sync_due = true;
    }
}

static uint32_t next_any(void *self, rb_io_t *ios, uint32_t n)
{
    rb_block_t *b = self;
    for (uint32_t i = 0; i < n; i++) {
        if (b->sync_due)
            ios[i] = (rb_io_t){.op = RB_OP_SYNC, .flags = b->sync_flags};
        else
            draw_io(b, &ios[i]);
        b->sync_due = b->sync_due && ios[i].op != RB_OP_SYNC;
    }
    return b->place(b, ios, n);
}

uint32_t rb_block_place_pattern(rb_block_t *b, rb_io_t *ios, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t start;
        if (ios[i].op == RB_OP_SYNC)
            continue;
        const rb_bssplit_side_t *sizes = sizes_of(b, ios[i].op);
        rb_pattern_next(&b->patterns[sizes - b->sizes.side], &b->rng, &start, 1);
        ios[i].offset_bytes = b->base_bytes + start * sizes->align_bytes;
    }
    return n;
}

uint32_t rb_block_place_sequential(rb_block_t *b, rb_io_t *ios, uint32_t n)
{
    uint64_t end_bytes = b->nblocks * b->bs_bytes;
    for (uint32_t i = 0; i < n; i++) {
        if (ios[i].op == RB_OP_SYNC)
            continue;
        if (b->at + ios[i].size_bytes > end_bytes)
            b->at = 0;
        ios[i].offset_bytes = b->base_bytes + b->at;
        b->at += ios[i].size_bytes;
    }
    return n;
}

static inline uint64_t block_of(rb_block_t *b, uint64_t pass, uint64_t at)
{
    if (!b->permuted)
        return at;
    if (pass != b->pass) {
        rb_permutation_init(&b->shuffle, b->nblocks, b->seed, pass);
        b->pass = pass;
    }
    return rb_permutation_at(&b->shuffle, at);
}

/* The last block of a pass may be a partial one. */
static uint32_t next_fill(void *self, rb_io_t *ios, uint32_t n)
{
    rb_block_t *b = self;
    n = (uint32_t)RB_MIN((uint64_t)n, b->fill_blocks - b->at);
    for (uint32_t i = 0; i < n; i++, b->at++) {
        uint64_t block = block_of(b, b->at / b->nblocks, b->at % b->nblocks);
        ios[i].offset_bytes = block * b->bs_bytes;
        ios[i].size_bytes = (uint32_t)RB_MIN(b->bs_bytes, b->region_bytes - ios[i].offset_bytes);
        ios[i].op = b->op;
    }
    return n;
}

uint32_t rb_block_place_cursor(rb_block_t *b, rb_io_t *ios, uint32_t n)
{
    uint32_t blocks = 0;
    for (uint32_t i = 0; i < n; i++)
        blocks += ios[i].op != RB_OP_SYNC;
    uint64_t start = atomic_fetch_add_explicit(b->cursor, blocks, memory_order_relaxed);
    uint64_t pass = start / b->nblocks, at = start % b->nblocks;
    for (uint32_t i = 0; i < n; i++) {
        if (ios[i].op == RB_OP_SYNC)
            continue;
        if (b->once && pass > 0)
            return i;
        ios[i].offset_bytes = b->base_bytes + block_of(b, pass, at) * b->bs_bytes;
        if (++at == b->nblocks) {
            at = 0;
            pass++;
        }
    }
    return n;
}

const rb_workload_t rb_block_random_ops = {"block", next_random};
const rb_workload_t rb_block_sequential_ops = {"block", next_sequential};
const rb_workload_t rb_block_shared_ops = {"block", next_shared};
const rb_workload_t rb_block_any_ops = {"block", next_any};
const rb_workload_t rb_block_fill_ops = {"block: fill", next_fill};
const rb_workload_t rb_block_listed_ops = {"block", next_listed};
