/* buffer.h - page-aligned memory that is in place before it is used. Any thread; each buffer has
 * one owner. */
#pragma once

#include "common/err.h"

enum { RB_BUFFER_ALIGN = 4096 }; /* [bytes] */

static inline size_t rb_buffer_round(size_t size_bytes) /* up to RB_BUFFER_ALIGN */
{
    return (size_bytes + RB_BUFFER_ALIGN - 1) & ~(size_t)(RB_BUFFER_ALIGN - 1);
}

/* Zeroed, page aligned, faulted in by the calling thread. Never NULL: out of memory aborts. */
void *rb_buffer_new(size_t size_bytes);
/* The same, but of which nothing is faulted in yet. */
void *rb_buffer_new_lazy(size_t size_bytes);
void rb_buffer_free(void *buffer, size_t size_bytes);

/* MemAvailable of /proc/meminfo; 0: not known. */
uint64_t rb_memory_available_bytes(void);

/* The same in huge pages of the system's default size, to which *size_bytes is rounded up. NULL,
 * RB_ERR_INPUT: the system has too few; says how many are missing. */
void *rb_buffer_new_huge(size_t *size_bytes, rb_err_t *err);
