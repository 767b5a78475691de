/* step_figures.h - what a job did in a step of a search, on all hosts, from the fold.
 *
 * Reads only. Main thread. Costs one merge of the job's histograms per host and drive.
 */
#pragma once

#include "coordinator/analysis/latency_search.h"
#include "coordinator/merge.h"

/* Of M, once the step is over. Operations are reads, writes and trims; the quantile is of their
 * response times together. */
void rb_step_figures(const rb_fold_t *fold, uint32_t phase, uint32_t job, uint32_t percentile_ppm,
                     rb_search_figures_t *ret);
/* All that was moved in a step so far, the ramp and what came late too. */
uint64_t rb_step_bytes(const rb_fold_t *fold, uint32_t phase);
/* Operations of M that took longer than that, as far as they have come in. */
uint64_t rb_step_late_ops(const rb_fold_t *fold, uint32_t phase, uint32_t job, uint64_t target_ns);
