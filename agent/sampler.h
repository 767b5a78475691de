/* sampler.h - merges the workers' closed windows into WINDOW rows, one cell per (job, target,
 * drive, op).
 *
 * Main thread. A row is emitted once every worker of this host that has not ended has published a
 * window that old or older. Workers whose windows span differently (a late sampler) go into rows of
 * their own: a span is never split. Costs one merge of histograms per worker, op and window.
 */
#pragma once

#include "agent/worker.h"

typedef struct rb_sampler rb_sampler_t;

/* workers [nworkers] outlive the sampler; those of one (job, subject) stand side by side. */
rb_sampler_t *rb_sampler_new(uint32_t phase, rb_worker_t *const *workers, size_t nworkers);
void rb_sampler_destroy(rb_sampler_t **sampler);

/* Emits all rows that are complete; seq is 0, each row is borrowed for the call. */
void rb_sampler_rows(rb_sampler_t *s, rb_row_emit_fn *emit, void *ctx);
