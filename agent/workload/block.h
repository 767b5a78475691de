/* block.h - the workload `block`: fio's rw modes over a region of a drive or file.
 *
 * The region is [offset, offset + size), or to the end without size; its blocks are aligned to bs
 * from the region's start and a last partial block is not used.
 * - random: each block equally likely, each worker over the whole region.
 * - sequential, by seq_layout: `region` gives worker i of n blocks [i x N / n, (i + 1) x N / n);
 *   `same` starts every worker at the region's start; `shared` is one cursor for all workers of the
 *   drive. Wraps around for as long as the worker goes on. In `rw`, reads and writes share the
 * cursor.
 * - mix: an operation reads with probability rwmixread / 100 (default 50), by the worker's own rng.
 *
 * One owner, the worker; hot, about 2 ns per operation.
 */
#pragma once

#include <stdatomic.h>

#include "agent/engine.h"
#include "agent/workload/workload.h"
#include "common/rng.h"

/* Largest buffer that io_uring registers [bytes]. */
#define RB_MAX_BS RB_GIB

typedef struct {
    const Rackbench__Job *job;
    const rb_subject_t *subject;
    uint32_t worker;          /* [0, numjobs) */
    uint64_t seed;            /* of this worker */
    _Atomic uint64_t *cursor; /* of the workers of this job and drive; outlives the workload */
    bool once;                /* `shared` ends at the region's end instead of wrapping around */
} rb_block_opts_t;

typedef struct {
    const rb_workload_t *ops;
    rb_rng_t rng;
    uint64_t base_bytes, bs_bytes; /* of this worker's blocks */
    uint64_t nblocks;
    uint64_t at;         /* next block of a sequential worker */
    uint64_t read_below; /* a 32-bit draw below this is a read */
    bool mixed, once;
    _Atomic uint64_t *cursor;
} rb_block_t;

/* RB_ERR_INPUT: the region holds no block for this worker, ends beyond the drive, or does not fit
 * the drive's blocks. Names job and path. */
int rb_block_init(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err);

bool rb_block_reads(const Rackbench__Job *job);
bool rb_block_writes(const Rackbench__Job *job);
