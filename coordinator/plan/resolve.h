/* resolve.h - fills every default into a plan, so that agents and reports need none of their own.
 *
 * After rb_plan_resolve
 *
 * - the plan has name, on_host_loss (abort), interval 1s, max_skew 1ms, lease 3s, randseed 1 and
 *   strict_skew false; min_hosts only where it gives it.
 * - a target has devices (`all` where it only says model, serial or pci), or else files (1) and
 *   size; directory unset = the agent's scratch.
 * - a phase has a name (phase0, phase1, ...) and destructive; `defaults` went into its jobs.
 * - a job has name (j0, j1, ...), target, rw (read), bs 4KiB (unless it has bssplit), iodepth 1,
 *   numjobs 1, offset 0, direct true, seq_layout region; rwmixread 50 if rw is rw or randrw and
 *   only then; beside latency_target, latency_percentile 99 and rate_scope cluster.
 *
 * A phase with a sweep keeps its jobs as they were written, with their names and defaults: each
 * point is filled when it is made (expand.h).
 *
 * The rest of a job stays unset where the plan says nothing:
 *
 * - size: from offset to the end of the file or device
 * - runtime: until the work is done; ramp_time: 0
 * - io_size, number_ios, loops: no such bound
 * - runtime, io_size, number_ios and loops all unset: each worker does its region once. With
 * seq_layout region a sequential worker's region is its share of the job's (1/numjobs), else the
 * job's whole region; with seq_layout shared and with norandommap false the workers of a drive do
 * the region once between them.
 * - rate_iops, rate: closed loop; with one of them rate_scope is worker, rate_process linear
 * - blockalign: bs, or the smallest size of the same direction
 * - norandommap: true
 * - all other keys: 0, false, none, or the first value of the enum
 *
 * Any thread; no state.
 */
#pragma once

#include "common/err.h"
#include "coordinator/plan/place.h"
#include "rackbench.pb-c.h"

/* Fills in and then checks (check.h): a plan for which this returns 0 can be sent. RB_ERR_INPUT
 * names the place of what breaks a rule. places may be NULL. */
int rb_plan_resolve(Rackbench__Plan *plan, const rb_places_t *places, rb_err_t *err);

/* Names the phases and jobs that have no name; part of rb_plan_resolve. */
void rb_plan_name_all(Rackbench__Plan *plan);

/* The defaults of one job; part of rb_plan_resolve and rb_plan_expand. */
void rb_job_fill(const Rackbench__Plan *plan, Rackbench__Job *job);

/* May a job of this mode change data? */
static inline bool rb_rw_writes(Rackbench__Rw__Mode rw)
{
    return rw != RACKBENCH__RW__MODE__read && rw != RACKBENCH__RW__MODE__randread;
}
/* Does it mix reads and writes? */
static inline bool rb_rw_mixes(Rackbench__Rw__Mode rw)
{
    return rw == RACKBENCH__RW__MODE__rw || rw == RACKBENCH__RW__MODE__randrw;
}
/* May some of its operations be writes, trims apart? */
static inline bool rb_job_writes(const Rackbench__Job *job)
{
    if (rb_rw_mixes(job->rw))
        return job->rwmixread < 100;
    return job->rw == RACKBENCH__RW__MODE__write || job->rw == RACKBENCH__RW__MODE__randwrite;
}
static inline bool rb_rw_is_sequential(Rackbench__Rw__Mode rw)
{
    return rw == RACKBENCH__RW__MODE__read || rw == RACKBENCH__RW__MODE__write ||
           rw == RACKBENCH__RW__MODE__rw || rw == RACKBENCH__RW__MODE__trim;
}
/* Does it do nothing but trim? */
static inline bool rb_rw_trims(Rackbench__Rw__Mode rw)
{
    return rw == RACKBENCH__RW__MODE__trim || rw == RACKBENCH__RW__MODE__randtrim;
}
