/* worker_start.h - the wait for T0: asleep until just before it, then awake.
 *
 * A sleeper wakes up some 50 us late, so the last 200 us are spun away; however many workers do so,
 * that costs no more than 200 us of each core. Where the system lets us (root, CAP_SYS_NICE or
 * RLIMIT_RTPRIO) the wait and the first submission are SCHED_FIFO: neither another process nor the
 * spinning of a worker that has not come to its turn yet holds the start up.
 *
 * Measured on 2 cores, 30 starts each in turns: tests/bench/README.md.
 */
#pragma once

#include "agent/worker_crew.h"

#include <sched.h>

typedef struct {
    bool raised;
    int policy; /* before */
    struct sched_param param;
} rb_start_t;

/* From READY on, while the thread still may; it sleeps until ARM. */
void rb_start_raise(rb_start_t *start);
/* False: stopped before T0. The caller submits at once, then calls rb_start_done either way. */
bool rb_start_await(rb_crew_t *crew, uint64_t t0_ns);
/* Gives the precedence back; idempotent. */
void rb_start_done(rb_start_t *start);
