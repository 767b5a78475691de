/* kv_setup.h - what a job's kv_cache says, as options of common/llm. Both programs go by it, so
 * that both plan the same.
 *
 * Any thread; no state. Errors are RB_ERR_INPUT and begin with the key: "placement: ...".
 */
#pragma once

#include "common/llm/kv_plan.h"
#include "rackbench.pb-c.h"

enum { RB_MAX_KV_SPEED = 1000, RB_MAX_KV_SCALE = 1 << 20 };

typedef struct {
    rb_kv_geometry_t geometry;
    rb_kv_plan_opts_t plan; /* place.drives is owned; empty until rb_kv_setup_hosts */
    uint32_t scale;         /* bytes are this many times less; 1: not scaled */
    uint64_t jitter_ns;
    uint32_t first_ios; /* of a piece, that are its first layer */
    /* of restores, as in agent/kv_queue.h */
    uint32_t inflight_per_request, per_server;
    uint64_t io_size_bytes;
    bool by_layer;
    bool discards; /* discard_on_evict */
} rb_kv_setup_t;

int rb_kv_setup(const Rackbench__KvCache *kv, rb_kv_setup_t *ret, rb_err_t *err);
void rb_kv_setup_clear(rb_kv_setup_t *setup);

/* The hosts that take part, in order, and their drives. A drive has as many slots as capacity says,
 * or else as fit; RB_ERR_INPUT where these do not fit, or where drives are too few. */
int rb_kv_setup_hosts(rb_kv_setup_t *setup, const Rackbench__KvCache *kv, size_t nhosts,
                      Rackbench__KvHost *const *hosts, rb_err_t *err);

/* A trace as it came, in blocks and at arrivals as the job wants them. */
int rb_kv_setup_trace(const rb_kv_setup_t *setup, rb_trace_t *trace, uint64_t seed, rb_err_t *err);
