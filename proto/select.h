/* select.h - which hosts take part in a job: the one place where `on:` is decided.
 *
 * A job without `on` runs everywhere; with it, on the hosts whose labels hold every pair. Any
 * thread; pure.
 */
#pragma once

#include "common/base.h"
#include "rackbench.pb-c.h"

bool rb_job_on_host(const Rackbench__Job *job, size_t nlabels, Rackbench__Label *const *labels);
bool rb_phase_on_host(const Rackbench__Phase *phase, size_t nlabels,
                      Rackbench__Label *const *labels);
/* Takes out of a phase what does not run there. */
void rb_phase_keep_on_host(Rackbench__Phase *phase, size_t nlabels,
                           Rackbench__Label *const *labels);
/* A copy of the plan without what does not run there; the caller owns it. */
Rackbench__Plan *rb_plan_on_host(const Rackbench__Plan *plan, size_t nlabels,
                                 Rackbench__Label *const *labels);

/* Leaves out, and frees, the jobs that this host takes no part in. */
void rb_phase_keep_on_host(Rackbench__Phase *phase, size_t nlabels,
                           Rackbench__Label *const *labels);
/* A copy without them; the caller frees it (rb_plan_destroy). */
Rackbench__Plan *rb_plan_on_host(const Rackbench__Plan *plan, size_t nlabels,
                                 Rackbench__Label *const *labels);

/* Length of a resolved phase [ns]: ramp_time, and runtime (0: bound by bytes or operations). Its
 * jobs agree. */
uint64_t rb_phase_ramp_ns(const Rackbench__Phase *phase);
uint64_t rb_phase_runtime_ns(const Rackbench__Phase *phase);
/* Temperature of a drive that ends it [degrees Celsius]; 0: none. */
uint32_t rb_phase_stop_c(const Rackbench__Phase *phase);
/* I/O errors of all hosts together that end it; 0: no number does. */
uint32_t rb_phase_stop_errors(const Rackbench__Phase *phase);
