#include "common/llm/kv_plan_priv.h"

/* ---- begin and end ---- */

static void set_defaults(rb_kv_plan_opts_t *o, uint64_t blocks)
{
    o->nservers = o->nservers ? o->nservers : o->nhosts;
    o->loops = RB_MAX(o->loops, 1u);
    o->speed_ppm = o->speed_ppm ? o->speed_ppm : 1000000;
    o->gpu_blocks = RB_MIN(o->gpu_blocks, blocks);
    o->dram_blocks = RB_MIN(o->dram_blocks, blocks);
}

static int check(const rb_kv_plan_opts_t *o, uint64_t blocks, rb_err_t *err)
{
    if (o->nhosts < 1 || o->nhosts > RB_MAX_HOSTS || o->nservers > RB_MAX_KV_SERVERS)
        return rb_err_set(err, RB_ERR_INPUT, "%u hosts with %u servers: 1 to %d, and %d at most",
                          o->nhosts, o->nservers, RB_MAX_HOSTS, RB_MAX_KV_SERVERS);
    if (o->write_back && o->gpu_blocks + o->dram_blocks == 0)
        return rb_err_set(err, RB_ERR_INPUT, "write_back needs a front tier: give gpu or dram");
    uint64_t front = (o->gpu_blocks + o->dram_blocks) * o->nservers;
    if (blocks > RB_MAX_KV_SLOTS || front > RB_MAX_KV_SLOTS)
        return rb_err_set(
            err, RB_ERR_INPUT,
            "%llu blocks in all loops, %llu of front tiers: %llu at most; take larger "
            "blocks or fewer loops",
            (unsigned long long)blocks, (unsigned long long)front, RB_MAX_KV_SLOTS);
    return 0;
}

static uint32_t longest_prompt(const rb_trace_t *trace)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < trace->nrequests; i++)
        most = RB_MAX(most, trace->requests[i].nprompt);
    return most;
}

rb_kv_plan_t *rb_kv_plan_new(const rb_kv_plan_opts_t *opts, const rb_trace_t *trace, rb_err_t *err)
{
    RB_AUTO(rb_kv_plan_destroy) rb_kv_plan_t *p = rb_calloc(1, sizeof(*p));
    rb_kv_plan_opts_t *o = &p->opts;
    uint64_t blocks = (uint64_t)trace->distinct * RB_MAX(opts->loops, 1u);
    *o = *opts;
    p->trace = trace;
    set_defaults(o, blocks);
    p->end = (uint64_t)trace->nrequests * o->loops;
    uint64_t on_drives = o->place.rule == RB_KV_LOCAL ? blocks * o->nhosts : blocks;
    if (check(o, blocks, err) != 0 || rb_kv_tier_init(&p->tier, o, on_drives, err) != 0)
        return NULL;
    p->fronts = rb_calloc(o->nservers, sizeof(*p->fronts));
    for (uint32_t s = 0; s < o->nservers; s++)
        rb_kv_front_init(&p->fronts[s], o->gpu_blocks, o->dram_blocks);
    p->free_at_ns = rb_calloc(o->nservers, sizeof(*p->free_at_ns));
    p->lost = rb_calloc(o->nhosts, sizeof(*p->lost));
    p->named = rb_calloc(trace->distinct, sizeof(*p->named));
    p->where = rb_calloc(longest_prompt(trace), sizeof(*p->where));
    return RB_MOVE(p);
}

void rb_kv_plan_destroy(rb_kv_plan_t **plan)
{
    rb_kv_plan_t *p = *plan;
    if (p == NULL)
        return;
    for (uint32_t s = 0; p->fronts != NULL && s < p->opts.nservers; s++)
        rb_kv_front_clear(&p->fronts[s]);
    rb_kv_tier_clear(&p->tier);
    free(p->fronts);
    free(p->free_at_ns);
    free(p->lost);
    free(p->named);
    free(p->where);
    free(p->losses);
    free(p);
    *plan = NULL;
}

/* ---- lost hosts ---- */

void rb_kv_plan_lose(rb_kv_plan_t *p, uint32_t host, uint64_t at_request)
{
    RB_ASSERT(host < p->opts.nhosts && at_request >= p->at);
    *RB_PUSH(p->losses, p->nlosses) = (rb_kv_loss_t){host, at_request};
}

static void lose_hosts(rb_kv_plan_t *p)
{
    for (size_t i = 0; i < p->nlosses; i++) {
        if (p->losses[i].at_request != p->at)
            continue;
        p->lost[p->losses[i].host] = true;
        rb_kv_tier_lose(&p->tier, p->losses[i].host);
    }
}

/* ---- a request ---- */

static rb_kv_part_t part_of(const rb_kv_plan_t *p, const rb_kv_now_t *now, uint32_t depth)
{
    return (rb_kv_part_t){.block = rb_kv_id(p, now, depth),
                          .due_ns = now->due_ns,
                          .request = (uint32_t)p->at,
                          .depth = depth};
}

static void read_prefix(rb_kv_plan_t *p, rb_kv_now_t *now, rb_kv_step_t *step)
{
    for (uint32_t k = 0; k < now->request->nprompt; k++) {
        rb_kv_part_t part = part_of(p, now, k);
        uint32_t entry;
        rb_kv_where_t where = rb_kv_find(p, now->server, part.block, &entry);
        if (where == RB_KV_NOWHERE)
            break;
        p->where[now->hits++] = (uint8_t)where;
        step->gpu_hits += where == RB_KV_IN_GPU;
        step->dram_hits += where == RB_KV_IN_DRAM;
        step->drive_hits += where == RB_KV_ON_DRIVE;
        if (where == RB_KV_ON_DRIVE)
            rb_kv_tier_read(&p->tier, entry, &part);
    }
    now->hit_tokens =
        (uint32_t)RB_MIN((uint64_t)now->hits * p->trace->block_tokens, now->request->input_tokens);
}

/* A block that was read from its drives, if it is still there. */
static void touch(rb_kv_plan_t *p, const rb_kv_now_t *now, uint32_t depth)
{
    if (p->where[depth] != RB_KV_ON_DRIVE)
        return;
    uint64_t key = rb_kv_tier_key(&p->tier, rb_kv_id(p, now, depth), now->host);
    uint32_t entry = rb_kv_table_find(&p->tier.table, key);
    if (entry != RB_KV_NONE)
        rb_kv_tier_touch(&p->tier, entry);
}

/* When a block that is recomputed, or decoded, is there to be written. */
static uint64_t made_ns(const rb_kv_plan_t *p, const rb_kv_now_t *now, uint32_t depth)
{
    const rb_trace_request_t *r = now->request;
    uint64_t tokens = (uint64_t)(depth + 1) * p->trace->block_tokens;
    uint64_t prompt = RB_MIN(tokens, r->input_tokens) - now->hit_tokens;
    uint64_t answer = RB_MIN(tokens, (uint64_t)r->input_tokens + r->output_tokens);
    answer = answer > r->input_tokens ? answer - r->input_tokens : 0;
    uint64_t at_ns = now->due_ns;
    if (p->opts.prefill_tokens_per_s > 0)
        at_ns += prompt * RB_NS_PER_S / p->opts.prefill_tokens_per_s;
    if (p->opts.decode_tokens_per_s > 0)
        at_ns += answer * RB_NS_PER_S / p->opts.decode_tokens_per_s;
    return at_ns;
}

static bool admitted(const rb_kv_plan_t *p, uint8_t flags)
{
    switch (p->opts.admission) {
    case RB_KV_ADMIT_PROMPT_ONLY:
        return !(flags & RB_KV_ANSWER);
    case RB_KV_ADMIT_ALL:
        return true;
    case RB_KV_ADMIT_SECOND_TOUCH:
        return (flags & RB_KV_TWICE) != 0;
    }
    rb_assert_failed("admission is one of its values", __FILE__, __LINE__);
}

/* To the drives, unless it is there or not to go there. */
static void admit(rb_kv_plan_t *p, const rb_kv_now_t *now, const rb_kv_part_t *part, uint8_t flags)
{
    uint64_t key = rb_kv_tier_key(&p->tier, part->block, now->host);
    uint32_t entry = rb_kv_table_find(&p->tier.table, key);
    if (entry != RB_KV_NONE)
        rb_kv_tier_touch(&p->tier, entry);
    else if (admitted(p, flags) && rb_kv_tier_write(&p->tier, key, now->host, part))
        p->account.written_blocks++;
    else
        p->account.not_admitted++;
}

static uint8_t flags_of(rb_kv_plan_t *p, const rb_kv_now_t *now, uint32_t depth)
{
    uint8_t flags = depth >= now->hits && p->opts.write_back ? RB_KV_DIRTY : 0;
    if (depth >= now->request->nprompt)
        return flags | RB_KV_ANSWER;
    uint8_t *named = &p->named[p->trace->blocks[now->request->first + depth]];
    *named = (uint8_t)RB_MIN(*named + 1, 2);
    return *named == 2 ? flags | RB_KV_TWICE : flags;
}

static void into_front(rb_kv_plan_t *p, const rb_kv_now_t *now, uint32_t depth, uint8_t flags)
{
    rb_kv_front_block_t out, in = {.block = rb_kv_id(p, now, depth),
                                   .request = (uint32_t)p->at,
                                   .depth = depth,
                                   .flags = flags};
    if (rb_kv_front_none(&p->fronts[now->server]) ||
        !rb_kv_front_touch(&p->fronts[now->server], &in, &out) || !(out.flags & RB_KV_DIRTY))
        return;
    rb_kv_part_t part = {
        .block = out.block, .due_ns = now->due_ns, .request = out.request, .depth = out.depth};
    admit(p, now, &part, out.flags);
}

/* The deepest first. What was hit is touched before anything is put out, and again behind what was
 * written, so that roots stay most recent. */
static void keep_blocks(rb_kv_plan_t *p, const rb_kv_now_t *now)
{
    for (uint32_t k = now->hits; k-- > 0;)
        touch(p, now, k);
    for (uint32_t k = now->request->nprompt + now->request->ndecode; k-- > 0;) {
        uint8_t flags = flags_of(p, now, k);
        into_front(p, now, k, flags);
        if (k < now->hits) {
            touch(p, now, k);
        } else if (!p->opts.write_back) {
            rb_kv_part_t part = part_of(p, now, k);
            part.due_ns = made_ns(p, now, k);
            admit(p, now, &part, flags);
        }
    }
}

static void add_up(rb_kv_plan_t *p, const rb_kv_now_t *now, const rb_kv_step_t *step)
{
    rb_kv_account_t *a = &p->account;
    a->requests++;
    a->references += now->request->nprompt;
    a->gpu_hits += step->gpu_hits;
    a->dram_hits += step->dram_hits;
    a->drive_hits += step->drive_hits;
    a->input_tokens += now->request->input_tokens;
    a->hit_tokens += now->hit_tokens;
    a->evicted_blocks = p->tier.evicted_blocks;
    if (p->tier.unripe == 0 && !p->is_ripe) {
        p->is_ripe = true;
        p->ripe = *a;
    }
}

bool rb_kv_plan_step(rb_kv_plan_t *p, rb_kv_step_t *ret)
{
    if (p->at == p->end)
        return false;
    rb_kv_now_t now = {.request = &p->trace->requests[p->at % p->trace->nrequests],
                       .loop = p->at / p->trace->nrequests,
                       .due_ns = rb_trace_due(p->trace, p->at, p->opts.speed_ppm)};
    lose_hosts(p);
    if (p->at % p->trace->nrequests == 0)
        memset(p->named, 0, p->trace->distinct);
    p->tier.nparts = 0;
    now.server = rb_kv_route(p, &now);
    now.host = rb_kv_host(p, now.server);
    *ret = (rb_kv_step_t){.request = p->at,
                          .due_ns = now.due_ns,
                          .server = now.server,
                          .blocks = now.request->nprompt,
                          .input_tokens = now.request->input_tokens};
    read_prefix(p, &now, ret);
    keep_blocks(p, &now);
    rb_kv_route_load(p, &now);
    add_up(p, &now, ret);
    ret->hit_tokens = now.hit_tokens;
    ret->nparts = p->tier.nparts;
    ret->parts = p->tier.parts;
    p->at++;
    return true;
}

/* ---- accounts ---- */

const rb_kv_account_t *rb_kv_plan_account(const rb_kv_plan_t *p)
{
    return &p->account;
}

rb_kv_account_t rb_kv_plan_filled(const rb_kv_plan_t *p)
{
    const rb_kv_account_t *a = &p->account, *b = &p->ripe;
    if (!p->is_ripe)
        return (rb_kv_account_t){0};
    return (rb_kv_account_t){
        .requests = a->requests - b->requests,
        .references = a->references - b->references,
        .gpu_hits = a->gpu_hits - b->gpu_hits,
        .dram_hits = a->dram_hits - b->dram_hits,
        .drive_hits = a->drive_hits - b->drive_hits,
        .input_tokens = a->input_tokens - b->input_tokens,
        .hit_tokens = a->hit_tokens - b->hit_tokens,
        .written_blocks = a->written_blocks - b->written_blocks,
        .evicted_blocks = a->evicted_blocks - b->evicted_blocks,
        .not_admitted = a->not_admitted - b->not_admitted,
    };
}

const rb_kv_drive_account_t *rb_kv_plan_drive(const rb_kv_plan_t *p, uint32_t drive)
{
    return &p->tier.accounts[drive];
}
