/* engine.h - runs one phase on this host: lays out, prepares, starts at T0, measures, drains.
 *
 * One thread per worker (job x drive x numjobs), each with a ring, buffers, histograms and clock
 * reads of its own. All functions here are called by the agent's main thread and never block on
 * I/O. Progress is announced on rb_engine_fd (an eventfd that becomes readable on every change of
 * state and on every closed window); then call rb_engine_poll.
 */
#pragma once

#include <sys/types.h>

#include "agent/kv_share.h"
#include "agent/pin.h"
#include "proto/sample.h"

typedef struct rb_engine rb_engine_t;

/* One drive or file of one target, as agent/targets resolved it. */
typedef struct {
    uint32_t target, drive; /* indices: in the plan, within target and host */
    char path[4096];
    bool is_device;
    uint64_t size_bytes;          /* usable: of the device, or wanted of the file */
    uint32_t logical_block_bytes; /* of the device; for files what O_DIRECT needs (512 or 4096) */
    bool needs_layout;            /* file is not there in full */
    /* What the guard judged, which the path may not lead to any more: the device, or the directory
     * that the file is in. ino 0: not pinned. */
    dev_t pinned_dev;
    ino_t pinned_ino;
    uint64_t pinned_diskseq; /* of the device; 0: not known */
} rb_subject_t;

/* The directory of a log of acknowledged writes (verify_log), as it was judged. */
typedef struct {
    const char *path; /* of the log */
    rb_pin_t pin;
} rb_log_place_t;

typedef struct {
    const Rackbench__Plan *plan; /* resolved; outlives the engine */
    uint32_t phase;              /* number of the step: rows carry it */
    /* What is run; outlives the engine. NULL: the plan's phase of that index. */
    const Rackbench__Phase *override;
    const char *run_id;           /* of blocks that are verified; seeds the data, too */
    const char *host;             /* name as spelled in the host list; selects nothing, seeds all */
    const rb_subject_t *subjects; /* [nsubjects] of the targets that this phase uses; copied */
    size_t nsubjects;
    const rb_log_place_t *logs; /* [nlogs] of the jobs here; one that is missing is not pinned */
    size_t nlogs;
    const bool *jobs_here; /* [n_jobs of the phase]: does this host take part in the job; copied */
    /* [n_jobs]: workers of the cluster that share a job's rate, and the number of this host's
     * first. NULL: this host is all. */
    const uint32_t *cluster_workers, *first_worker;
    rb_kv_share_opts_t kv; /* of a job with a kv_cache: all but `cache` and `seed`; copied */
} rb_engine_opts_t;

typedef enum {
    RB_ENGINE_PREPARING, /* layout, open, register */
    RB_ENGINE_READY,     /* from here to T0 nothing of ours touches a drive */
    RB_ENGINE_FAILED,    /* PREPARE failed or was stopped: rb_engine_fault says why */
    RB_ENGINE_ARMED,     /* from arm to the end of the last drain */
    RB_ENGINE_DRAINED    /* every worker has ended; rb_engine_fault may hold an I/O error */
} rb_engine_state_t;

/* Spawns the workers, which lay out and prepare. What only a worker can find out (open, layout,
 * ring, locked memory) is a fault later; NULL at once: RB_ERR_INPUT, a job does not fit a drive or
 * has too many workers; RB_ERR_INTERNAL, no thread to be had. */
rb_engine_t *rb_engine_new(const rb_engine_opts_t *opts, rb_err_t *err);
/* Stops at once if running (waits for what is in flight, cancels what does not come back), joins
 * all. At most a second, unless the kernel holds an I/O. */
void rb_engine_destroy(rb_engine_t **engine);

/* Rows of so many windows from here on, but around events (thin.h). */
void rb_engine_set_span(rb_engine_t *engine, uint32_t span);

int rb_engine_fd(const rb_engine_t *engine);
/* Drains the eventfd. All changes of state but those of arm and stop happen in here. */
rb_engine_state_t rb_engine_poll(rb_engine_t *engine);
/* Code RB_OK: none. RB_ERR_IO: "read 4 KiB at 812 GiB of PATH: Input/output error", the first of
 * this host; "verify: PATH at 812 GiB (sector N): found ..."; "lay out PATH: ...". RB_ERR_UNSAFE:
 * somebody else holds a device to be written. RB_ERR_INTERRUPTED: stopped before arm. */
const rb_err_t *rb_engine_fault(const rb_engine_t *engine);
/* Of the layout. */
void rb_engine_progress(const rb_engine_t *engine, uint64_t *ret_done_bytes,
                        uint64_t *ret_total_bytes);

/* READY -> ARMED; only in READY. t0_ns in this host's CLOCK_MONOTONIC, in the past = at once;
 * drift_ppb of this clock against the common one. */
void rb_engine_arm(rb_engine_t *engine, uint64_t t0_ns, int64_t drift_ppb);
/* ARMED: at_ns since T0 on the common clock is local_ns on this one, which runs drift_ppb fast from
 * there on: borders of windows and the end as planned follow it. Any other state: nothing. */
void rb_engine_tell(rb_engine_t *engine, uint64_t at_ns, uint64_t local_ns, int64_t drift_ppb);
/* ARMED: M ends at te_ns (this clock; 0 or the past = now), seen by every worker within
 * RB_STOP_POLL_MS; only ever earlier than before. READY or PREPARING: gives up, the state is
 * FAILED. Idempotent. */
void rb_engine_stop(rb_engine_t *engine, uint64_t te_ns);

/* As rb_engine_stop at once, for a reason that becomes the fault, if it has none yet; RB_OK: none.
 */
void rb_engine_fail(rb_engine_t *engine, const rb_err_t *reason);

/* Rows that are due: READY gives DRIVES, PLACEMENT, LAYOUT and EVENT (iowq, fallback, batched_reap,
 * cpu_quota, placement) rows; while ARMED each WINDOW that all workers have closed, and EVENT
 * (io_hung) rows; after DRAINED the last windows, then WORKER, EVENT (io_error, verify_error,
 * io_errors, drain_cancelled, verify_log, verify_limited, steal), KERNEL and CPU rows. Nothing in
 * FAILED. Calls emit with row->seq = 0 for the caller to number; the row is borrowed for the call.
 * Not calling it loses nothing: workers then merge windows (span > 1). */
typedef void rb_row_emit_fn(void *ctx, rb_row_t *row);
void rb_engine_rows(rb_engine_t *engine, rb_row_emit_fn *emit, void *ctx);
