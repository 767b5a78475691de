/* merge_kv.h - what was done of a KV cache in a phase: the part of coordinator/merge that joins
 * requests. Main thread; pure.
 */
#pragma once

#include "coordinator/join.h"
#include "rackbench.pb-c.h"

typedef struct {
    rb_join_t *join;        /* NULL: no row of it yet */
    rb_hist_t *write;       /* [ns] of parts that write, due to complete, in M; NULL: none */
    uint64_t written_bytes; /* in M */
} rb_fold_kv_t;

/* The phase's job with a KV cache; -1: none. */
int rb_kv_job(const Rackbench__Phase *phase);

void rb_fold_kv_clear(rb_fold_kv_t *kv);
