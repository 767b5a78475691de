/* data.h - what is in a block that is about to be written: as random and as unlike any other as the
 * job asks for, so that no drive or file system gains more than that by compression or dedupe.
 *
 * A block is made of chunks of RB_DATA_CHUNK, its last one may be shorter. Of each chunk,
 * buffer_compress_percentage percent are zeros at its end and the rest is random; its first 16
 * bytes say which write it is of, so that no two writes of a worker hold the same chunk. Of all
 * writes, dedupe_percentage percent repeat one of RB_DATA_REPEATS blocks of this worker in full. A
 * block depends on nothing but the options, its offset and its sequence.
 *
 * Source: the options are fio's (its buffer_compress_chunk is 512 by default, here it is 4096; its
 * repeats come from what was written last, here from a fixed set).
 *
 * Any thread; rb_data_t does not change after rb_data_init and may be shared.
 * Hot: rb_data_fill makes blocks up to RB_DATA_WHOLE anew, a page of random bytes XORed with a key
 * of each chunk (no run of bytes comes twice, whatever a compressor takes together). Of larger
 * ones it only renews 16 bytes a chunk, else the memory's bandwidth would be the benchmark's:
 * the rest of them comes again when the buffer does, and would be found by what compresses or
 * compares over more than the bytes of all buffers of a worker. With dedupe_percentage all are
 * made anew.
 * Measured on one core of an AMD EPYC with SSE2 alone: 10 ns for 512 bytes, 50 ns for 4 KiB, 0.8 us
 * for 64 KiB; of larger ones 1.7 us per MiB, or 22 us per MiB with dedupe_percentage.
 */
#pragma once

#include "common/base.h"

#include <stdalign.h>

enum {
    RB_DATA_CHUNK = 4096,      /* [bytes] */
    RB_DATA_WHOLE = 64 * 1024, /* [bytes]; blocks up to this are made anew by each fill */
    RB_DATA_REPEATS = 32       /* blocks that dedupe_percentage draws from */
};

typedef struct {
    uint64_t seed; /* another one for each run, phase, host and worker: the same seed, offset and
                      sequence give the same block again */
    uint32_t buffer_compress_percentage; /* [0, 100] */
    uint32_t dedupe_percentage;          /* [0, 100] of the writes */
    bool zero_buffers;                   /* nothing but zeros; the others are ignored */
} rb_data_opts_t;

typedef struct {
    alignas(64) uint8_t pool[RB_DATA_CHUNK];
    uint64_t salt;         /* tells this worker's writes from any other's */
    uint64_t dedupe_below; /* a 32-bit draw below this is a repeat */
    uint32_t compress_percentage;
    bool zero;
} rb_data_t;

/* A percentage above 100 is the caller's error: asserted. */
void rb_data_init(rb_data_t *data, const rb_data_opts_t *opts);

/* Before the first rb_data_fill of each buffer, outside of the measured part: all of what a fill
 * may leave in place. number: of this buffer among the worker's. */
void rb_data_prepare(const rb_data_t *data, void *buffer, size_t size_bytes, uint32_t number);

/* The buffer becomes the block that write number `sequence` (below 2^63) of this worker puts at
 * offset_bytes. */
void rb_data_fill(const rb_data_t *data, void *buffer, size_t size_bytes, uint64_t offset_bytes,
                  uint64_t sequence);
