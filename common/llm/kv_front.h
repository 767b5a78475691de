/* kv_front.h - the memory of a server before its drives: blocks in gpu, and in dram what fell out
 * of it. LRU, no I/O. A part of the planner (kv_plan.h).
 *
 * One owner. All memory is taken at the begin: 40 bytes a block.
 */
#pragma once

#include "common/llm/kv_table.h"

typedef enum { RB_KV_GPU, RB_KV_DRAM, RB_KV_FRONT_TIERS } rb_kv_front_tier_t;

enum {
    RB_KV_DIRTY = 1,  /* it goes to the drives when it falls out */
    RB_KV_TWICE = 2,  /* two requests have named it */
    RB_KV_ANSWER = 4, /* of an answer: no prompt has named it */
};

typedef struct {
    uint64_t block;
    uint32_t request, depth; /* that made it, and where in it */
    uint8_t flags;
    uint8_t tier;
} rb_kv_front_block_t;

typedef struct {
    rb_kv_table_t table;
    rb_kv_front_block_t *blocks; /* [table.room] */
    rb_kv_link_t *links;         /* [table.room] */
    rb_kv_list_t list[RB_KV_FRONT_TIERS];
    uint64_t held[RB_KV_FRONT_TIERS], room[RB_KV_FRONT_TIERS]; /* blocks */
} rb_kv_front_t;

void rb_kv_front_init(rb_kv_front_t *f, uint64_t gpu_blocks, uint64_t dram_blocks);
void rb_kv_front_clear(rb_kv_front_t *f);

static inline bool rb_kv_front_none(const rb_kv_front_t *f)
{
    return f->table.room == 0;
}

/* NULL: not there. Until the next touch. */
const rb_kv_front_block_t *rb_kv_front_find(const rb_kv_front_t *f, uint64_t block);

/* A block comes to the top, or is there and goes to it: then it gains b's TWICE, and is an answer's
 * only if both say so. True: *ret_out fell out at the bottom. */
bool rb_kv_front_touch(rb_kv_front_t *f, const rb_kv_front_block_t *b,
                       rb_kv_front_block_t *ret_out);
