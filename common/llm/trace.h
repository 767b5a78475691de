/* trace.h - requests of an inference service in order of time: when, how many tokens, which blocks.
 *
 * A block is block_tokens tokens of a prompt; two requests that begin alike share blocks up to
 * where they part. Ids are dense: [0, distinct), so that what is known of
 * blocks is an array. The last block of a prompt may be partial and is a block all the
 * same (as in the published statistics of the Mooncake traces).
 *
 * Loops: request i of n x loops is request i % n, period_ns x (i / n) later, and its ids are fresh
 * in each loop: rb_trace_block. Nothing is hit across loops.
 *
 * Pure, any thread; a trace is not changed once it is made, but by the functions below that say so.
 * Reading files: trace_load.h. Making one: trace_make.h. About 40 bytes a request and 4 a block.
 */
#pragma once

#include "common/err.h"

enum {
    RB_MAX_TRACE_REQUESTS = 1 << 24,
    RB_MAX_TRACE_BLOCKS = 1 << 20 /* of one request */
};
#define RB_MAX_TRACE_REFERENCES (1ull << 31)

typedef struct {
    uint64_t due_ns;  /* arrival, since the trace's begin; never falls */
    uint64_t first;   /* its blocks are blocks[first .. first + nprompt + ndecode) */
    uint32_t nprompt; /* ceil(input_tokens / block_tokens) */
    uint32_t
        ndecode; /* blocks that the answer adds, where the source tells or they are asked for */
    uint32_t input_tokens, output_tokens;
    uint32_t session; /* dense; requests of one conversation or user */
} rb_trace_request_t;

typedef struct {
    uint32_t block_tokens;
    uint32_t nrequests, nsessions;
    rb_trace_request_t *requests; /* [nrequests] */
    uint64_t nblocks;
    uint32_t *blocks;   /* [nblocks] ids */
    uint32_t distinct;  /* ids are below */
    uint64_t period_ns; /* of a loop: last arrival + mean gap */
    bool lengths_only;  /* the source has no hashes: no block is ever hit */
} rb_trace_t;

void rb_trace_destroy(rb_trace_t **trace);

/* Ends a trace that was filled by hand: sorts by due_ns (stable), makes the first due 0, numbers
 * ids and sessions densely by first appearance, sets distinct, nsessions and period_ns.
 * ids64 [nblocks] are the foreign hashes behind blocks[], or NULL where blocks[] holds ids.
 * RB_ERR_INPUT: no request, or more than the limits above. */
int rb_trace_finish(rb_trace_t *trace, const uint64_t *ids64, rb_err_t *err);

/* Spreads arrivals that stand together (the conversation trace comes in batches of 3 s): each is
 * later by a uniform draw of [0, jitter_ns), and the requests are sorted again. Changes the trace;
 * the same seed gives the same trace everywhere. */
void rb_trace_jitter(rb_trace_t *trace, uint64_t jitter_ns, uint64_t seed);

/* Recuts a trace to blocks of tokens_per_block: a multiple of block_tokens (a block is then known
 * by its last part, which tells the whole prefix) or a divisor (each block becomes several, of
 * which a prompt uses those that it reaches). Changes the trace. RB_ERR_INPUT where neither is so.
 */
int rb_trace_reblock(rb_trace_t *trace, uint32_t tokens_per_block, rb_err_t *err);

/* Gives answers blocks of their own, which nobody asks for again, where the source tells none: as
 * many as the tokens of prompt and answer make beyond the prompt's. Changes the trace.
 * RB_ERR_INPUT: too many. */
int rb_trace_decode(rb_trace_t *trace, rb_err_t *err);

/* Arrival of request i in [0, nrequests x loops) [ns] at speed_ppm (1000000: as the trace says,
 * 2000000: twice as fast). */
uint64_t rb_trace_due(const rb_trace_t *trace, uint64_t i, uint64_t speed_ppm);

/* The id of blocks[at] in a loop: unlike that of any other loop. */
static inline uint64_t rb_trace_block(const rb_trace_t *trace, uint64_t at, uint64_t loop)
{
    return loop * trace->distinct + trace->blocks[at];
}

typedef struct {
    uint64_t requests, references, distinct; /* prompt blocks only */
    uint64_t input_tokens, output_tokens;
    double seconds;           /* first to last arrival */
    uint64_t infinite_hits;   /* blocks, prefix-consecutive, of a cache that forgets nothing */
    uint64_t infinite_tokens; /* tokens of those blocks */
} rb_trace_stats_t;

void rb_trace_stats(const rb_trace_t *trace, rb_trace_stats_t *ret);
