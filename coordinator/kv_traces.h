/* kv_traces.h - the traces of a plan's KV caches, as they go to the agents.
 *
 * Main thread; reads files, some seconds of work for the largest trace.
 */
#pragma once

#include "common/err.h"
#include "proto/sample.h"
#include "rackbench.pb-c.h"

/* [n_phases] of the plan; size 0: no job of the phase has a KV cache. RB_ERR_INPUT names file and
 * line, RB_ERR_IO. */
rb_bytes_t *rb_kv_traces_load(const Rackbench__Plan *plan, rb_err_t *err);
void rb_kv_traces_free(rb_bytes_t *traces, const Rackbench__Plan *plan);
