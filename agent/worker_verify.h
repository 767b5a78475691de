/* worker_verify.h - what verify and verify_log add to a worker's loop.
 *
 * The worker's thread. Hot for jobs that verify, of no cost to others: these call rb_worker_fill
 * for their writes and nothing else. No allocation after rb_worker_verify_prepare.
 */
#pragma once

#include "agent/worker.h"

/* Of a job that verifies: which blocks are stamped or checked, whose counter the writes are of.
 * RB_ERR_INPUT: blocks that cannot be verified. */
int rb_worker_verify_set(rb_worker_t *w, rb_err_t *err);
/* In PREPARE, after the slots were made: opens or reads the log. */
int rb_worker_verify_prepare(rb_worker_t *w, rb_err_t *err);
/* After the last completion: blocks until all that this worker has logged is durable. */
void rb_worker_verify_end(rb_worker_t *w);
void rb_worker_verify_clear(rb_worker_t *w);

/* Of n operations that may be taken, how many now: so that no write overtakes one to the same block
 * that is in flight, and each completion finds a place in the log. */
uint32_t rb_worker_room(rb_worker_t *w, uint32_t n);
/* The batch of n in w->taken: the data of writes, what reads are to find. */
void rb_worker_fill(rb_worker_t *w, uint32_t n);
/* The operation of a slot came in full. false: what was read is wrong; fills all of *ret_error but
 * the time. */
bool rb_worker_check(rb_worker_t *w, uint32_t slot, rb_io_error_t *ret_error);
/* A write failed: it is in flight no more. */
void rb_worker_unwritten(rb_worker_t *w, uint32_t slot);
/* After the last completion, until false: a block that turned out to be stale when all of the job
 * and drive was read. Only the last worker that comes here gets any. */
bool rb_worker_take_stale(rb_worker_t *w, rb_io_error_t *ret_error);
