/* emit.h - a plan as YAML text, for plan.resolved.yaml and `check`.
 *
 * By reflection, with exact units: rb_plan_load reads the text back to an equal plan. Any thread.
 */
#pragma once

#include "rackbench.pb-c.h"

/* Owned by the caller. */
char *rb_plan_emit(const Rackbench__Plan *plan);
