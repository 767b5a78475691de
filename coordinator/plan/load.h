/* load.h - a plan from YAML text, and changes to it from the command line.
 *
 * Keys find their fields by reflection (schema.h), so a new plan key is one line of
 * rackbench.proto. The way of a plan: rb_plan_load, rb_plan_set for each --set, rb_plan_resolve.
 * Any thread; no state. A plan is freed with rb_plan_destroy (proto/wire.h).
 */
#pragma once

#include "common/err.h"
#include "coordinator/plan/place.h"
#include "rackbench.pb-c.h"

/* text [size] of at most 1 MiB -> plan as written, without defaults. file stands in messages.
 * NULL and RB_ERR_INPUT "file:line:column: what is wrong, what would be right". *ret_places is the
 * caller's and is given on success only. */
Rackbench__Plan *rb_plan_load(const char *text, size_t size, const char *file,
                              rb_places_t **ret_places, rb_err_t *err);

/* assignment "phases.0.jobs.0.iodepth=64": keys, and for an entry of a list its index from 0 or its
 * name, with dots between; then a value as YAML, so that lists are "[a, b]" and maps "{a: b}". It
 * replaces the value. A job's key at a phase is a default for its jobs, as in the file. Before
 * rb_plan_resolve. RB_ERR_INPUT "--set assignment: ..."; the plan is then only good for destroying.
 * places may be NULL. */
int rb_plan_set(Rackbench__Plan *plan, const char *assignment, rb_places_t *places, rb_err_t *err);
