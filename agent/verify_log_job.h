/* verify_log_job.h - the log of one job on this host, as its workers share it: written if the job
 * writes, read if it is to check what an earlier run wrote.
 *
 * The first worker that comes opens it, the others wait on its mutex. Only before the start.
 */
#pragma once

#include "agent/verify_log_writer.h"
#include "proto/wire.h"

typedef struct {
    const Rackbench__Job *job; /* has verify_log; outlives the log, as the crew and run_id */
    rb_crew_t *crew;
    const char *run_id;
    uint32_t phase, job_index;
    size_t ndrives;
    const char *const *drives; /* [ndrives] paths of the job's drives, in their order; copied */
    rb_pin_t pin;              /* the directory of the log */
} rb_job_log_opts_t;

typedef struct {
    const Rackbench__Job *job;
    rb_pin_t pin;
    pthread_mutex_t mutex;
    bool tried;     /* under mutex, as the next: whoever comes later gets the same answer */
    rb_err_t fault; /* RB_OK: prepared */
    rb_log_writer_t *writer; /* NULL: the job reads */
    rb_log_t *log;           /* NULL: it writes, or is not prepared */
} rb_job_log_t;

rb_job_log_t *rb_job_log_new(const rb_job_log_opts_t *opts);
void rb_job_log_destroy(rb_job_log_t **log);

/* Blocks. RB_ERR_INPUT, RB_ERR_UNSAFE, RB_ERR_IO (verify_log.h, verify_log_writer.h). RB_ERR_IO
 * too: the log to read is damaged before its end, and the job does not continue on errors of reads.
 */
int rb_job_log_prepare(rb_job_log_t *log, rb_err_t *err);
/* Prepared, of a job that reads: what the log has of a drive. RB_ERR_INPUT: nothing, or another bs
 * was written; names both. */
const rb_log_blocks_t *rb_job_log_blocks(const rb_job_log_t *log, const char *path,
                                         uint64_t bs_bytes, rb_err_t *err);
