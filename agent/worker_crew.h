/* worker_crew.h - what the engine's main thread and its workers share, and nothing else is shared.
 *
 * The lock is for before the start and after the end; in between a worker only loads stop_ns, once
 * a turn, and writes to the eventfd at the border of a window.
 */
#pragma once

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "agent/timeline.h"
#include "common/err.h"

/* Hundreds of workers that lay out and fault in memory at once would leave the main thread no turn
 * to answer the coordinator; drives are still laid out side by side. */
enum { RB_PREPARE_AT_ONCE = 16 };

typedef struct {
    int event_fd; /* readable: something changed */
    pthread_mutex_t mutex;
    pthread_cond_t changed; /* armed or give_up */
    sem_t preparing;        /* how many workers may prepare at the same time */
    bool armed;             /* under mutex, as the next */
    rb_timeline_t armed_at; /* T0 and the drift that ARM told */
    rb_err_t fault;         /* under mutex: the first failure of PREPARE */

    _Atomic uint64_t stop_ns; /* no submission at or after it; UINT64_MAX: as planned */
    atomic_bool give_up;      /* nobody wants the result: leave at once */
    atomic_uint prepared;     /* workers that are ready for the start */
    atomic_uint ended;        /* workers that are gone, files closed */
    _Atomic uint64_t layout_done_bytes;

    /* What was told of the common clock since: all of a piece while `told` is even and the same
     * before and after. */
    _Atomic uint32_t told;
    _Atomic uint64_t told_at_ns, told_ns;
    _Atomic int64_t told_drift_ppb;
} rb_crew_t;

void rb_crew_init(rb_crew_t *crew);
void rb_crew_clear(rb_crew_t *crew);

void rb_crew_notify(rb_crew_t *crew);
/* Keeps the first fault and lets everybody go. */
void rb_crew_fail(rb_crew_t *crew, const rb_err_t *err);
rb_err_t rb_crew_fault(rb_crew_t *crew);
void rb_crew_give_up(rb_crew_t *crew);
void rb_crew_arm(rb_crew_t *crew, uint64_t t0_ns, int64_t drift_ppb);
/* Blocks until armed; false: given up. */
bool rb_crew_await_arm(rb_crew_t *crew);
/* Moves the end forward to at_ns if it was later. */
void rb_crew_stop(rb_crew_t *crew, uint64_t at_ns);

/* Main thread: the common clock as it was told last. */
void rb_crew_tell(rb_crew_t *crew, const rb_timeline_t *line);
/* Worker: takes that over. Never waits; false: nothing new, or it is being told right now. */
bool rb_crew_look(rb_crew_t *crew, rb_timeline_t *line);
