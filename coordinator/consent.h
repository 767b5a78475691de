/* consent.h - the drives that a run will write, as a table by host, path, model, serial number and
 * size, and the question whether that is meant.
 *
 * Made from what the agents answered to the plan, so from identities that they have read, not from
 * the plan's words. Main thread.
 */
#pragma once

#include "coordinator/fleet.h"
#include "coordinator/run.h"

/* May the plan write to a device at all? */
bool rb_consent_needed(const Rackbench__Plan *plan);

/* A line of titles and one a drive, under an array also one for each drive that it lies on; owned
 * by the caller. "": no device is written. What a guard refuses is not in it. run has had all
 * answers to LOAD. */
char *rb_consent_table(const rb_run_t *run, const Rackbench__Plan *plan, const rb_fleet_t *fleet);

/* A person at the terminal types the plan's name. Interrupting signals end the program meanwhile.
 * RB_ERR_UNSAFE: anything else was typed, or nothing. */
int rb_consent_ask(const char *table, const Rackbench__Plan *plan, rb_err_t *err);
/* The run is about to write what table says: shows it, or, where something was confirmed (not
 * NULL), refuses (RB_ERR_UNSAFE) what differs from that. */
int rb_consent_hold(const char *table, const char *confirmed, rb_err_t *err);
