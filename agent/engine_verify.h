/* engine_verify.h - the engine's part in verify and verify_log: what the workers of a job share,
 * and what is told of it at the end. Main thread. */
#pragma once

#include "agent/engine_priv.h"

/* For each job and subject of the phase, before its workers are made. */
void rb_engine_verify_init(rb_engine_t *e);
void rb_engine_verify_clear(rb_engine_t *e);
/* What the workers of job j share; for a worker, of subject i, number `ordinal` of the job's. */
void rb_engine_verify_share(rb_engine_t *e, uint32_t j, const rb_engine_opts_t *opts);
void rb_engine_verify_worker(rb_engine_t *e, size_t subject, uint32_t ordinal, rb_worker_opts_t *o);
/* All workers are made: what is written in this phase cannot be watched for stale blocks. */
void rb_engine_verify_unwatch(rb_engine_t *e);

/* All workers have ended. A log that could not be written is the phase's fault, unless there is one
 * already. */
void rb_engine_verify_close(rb_engine_t *e);
/* EVENT rows (verify_log, verify_limited). */
typedef void rb_engine_tell_fn(void *ctx, const char *kind, char *text);
void rb_engine_verify_tell(const rb_engine_t *e, rb_engine_tell_fn *tell, void *ctx);
