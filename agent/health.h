/* health.h - reads drives and host at the borders of a phase and every 10 s in it, in a thread of
 * its own: what a drive is asked may block, and the main thread and the workers must not.
 *
 * The instants are the same on every host (T0 + k x 10 s on the common clock) and stand in the
 * rows, as an admin command costs some drives a hiccup. The first reading of a phase is complete
 * before READY is told, the last one after all I/O is: neither is in the measured interval. A drive
 * that does not answer delays either by RB_HEALTH_PATIENCE_S at most.
 *
 * All functions are the main thread's and do not block. Rows come in the order of time; at most
 * RB_MAX_READINGS wait, further periodic ones are left out.
 */
#pragma once

#include "agent/engine.h"

enum { RB_HEALTH_PERIOD_S = 10, RB_HEALTH_PATIENCE_S = 2, RB_MAX_READINGS = 64 };

typedef struct rb_health rb_health_t;

/* sysfs: where it is mounted, for the figures of the host; outlives the object. NULL:
 * RB_ERR_INTERNAL, no thread to be had. */
rb_health_t *rb_health_new(const char *sysfs, rb_err_t *err);
/* Leaves the thread to itself if a drive keeps it. */
void rb_health_destroy(rb_health_t **health);
int rb_health_fd(const rb_health_t *health); /* readable: call rb_health_poll */
void rb_health_poll(rb_health_t *health);

typedef struct {
    uint32_t phase;
    const rb_subject_t *subjects; /* [nsubjects] */
    size_t nsubjects;
    uint32_t stop_c; /* temperature at which the phase is to end [degrees Celsius]; 0: none */
} rb_health_watch_t;

/* A phase is prepared: forgets what an earlier one left. */
void rb_health_watch(rb_health_t *health, const rb_health_watch_t *watch);
/* May the session be told of this state of the engine? Of READY and DRAINED only once the drives
 * are read, have taken too long, or there are none: the first call asks for the reading. */
bool rb_health_border(rb_health_t *health, rb_engine_state_t state);
/* From now on T0 is known, and rows may go out; then as rb_engine_tell. */
void rb_health_arm(rb_health_t *health, uint64_t t0_ns, int64_t drift_ppb);
void rb_health_tell(rb_health_t *health, uint64_t at_ns, uint64_t local_ns, int64_t drift_ppb);
/* Emits what has been read since, as HEALTH rows, each followed by EVENT rows of what it says
 * against the one before (agent/health_judge). Rows as rb_engine_rows has them. */
void rb_health_rows(rb_health_t *health, rb_row_emit_fn *emit, void *ctx);
/* Did a reading that was emitted reach stop_c? RB_ERR_IO then, which names the drive; else RB_OK.
 */
const rb_err_t *rb_health_fault(const rb_health_t *health);
/* The run is over: nothing is watched, and what the next one finds is new. */
void rb_health_release(rb_health_t *health);
