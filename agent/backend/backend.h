/* backend.h - how I/O is done: one small table of functions, called per batch by one worker.
 *
 * Everything but `open` and `close` is hot: no lock, no allocation, no log. A backend is used by
 * the thread that opened it, alone. Buffers, file descriptor and slots belong to the worker.
 */
#pragma once

#include "common/err.h"
#include "proto/sample.h"

/* Operations that one clock read stands for at most, as submissions or as completions; and that one
 * submission or one reap takes, unless the job asks for more: then up to RB_MAX_BATCH. */
enum { RB_BATCH = 8, RB_MAX_BATCH = 32 };

typedef enum {
    RB_IO_PLAIN = 0,
    RB_IO_DATASYNC = 1 /* fdatasync instead of fsync */
} rb_io_flags_t;

/* What the workload wants next. */
typedef struct {
    uint64_t offset_bytes; /* in the file or device */
    uint32_t size_bytes;   /* at most max_bytes; SYNC: 0 */
    rb_op_t op;
    rb_io_flags_t flags; /* SYNC only */
} rb_io_t;

/* Laid out as io_uring's completions, so that its backend need not copy them. */
typedef struct {
    uint64_t slot;
    int32_t res; /* READ, WRITE: bytes, of zeroes also 0; TRIM, SYNC: 0; or -errno */
    uint32_t unused;
} rb_done_t;

/* Alternatives that were taken because of fallback: allow; a sentence each. */
enum { RB_MAX_TOLD = 4, RB_TOLD_SIZE = 256 };
typedef struct {
    uint32_t n;
    char text[RB_MAX_TOLD][RB_TOLD_SIZE];
} rb_told_t;

typedef enum { RB_TARGET_FILE, RB_TARGET_DEVICE } rb_target_kind_t;

typedef struct {
    int fd;
    rb_target_kind_t kind;
    bool nowait_refused; /* the target refuses non-blocking I/O */
    uint32_t iodepth;
    uint32_t ops;                  /* bit 1 << op of each op that may come */
    uint32_t max_bytes;            /* of one operation: the size of a buffer */
    size_t stride_bytes;           /* from one slot's buffer to the next */
    uint8_t *buffers[RB_OP_COUNT]; /* [iodepth x stride_bytes] of each op; NULL: has none */
    bool stable; /* a WRITE is on the medium when it is complete; fd sees to it where it can */
    bool zeroes; /* a WRITE makes zeros of its range and has no buffer */

    bool hipri, sqthread_poll, fallback; /* as in the plan */
    rb_told_t *told;
} rb_backend_opts_t;

typedef struct {
    const char *name;
    uint32_t max_iodepth;
    /* NULL on failure: RB_ERR_IO or RB_ERR_INPUT names what was refused, and the alternative.
     * May read from the target, never writes to it. */
    void *(*open)(const rb_backend_opts_t *opts, rb_err_t *err);
    /* Takes n <= RB_MAX_BATCH operations, each with a slot in [0, iodepth) that is in no use; only
     * when the last submit or wait left none behind. */
    void (*queue)(void *self, const rb_io_t *ios, const uint32_t *slots, uint32_t n);
    /* Hands over what is queued, and lets reap see what has completed. Returns how many stayed
     * behind (short of memory; the next submit or wait tries again), or -errno. */
    int (*submit)(void *self);
    /* The same, then blocks until `min` operations (at least 1, at most those in flight) are
     * complete or timeout_ns passed. With nothing in flight: sleeps timeout_ns. */
    int (*wait)(void *self, uint32_t min, uint64_t timeout_ns);
    /* Takes up to max <= RB_MAX_BATCH completions without blocking; *ret_done is valid until the
     * next call. */
    uint32_t (*reap)(void *self, uint32_t max, const rb_done_t **ret_done);
    /* Asks for all that is in flight to be given up; each still comes back through reap. */
    void (*cancel)(void *self);
    /* Nothing may be in flight. */
    void (*close)(void *self);
} rb_backend_t;

/* An option that kernel or target refuses: `why` says so, `remedy` what to change. With
 * opts->fallback it returns 0 and tells why and `taken`, what is done instead; else -1 and
 * RB_ERR_INPUT "why; remedy or set fallback: allow". */
int rb_backend_refuse(const rb_backend_opts_t *opts, const char *why, const char *remedy,
                      const char *taken, rb_err_t *err);
