#include "agent/data.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "common/rng.h"

/* Numbers no write has: what a repeat and an untouched buffer carry instead. */
#define REPEAT_SEQUENCE  (1ull << 63)
#define PREPARE_SEQUENCE (3ull << 62)

enum { STAMP_BYTES = 16 };

/* What a chunk is made from; the first of the two counts on with the chunks. */
typedef struct {
    uint64_t words[2];
} stamp_t;

typedef enum { MAKE_WHOLE, MAKE_STAMPS } make_t;

typedef uint64_t lane_t __attribute__((vector_size(STAMP_BYTES)));
typedef lane_t unaligned_lane_t __attribute__((aligned(1), may_alias));

void rb_data_init(rb_data_t *d, const rb_data_opts_t *opts)
{
    RB_ASSERT(opts->buffer_compress_percentage <= 100 && opts->dedupe_percentage <= 100);
    rb_rng_t rng;
    rb_rng_seed(&rng, opts->seed, 0, 0);
    for (size_t at = 0; at < sizeof(d->pool); at += sizeof(uint64_t))
        memcpy(d->pool + at, &(uint64_t){rb_rng_next(&rng)}, sizeof(uint64_t));
    d->salt = rb_rng_next(&rng);
    d->dedupe_below = ((uint64_t)opts->dedupe_percentage << 32) / 100;
    d->compress_percentage = opts->buffer_compress_percentage;
    d->zero = opts->zero_buffers;
}

/* All lanes of a chunk have one key: what shows is random as long as the pool is, and two chunks
 * differ in the same way everywhere, which no search for equal runs can see. */
static void make_chunk(const rb_data_t *d, uint8_t *chunk, size_t size_bytes, const stamp_t *stamp)
{
    uint64_t key = XXH3_64bits(stamp, sizeof(*stamp));
    size_t random_bytes = size_bytes - size_bytes * d->compress_percentage / 100;
    size_t lanes = RB_MIN((random_bytes + STAMP_BYTES - 1) / STAMP_BYTES, size_bytes / STAMP_BYTES);
    const lane_t *from = (const lane_t *)(const void *)d->pool;
    unaligned_lane_t *to = (unaligned_lane_t *)(void *)chunk;
#pragma GCC unroll 8
    for (size_t i = 0; i < lanes; i++)
        to[i] = from[i] ^ (lane_t) { key, key };
    if (lanes * STAMP_BYTES < size_bytes)
        memset(chunk + lanes * STAMP_BYTES, 0, size_bytes - lanes * STAMP_BYTES);
}

/* One to one, so two stamps stay two; small numbers lose most of their zeros, which would be some
 * percent of a small block. */
static uint64_t scramble(uint64_t word)
{
    return word * 0x9e3779b97f4a7c15ull;
}

static void make(const rb_data_t *d, uint8_t *block, size_t size_bytes, stamp_t stamp, make_t how)
{
    uint64_t first = stamp.words[0];
    stamp.words[1] = scramble(stamp.words[1] ^ d->salt);
    for (size_t at = 0; at < size_bytes; at += RB_DATA_CHUNK) {
        size_t left_bytes = RB_MIN(size_bytes - at, (size_t)RB_DATA_CHUNK);
        stamp.words[0] = scramble(first + at);
        if (how == MAKE_WHOLE)
            make_chunk(d, block + at, left_bytes, &stamp);
        memcpy(block + at, &stamp, RB_MIN(left_bytes, sizeof(stamp)));
    }
}

static stamp_t choose(const rb_data_t *d, uint64_t offset_bytes, uint64_t sequence)
{
    uint64_t draw[2] = {d->salt, sequence};
    uint64_t random = d->dedupe_below > 0 ? XXH3_64bits(draw, sizeof(draw)) : 0;
    if ((random & UINT32_MAX) < d->dedupe_below)
        return (stamp_t){{0, REPEAT_SEQUENCE + (random >> 32) % RB_DATA_REPEATS}};
    return (stamp_t){{offset_bytes, sequence}};
}

void rb_data_prepare(const rb_data_t *d, void *buffer, size_t size_bytes, uint32_t number)
{
    if (d->zero)
        memset(buffer, 0, size_bytes);
    else
        make(d, buffer, size_bytes, (stamp_t){{0, PREPARE_SEQUENCE + number}}, MAKE_WHOLE);
}

void rb_data_fill(const rb_data_t *d, void *buffer, size_t size_bytes, uint64_t offset_bytes,
                  uint64_t sequence)
{
    if (d->zero) /* since prepare */
        return;
    bool whole = size_bytes <= RB_DATA_WHOLE || d->dedupe_below > 0;
    make(d, buffer, size_bytes, choose(d, offset_bytes, sequence),
         whole ? MAKE_WHOLE : MAKE_STAMPS);
}
