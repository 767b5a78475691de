/* phase_start.h - what PREPARE does on this host: looks at the phase's targets again, sets power
 * states, watches the drives, and makes the engine. A part of agent/shell; main thread.
 */
#pragma once

#include "agent/health.h"
#include "agent/power.h"
#include "agent/targets.h"

typedef struct {
    const Rackbench__Plan *plan;   /* outlives the engine, as the next two */
    const Rackbench__Phase *phase; /* what is run */
    const char *run_id, *host;
    const Rackbench__Prepare *prepare;
    size_t nlabels;
    Rackbench__Label *const *labels; /* [nlabels] of this host */
    rb_targets_t *targets;
    rb_health_t *health;
    rb_power_t *power; /* restored by the caller, after a failure, too */
} rb_phase_start_t;

/* NULL: as rb_targets_phase, rb_power_set and rb_engine_new fail. */
rb_engine_t *rb_phase_start(const rb_phase_start_t *start, rb_err_t *err);
