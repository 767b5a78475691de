#include "agent/workload/block.h"

#include "agent/workload/block_next.h"
#include "common/units.h"

enum { DEFAULT_BS = 4096, DEFAULT_MIX = 50 };

/* [percent] */
typedef struct {
    uint32_t trim; /* of all operations */
    uint32_t read; /* of the others */
} mix_t;

static mix_t mix_of(const Rackbench__Job *job)
{
    uint32_t trim = RB_MIN(job->rwmixtrim, 100u);
    switch (job->rw) {
    case RACKBENCH__RW__MODE__read:
    case RACKBENCH__RW__MODE__randread:
        return (mix_t){0, 100};
    case RACKBENCH__RW__MODE__write:
    case RACKBENCH__RW__MODE__randwrite:
        return (mix_t){trim, 0};
    case RACKBENCH__RW__MODE__rw:
    case RACKBENCH__RW__MODE__randrw:
        return (mix_t){trim, job->has_rwmixread ? RB_MIN(job->rwmixread, 100u) : DEFAULT_MIX};
    case RACKBENCH__RW__MODE__trim:
    case RACKBENCH__RW__MODE__randtrim:
        return (mix_t){100, 0};
    case _RACKBENCH__RW__MODE_IS_INT_SIZE:
        break;
    }
    rb_assert_failed("rw is one of its modes", __FILE__, __LINE__);
}

uint64_t rb_block_bs(const Rackbench__Job *job)
{
    return job->has_bs_bytes ? job->bs_bytes : DEFAULT_BS;
}

uint32_t rb_block_ops(const Rackbench__Job *job)
{
    if (job->kv_cache != NULL)
        return 1u << RB_OP_READ | 1u << RB_OP_WRITE |
               (job->kv_cache->discard_on_evict ? 1u << RB_OP_TRIM : 0);
    mix_t mix = mix_of(job);
    bool reads = mix.trim < 100 && mix.read > 0, writes = mix.trim < 100 && mix.read < 100;
    bool syncs = writes && (job->fsync > 0 || job->fdatasync > 0);
    return (reads ? 1u << RB_OP_READ : 0) | (writes ? 1u << RB_OP_WRITE : 0) |
           (mix.trim > 0 ? 1u << RB_OP_TRIM : 0) | (syncs ? 1u << RB_OP_SYNC : 0);
}

static bool is_random(const Rackbench__Job *job)
{
    return job->rw == RACKBENCH__RW__MODE__randread || job->rw == RACKBENCH__RW__MODE__randwrite ||
           job->rw == RACKBENCH__RW__MODE__randrw || job->rw == RACKBENCH__RW__MODE__randtrim;
}

static void set_mix(rb_block_t *b, const Rackbench__Job *job)
{
    uint32_t ops = rb_block_ops(job), moving = ops & ~(1u << RB_OP_SYNC);
    mix_t mix = mix_of(job);
    b->mixed = __builtin_popcount(moving) > 1;
    b->op = (rb_op_t)__builtin_ctz(moving);
    b->trim_below = ((uint64_t)mix.trim << 32) / 100;
    b->read_below = b->trim_below + ((1ull << 32) - b->trim_below) * mix.read / 100;
    b->sync_every = UINT64_MAX;
    if (ops & 1u << RB_OP_SYNC) {
        b->sync_every = job->fsync > 0 ? job->fsync : job->fdatasync;
        b->sync_flags = job->fsync > 0 ? RB_IO_PLAIN : RB_IO_DATASYNC;
    }
    if (b->sync_every < UINT64_MAX || (b->mixed && mix.trim > 0))
        b->ops = &rb_block_any_ops;
}

/* May operations of this direction come? Trims have the sizes of writes. */
static bool goes(const Rackbench__Job *job, rb_bssplit_direction_t direction)
{
    uint32_t reads = 1u << RB_OP_READ, changes = 1u << RB_OP_WRITE | 1u << RB_OP_TRIM;
    return rb_block_ops(job) & (direction == RB_BSSPLIT_READ ? reads : changes);
}

static int set_sizes(rb_block_t *b, const Rackbench__Job *job, rb_err_t *err)
{
    if (job->bssplit == NULL)
        rb_bssplit_one(&b->sizes, rb_block_bs(job));
    else if (rb_bssplit_parse(job->bssplit, &b->sizes, err) < 0)
        return rb_err_wrap(err, "job '%s': bssplit", job->name);
    if (job->blockalign_bytes > 0)
        rb_bssplit_align(&b->sizes, job->blockalign_bytes);
    if (job->bssplit != NULL || (job->blockalign_bytes > 0 && is_random(job)))
        b->ops = &rb_block_any_ops;
    for (rb_bssplit_direction_t i = 0; i < RB_BSSPLIT_COUNT; i++)
        if (goes(job, i))
            b->bs_bytes = RB_MAX(b->bs_bytes, b->sizes.side[i].max_bytes);
    return 0;
}

/* What every size and start must be a multiple of. */
static uint32_t unit_bytes(const rb_block_opts_t *opts)
{
    bool ranges = rb_block_ops(opts->job) & 1u << RB_OP_TRIM ||
                  opts->job->write_mode == RACKBENCH__WRITE_MODE__KIND__zeroes;
    bool direct = !opts->job->has_direct || opts->job->direct;
    return direct || ranges ? RB_MAX(opts->subject->logical_block_bytes, 1u) : 1;
}

static int check_units(const rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    uint32_t unit = unit_bytes(opts);
    bool whole = b->base_bytes % unit == 0;
    for (rb_bssplit_direction_t i = 0; i < RB_BSSPLIT_COUNT; i++) {
        const rb_bssplit_side_t *s = &b->sizes.side[i];
        whole = whole && s->align_bytes % unit == 0;
        for (uint32_t k = 0; k < s->nsizes; k++)
            whole = whole && s->size_bytes[k] % unit == 0;
    }
    if (whole)
        return 0;
    return rb_err_set(err, RB_ERR_INPUT,
                      "job '%s': bs, blockalign and offset must be multiples of the %u-byte "
                      "blocks of %s",
                      opts->job->name, unit, opts->subject->path);
}

static uint64_t percent_of(uint64_t bytes, uint32_t percent)
{
    enum { UNIT_BYTES = 4096 };
    unsigned __int128 part = (unsigned __int128)bytes * RB_MIN(percent, 100u) / 100;
    return (uint64_t)part / UNIT_BYTES * UNIT_BYTES;
}

rb_region_t rb_block_region(const Rackbench__Job *job, uint64_t drive_bytes, uint32_t worker)
{
    uint64_t offset = job->offset_bytes, size = job->size_bytes;
    if (job->offset_percent > 0)
        offset = percent_of(drive_bytes, job->offset_percent);
    if (job->size_percent > 0)
        size = percent_of(drive_bytes, job->size_percent);
    offset += job->offset_increment_bytes * worker; /* 60 bits and 12: the plan's rules */
    return (rb_region_t){offset, size > 0 || offset > drive_bytes ? size : drive_bytes - offset};
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
    rb_region_t r = rb_block_region(job, s->size_bytes, opts->worker);
    uint64_t size = r.size_bytes;
    if (r.offset_bytes > s->size_bytes || size > s->size_bytes - r.offset_bytes)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': offset + size is beyond the end of %s (%s); lower one of them",
                          job->name, s->path, rb_fmt_bytes(what[0], RB_FMT_SIZE, s->size_bytes));
    b->base_bytes = r.offset_bytes;
    if (check_units(b, opts, err) < 0)
        return -1;
    b->region_bytes = size;
    b->nblocks = size / b->bs_bytes;
    if (b->nblocks == 0 && opts->passes == 0)
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

static int set_sequential(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    const rb_workload_t *lean = &rb_block_sequential_ops;
    b->place = rb_block_place_sequential;
    if (opts->job->seq_layout == RACKBENCH__SEQ_LAYOUT__KIND__shared) {
        lean = &rb_block_shared_ops;
        b->place = rb_block_place_cursor;
        b->once = opts->once;
    }
    if (b->ops == NULL)
        b->ops = lean;
    if (opts->job->seq_layout == RACKBENCH__SEQ_LAYOUT__KIND__region)
        return set_share(b, opts, err);
    return 0;
}

static int too_many(const rb_block_opts_t *opts, rb_err_t *err)
{
    return rb_err_set(err, RB_ERR_INPUT,
                      "job '%s': %s has more than 2^48 blocks; raise bs, or lower size",
                      opts->job->name, opts->subject->path);
}

static int set_permuted(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    if (b->nblocks > RB_MAX_PERMUTATION)
        return too_many(opts, err);
    b->ops = &rb_block_any_ops;
    b->place = rb_block_place_cursor;
    b->permuted = true;
    b->once = opts->once;
    b->seed = opts->seed;
    rb_permutation_init(&b->shuffle, b->nblocks, b->seed, b->pass);
    return 0;
}

static int set_patterns(rb_block_t *b, const rb_block_opts_t *opts, const rb_distribution_t *d,
                        rb_err_t *err)
{
    b->ops = &rb_block_any_ops;
    b->place = rb_block_place_pattern;
    for (rb_bssplit_direction_t i = 0; i < RB_BSSPLIT_COUNT; i++) {
        const rb_bssplit_side_t *s = &b->sizes.side[i];
        rb_pattern_opts_t o = {.distribution = d,
                               .nblocks = rb_bssplit_starts(s, b->region_bytes),
                               .block_bytes = s->align_bytes,
                               .seed = opts->seed};
        if (!goes(opts->job, i))
            continue;
        if (o.nblocks > RB_MAX_PERMUTATION)
            return too_many(opts, err);
        if (rb_pattern_init(&b->patterns[i], &o, err) < 0)
            return rb_err_wrap(err, "job '%s' on %s", opts->job->name, opts->subject->path);
    }
    return 0;
}

static int set_random(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    const Rackbench__Job *job = opts->job;
    rb_distribution_t d = {.kind = RB_DISTRIBUTION_RANDOM};
    if (job->random_distribution != NULL &&
        rb_distribution_parse(job->random_distribution, &d, err) < 0)
        return rb_err_wrap(err, "job '%s': random_distribution", job->name);
    if (job->has_norandommap && !job->norandommap)
        return set_permuted(b, opts, err);
    if (b->ops != NULL || d.kind != RB_DISTRIBUTION_RANDOM)
        return set_patterns(b, opts, &d, err);
    b->ops = &rb_block_random_ops;
    return 0;
}

/* The whole drive in whole units, its last partial block too. */
static int set_fill(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    uint64_t unit = unit_bytes(opts);
    b->region_bytes = opts->subject->size_bytes / unit * unit;
    b->nblocks = (b->region_bytes + b->bs_bytes - 1) / b->bs_bytes;
    if (b->nblocks > RB_MAX_PERMUTATION)
        return too_many(opts, err);
    b->ops = &rb_block_fill_ops;
    b->once = true;
    b->fill_blocks = b->nblocks * opts->passes;
    b->permuted = is_random(opts->job);
    b->seed = opts->seed;
    if (b->permuted)
        rb_permutation_init(&b->shuffle, b->nblocks, b->seed, b->pass);
    return 0;
}

static int set_place(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    if (opts->passes > 0)
        return set_fill(b, opts, err);
    return is_random(opts->job) ? set_random(b, opts, err) : set_sequential(b, opts, err);
}

int rb_block_init(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err)
{
    memset(b, 0, sizeof(*b));
    b->cursor = opts->job->offset_increment_bytes > 0 ? &b->alone : opts->cursor;
    rb_rng_seed(&b->rng, opts->seed, opts->worker, 1);
    set_mix(b, opts->job);
    if (set_sizes(b, opts->job, err) < 0 || set_region(b, opts, err) < 0)
        return -1;
    int rc = set_place(b, opts, err);
    b->own = b->place != rb_block_place_cursor;
    return rc;
}

void rb_block_list(rb_block_t *b, const rb_log_write_t *blocks, uint64_t n)
{
    b->ops = &rb_block_listed_ops;
    b->listed = blocks;
    b->nlisted = n;
    b->at = 0;
    b->own = false; /* the worker asks where a batch stands in the list */
}
