#include "agent/kv_share.h"

#include <pthread.h>

#include "common/llm/trace_pack.h"

struct rb_kv_share {
    rb_kv_setup_t setup;
    uint64_t seed, end_ns;
    uint8_t *trace_data;
    size_t trace_bytes;
    uint32_t first, ndrives; /* of this host, among the cluster's drives */

    pthread_mutex_t mutex;
    bool tried; /* under mutex, as the next: whoever comes later gets the same answer */
    rb_err_t fault;
    rb_kv_queue_t **queues;          /* [ndrives] */
    rb_kv_drive_account_t *accounts; /* [ndrives] */
    rb_kv_request_t *requests;       /* of all loops */
    rb_kv_cluster_t cluster;
};

static void find_drives(rb_kv_share_t *share, uint32_t host)
{
    const rb_kv_place_t *place = &share->setup.plan.place;
    for (uint32_t i = 0; i < place->ndrives; i++) {
        share->first += place->drives[i].host < host;
        share->ndrives += place->drives[i].host == host;
    }
    share->queues = rb_calloc(share->ndrives + 1, sizeof(rb_kv_queue_t *));
    share->accounts = rb_calloc(share->ndrives + 1, sizeof(rb_kv_drive_account_t));
}

rb_kv_share_t *rb_kv_share_new(const rb_kv_share_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(rb_kv_share_destroy) rb_kv_share_t *share = rb_calloc(1, sizeof(*share));
    pthread_mutex_init(&share->mutex, NULL);
    if (opts->trace_bytes == 0) {
        rb_err_set(err, RB_ERR_NET, "kv_cache: the coordinator sent no trace");
        return NULL;
    }
    if (rb_kv_setup(opts->cache, &share->setup, err) < 0 ||
        rb_kv_setup_hosts(&share->setup, opts->cache, opts->nhosts, opts->hosts, err) < 0) {
        rb_err_wrap(err, "kv_cache");
        return NULL;
    }
    find_drives(share, opts->host);
    share->seed = opts->seed;
    share->end_ns = opts->end_ns;
    share->trace_bytes = opts->trace_bytes;
    share->trace_data = rb_calloc(opts->trace_bytes, 1);
    memcpy(share->trace_data, opts->trace, opts->trace_bytes);
    return RB_MOVE(share);
}

void rb_kv_share_destroy(rb_kv_share_t **share)
{
    rb_kv_share_t *s = *share;
    if (s == NULL)
        return;
    for (uint32_t i = 0; s->queues != NULL && i < s->ndrives; i++)
        rb_kv_queue_destroy(&s->queues[i]);
    free(s->queues);
    free(s->accounts);
    free(s->requests);
    free(s->trace_data);
    rb_kv_setup_clear(&s->setup);
    pthread_mutex_destroy(&s->mutex);
    free(s);
    *share = NULL;
}

const rb_kv_setup_t *rb_kv_share_setup(const rb_kv_share_t *share)
{
    return &share->setup;
}

uint64_t rb_kv_share_slots(const rb_kv_share_t *share, uint32_t ordinal)
{
    RB_ASSERT(ordinal < share->ndrives);
    return share->setup.plan.place.drives[share->first + ordinal].slots;
}

uint64_t rb_kv_share_end_ns(const rb_kv_share_t *share)
{
    return share->end_ns;
}

/* Two bytes of packed trace are a block, which is read and written; a part takes 60 bytes of a
 * queue that grows by doubling. */
uint64_t rb_kv_share_memory_bytes(const rb_kv_share_t *share)
{
    const rb_kv_plan_opts_t *plan = &share->setup.plan;
    uint64_t parts = share->trace_bytes * plan->loops * RB_MAX(plan->place.ways, 1u);
    return parts * 120 * share->ndrives / RB_MAX(plan->place.ndrives, 1u);
}

static rb_kv_queue_t *queue_new(const rb_kv_share_t *share)
{
    const rb_kv_setup_t *s = &share->setup;
    rb_kv_queue_opts_t o = {.geometry = &s->geometry,
                            .io_size_bytes = s->io_size_bytes,
                            .first_ios = s->first_ios,
                            .nservers = s->plan.nservers > 0 ? s->plan.nservers : s->plan.nhosts,
                            .inflight_per_request = s->inflight_per_request,
                            .per_server = s->per_server,
                            .by_layer = s->by_layer,
                            .discards = s->discards};
    return rb_kv_queue_new(&o);
}

static void count(rb_kv_drive_account_t *account, rb_kv_op_t op)
{
    switch (op) {
    case RB_KV_PART_READ:
        account->reads++;
        break;
    case RB_KV_PART_WRITE:
        account->writes++;
        break;
    case RB_KV_PART_DISCARD:
        account->evicted++;
        break;
    }
}

static int take_part(rb_kv_share_t *share, const rb_kv_step_t *step, const rb_kv_part_t *part,
                     rb_err_t *err)
{
    uint32_t ordinal = part->drive - share->first;
    if (part->drive < share->first || ordinal >= share->ndrives)
        return 0;
    if (part->due_ns < share->end_ns)
        count(&share->accounts[ordinal], (rb_kv_op_t)part->op);
    return rb_kv_queue_add(share->queues[ordinal], part, step->server, err);
}

/* What a request is on, and which parts of it are here. seen: the last request that each drive and
 * host was seen in, + 1. */
static int take_step(rb_kv_share_t *share, const rb_kv_step_t *step, uint64_t *seen_drive,
                     uint64_t *seen_host, rb_err_t *err)
{
    const rb_kv_place_t *place = &share->setup.plan.place;
    rb_kv_request_t *request = &share->requests[step->request];
    uint64_t mark = step->request + 1;
    for (size_t i = 0; i < step->nparts; i++) {
        const rb_kv_part_t *part = &step->parts[i];
        uint32_t host = place->drives[part->drive].host;
        if (part->op == RB_KV_PART_READ) {
            request->drives += seen_drive[part->drive] != mark;
            request->hosts += seen_host[host] != mark;
            seen_drive[part->drive] = seen_host[host] = mark;
        }
        if (take_part(share, step, part, err) < 0)
            return -1;
    }
    request->tokens = (uint32_t)RB_MIN(
        (uint64_t)step->drive_hits * share->setup.geometry.tokens_per_block, step->input_tokens);
    return 0;
}

static rb_kv_hits_t hits_of(const rb_kv_account_t *a)
{
    return (rb_kv_hits_t){a->requests,   a->references,   a->gpu_hits,  a->dram_hits,
                          a->drive_hits, a->input_tokens, a->hit_tokens};
}

static void add_infinite(rb_kv_cluster_t *cluster, const rb_trace_t *trace, uint64_t times)
{
    rb_trace_stats_t stats;
    rb_trace_stats(trace, &stats);
    cluster->infinite_hits += stats.infinite_hits * times;
    cluster->infinite_tokens += stats.infinite_tokens * times;
}

/* Of the requests that were taken: loops of the trace, and the beginning of another one. */
static void take_infinite(rb_kv_share_t *share, rb_trace_t *trace)
{
    uint64_t taken = share->cluster.planned.requests;
    uint32_t rest = (uint32_t)(taken % trace->nrequests);
    if (taken >= trace->nrequests)
        add_infinite(&share->cluster, trace, taken / trace->nrequests);
    if (rest > 0) {
        trace->nrequests = rest;
        add_infinite(&share->cluster, trace, 1);
    }
}

/* All requests that are due before the end. */
static int take_all(rb_kv_share_t *share, rb_kv_plan_t *plan, rb_err_t *err)
{
    rb_kv_step_t step;
    rb_kv_account_t filled = {0};
    int rc = 0;
    uint64_t *drives = rb_calloc(share->setup.plan.place.ndrives, sizeof(uint64_t));
    uint64_t *hosts = rb_calloc(share->setup.plan.nhosts, sizeof(uint64_t));
    while (rc == 0 && rb_kv_plan_step(plan, &step) && step.due_ns < share->end_ns) {
        rc = take_step(share, &step, drives, hosts, err);
        share->cluster.planned = hits_of(rb_kv_plan_account(plan));
        filled = rb_kv_plan_filled(plan);
    }
    share->cluster.filled = hits_of(&filled);
    free(drives);
    free(hosts);
    return rc;
}

static int build(rb_kv_share_t *share, rb_err_t *err)
{
    RB_AUTO(rb_trace_destroy)
    rb_trace_t *trace = rb_trace_unpack(share->trace_data, share->trace_bytes, err);
    if (trace == NULL || rb_kv_setup_trace(&share->setup, trace, share->seed, err) < 0)
        return -1;
    RB_AUTO(rb_kv_plan_destroy)
    rb_kv_plan_t *plan = rb_kv_plan_new(&share->setup.plan, trace, err);
    if (plan == NULL)
        return -1;
    share->requests =
        rb_calloc((size_t)trace->nrequests * share->setup.plan.loops, sizeof(*share->requests));
    for (uint32_t i = 0; i < share->ndrives; i++)
        share->queues[i] = queue_new(share);
    if (take_all(share, plan, err) < 0)
        return -1;
    for (uint32_t i = 0; i < share->ndrives; i++)
        rb_kv_queue_seal(share->queues[i]);
    take_infinite(share, trace);
    free(share->trace_data);
    share->trace_data = NULL;
    return 0;
}

int rb_kv_share_build(rb_kv_share_t *share, rb_err_t *err)
{
    pthread_mutex_lock(&share->mutex);
    if (!share->tried && build(share, &share->fault) < 0)
        rb_err_wrap(&share->fault, "kv_cache");
    share->tried = true;
    rb_err_t fault = share->fault;
    pthread_mutex_unlock(&share->mutex);
    if (fault.code == RB_OK)
        return 0;
    *err = fault;
    return -1;
}

rb_kv_queue_t *rb_kv_share_queue(rb_kv_share_t *share, uint32_t ordinal)
{
    RB_ASSERT(ordinal < share->ndrives);
    return share->queues[ordinal];
}

const rb_kv_request_t *rb_kv_share_request(const rb_kv_share_t *share, uint64_t request)
{
    return &share->requests[request];
}

const rb_kv_drive_account_t *rb_kv_share_account(const rb_kv_share_t *share, uint32_t ordinal)
{
    RB_ASSERT(ordinal < share->ndrives);
    return &share->accounts[ordinal];
}

const rb_kv_cluster_t *rb_kv_share_cluster(const rb_kv_share_t *share)
{
    return &share->cluster;
}
