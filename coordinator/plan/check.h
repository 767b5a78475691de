/* check.h - the rules that a plan must keep beyond what its keys say one by one.
 *
 * Tables of rules per plan, target, phase and job; each error stands at its place in the file and
 * says what would be right. What depends on a host (sizes of devices, space, what is in use) is
 * the agents' to check. Any thread; no state.
 */
#pragma once

#include "common/err.h"
#include "coordinator/plan/place.h"
#include "rackbench.pb-c.h"

/* The first broken rule of a resolved plan: RB_ERR_INPUT. places may be NULL. */
int rb_plan_check(const Rackbench__Plan *plan, const rb_places_t *places, rb_err_t *err);
