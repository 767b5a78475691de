/* backend.h - how I/O is done: one small table of functions, called per batch by one worker.
 *
 * Everything but `open` and `close` is hot: no lock, no allocation, no log. A backend is used by
 * the thread that opened it, alone. Buffers, file descriptor and slots belong to the worker.
 */
#pragma once

#include "common/err.h"
#include "proto/sample.h"

/* Most operations that one submission or one reap takes, and so that one clock read stands for
 * (measurement.md 2). */
enum { RB_BATCH = 8 };

/* What the workload wants next; slot is filled in by the worker. */
typedef struct {
    uint64_t offset_bytes; /* in the file or device */
    uint32_t slot;         /* [0, iodepth) */
    rb_op_t op;
} rb_io_t;

typedef struct {
    uint32_t slot;
    int32_t res; /* bytes, or -errno */
} rb_done_t;

typedef struct {
    int fd;
    uint32_t iodepth;
    uint32_t bs_bytes;
    size_t stride_bytes;           /* from one slot's buffer to the next */
    uint8_t *buffers[RB_OP_COUNT]; /* [iodepth x stride_bytes] of each op; NULL: op is not used */
} rb_backend_opts_t;

typedef struct {
    const char *name;
    /* NULL on failure: RB_ERR_IO or RB_ERR_INPUT names what was refused. */
    void *(*open)(const rb_backend_opts_t *opts, rb_err_t *err);
    /* Takes n <= RB_BATCH operations; only when the last submit or wait left none behind. */
    void (*queue)(void *self, const rb_io_t *ios, uint32_t n);
    /* Hands over what is queued, and lets reap see what has completed. Returns how many stayed
     * behind (short of memory; the next submit or wait tries again), or -errno. */
    int (*submit)(void *self);
    /* The same, then blocks until one operation is complete or timeout_ns passed. */
    int (*wait)(void *self, uint64_t timeout_ns);
    /* Takes up to max completions without blocking. */
    uint32_t (*reap)(void *self, rb_done_t *ret_done, uint32_t max);
    /* Asks for all that is in flight to be given up; each still comes back through reap. */
    void (*cancel)(void *self);
    /* Nothing may be in flight. */
    void (*close)(void *self);
} rb_backend_t;
