/* search.h - what a plan says about a search for the highest rate that keeps a latency target.
 *
 * Any thread; no state.
 */
#pragma once

#include "common/err.h"
#include "coordinator/analysis/latency_search.h"
#include "rackbench.pb-c.h"

/* Does a job search? By its latency_target, for a rate; or by kv_cache.find_max, for the speed of
 * its trace, which then stands in the place of the rate, in ppm. */
bool rb_search_is(const Rackbench__Job *job);
bool rb_search_over_speed(const Rackbench__Job *job);
/* Index of the phase's job that does; -1: it searches nothing. */
int rb_search_job(const Rackbench__Phase *phase);
uint64_t rb_search_target_ns(const Rackbench__Job *job); /* of response, or of restore */
/* The search as it begins. */
void rb_search_begin(const Rackbench__Job *job, rb_latency_search_t *ret);
/* Makes a copy of the job what a step of the search runs: at this rate or speed. */
void rb_search_apply(Rackbench__Job *job, uint64_t rate);
/* latency_percentile as the share of operations [ppm] within the target: 99, 99.9 and 99.9% are
 * right. RB_ERR_INPUT when it is not above 0 and below 100. */
int rb_search_percentile(const char *text, uint32_t *ret_ppm, rb_err_t *err);
/* Of a job that was checked; what a damaged journal says instead counts as 99. */
uint32_t rb_search_percentile_ppm(const Rackbench__Job *job);

/* 10 operations beyond a percentile make it certain. The lowest rate [per second] that has them in
 * runtime_ns, and the shortest time [ns, whole seconds] in which iops has them; runtime_ns, iops
 * > 0. */
double rb_search_certain_iops(uint32_t percentile_ppm, uint64_t runtime_ns);
uint64_t rb_search_certain_ns(uint32_t percentile_ppm, double iops);
