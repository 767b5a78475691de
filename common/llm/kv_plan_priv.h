/* kv_plan_priv.h - what the files of the planner share. Not for others. */
#pragma once

#include "common/llm/kv_front.h"
#include "common/llm/kv_plan.h"
#include "common/llm/kv_tier.h"

typedef struct {
    uint32_t host;
    uint64_t at_request;
} rb_kv_loss_t;

struct rb_kv_plan {
    rb_kv_plan_opts_t opts;
    const rb_trace_t *trace; /* outlives the plan */
    rb_kv_tier_t tier;
    rb_kv_front_t *fronts; /* [nservers] */
    uint64_t *free_at_ns;  /* [nservers]: when its recomputing ends */
    bool *lost;            /* [nhosts] */
    uint8_t *where;        /* [most blocks of a prompt] rb_kv_where_t of each that was hit */
    uint8_t *named;        /* [distinct] by how many requests of this loop: 0, 1, 2 and more */
    rb_kv_loss_t *losses;  /* [nlosses], those to come */
    size_t nlosses;
    uint64_t at, end;              /* next request */
    rb_kv_account_t account, ripe; /* ripe: the account when the tier was full */
    bool is_ripe;
};

/* What a step works on. */
typedef struct {
    const rb_trace_request_t *request;
    uint64_t loop, due_ns;
    uint32_t server, host, hits;
    uint32_t hit_tokens;
} rb_kv_now_t;

typedef enum { RB_KV_NOWHERE, RB_KV_IN_GPU, RB_KV_IN_DRAM, RB_KV_ON_DRIVE } rb_kv_where_t;

static inline uint64_t rb_kv_id(const rb_kv_plan_t *p, const rb_kv_now_t *now, uint32_t depth)
{
    return rb_trace_block(p->trace, now->request->first + depth, now->loop);
}

static inline uint32_t rb_kv_host(const rb_kv_plan_t *p, uint32_t server)
{
    return server % p->opts.nhosts;
}

/* Where a server finds a block; *ret_entry of the tier is for RB_KV_ON_DRIVE. */
rb_kv_where_t rb_kv_find(const rb_kv_plan_t *p, uint32_t server, uint64_t block,
                         uint32_t *ret_entry);

/* The server of the request. */
uint32_t rb_kv_route(const rb_kv_plan_t *p, const rb_kv_now_t *now);
/* Takes the recomputing of the request into the server's backlog. */
void rb_kv_route_load(rb_kv_plan_t *p, const rb_kv_now_t *now);
