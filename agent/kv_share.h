/* kv_share.h - a job's KV cache as the workers of this host share it: the plan of the whole
 * cluster, worked out once, and what it asks of each drive here.
 *
 * The first worker that comes works it out (RB_MAX_TRACE_PACKED of trace take about a second), the
 * others wait on its mutex; only before the start. Afterwards nothing in it changes but the queues,
 * each of which is one worker's.
 */
#pragma once

#include "agent/kv_queue.h"
#include "proto/kv_setup.h"

typedef struct {
    uint32_t drives, hosts; /* of the cluster, that its restore is on */
    uint32_t tokens;        /* that it finds on drives */
} rb_kv_request_t;

typedef struct rb_kv_share rb_kv_share_t;

/* What came with PREPARE; borrowed for the call. */
typedef struct {
    const Rackbench__KvCache *cache; /* of the job; outlives the share */
    size_t nhosts;
    Rackbench__KvHost *const *hosts;
    uint32_t host; /* this one among them */
    const void *trace;
    size_t trace_bytes;
    uint64_t seed;   /* the plan's: the same on all hosts */
    uint64_t end_ns; /* of the phase, since T0: what is due from then on is left out */
} rb_kv_share_opts_t;

/* NULL and RB_ERR_INPUT, RB_ERR_NET: what came does not fit together. */
rb_kv_share_t *rb_kv_share_new(const rb_kv_share_opts_t *opts, rb_err_t *err);
void rb_kv_share_destroy(rb_kv_share_t **share);

const rb_kv_setup_t *rb_kv_share_setup(const rb_kv_share_t *share);
/* Slots of a drive, by its ordinal among this host's. */
uint64_t rb_kv_share_slots(const rb_kv_share_t *share, uint32_t ordinal);

uint64_t rb_kv_share_end_ns(const rb_kv_share_t *share);

/* What a plan of this trace will take here, about: it is known only once it is built. */
uint64_t rb_kv_share_memory_bytes(const rb_kv_share_t *share);

/* Blocks. RB_ERR_NET: the trace is damaged; RB_ERR_INPUT: more than can be planned. */
int rb_kv_share_build(rb_kv_share_t *share, rb_err_t *err);
/* Once built. */
rb_kv_queue_t *rb_kv_share_queue(rb_kv_share_t *share, uint32_t ordinal);
const rb_kv_request_t *rb_kv_share_request(const rb_kv_share_t *share, uint64_t request);
typedef struct {
    rb_kv_hits_t planned, filled;
    uint64_t infinite_hits, infinite_tokens;
} rb_kv_cluster_t;
const rb_kv_cluster_t *rb_kv_share_cluster(const rb_kv_share_t *share);
/* Of what is due before the end. */
const rb_kv_drive_account_t *rb_kv_share_account(const rb_kv_share_t *share, uint32_t ordinal);
