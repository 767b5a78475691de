/* phase_start.h - a phase whose subjects are known begins on this host: its drives are watched and
 * the engine is made. A part of agent/shell; main thread.
 */
#pragma once

#include "agent/errand.h"
#include "agent/health.h"

typedef struct {
    const Rackbench__Plan *plan;   /* outlives the engine, as all of these but the labels */
    const Rackbench__Phase *phase; /* what is run */
    uint32_t number;               /* of the step */
    const char *run_id, *host;
    size_t nlabels;
    Rackbench__Label *const *labels; /* [nlabels] of this host */
    const rb_errand_t *here;         /* PREPARE, done */
    rb_health_t *health;
    const Rackbench__Prepare *prepare; /* for the call */
} rb_phase_start_t;

/* NULL: the errand's fault, or as rb_engine_new fails. */
rb_engine_t *rb_phase_start(const rb_phase_start_t *start, rb_err_t *err);
