/* block.h - the workload `block`: fio's rw modes over a region of a drive or file.
 *
 * The region is [offset, offset + size), or to the end without size; that of worker i is
 * i x offset_increment further on, and then each worker covers its own.
 * - random: each block of bs equally likely, or by random_distribution (pattern.h); each worker
 *   over the whole region. With norandommap: false every block once before any twice
 *   (permutation.h): the workers of a drive share one cursor, whose quotient by the number of
 *   blocks is the pass.
 * - sequential, by seq_layout: `region` gives worker i of n blocks [i x N / n, (i + 1) x N / n);
 *   `same` starts every worker at the region's start; `shared` is one cursor for all workers of the
 *   drive. Wraps around for as long as the worker goes on. Reads, writes and trims share the
 * cursor.
 * - sizes: bs, or by bssplit; trims take the sizes of writes. Random starts are multiples of
 *   blockalign from the region's start (default: bs, or the smallest size of the same direction),
 *   and the largest size ends inside (bssplit.h). A sequential worker goes on by the size of each
 *   operation and starts over where the next one would not end inside. Without blockalign and
 *   bssplit a last partial block is not used.
 * - mix: of all operations rwmixtrim percent trim, of the others rwmixread percent (default 50)
 *   read; by the worker's own rng. A job that reads only never trims.
 * - a fill goes over the whole drive, each block once a pass, in order or by rw in the
 * permutation's, its last partial block too; size, offset, mix and layout do not count.
 * - fsync, fdatasync: after every n writes of this worker its next operation is a SYNC. It comes
 *   when they were given out, not when they are complete.
 *
 * One owner, the worker; hot. Fixed size, uniform or sequential, reads and writes: about 2 ns per
 * operation; all else some 10 ns, and what pattern.h, permutation.h and bssplit.h say.
 */
#pragma once

#include <stdatomic.h>

#include "agent/engine.h"
#include "agent/verify_log.h"
#include "agent/workload/pattern.h"
#include "agent/workload/workload.h"
#include "common/bssplit.h"

/* Largest buffer that io_uring registers [bytes]. */
#define RB_MAX_BS RB_GIB

typedef struct {
    const Rackbench__Job *job;
    const rb_subject_t *subject;
    uint32_t worker;          /* [0, numjobs) */
    uint64_t seed;            /* the same for all workers of this job and drive */
    _Atomic uint64_t *cursor; /* of the workers of this job and drive; outlives the workload */
    bool once;                /* what shares the cursor ends after one pass over the region */
    uint32_t passes; /* a fill: so many times over the whole drive, by one worker; 0: none */
} rb_block_opts_t;

typedef struct {
    uint64_t offset_bytes, size_bytes;
} rb_region_t;

/* Of a worker of the job, on a drive or file of so many bytes; it may end beyond that. Percent of
 * it are rounded down to 4 KiB. */
rb_region_t rb_block_region(const Rackbench__Job *job, uint64_t drive_bytes, uint32_t worker);

typedef struct rb_block rb_block_t;

/* Fills in offset_bytes of what is no SYNC. Returns how many come before the end of the work. */
typedef uint32_t rb_block_place_t(rb_block_t *b, rb_io_t *ios, uint32_t n);

struct rb_block {
    const rb_workload_t *ops;
    rb_rng_t rng;
    uint64_t base_bytes;
    uint64_t bs_bytes;   /* of the largest operation: what a buffer must hold */
    uint64_t nblocks;    /* of bs_bytes: a pass of this worker moves nblocks x bs_bytes */
    uint64_t at;         /* next of a sequential worker [blocks; in rb_block_any_ops: bytes] */
    uint64_t read_below; /* a 32-bit draw below this is a read, unless it is below trim_below */
    rb_op_t op;          /* of all, unless mixed */
    bool mixed;
    bool once;              /* work ends with the region: only by cursor */
    bool own;               /* not by cursor: nobody minds what is drawn before it is needed */
    _Atomic uint64_t alone; /* the cursor of a worker whose region is its own: offset_increment */
    _Atomic uint64_t *cursor;
    const rb_log_write_t *listed; /* [nlisted], outlives the workload; NULL: none */
    uint64_t nlisted;

    /* what rb_block_any_ops needs beyond that */
    rb_block_place_t *place;
    uint64_t trim_below;
    uint64_t sync_every, since_sync; /* [writes]; UINT64_MAX: never */
    rb_io_flags_t sync_flags;
    bool sync_due;
    bool permuted; /* by cursor: in the permutation's order */
    uint64_t region_bytes;
    uint64_t seed, pass;      /* of the permutation */
    uint64_t fill_blocks;     /* a fill: in all passes, the partial last one of each too */
    rb_permutation_t shuffle; /* of this pass */
    rb_bssplit_t sizes;
    rb_pattern_t patterns[RB_BSSPLIT_COUNT]; /* over the starts of each direction */
};

/* RB_ERR_INPUT: the region holds no block for this worker, ends beyond the drive, or does not fit
 * the drive's blocks; a distribution or sizes that do not parse or fit. Names job and path. */
int rb_block_init(rb_block_t *b, const rb_block_opts_t *opts, rb_err_t *err);

/* From here on these blocks and no others, in their order, once: by `at`. */
void rb_block_list(rb_block_t *b, const rb_log_write_t *blocks, uint64_t n);

/* bs of a job that has one size. */
uint64_t rb_block_bs(const Rackbench__Job *job);

/* Bit 1 << op for each op that may come. */
uint32_t rb_block_ops(const Rackbench__Job *job);
