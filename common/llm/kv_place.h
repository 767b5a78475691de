/* kv_place.h - which drives a KV block lies on.
 *
 *   local      a drive of the host whose server made the block
 *   hash       one drive of all: rendezvous hashing over hosts x drives, weighted by capacity
 *   stripe(k)  cut into k pieces, on the k drives that come first in the same order
 *   mirror(r)  r copies: on the first r drives of that order that differ in drive, host or rack
 *
 * The order of a block: drive d draws u in (0, 1) from hash(block, d); lowest -log(u) / weight
 * first. A drive that goes takes only its own blocks along, and a drive holds blocks as its weight
 * says. Whole numbers throughout: every host computes the same, whatever its processor.
 *
 * Pure, any thread. Hot: per block about 1.5 ns a drive where all weigh the same, else some 40 ns a
 * drive; r times that for mirror, k for stripe.
 *
 * Source: D. Thaler, C. Ravishankar, "Using name-based mappings to increase hit rates" (1998);
 * weights as in J. Resch, "New hashing algorithms for data storage" (SNIA SDC 2015).
 */
#pragma once

#include "common/llm/models.h"

enum { RB_MAX_KV_DRIVES = 16384 };
#define RB_KV_UNLIMITED UINT64_MAX

typedef enum { RB_KV_LOCAL, RB_KV_HASH, RB_KV_STRIPE, RB_KV_MIRROR } rb_kv_rule_t;
typedef enum { RB_KV_APART_DRIVES, RB_KV_APART_HOSTS, RB_KV_APART_RACKS } rb_kv_apart_t;

typedef struct {
    uint32_t host; /* [0, nhosts) */
    uint32_t rack;
    uint64_t slots;  /* capacity [pieces]; RB_KV_UNLIMITED */
    uint32_t weight; /* 1 and more: share of the blocks, such as its capacity [GiB] */
    bool lost;
} rb_kv_drive_t;

typedef struct {
    rb_kv_rule_t rule;
    uint32_t ways;       /* k or r; 1 for local and hash */
    rb_kv_apart_t apart; /* of mirror */
    uint32_t ndrives;
    rb_kv_drive_t *drives; /* [ndrives], those of a host together, the same order on every host */
} rb_kv_place_t;

/* local, hash, stripe(4), mirror(2), mirror(2, hosts): apart hosts by default. Sets rule, ways and
 * apart. RB_ERR_INPUT. */
int rb_kv_place_parse(const char *text, rb_kv_place_t *ret, rb_err_t *err);
/* Are there drives enough for the ways, and hosts or racks to be apart on? RB_ERR_INPUT. */
int rb_kv_place_check(const rb_kv_place_t *place, rb_err_t *err);

/* The drives of a block, best first, none of them lost; host: where it was made (local). Returns
 * how many: `ways`, or fewer where hosts were lost (of stripe then 0: nowhere to lie). */
uint32_t rb_kv_place(const rb_kv_place_t *place, uint64_t block, uint32_t host,
                     uint32_t drives[RB_MAX_KV_WAYS]);

/* Which of n copies is read: by hash of block and request. */
uint32_t rb_kv_place_copy(uint64_t block, uint64_t request, uint32_t n);
