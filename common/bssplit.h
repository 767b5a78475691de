/* bssplit.h - a mix of block sizes, fio's bssplit, and where its I/O may start, fio's blockalign.
 *
 *   4k/60:64k/40     60 % of the operations (not of the bytes) are 4 KiB
 *   4k/50:1k/:32k/   a blank percentage takes its even part of the rest; `4k` is `4k/`
 *   2k,4k/90:8k/10   reads, writes; one list is for both
 *
 * blockalign: every start is a multiple of it from the region's start; by default the smallest size
 * of the same direction, as in fio. All starts from which the largest size ends inside the region
 * are used, and no other: no operation is cut short.
 *
 * Pure: the coordinator checks a plan by it, the agent draws by it. Any thread. Hot:
 * rb_bssplit_draw, about 7 ns.
 * Source: fio 3.33 HOWTO, bssplit and blockalign. Unlike fio, percentages must make 100 (fio gives
 * what is missing to the last size and never draws what is beyond 100).
 */
#pragma once

#include "common/share.h"

enum { RB_MAX_BSSPLIT = 64 }; /* sizes a direction, as in fio */

/* Numbered like RB_OP_READ and RB_OP_WRITE. */
typedef enum { RB_BSSPLIT_READ, RB_BSSPLIT_WRITE, RB_BSSPLIT_COUNT } rb_bssplit_direction_t;

typedef struct {
    uint32_t nsizes;                     /* 1 to RB_MAX_BSSPLIT */
    uint64_t size_bytes[RB_MAX_BSSPLIT]; /* [nsizes] */
    uint32_t share_ppm[RB_MAX_BSSPLIT];  /* [nsizes], of the operations */
    uint64_t min_bytes, max_bytes;       /* of size_bytes */
    uint64_t align_bytes;                /* blockalign */
    rb_share_table_t table;
} rb_bssplit_side_t;

typedef struct {
    rb_bssplit_side_t side[RB_BSSPLIT_COUNT];
} rb_bssplit_t;

/* RB_ERR_INPUT, *ret untouched; the place is the caller's to put before the message. */
int rb_bssplit_parse(const char *text, rb_bssplit_t *ret, rb_err_t *err);

/* The same size for all operations. */
void rb_bssplit_one(rb_bssplit_t *b, uint64_t bytes);

/* blockalign, of both directions; above 0. */
void rb_bssplit_align(rb_bssplit_t *b, uint64_t bytes);

/* How many starts a region [bytes] has: start i is at i x align_bytes. 0: max_bytes does not fit.
 */
uint64_t rb_bssplit_starts(const rb_bssplit_side_t *side, uint64_t region_bytes);

/* The size of the next operation [bytes]. */
static inline uint64_t rb_bssplit_draw(const rb_bssplit_side_t *side, rb_rng_t *rng)
{
    return side->size_bytes[rb_share_draw(&side->table, rng)];
}
