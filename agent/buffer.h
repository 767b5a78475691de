/* buffer.h - page-aligned memory that is in place before it is used, and what is written from it.
 *
 * Any thread; each buffer has one owner. rb_buffer_stamp is hot: two stores per 4 KiB.
 */
#pragma once

#include "common/err.h"
#include "common/rng.h"

enum { RB_BUFFER_ALIGN = 4096 }; /* [bytes] */

static inline size_t rb_buffer_round(size_t size_bytes) /* up to RB_BUFFER_ALIGN */
{
    return (size_bytes + RB_BUFFER_ALIGN - 1) & ~(size_t)(RB_BUFFER_ALIGN - 1);
}

/* Zeroed, page aligned, faulted in by the calling thread. Never NULL: out of memory aborts. */
void *rb_buffer_new(size_t size_bytes);
void rb_buffer_free(void *buffer, size_t size_bytes);

/* The same in huge pages of the system's default size, to which *size_bytes is rounded up. NULL,
 * RB_ERR_INPUT: the system has too few; says how many are missing. */
void *rb_buffer_new_huge(size_t *size_bytes, rb_err_t *err);

/* Incompressible data; size_bytes is a multiple of 8. */
void rb_buffer_fill(void *buffer, size_t size_bytes, rb_rng_t *rng);

/* Makes each 4 KiB (and the rest, if it has 16 bytes) of a block that is about to be written unlike
 * any other, so that no drive or file system finds a copy: where it goes and the writer's running
 * number. */
static inline void rb_buffer_stamp(void *block, size_t size_bytes, uint64_t offset_bytes,
                                   uint64_t sequence)
{
    for (size_t at = 0; at + 16 <= size_bytes; at += RB_BUFFER_ALIGN) {
        uint64_t stamp[2] = {offset_bytes + at, sequence};
        memcpy((uint8_t *)block + at, stamp, sizeof(stamp));
    }
}
