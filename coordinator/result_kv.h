/* result_kv.h - the figures of a phase with a KV cache: what requests waited for, what the tier
 * did, and what that costs the drives. A part of coordinator/result; computed from the fold.
 *
 * Source: measurement.md 10.
 */
#pragma once

#include "coordinator/analysis/endurance.h"
#include "coordinator/merge.h"

enum { RB_MAX_KV_GROUPS = RB_JOIN_CLASSES + RB_JOIN_SPREADS };

typedef struct {
    char name[64]; /* "to 64 MiB", "on 2 hosts" */
    char key[32];  /* "to_64MiB", "hosts_2" */
    uint64_t requests, bytes, blocks;
    const rb_hist_t *restore, *first_layer; /* borrowed from the fold; NULL: no request */
} rb_result_kv_group_t;

typedef struct {
    const char *host;
    uint64_t last; /* requests of several hosts that waited for this one */
    double late_s; /* by how much on average, beyond all other hosts */
    uint64_t read_blocks, written_blocks, evicted_blocks, waited_for_write, not_begun;
    double restored_bytes_per_s, written_bytes_per_s;
} rb_result_kv_host_t;

typedef struct {
    bool present;
    uint32_t scale;
    rb_join_counts_t counts;
    rb_result_kv_group_t all;
    size_t nclasses, nspreads; /* those that have requests */
    rb_result_kv_group_t classes[RB_JOIN_CLASSES], spreads[RB_JOIN_SPREADS];
    const rb_hist_t *write; /* of parts, due to complete; NULL: none */
    rb_row_kv_drive_t sum;  /* over all drives; planned, filled, infinite_*: of the cluster */
    double restored_bytes_per_s, written_bytes_per_s; /* in M, scaled as run */
    size_t nhosts;
    rb_result_kv_host_t *hosts; /* [nhosts] */
    bool has_endurance;         /* something was written, and drives have a size */
    uint32_t drives;
    rb_endurance_in_t wear_in; /* of a drive, unscaled, at the trace's own speed */
    rb_endurance_t wear;
} rb_result_kv_t;

typedef struct {
    const rb_fold_t *fold;
    uint32_t phase;
    double seconds; /* |M| */
} rb_result_kv_opts_t;

void rb_result_kv(const rb_result_kv_opts_t *opts, rb_result_kv_t *ret);
void rb_result_kv_clear(rb_result_kv_t *kv);

/* Share of hits; 0 where nothing was asked for. */
double rb_kv_hit_ratio(const rb_kv_hits_t *hits);
double rb_kv_token_ratio(const rb_kv_hits_t *hits);
