/* errand.h - what a coordinator asks of this host that has to look at drives and files: a plan's
 * targets (LOAD), a phase's subjects (PREPARE), the removal of files (CLEAN).
 *
 * Made and read by the main thread, done by a probe (agent/probe): it belongs to one of the two at
 * a time. The errand that loaded a plan is that plan on this host, and is lent again for each of
 * its phases.
 */
#pragma once

#include "agent/power.h"
#include "agent/targets.h"

typedef enum { RB_ERRAND_LOAD, RB_ERRAND_PREPARE, RB_ERRAND_CLEAN } rb_errand_kind_t;

typedef struct {
    rb_errand_kind_t kind;
    const rb_allowances_t *allowances; /* outlives every thread */
    char *host;                        /* our name in the host list */
    Rackbench__Plan *plan;             /* LOAD: without jobs that do not run here */
    rb_targets_t *targets;             /* NULL: not loaded, fault says why */
    Rackbench__Phase *phase;           /* PREPARE: likewise */
    size_t nsubjects;
    const rb_subject_t *subjects; /* PREPARE: [nsubjects], borrowed from targets */
    rb_power_t power;             /* PREPARE: set; given back by the shell, or when it is freed */
    rb_cleaned_t cleaned;         /* CLEAN */
    rb_err_t fault;               /* code RB_OK: none */
} rb_errand_t;

/* All that is handed over is the errand's. */
rb_errand_t *rb_errand_new(rb_errand_kind_t kind, const rb_allowances_t *allowances,
                           const char *host, Rackbench__Plan *plan);
void rb_errand_destroy(rb_errand_t **errand);
/* The next phase of a plan that was loaded; phase is taken. */
void rb_errand_next(rb_errand_t *errand, Rackbench__Phase *phase);

/* As a probe wants them. */
void rb_errand_run(void *errand);
void rb_errand_drop(void *errand);
