#include "common/llm/trace.h"

#include "common/llm/id_map.h"
#include "common/rng.h"

void rb_trace_destroy(rb_trace_t **trace)
{
    if (*trace == NULL)
        return;
    free((*trace)->requests);
    free((*trace)->blocks);
    free(*trace);
    *trace = NULL;
}

static int by_due(const void *a, const void *b)
{
    const rb_trace_request_t *x = a, *y = b;
    if (x->due_ns != y->due_ns)
        return x->due_ns < y->due_ns ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void order(rb_trace_t *t)
{
    qsort(t->requests, t->nrequests, sizeof(*t->requests), by_due);
    uint64_t begin_ns = t->requests[0].due_ns;
    for (uint32_t i = 0; i < t->nrequests; i++)
        t->requests[i].due_ns -= begin_ns;
    uint64_t last_ns = t->requests[t->nrequests - 1].due_ns;
    t->period_ns = t->nrequests > 1 ? last_ns + last_ns / (t->nrequests - 1) : RB_NS_PER_S;
    t->period_ns = RB_MAX(t->period_ns, 1u);
}

static uint32_t blocks_of(const rb_trace_request_t *r)
{
    return r->nprompt + r->ndecode;
}

static void number(rb_trace_t *t, const uint64_t *ids64)
{
    RB_AUTO(rb_id_map_clear) rb_id_map_t ids = {0};
    RB_AUTO(rb_id_map_clear) rb_id_map_t sessions = {0};
    for (uint32_t i = 0; i < t->nrequests; i++) {
        rb_trace_request_t *r = &t->requests[i];
        r->session = rb_id_map_number(&sessions, r->session);
        for (uint64_t k = r->first; k < r->first + blocks_of(r); k++)
            t->blocks[k] = rb_id_map_number(&ids, ids64 ? ids64[k] : t->blocks[k]);
    }
    t->distinct = (uint32_t)ids.count;
    t->nsessions = (uint32_t)sessions.count;
}

static int check_size(uint64_t nrequests, uint64_t nblocks, rb_err_t *err)
{
    if (nrequests == 0)
        return rb_err_set(err, RB_ERR_INPUT, "no request in it");
    if (nrequests > RB_MAX_TRACE_REQUESTS || nblocks > RB_MAX_TRACE_REFERENCES)
        return rb_err_set(err, RB_ERR_INPUT,
                          "%llu requests with %llu blocks: %d and %llu at most; cut it",
                          (unsigned long long)nrequests, (unsigned long long)nblocks,
                          RB_MAX_TRACE_REQUESTS, (unsigned long long)RB_MAX_TRACE_REFERENCES);
    return 0;
}

int rb_trace_finish(rb_trace_t *trace, const uint64_t *ids64, rb_err_t *err)
{
    if (check_size(trace->nrequests, trace->nblocks, err) != 0)
        return -1;
    order(trace);
    number(trace, ids64);
    return 0;
}

void rb_trace_jitter(rb_trace_t *trace, uint64_t jitter_ns, uint64_t seed)
{
    rb_rng_t rng;
    rb_rng_seed(&rng, seed, 0, 0);
    for (uint32_t i = 0; jitter_ns > 0 && i < trace->nrequests; i++)
        trace->requests[i].due_ns += rb_rng_below(&rng, jitter_ns);
    order(trace);
}

/* ---- other sizes of block ---- */

typedef struct {
    uint32_t split, join; /* one of them is 1 */
    uint32_t tokens;
} recut_t;

static uint32_t divide_up(uint64_t a, uint32_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

/* How many blocks n old ones are, of which the first `tokens` tokens are used. */
static uint32_t recut_count(const recut_t *cut, uint32_t n, uint64_t tokens)
{
    if (cut->join > 1)
        return divide_up(n, cut->join);
    return (uint32_t)RB_MIN((uint64_t)n * cut->split, divide_up(tokens, cut->tokens));
}

static uint64_t recut_id(const recut_t *cut, const uint32_t *old, uint32_t nold, uint32_t i)
{
    if (cut->join > 1)
        return old[RB_MIN((uint64_t)(i + 1) * cut->join, nold) - 1];
    return (uint64_t)old[i / cut->split] * cut->split + i % cut->split;
}

static void recut_shape(const recut_t *cut, rb_trace_request_t *r)
{
    uint64_t tokens = (uint64_t)r->input_tokens + r->output_tokens;
    uint32_t all = recut_count(cut, blocks_of(r), tokens);
    r->nprompt = recut_count(cut, r->nprompt, r->input_tokens);
    r->ndecode = r->ndecode > 0 ? all - r->nprompt : 0;
}

static uint64_t recut_total(const recut_t *cut, const rb_trace_t *trace)
{
    uint64_t nblocks = 0;
    for (uint32_t i = 0; i < trace->nrequests; i++) {
        rb_trace_request_t r = trace->requests[i];
        recut_shape(cut, &r);
        nblocks += blocks_of(&r);
    }
    return nblocks;
}

/* Gives each request its new blocks; their ids go to ids. */
static void recut(const recut_t *cut, rb_trace_t *trace, uint64_t *ids)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < trace->nrequests; i++) {
        rb_trace_request_t *r = &trace->requests[i];
        const uint32_t *old = &trace->blocks[r->first];
        uint32_t nold = blocks_of(r);
        recut_shape(cut, r);
        r->first = at;
        for (uint32_t k = 0; k < blocks_of(r); k++)
            ids[at++] = recut_id(cut, old, nold, k);
    }
}

int rb_trace_reblock(rb_trace_t *trace, uint32_t tokens_per_block, rb_err_t *err)
{
    uint32_t from = trace->block_tokens, to = tokens_per_block;
    if (to == 0 || (from % to != 0 && to % from != 0))
        return rb_err_set(err, RB_ERR_INPUT,
                          "tokens_per_block is %u, and the trace has blocks of %u tokens: it must "
                          "be a divisor or a multiple of that",
                          to, from);
    recut_t cut = {.split = to < from ? from / to : 1, .join = to > from ? to / from : 1, to};
    uint64_t nblocks = recut_total(&cut, trace);
    if (check_size(trace->nrequests, nblocks, err) != 0)
        return -1;
    uint64_t *ids = rb_calloc(nblocks, sizeof(*ids));
    recut(&cut, trace, ids);
    trace->blocks = rb_realloc(trace->blocks, nblocks * sizeof(*trace->blocks));
    trace->nblocks = nblocks;
    trace->block_tokens = to;
    int result = rb_trace_finish(trace, ids, err);
    free(ids);
    return result;
}

/* ---- answers ---- */

static uint32_t answer_blocks(const rb_trace_t *trace, const rb_trace_request_t *r)
{
    uint64_t tokens = (uint64_t)r->input_tokens + r->output_tokens;
    uint32_t all = divide_up(tokens, trace->block_tokens);
    return r->ndecode > 0 || all < r->nprompt ? r->ndecode : all - r->nprompt;
}

int rb_trace_decode(rb_trace_t *trace, rb_err_t *err)
{
    uint64_t nblocks = 0, at = 0, fresh = trace->distinct;
    for (uint32_t i = 0; i < trace->nrequests; i++)
        nblocks += trace->requests[i].nprompt + answer_blocks(trace, &trace->requests[i]);
    if (check_size(trace->nrequests, nblocks, err) != 0)
        return -1;
    uint32_t *blocks = rb_calloc(nblocks, sizeof(*blocks));
    for (uint32_t i = 0; i < trace->nrequests; i++) {
        rb_trace_request_t *r = &trace->requests[i];
        uint32_t ndecode = answer_blocks(trace, r), known = blocks_of(r);
        memcpy(&blocks[at], &trace->blocks[r->first], known * sizeof(*blocks));
        r->first = at;
        r->ndecode = ndecode;
        for (at += known; at < r->first + blocks_of(r); at++)
            blocks[at] = (uint32_t)fresh++;
    }
    free(trace->blocks);
    trace->blocks = blocks;
    trace->nblocks = nblocks;
    return rb_trace_finish(trace, NULL, err);
}

uint64_t rb_trace_due(const rb_trace_t *trace, uint64_t i, uint64_t speed_ppm)
{
    uint64_t loop = i / trace->nrequests;
    uint64_t due_ns = trace->requests[i % trace->nrequests].due_ns + loop * trace->period_ns;
    return (uint64_t)((unsigned __int128)due_ns * 1000000 / speed_ppm);
}

void rb_trace_stats(const rb_trace_t *trace, rb_trace_stats_t *ret)
{
    bool *seen = rb_calloc(trace->distinct, sizeof(*seen));
    rb_trace_stats_t s = {.requests = trace->nrequests};
    for (uint32_t i = 0; i < trace->nrequests; i++) {
        const rb_trace_request_t *r = &trace->requests[i];
        const uint32_t *blocks = &trace->blocks[r->first];
        uint64_t hits = 0;
        while (hits < r->nprompt && seen[blocks[hits]])
            hits++;
        for (uint64_t k = hits; k < r->nprompt; k++) {
            s.distinct += !seen[blocks[k]];
            seen[blocks[k]] = true;
        }
        for (uint64_t k = r->nprompt; k < blocks_of(r); k++)
            seen[blocks[k]] = true;
        s.references += r->nprompt;
        s.infinite_hits += hits;
        s.infinite_tokens += RB_MIN(hits * trace->block_tokens, r->input_tokens);
        s.input_tokens += r->input_tokens;
        s.output_tokens += r->output_tokens;
    }
    s.seconds = (double)trace->requests[trace->nrequests - 1].due_ns / (double)RB_NS_PER_S;
    free(seen);
    *ret = s;
}
