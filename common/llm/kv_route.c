#include "common/llm/kv_plan_priv.h"

enum { DEFAULT_PREFILL_TOKENS_PER_S = 10000 };

/* Is a server in use? With `local` it goes with its host. */
static bool serves(const rb_kv_plan_t *p, uint32_t server)
{
    return p->opts.place.rule != RB_KV_LOCAL || !p->lost[rb_kv_host(p, server)];
}

rb_kv_where_t rb_kv_find(const rb_kv_plan_t *p, uint32_t server, uint64_t block,
                         uint32_t *ret_entry)
{
    const rb_kv_front_block_t *b = rb_kv_front_find(&p->fronts[server], block);
    if (b != NULL)
        return b->tier == RB_KV_GPU ? RB_KV_IN_GPU : RB_KV_IN_DRAM;
    *ret_entry =
        rb_kv_table_find(&p->tier.table, rb_kv_tier_key(&p->tier, block, rb_kv_host(p, server)));
    return *ret_entry == RB_KV_NONE ? RB_KV_NOWHERE : RB_KV_ON_DRIVE;
}

/* Blocks of the prefix that are the server's own: in its memory, with `local` on its drives too. */
static uint32_t own_prefix(const rb_kv_plan_t *p, const rb_kv_now_t *now, uint32_t server)
{
    uint32_t n = 0, entry;
    while (n < now->request->nprompt) {
        rb_kv_where_t where = rb_kv_find(p, server, rb_kv_id(p, now, n), &entry);
        if (where == RB_KV_NOWHERE ||
            (where == RB_KV_ON_DRIVE && p->opts.place.rule != RB_KV_LOCAL))
            break;
        n++;
    }
    return n;
}

static uint64_t compute_ns(const rb_kv_plan_t *p, uint64_t tokens)
{
    uint64_t rate = p->opts.prefill_tokens_per_s;
    return tokens * RB_NS_PER_S / (rate ? rate : DEFAULT_PREFILL_TOKENS_PER_S);
}

/* When a server would come to the request, and with prefix_affinity when it would be through with
 * what it does not have itself [ns after arrival]. */
static uint64_t cost_ns(const rb_kv_plan_t *p, const rb_kv_now_t *now, uint32_t server)
{
    uint64_t at_ns = p->free_at_ns[server];
    uint64_t wait_ns = at_ns > now->due_ns ? at_ns - now->due_ns : 0;
    if (p->opts.router != RB_KV_ROUTE_PREFIX_AFFINITY)
        return wait_ns;
    uint64_t own = (uint64_t)own_prefix(p, now, server) * p->trace->block_tokens;
    uint64_t all = now->request->input_tokens;
    return wait_ns + compute_ns(p, all - RB_MIN(own, all));
}

static uint32_t best_server(const rb_kv_plan_t *p, const rb_kv_now_t *now)
{
    uint32_t best = 0;
    uint64_t best_ns = UINT64_MAX;
    for (uint32_t s = 0; s < p->opts.nservers; s++) {
        uint64_t ns = serves(p, s) ? cost_ns(p, now, s) : UINT64_MAX;
        if (ns < best_ns) {
            best = s;
            best_ns = ns;
        }
    }
    return best;
}

static uint32_t first_choice(const rb_kv_plan_t *p, const rb_kv_now_t *now)
{
    switch (p->opts.router) {
    case RB_KV_ROUTE_ROUND_ROBIN:
        return (uint32_t)(p->at % p->opts.nservers);
    case RB_KV_ROUTE_SESSION:
        return (uint32_t)(rb_id_mix(now->request->session) % p->opts.nservers);
    case RB_KV_ROUTE_LEAST_LOADED:
    case RB_KV_ROUTE_PREFIX_AFFINITY:
        return best_server(p, now);
    }
    rb_assert_failed("router is one of its values", __FILE__, __LINE__);
}

uint32_t rb_kv_route(const rb_kv_plan_t *p, const rb_kv_now_t *now)
{
    uint32_t server = first_choice(p, now);
    for (uint32_t i = 0; i < p->opts.nservers && !serves(p, server); i++)
        server = (server + 1) % p->opts.nservers;
    return server;
}

void rb_kv_route_load(rb_kv_plan_t *p, const rb_kv_now_t *now)
{
    uint64_t *at_ns = &p->free_at_ns[now->server];
    *at_ns =
        RB_MAX(*at_ns, now->due_ns) + compute_ns(p, now->request->input_tokens - now->hit_tokens);
}
