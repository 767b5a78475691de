/* join.h - requests of a KV run put together from what each drive did of them.
 *
 * Restore latency of a request = completion of its last block on any host - due time. First-layer
 * latency: likewise of the first layer of its last block. A request counts if it completes in M: if
 * its last part does, which says so.
 * Each part says how many drives and hosts the request is on, so that the join needs no plan.
 *
 * Memory: 96 bytes a request that is open (some parts are there, some not), at most
 * RB_MAX_JOIN_OPEN of them: beyond, the one that was due first is given up and counted. Rows of an
 * agent are never lost (proto/README.md), so that a part is late by as much as its host is; what
 * is still open at the end of the phase is `unfinished`. Pure; main thread; about 100 ns a part.
 *
 * Source: measurement.md 10.
 */
#pragma once

#include "common/hist.h"
#include "proto/sample.h"

enum {
    RB_MAX_JOIN_OPEN = 1 << 20,
    RB_JOIN_CLASSES = 4, /* of prefix size */
    RB_JOIN_SPREADS = 14 /* of hosts that a request is on: 1, 2, 3-4, 5-8, ... 4096 */
};
/* Upper ends of the classes of size [bytes, unscaled]; the last has none. */
extern const uint64_t rb_join_class_bytes[RB_JOIN_CLASSES - 1];

typedef struct {
    rb_hist_t *restore, *first_layer; /* [ns]; NULL: no request */
    uint64_t bytes, blocks;
} rb_join_group_t;

typedef struct {
    uint64_t parts, bytes;
    uint64_t last;         /* requests of several hosts that waited for this one */
    uint64_t last_late_ns; /* and for how long, beyond all other hosts, in sum */
} rb_join_host_t;

typedef struct {
    uint32_t scale;                /* of the plan: bytes are this many times less than real; 0: 1 */
    uint64_t prefill_tokens_per_s; /* 0: nothing is held against recomputing */
} rb_join_opts_t;

typedef struct rb_join rb_join_t;

rb_join_t *rb_join_new(const rb_join_opts_t *opts);
void rb_join_destroy(rb_join_t **join);

/* A part of a restore; host: 1 and more, the same for all drives of one. Parts of one request in
 * any order, of one host together or apart. */
void rb_join_add(rb_join_t *join, uint32_t host, const rb_kv_row_part_t *part);

/* All requests; by class of size; by number of hosts, of which class i holds up to 2^i. */
const rb_join_group_t *rb_join_all(const rb_join_t *join);
const rb_join_group_t *rb_join_class(const rb_join_t *join, uint32_t i);
const rb_join_group_t *rb_join_spread(const rb_join_t *join, uint32_t i);
const rb_join_host_t *rb_join_host(const rb_join_t *join, uint32_t host); /* NULL: no part */

typedef struct {
    uint64_t requests;      /* complete in M */
    uint64_t outside;       /* complete before or after M */
    uint64_t open;          /* not complete; some part is there */
    uint64_t given_up;      /* beyond RB_MAX_JOIN_OPEN */
    uint64_t failed;        /* with an I/O error or a wrong block, in M or not */
    uint64_t slower;        /* than recomputing the restored tokens would have been */
    uint64_t late_parts_ns; /* longest time between the first and the last part's completion */
} rb_join_counts_t;
void rb_join_counts(const rb_join_t *join, rb_join_counts_t *ret);
