/* kv_plan.h - what a KV tier does, request by request: which blocks are hit, read, written and put
 * out, on which drive and in which slot. The same trace and options give the same steps on every
 * host, so that each can do its own part of a request without a word between them.
 *
 * A request i, in order of the trace:
 *  1. The router gives it to a server. Server s belongs to host s % nhosts.
 *  2. Its prompt's blocks are looked for from the first on: in the front tiers of its server (gpu,
 *     then dram), then on the drives. The first that is nowhere ends the hit prefix; all tokens
 *     from there on are recomputed.
 *  3. Blocks found on drives are read; a mirrored block from one copy.
 *  4. All its blocks go to the top of the server's first tier; what falls out of gpu goes to dram.
 *  5. What was recomputed, and what decoding adds, is written as front and admission say:
 *     - write_through: at once; write_back: when it falls out of the last front tier.
 *     - prompt_only: no blocks of the answer; all: those too; second_touch: prompt blocks that an
 *       earlier request of this loop has named before.
 *     A block that is on its drives already is not written again.
 *  6. A drive without a free slot puts out its oldest block: LRU by last read or write, FIFO by
 *     write; none: the new block is not kept. A block leaves all its drives at once. Within a
 *     request the deepest block is touched first, so that roots stay most recent and leaves go
 *     first.
 *
 * Eviction follows the trace, never completions. What that asks of who does the I/O, per drive, in
 * the order of the parts: a read of a slot waits for the write before it; a write or discard waits
 * for all reads and writes of its slot before it. In time: a part is due at due_ns; it is not to
 * be started before.
 *
 * - Blocks of prompts are written when they are computed: due = arrival + recomputed tokens up to
 *   the block's end / prefill_tokens_per_s; those of answers prefill and then tokens /
 *   decode_tokens_per_s later. A rate of 0: at arrival. A block that falls out of a front tier is
 *   due when the request that pushed it out arrived.
 * - full: drives are full from the start, of blocks that nobody asks for. Their eviction counts.
 * - A lost host: from its request on, its drives hold nothing and get nothing; blocks that lay on
 *   them are misses (stripe: whole; mirror: other copies serve, no new ones are made), and new ones
 *   go to the drives that are left. With `local` its servers get no requests.
 *
 * Pure; one owner. All memory is taken when it is made: 20 bytes and 16 a piece for each block that
 * the drives can hold (at most as many as the trace has), 50 for one of a front tier; only the list
 * of parts grows, to the largest request's.
 */
#pragma once

#include "common/llm/kv_place.h"
#include "common/llm/trace.h"

enum { RB_MAX_KV_SERVERS = 4096 };
#define RB_MAX_KV_SLOTS (1ull << 31) /* of all drives that are in use at once */

typedef enum { RB_KV_POLICY_LRU, RB_KV_POLICY_FIFO, RB_KV_POLICY_NONE } rb_kv_policy_t;
typedef enum {
    RB_KV_ADMIT_PROMPT_ONLY,
    RB_KV_ADMIT_ALL, /* the word in plans: write_through */
    RB_KV_ADMIT_SECOND_TOUCH
} rb_kv_admission_t;
typedef enum {
    RB_KV_ROUTE_ROUND_ROBIN,
    RB_KV_ROUTE_LEAST_LOADED,   /* whose recomputing, at prefill_tokens_per_s, ends first */
    RB_KV_ROUTE_SESSION,        /* hash of the session */
    RB_KV_ROUTE_PREFIX_AFFINITY /* who would be through first with what its own front tiers
                                   (local: and drives) lack of the prefix */
} rb_kv_router_t;
typedef enum { RB_KV_READ_HASH, RB_KV_READ_LEAST_LOADED /* fewest reads so far */ } rb_kv_read_t;

/* Words of plans: lru, fifo, none; prompt_only, write_through, second_touch; round_robin,
 * least_loaded, session, prefix_affinity; hash, least_loaded. RB_ERR_INPUT. */
int rb_kv_policy_parse(const char *word, rb_kv_policy_t *ret, rb_err_t *err);
int rb_kv_admission_parse(const char *word, rb_kv_admission_t *ret, rb_err_t *err);
int rb_kv_router_parse(const char *word, rb_kv_router_t *ret, rb_err_t *err);
int rb_kv_read_parse(const char *word, rb_kv_read_t *ret, rb_err_t *err);

typedef struct {
    rb_kv_place_t place; /* drives are copied */
    uint32_t nhosts;
    uint32_t nservers;  /* 0: nhosts */
    uint32_t loops;     /* 0: 1 */
    uint64_t speed_ppm; /* 0: 1000000 */
    rb_kv_policy_t policy;
    rb_kv_admission_t admission;
    rb_kv_router_t router;
    rb_kv_read_t read;                /* of mirror */
    uint64_t gpu_blocks, dram_blocks; /* front tiers of a server; 0: none */
    bool write_back;                  /* front; needs one */
    bool full;                        /* prefill: full. Needs limited drives, and a policy */
    uint64_t prefill_tokens_per_s;    /* 0: writes are due at arrival; routers take 10000 */
    uint64_t decode_tokens_per_s;     /* 0: blocks of an answer are due when its prompt's are */
} rb_kv_plan_opts_t;

typedef enum {
    RB_KV_PART_READ,
    RB_KV_PART_WRITE,
    RB_KV_PART_DISCARD /* the block in the slot was put out; comes before the slot's next write, in
                          the same request. Only of interest with discard_on_evict */
} rb_kv_op_t;

/* One piece of one block on one drive. */
typedef struct {
    uint64_t block;   /* id, unique over loops; RB_KV_FILLER: of a drive that was full at first */
    uint64_t due_ns;  /* since T0, at the plan's speed */
    uint32_t drive;   /* index in place.drives */
    uint32_t slot;    /* at slot x slot_bytes */
    uint32_t request; /* i of the request that made it; an earlier one with write_back */
    uint32_t depth;   /* of the block in its request: 0 is the root */
    uint8_t piece;    /* stripe: which of the block's pieces; mirror: which copy */
    uint8_t op;       /* rb_kv_op_t */
} rb_kv_part_t;
#define RB_KV_FILLER UINT64_MAX

typedef struct {
    uint64_t request; /* i */
    uint64_t due_ns;
    uint32_t server;
    uint32_t blocks;                          /* of the prompt */
    uint32_t gpu_hits, dram_hits, drive_hits; /* blocks, prefix-consecutive */
    uint32_t input_tokens, hit_tokens;        /* the others are recomputed */
    size_t nparts;
    const rb_kv_part_t *parts; /* [nparts]: reads, in order of depth, then discards and writes, in
                                  the order in which slots change hands. Until the next step */
} rb_kv_step_t;

typedef struct {
    uint64_t reads, writes, evicted; /* pieces */
    uint64_t used;                   /* slots that hold, or held, a block */
} rb_kv_drive_account_t;

typedef struct {
    uint64_t requests, references; /* prompt blocks */
    uint64_t gpu_hits, dram_hits, drive_hits;
    uint64_t input_tokens, hit_tokens;
    uint64_t written_blocks, evicted_blocks; /* once, however many pieces or copies */
    uint64_t not_admitted;                   /* recomputed and not written */
} rb_kv_account_t;

typedef struct rb_kv_plan rb_kv_plan_t;

/* Keeps the trace, which outlives it. NULL and RB_ERR_INPUT: options that do not go together, or
 * more slots and servers than the limits. */
rb_kv_plan_t *rb_kv_plan_new(const rb_kv_plan_opts_t *opts, const rb_trace_t *trace, rb_err_t *err);
void rb_kv_plan_destroy(rb_kv_plan_t **plan);

/* The host is lost from request at_request on, which is not stepped over yet (asserted). In any
 * order; a host that is lost twice goes at the earlier request. */
void rb_kv_plan_lose(rb_kv_plan_t *plan, uint32_t host, uint64_t at_request);

/* The next request; false: that was the last one. */
bool rb_kv_plan_step(rb_kv_plan_t *plan, rb_kv_step_t *ret);

/* Sums of all steps so far; of those since every drive that is left has had to put out a block
 * (`filled`; zero before): the tier as it is after the first hour of its life. */
const rb_kv_account_t *rb_kv_plan_account(const rb_kv_plan_t *plan);
rb_kv_account_t rb_kv_plan_filled(const rb_kv_plan_t *plan);
const rb_kv_drive_account_t *rb_kv_plan_drive(const rb_kv_plan_t *plan, uint32_t drive);
