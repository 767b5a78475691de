/* verify_log_writer.h - keeps the log of acknowledged writes (verify_log.h) while they go on.
 *
 * A ring per worker takes each write as its completion is seen; one thread per log empties all of
 * them every RB_LOG_PERIOD_MS into the file and calls fdatasync. A place of a ring is free again
 * when its write is durable in the file: so a worker that finds no place for what it may yet have
 * in flight waits with new submissions, and no record is lost. What was acknowledged since the last
 * fdatasync is not in the log after a power cut: it is then not looked for, and nothing wrong is
 * said of it.
 *
 * A ring has one producer (the worker: no lock, no system call) and one consumer (the thread): the
 * worker releases `head`, the thread releases `tail`. A worker pays some 3 ns a write.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>

#include "agent/verify_log.h"
#include "agent/worker_crew.h"

enum {
    RB_LOG_PERIOD_MS = 10,
    RB_LOG_RING = 1 << 16 /* [writes] that are not durable yet, of one worker: 1 MiB */
};

typedef struct {
    alignas(64) _Atomic uint64_t head; /* written by the worker */
    alignas(64) _Atomic uint64_t tail; /* durable up to here; written by the thread */
    alignas(64) uint64_t taken;        /* the thread's: in the file up to here */
    uint32_t drive;                    /* by order in the head */
    rb_log_write_t writes[RB_LOG_RING];
} rb_log_ring_t;

/* Worker: how many more writes there are places for. */
static inline uint64_t rb_log_ring_room(rb_log_ring_t *r)
{
    return RB_LOG_RING - (atomic_load_explicit(&r->head, memory_order_relaxed) -
                          atomic_load_explicit(&r->tail, memory_order_acquire));
}

/* Worker; there is room. */
static inline void rb_log_ring_push(rb_log_ring_t *r, rb_log_write_t write)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    r->writes[head % RB_LOG_RING] = write;
    atomic_store_explicit(&r->head, head + 1, memory_order_release);
}

/* Worker, after its last write: blocks until all are durable, or the log has failed. */
void rb_log_ring_flush(rb_log_ring_t *r);

typedef struct rb_log_writer rb_log_writer_t;

/* Of drives [head.ndrives], workers on each side by side: ring i is of drive i / workers. Takes the
 * head's contents; allocates no ring and creates no file yet. crew outlives it. */
rb_log_writer_t *rb_log_writer_new(const char *path, const rb_pin_t *pin, rb_log_head_t *head,
                                   uint32_t workers, rb_crew_t *crew);
/* Ends the thread. Removes the file if no write was logged. */
void rb_log_writer_destroy(rb_log_writer_t **writer);

/* Makes the file in the pinned directory, durably, and starts the thread. RB_ERR_INPUT: it exists
 * already; RB_ERR_UNSAFE (agent/pin); RB_ERR_IO. */
int rb_log_writer_open(rb_log_writer_t *writer, rb_err_t *err);
rb_log_ring_t *rb_log_writer_ring(rb_log_writer_t *writer, uint32_t i); /* after open */
/* Ends the thread, after the workers. RB_ERR_IO: the log could not be written; the workers were
 * stopped then. Idempotent. */
int rb_log_writer_close(rb_log_writer_t *writer, rb_err_t *err);
/* After close: writes that are durable in the file, in how many batches. */
void rb_log_writer_count(const rb_log_writer_t *writer, uint64_t *ret_writes,
                         uint64_t *ret_batches);
