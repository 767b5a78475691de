/* plan_source.h - from a PLAN argument to a resolved plan: preset, file, --set, defaults, rules.
 *
 * Main thread.
 */
#pragma once

#include "coordinator/options.h"
#include "coordinator/plan/fio_import.h"
#include "coordinator/plan/place.h"
#include "rackbench.pb-c.h"

typedef struct {
    char *text;            /* owned; as given */
    Rackbench__Plan *plan; /* owned; resolved */
    Rackbench__Plan *run;  /* owned; the same as it is run: sweeps unfolded */
    rb_places_t *places;   /* owned */
} rb_plan_source_t;

/* A name without '/' and without a suffix is a preset, *.fio a job file of fio, everything else a
 * YAML file. Applies every --set. What a job file does not say alike goes to standard error, unless
 * --quiet. RB_ERR_INPUT. */
rb_plan_source_t *rb_plan_source_new(const char *argument, const rb_options_t *options,
                                     rb_err_t *err);
/* A fio job file as it stands, --set and defaults left out. RB_ERR_INPUT. */
rb_fio_import_t *rb_plan_source_import(const char *argument, const rb_options_t *options,
                                       rb_err_t *err);
void rb_plan_source_destroy(rb_plan_source_t **source);
