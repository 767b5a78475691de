/* test_data.c - what is written: against zlib, and by counting the blocks that come twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <zlib.h>
#include <cmocka.h>

#include "agent/data.h"
#include "coordinator/journal.h" /* zlib is linked with its room */

enum { SLOTS = 4, STREAM_BYTES = 4 * 1024 * 1024 };

typedef struct {
    rb_data_t data;
    uint8_t *buffers; /* [SLOTS x size_bytes] */
    size_t size_bytes;
    uint64_t sequence;
} writer_t;

static writer_t writer_new(const rb_data_opts_t *opts, size_t size_bytes)
{
    writer_t w = {.size_bytes = size_bytes, .buffers = rb_calloc(SLOTS, size_bytes)};
    rb_data_init(&w.data, opts);
    memset(w.buffers, 0x5a, SLOTS * size_bytes);
    for (uint32_t i = 0; i < SLOTS; i++)
        rb_data_prepare(&w.data, w.buffers + i * size_bytes, size_bytes, i);
    return w;
}

static const uint8_t *next_block(writer_t *w)
{
    uint8_t *block = w->buffers + w->sequence % SLOTS * w->size_bytes;
    rb_data_fill(&w->data, block, w->size_bytes, w->sequence * w->size_bytes, w->sequence);
    w->sequence++;
    return block;
}

/* What is written one block after another, compressed as one stream / as it was. */
static double stream_ratio(const rb_data_opts_t *opts, size_t size_bytes)
{
    writer_t w = writer_new(opts, size_bytes);
    uint8_t *stream = rb_calloc(1, STREAM_BYTES);
    uLong n = STREAM_BYTES / size_bytes * size_bytes;
    for (size_t at = 0; at < n; at += size_bytes)
        memcpy(stream + at, next_block(&w), size_bytes);
    uLongf packed = compressBound(n);
    uint8_t *out = rb_calloc(1, packed);
    assert_int_equal(compress2(out, &packed, stream, n, 6), Z_OK);
    free(out);
    free(stream);
    free(w.buffers);
    return (double)packed / (double)n;
}

/* Least share of its size that zlib leaves of a single chunk of a block. */
static double least_chunk_ratio(const rb_data_opts_t *opts, size_t size_bytes, int blocks)
{
    writer_t w = writer_new(opts, size_bytes);
    uint8_t out[2 * RB_DATA_CHUNK];
    double least = 2;
    for (int i = 0; i < blocks; i++) {
        const uint8_t *block = next_block(&w);
        for (size_t at = 0; at + RB_DATA_CHUNK <= size_bytes; at += RB_DATA_CHUNK) {
            uLongf packed = sizeof(out);
            assert_int_equal(compress2(out, &packed, block + at, RB_DATA_CHUNK, 6), Z_OK);
            least = RB_MIN(least, (double)packed / RB_DATA_CHUNK);
        }
    }
    free(w.buffers);
    return least;
}

static const size_t sizes_bytes[] = {
    512, 1000, 4096, 6144, 65536, 128 * 1024, 192 * 1024 + 512, 1024 * 1024};

static void test_default_cannot_be_compressed(void **state)
{
    (void)state;
    rb_data_opts_t opts = {.seed = 1};
    for (size_t i = 0; i < RB_LEN(sizes_bytes); i++) {
        double ratio = stream_ratio(&opts, sizes_bytes[i]);
        if (ratio < 0.99)
            fail_msg("blocks of %zu: zlib leaves %.3f", sizes_bytes[i], ratio);
    }
    assert_true(least_chunk_ratio(&opts, 4096, 500) > 0.99);
    assert_true(least_chunk_ratio(&opts, 256 * 1024, 8) > 0.99);
}

/* A short last chunk of a block is compressible in its own proportion. */
static void test_compress_percentage_is_what_zlib_saves(void **state)
{
    (void)state;
    static const uint32_t percentages[] = {10, 25, 50, 75, 90, 100};
    static const size_t bytes[] = {4096, 6144, 65536, 1024 * 1024};
    for (size_t p = 0; p < RB_LEN(percentages); p++)
        for (size_t i = 0; i < RB_LEN(bytes); i++) {
            rb_data_opts_t opts = {.seed = 2, .buffer_compress_percentage = percentages[p]};
            double saved = 1 - stream_ratio(&opts, bytes[i]);
            double error = saved - percentages[p] / 100.0;
            if (error < -0.02 || error > 0.02)
                fail_msg("%u %% of blocks of %zu: zlib saves %.3f", percentages[p], bytes[i],
                         saved);
        }
}

/* Each chunk has its part, as a drive compresses them one by one. */
static void test_compress_percentage_holds_in_each_chunk(void **state)
{
    (void)state;
    rb_data_opts_t opts = {.seed = 3, .buffer_compress_percentage = 50};
    writer_t w = writer_new(&opts, 64 * 1024);
    const uint8_t *block = next_block(&w);
    for (size_t at = 0; at < w.size_bytes; at += RB_DATA_CHUNK) {
        size_t zeros = 0;
        while (zeros < RB_DATA_CHUNK && block[at + RB_DATA_CHUNK - 1 - zeros] == 0)
            zeros++;
        assert_in_range(zeros, 2048, 2052);
    }
    free(w.buffers);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Two checksums of each of [n] pieces; how many are different. */
static size_t distinct(uint64_t *sums, size_t n)
{
    size_t count = n > 0 ? 1 : 0;
    qsort(sums, n, sizeof(*sums), by_value);
    for (size_t i = 1; i < n; i++)
        count += sums[i] != sums[i - 1];
    return count;
}

static uint64_t sum_of(const uint8_t *piece, size_t size_bytes)
{
    return (uint64_t)crc32(0, piece, (uInt)size_bytes) << 32 | adler32(0, piece, (uInt)size_bytes);
}

/* Share of pieces of `piece_bytes` that were written before. */
static double repeated(const rb_data_opts_t *opts, size_t size_bytes, size_t piece_bytes, size_t n)
{
    writer_t w = writer_new(opts, size_bytes);
    size_t pieces = size_bytes / piece_bytes, count = 0;
    uint64_t *sums = rb_calloc(n * pieces, sizeof(*sums));
    for (size_t i = 0; i < n; i++) {
        const uint8_t *block = next_block(&w);
        for (size_t k = 0; k < pieces; k++)
            sums[count++] = sum_of(block + k * piece_bytes, piece_bytes);
    }
    size_t different = distinct(sums, count);
    free(sums);
    free(w.buffers);
    return 1 - (double)different / (double)count;
}

static void test_every_chunk_is_unique(void **state)
{
    (void)state;
    rb_data_opts_t opts = {.seed = 4};
    assert_true(repeated(&opts, 512, 512, 100000) <= 0);
    assert_true(repeated(&opts, 4096, 4096, 50000) <= 0);
    assert_true(repeated(&opts, 64 * 1024, 4096, 1000) <= 0);
    assert_true(repeated(&opts, 1024 * 1024, 4096, 100) <= 0);
    /* also where hardly anything is left to be different */
    opts.buffer_compress_percentage = 100;
    assert_true(repeated(&opts, 4096, 4096, 50000) <= 0);
    assert_true(repeated(&opts, 1024 * 1024, 4096, 100) <= 0);
}

/* What is left in place of large blocks differs from buffer to buffer. */
static void test_prepared_buffers_share_no_chunk(void **state)
{
    (void)state;
    rb_data_opts_t opts = {.seed = 12};
    writer_t w = writer_new(&opts, 128 * 1024);
    size_t count = 0, chunks = SLOTS * w.size_bytes / RB_DATA_CHUNK;
    uint64_t *sums = rb_calloc(chunks, sizeof(*sums));
    for (size_t at = 0; at < SLOTS * w.size_bytes; at += RB_DATA_CHUNK)
        sums[count++] = sum_of(w.buffers + at + 16, RB_DATA_CHUNK - 16);
    assert_int_equal(distinct(sums, count), chunks);
    free(sums);
    free(w.buffers);
}

/* Rewritten in place, or the same offset and number of another worker. */
static void test_neither_place_nor_number_makes_blocks_equal(void **state)
{
    (void)state;
    rb_data_t a, b;
    uint8_t blocks[4][4096];
    rb_data_init(&a, &(rb_data_opts_t){.seed = 5, .buffer_compress_percentage = 100});
    rb_data_init(&b, &(rb_data_opts_t){.seed = 6, .buffer_compress_percentage = 100});
    rb_data_fill(&a, blocks[0], 4096, 8192, 1);
    rb_data_fill(&a, blocks[1], 4096, 8192, 2);
    rb_data_fill(&a, blocks[2], 4096, 4096, 1);
    rb_data_fill(&b, blocks[3], 4096, 8192, 1);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_memory_not_equal(blocks[i], blocks[k], 4096);
}

static void test_a_block_depends_on_its_options_place_and_number(void **state)
{
    (void)state;
    rb_data_opts_t opts = {.seed = 7, .dedupe_percentage = 30, .buffer_compress_percentage = 20};
    rb_data_t a, b;
    uint8_t first[6144], second[6144];
    rb_data_init(&a, &opts);
    rb_data_init(&b, &opts);
    memset(first, 1, sizeof(first));
    memset(second, 2, sizeof(second));
    for (uint64_t i = 0; i < 100; i++) {
        rb_data_fill(&a, first, sizeof(first), i * 512, i);
        rb_data_fill(&b, second, sizeof(second), i * 512, i);
        assert_memory_equal(first, second, sizeof(first));
    }
}

static void test_dedupe_percentage_is_the_share_of_repeats(void **state)
{
    (void)state;
    static const uint32_t percentages[] = {1, 10, 33, 50, 80, 100};
    for (size_t i = 0; i < RB_LEN(percentages); i++) {
        rb_data_opts_t opts = {.seed = 8, .dedupe_percentage = percentages[i]};
        double share = repeated(&opts, 4096, 4096, 40000), error = share - percentages[i] / 100.0;
        if (error < -0.01 || error > 0.01)
            fail_msg("%u %%: %.4f of the blocks were written before", percentages[i], share);
    }
    /* a large block repeats as a whole, and with a block's share of zeros */
    rb_data_opts_t opts = {.seed = 9, .dedupe_percentage = 50, .buffer_compress_percentage = 90};
    double share = repeated(&opts, 256 * 1024, 256 * 1024, 4000);
    assert_true(share > 0.48 && share < 0.52);
}

static void test_zero_buffers_are_zero(void **state)
{
    (void)state;
    rb_data_opts_t opts = {.seed = 10, .zero_buffers = true, .dedupe_percentage = 10};
    static const uint8_t zeros[128 * 1024];
    for (size_t bytes = 512; bytes <= sizeof(zeros); bytes *= 2) {
        writer_t w = writer_new(&opts, bytes);
        for (int i = 0; i < 2 * SLOTS; i++)
            assert_memory_equal(next_block(&w), zeros, bytes);
        free(w.buffers);
    }
}

static void test_no_size_is_written_past(void **state)
{
    (void)state;
    rb_data_t data;
    uint8_t block[4096 + 64 + 16];
    rb_data_init(&data, &(rb_data_opts_t){.seed = 11, .buffer_compress_percentage = 30});
    for (size_t bytes = 1; bytes <= 4096 + 64; bytes++) {
        memset(block, 0xee, sizeof(block));
        rb_data_fill(&data, block, bytes, 0, bytes);
        for (size_t i = bytes; i < bytes + 16; i++)
            assert_int_equal(block[i], 0xee);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_cannot_be_compressed),
        cmocka_unit_test(test_compress_percentage_is_what_zlib_saves),
        cmocka_unit_test(test_compress_percentage_holds_in_each_chunk),
        cmocka_unit_test(test_every_chunk_is_unique),
        cmocka_unit_test(test_prepared_buffers_share_no_chunk),
        cmocka_unit_test(test_neither_place_nor_number_makes_blocks_equal),
        cmocka_unit_test(test_a_block_depends_on_its_options_place_and_number),
        cmocka_unit_test(test_dedupe_percentage_is_the_share_of_repeats),
        cmocka_unit_test(test_zero_buffers_are_zero),
        cmocka_unit_test(test_no_size_is_written_past),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
