#include "agent/workload/block.h"

#include "common/units.h"

enum { DEFAULT_BS = 4096, DEFAULT_MIX = 50 };

static inline rb_op_t draw_op(rb_block_t *b)
{
    if (!b->mixed)
        return b->read_below ? RB_OP_READ : RB_OP_WRITE;
    return (rb_rng_next(&b->rng) >> 32) < b->read_below ? RB_OP_READ : RB_OP_WRITE;
}

static uint32_t next_random(void *self, rb_io_t *ios, uint32_t n)
{
    rb_block_t *b = self;
    for (uint32_t i = 0; i < n; i++) {
        ios[i].offset_bytes = b->base_bytes + rb_rng_below(&b->rng, b->nblocks) * b->bs_bytes;
        ios[i].op = draw_op(b);
    }
    return n;
}

static void take_sequential(rb_block_t *b, rb_io_t *ios, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        ios[i].offset_bytes = b->base_bytes + b->at * b->bs_bytes;
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

static const rb_workload_t random_ops = {"block", next_random};
static const rb_workload_t sequential_ops = {"block", next_sequential};
static const rb_workload_t shared_ops = {"block", next_shared};

static bool is_random(const Rackbench__Job *job)
{
    return job->rw == RACKBENCH__RW__MODE__randread || job->rw == RACKBENCH__RW__MODE__randwrite ||
           job->rw == RACKBENCH__RW__MODE__randrw;
}

static uint32_t mix(const Rackbench__Job *job)
{
    switch (job->rw) {
    case RACKBENCH__RW__MODE__read:
    case RACKBENCH__RW__MODE__randread:
        return 100;
    case RACKBENCH__RW__MODE__write:
    case RACKBENCH__RW__MODE__randwrite:
        return 0;
    case RACKBENCH__RW__MODE__rw:
    case RACKBENCH__RW__MODE__randrw:
        return job->has_rwmixread ? RB_MIN(job->rwmixread, 100u) : DEFAULT_MIX;
    case _RACKBENCH__RW__MODE_IS_INT_SIZE:
        break;
    }
    rb_assert_failed("rw is one of its modes", __FILE__, __LINE__);
}

bool rb_block_reads(const Rackbench__Job *job)
{
    return mix(job) > 0;
}

bool rb_block_writes(const Rackbench__Job *job)
{
    return mix(job) < 100;
}

/* The region in whole blocks, checked against the drive. */
static int set_region(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    const Rackbench__Job *job = opts->job;
    const rb_subject_t *s = opts->subject;
    char what[2][RB_FMT_SIZE];
    if (b->bs_bytes == 0 || b->bs_bytes > RB_MAX_BS)
        return rb_err_set(err, RB_ERR_INPUT, "job '%s': bs of %s on %s is not in 1 B to 1 GiB",
                          job->name, rb_fmt_bytes(what[0], RB_FMT_SIZE, b->bs_bytes), s->path);
    uint64_t offset = job->offset_bytes, size = job->size_bytes;
    if (offset > s->size_bytes || size > s->size_bytes - offset)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': offset + size is beyond the end of %s (%s); lower one of them",
                          job->name, s->path, rb_fmt_bytes(what[0], RB_FMT_SIZE, s->size_bytes));
    if (size == 0)
        size = s->size_bytes - offset;
    bool direct = !job->has_direct || job->direct;
    uint32_t unit_bytes = direct ? RB_MAX(s->logical_block_bytes, 1u) : 1;
    if (b->bs_bytes % unit_bytes != 0 || offset % unit_bytes != 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': bs and offset must be multiples of the %u-byte blocks of %s",
                          job->name, unit_bytes, s->path);
    b->base_bytes = offset;
    b->nblocks = size / b->bs_bytes;
    if (b->nblocks == 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': a region of %s on %s holds no block of %s; lower bs",
                          job->name, rb_fmt_bytes(what[0], RB_FMT_SIZE, size), s->path,
                          rb_fmt_bytes(what[1], RB_FMT_SIZE, b->bs_bytes));
    return 0;
}

static int set_share(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    uint64_t n = opts->job->has_numjobs ? opts->job->numjobs : 1;
    uint64_t first = b->nblocks * opts->worker / n;
    uint64_t end = b->nblocks * (opts->worker + 1) / n;
    if (first == end)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': %s has %llu blocks for %llu workers; lower numjobs or bs, or "
                          "set seq_layout: same",
                          opts->job->name, opts->subject->path, (unsigned long long)b->nblocks,
                          (unsigned long long)n);
    b->base_bytes += first * b->bs_bytes;
    b->nblocks = end - first;
    return 0;
}

int rb_block_init(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    const Rackbench__Job *job = opts->job;
    uint64_t percent = mix(job);
    *b = (rb_block_t){.ops = &random_ops,
                      .bs_bytes = job->has_bs_bytes ? job->bs_bytes : DEFAULT_BS,
                      .read_below = (percent << 32) / 100,
                      .mixed = percent > 0 && percent < 100,
                      .cursor = opts->cursor};
    rb_rng_seed(&b->rng, opts->seed, opts->worker, 1);
    if (set_region(b, opts, err) < 0)
        return -1;
    if (is_random(job))
        return 0;
    switch (job->seq_layout) {
    case RACKBENCH__SEQ_LAYOUT__KIND__region:
        b->ops = &sequential_ops;
        return set_share(b, opts, err);
    case RACKBENCH__SEQ_LAYOUT__KIND__same:
        b->ops = &sequential_ops;
        return 0;
    case RACKBENCH__SEQ_LAYOUT__KIND__shared:
        b->ops = &shared_ops;
        b->once = opts->once;
        return 0;
    case _RACKBENCH__SEQ_LAYOUT__KIND_IS_INT_SIZE:
        break;
    }
    rb_assert_failed("seq_layout is one of its kinds", __FILE__, __LINE__);
}
