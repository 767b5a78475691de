/* kv_tier.h - the blocks on the drives: which are there, in which slots, and which go when room is
 * short. The part of the planner (kv_plan.h) below the front tiers.
 *
 * One owner. What it does is written down as parts, which pile up until they are taken.
 */
#pragma once

#include "common/llm/kv_plan.h"
#include "common/llm/kv_table.h"

typedef struct {
    uint32_t drive; /* RB_KV_NONE: no such piece */
    uint32_t slot;
} rb_kv_piece_t;

typedef struct {
    rb_kv_list_t list;     /* of pieces, by age */
    uint32_t *free;        /* [nfree] slots that were given up */
    uint32_t nfree, fresh; /* slots from `fresh` on were never used */
    bool evicting;
} rb_kv_shelf_t;

typedef struct {
    rb_kv_place_t place;
    rb_kv_policy_t policy;
    rb_kv_read_t read;
    bool full;
    uint32_t unripe; /* drives that have not put out a block yet, and are not lost */
    rb_kv_table_t table;
    rb_kv_piece_t *pieces;           /* [table.room x ways]: of entry e from e x ways on */
    rb_kv_link_t *links;             /* likewise */
    rb_kv_shelf_t *shelves;          /* [ndrives] */
    rb_kv_drive_account_t *accounts; /* [ndrives] */
    rb_kv_part_t *parts;             /* [nparts] */
    size_t nparts, room;
    uint64_t evicted_blocks;
} rb_kv_tier_t;

/* At most `blocks` are ever asked for. RB_ERR_INPUT. */
int rb_kv_tier_init(rb_kv_tier_t *t, const rb_kv_plan_opts_t *opts, uint64_t blocks, rb_err_t *err);
void rb_kv_tier_clear(rb_kv_tier_t *t);

/* A block as the tier knows it: with `local` each host has its own. */
uint64_t rb_kv_tier_key(const rb_kv_tier_t *t, uint64_t block, uint32_t host);
enum { RB_KV_KEY_BITS = 44 }; /* of the block */
#define RB_KV_TIER_BLOCK(key) ((key) & ((1ull << RB_KV_KEY_BITS) - 1))

/* What comes of a part besides its drive and slot: block, due_ns, request and depth. */
void rb_kv_tier_read(rb_kv_tier_t *t, uint32_t entry, const rb_kv_part_t *part);
void rb_kv_tier_touch(rb_kv_tier_t *t, uint32_t entry); /* LRU */
/* Writes the block of key, which is not there. False: there is no room for it. */
bool rb_kv_tier_write(rb_kv_tier_t *t, uint64_t key, uint32_t host, const rb_kv_part_t *part);

void rb_kv_tier_lose(rb_kv_tier_t *t, uint32_t host);
