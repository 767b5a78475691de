/* power.h - the NVMe power state that a phase asks for (power_state): set before READY, and what it
 * was before given back when the phase is over.
 *
 * Set Features changes the drive for all its namespaces and until it is reset, so the guard
 * (common/guard) lets it happen only to drives of --allow-device that nobody uses. Set by a probe
 * (agent/probe), given back by the main thread, while no I/O of ours runs; two or three admin
 * commands a drive, of which each may block for as long as the drive takes. An agent that is killed
 * (SIGKILL, power) gives nothing back.
 *
 * Source: NVM Express Base Specification 2.0, feature 02h (Power Management).
 */
#pragma once

#include "agent/engine.h"

typedef struct {
    char *path;
    int fd;
    uint32_t before; /* the feature's value: state and workload hint */
    bool changed;    /* false: it was in the wanted state */
} rb_power_item_t;

/* Zeroed at the start. */
typedef struct {
    size_t n;
    rb_power_item_t *items; /* [n] in the order of setting; a controller may be there twice */
} rb_power_t;

typedef struct {
    const Rackbench__Plan *plan;
    const Rackbench__Phase *phase; /* its jobs here; their targets stand in the plan */
    const rb_subject_t *subjects;  /* [nsubjects] of the phase */
    size_t nsubjects;
} rb_power_wish_t;

/* On failure some drives may be set: restore. RB_ERR_INPUT: no NVMe drive, a state that it does not
 * have or does no I/O in, two jobs that want different ones; RB_ERR_IO: the drive refuses. */
int rb_power_set(rb_power_t *power, const rb_power_wish_t *wish, rb_err_t *err);

typedef void rb_power_tell_fn(void *ctx, const char *text);
/* Gives back, the last one first, and forgets; idempotent. A drive that does not take its state
 * back is told. */
void rb_power_restore(rb_power_t *power, rb_power_tell_fn *tell, void *ctx);
