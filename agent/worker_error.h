/* worker_error.h - what failed, or was read and is wrong: which errors end a worker, which are only
 * counted.
 *
 * Cold; written by the worker, read by the main thread after it ended.
 */
#pragma once

#include "agent/verify.h"
#include "proto/sample.h"

enum {
    RB_MAX_IO_ERRORS = 10,  /* that one worker tells in full */
    RB_MAX_ERROR_KINDS = 16 /* that it counts apart; the last one takes all others */
};

typedef struct {
    uint64_t at_ns, offset_bytes;
    uint32_t size_bytes;
    rb_op_t op;              /* RB_OP_COUNT: the backend itself */
    int32_t res;             /* -errno, or how many bytes it came to */
    rb_verify_found_t found; /* verdict OK: the operation itself failed */
} rb_io_error_t;

typedef struct {
    rb_op_t op;
    int32_t res;          /* -errno; 0: too short */
    rb_verdict_t verdict; /* not OK: what was read is wrong */
    uint64_t count;
} rb_error_kind_t;

typedef struct {
    uint32_t tolerated; /* bit 1 << op: errors of op do not end the worker */
    rb_io_error_t first[RB_MAX_IO_ERRORS];
    uint32_t nfirst;
    rb_error_kind_t kinds[RB_MAX_ERROR_KINDS];
    uint32_t nkinds;
    bool failed;         /* with `fatal` */
    rb_io_error_t fatal; /* the one that ended the worker */
} rb_worker_errors_t;

/* By the job's continue_on_error: none, read, write (all that changes data, and syncs), all. */
uint32_t rb_worker_errors_tolerated(const Rackbench__Job *job);
/* Counts and keeps it; true: it ends the worker. */
bool rb_worker_errors_add(rb_worker_errors_t *e, const rb_io_error_t *error);
