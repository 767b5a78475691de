/* target_load.h - what a plan's jobs do to a target, and so how far its drives are looked at. Pure;
 * a part of agent/targets.
 */
#pragma once

#include "agent/drives.h"
#include "rackbench.pb-c.h"

typedef enum { RB_LOAD_UNUSED, RB_LOAD_READ, RB_LOAD_WRITTEN } rb_load_t;

rb_load_t rb_load_in_phase(const Rackbench__Phase *phase, const char *target);
rb_load_t rb_load_in_plan(const Rackbench__Plan *plan, const char *target);
bool rb_sets_power(const Rackbench__Phase *phase, const char *target);

/* Signatures keep nobody from reading: only what changes the drive asks for them. */
rb_drive_look_t rb_look_in_phase(const Rackbench__Phase *phase, const char *target);
rb_drive_look_t rb_look_in_plan(const Rackbench__Plan *plan, const char *target);
