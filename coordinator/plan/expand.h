/* expand.h - the plan as it is run: each point of a sweep, and each fill, is a phase of its own.
 *
 * Agents, journal and results know points as phases: an agent's guard judges every one before the
 * run begins, and a run that is resumed goes on at the next one. Any thread; no state.
 */
#pragma once

#include "rackbench.pb-c.h"

#include <stddef.h>

/* How many points the phase's sweep has: 1 for none. More than RB_MAX_PHASES counts as
 * RB_MAX_PHASES + 1. */
size_t rb_sweep_points(const Rackbench__Phase *phase);

/* The field of a job that a sweep's key means; NULL: none, or one that a sweep cannot set. */
const ProtobufCFieldDescriptor *rb_sweep_field(const Rackbench__Sweep *sweep);

/* A copy of a plan whose sweeps were checked, without them: their points stand in their place, in
 * the order in which they are run, fills (Phase.fill) before the phase that asks for them. The key
 * that is named last changes fastest. */
Rackbench__Plan *rb_plan_expand(const Rackbench__Plan *plan);

/* "iodepth 4, numjobs 2"; "" where the phase is no point. Owned by the caller. */
char *rb_point_text(const Rackbench__Phase *phase);
