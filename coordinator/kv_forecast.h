/* kv_forecast.h - what the planner says of a phase's KV cache before anything is run: the sizes of
 * its model, and what each host will read and write.
 *
 * Main thread. Costs a pass over the trace: about 0.1 us a block.
 */
#pragma once

#include "coordinator/kv_hosts.h"
#include "proto/kv_setup.h"
#include "proto/sample.h"

typedef struct {
    uint64_t reads, writes, evicted; /* pieces that are due in the phase */
} rb_kv_forecast_host_t;

typedef struct {
    const Rackbench__Phase *phase; /* borrowed */
    const Rackbench__Job *job;     /* borrowed: the one with a kv_cache */
    rb_kv_setup_t setup;
    rb_trace_stats_t trace;       /* in the job's blocks */
    size_t nhosts;                /* 0: they are not known */
    rb_kv_forecast_host_t *hosts; /* [nhosts] */
    rb_kv_account_t account;      /* of the requests that are due in the phase */
} rb_kv_forecast_t;

/* phase has a job with a kv_cache; trace is its packed trace, seed the plan's. Without hosts the
 * sizes and the trace alone. NULL: RB_ERR_INPUT, drives too few or too small among them. */
rb_kv_forecast_t *rb_kv_forecast_new(const Rackbench__Phase *phase, const rb_bytes_t *trace,
                                     uint64_t seed, const rb_kv_hosts_t *hosts, rb_err_t *err);
void rb_kv_forecast_destroy(rb_kv_forecast_t **forecast);

/* For people; names [nhosts]. */
void rb_kv_forecast_print(FILE *out, const rb_kv_forecast_t *forecast, const char *const *names);
