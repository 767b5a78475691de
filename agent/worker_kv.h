/* worker_kv.h - a worker whose I/O is a drive's share of a KV cache (kv_queue.h): what is due comes
 * from there instead of a workload and a rate.
 *
 * One worker a drive; iodepth is how many I/Os it has in flight. The worker's thread; hot, but for
 * set and prepare.
 */
#pragma once

#include "agent/worker.h"

/* As rb_worker_verify_set and the block workload's: sizes, and that nothing else in the job gets in
 * the way. RB_ERR_INPUT. */
int rb_worker_kv_set(rb_worker_t *w, rb_err_t *err);
/* The queue, and a drive that is full; w->fd is open. RB_ERR_IO, RB_ERR_INTERRUPTED. */
int rb_worker_kv_prepare(rb_worker_t *w, rb_err_t *err);
/* That prepare writes: prefill of a device; 0: nothing, or no KV cache. Main thread, once set. */
uint64_t rb_worker_kv_fill_bytes(const rb_worker_t *w);
void rb_worker_kv_clear(rb_worker_t *w);

void rb_worker_kv_begin(rb_worker_t *w);
/* As rb_worker_take_due, but the operations are in w->ios, too. */
uint32_t rb_worker_kv_take(rb_worker_t *w, uint64_t now_ns, uint32_t n);
uint64_t rb_worker_kv_due_ns(const rb_worker_t *w);
/* As rb_worker_fill: data of writes, and which I/O each slot holds. */
void rb_worker_kv_fill(rb_worker_t *w, uint32_t n);
/* An operation in a slot came back: as rb_worker_check; or it failed, or moved no data. */
bool rb_worker_kv_check(rb_worker_t *w, uint32_t index, rb_io_error_t *ret_error);
void rb_worker_kv_done(rb_worker_t *w, uint32_t index, bool failed);
