/* target_logs.h - where the logs of acknowledged writes (verify_log) may lie on this host.
 *
 * A part of agent/targets. Main thread; a few system calls a log. The directory must be one that
 * plans may lay out files in; the name itself must be new for a job that writes, and a regular file
 * for one that reads, never a symbolic link.
 */
#pragma once

#include "agent/targets.h"

/* Of all phases, before any runs: touches nothing. A log that an earlier phase writes need not be
 * there yet. RB_ERR_INPUT names the job. */
int rb_target_logs_check(const Rackbench__Plan *plan, const rb_allowances_t *allowances,
                         rb_err_t *err);
typedef struct {
    size_t n;
    rb_log_place_t *items; /* [n] one a job that has a log; paths are the phase's */
} rb_log_places_t;

/* Of one phase that is about to run, again; makes the scratch directory for a log in it. Pins their
 * directories: *ret_places, whose former items it reuses, is the caller's to free. */
int rb_target_logs_phase(const Rackbench__Phase *phase, const rb_allowances_t *allowances,
                         rb_log_places_t *ret_places, rb_err_t *err);
