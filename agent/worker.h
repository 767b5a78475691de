/* worker.h - one thread: one job on one drive or file, with ring, buffers and histograms of its
 * own.
 *
 * worker.c is the life of the thread, worker_loop.c the measured part, worker_cut.c its borders in
 * time. Between arm and end the worker calls no malloc, lock or log. The main thread reads
 * `windows` and `ended` at any time, all else before the thread starts and after it was joined.
 */
#pragma once

#include "agent/backend/backend.h"
#include "agent/data.h"
#include "agent/kv_share.h"
#include "agent/pace.h"
#include "agent/placement.h"
#include "agent/think.h"
#include "agent/verify_log_job.h"
#include "agent/verify_watch.h"
#include "agent/worker_error.h"
#include "agent/worker_hung.h"
#include "agent/worker_start.h"
#include "agent/worker_subject.h"
#include "agent/worker_window.h"
#include "agent/workload/block.h"

enum {
    RB_STOP_POLL_MS = 50, /* longest time a worker is blocked without looking at stop_ns */
    RB_DRAIN_S = 30       /* after Te: what is still in flight then is cancelled */
};

/* What the WORKER row says; times are of this host's clock, 0 = never. */
typedef struct {
    uint64_t first_due_ns, first_submit_ns, done_ns, end_ns;
    uint64_t stopped_ns; /* when it saw that M was over; 0: it had ended before */
    uint64_t unfinished, oldest_unfinished_ns;
    uint64_t cpu_ns, wall_ns;
    uint64_t offered_ops;
    bool finished;
    uint64_t cancelled;      /* in flight RB_DRAIN_S after Te */
    uint64_t checked, wrong; /* reads that were verified, and those of them that were not right */
    uint64_t log_waits;      /* turns without room in the log */
    rb_worker_errors_t errors;
} rb_worker_account_t;

/* A write that is in flight; of a job that reads by a log: what its slot is to find. */
typedef struct {
    uint64_t offset_bytes; /* UINT64_MAX: none */
    uint64_t sequence;
    uint64_t sure; /* to log: this write, or an older one that may end after it */
} rb_worker_write_t;

typedef struct {
    rb_crew_t *crew; /* outlives the worker, as the next three */
    rb_worker_subject_t *subject;
    const Rackbench__Job *job;
    _Atomic uint64_t *cursor; /* of this job and subject */
    const rb_backend_t *backend;
    uint32_t phase, job_index, number; /* in the plan; in the phase; of numjobs */
    uint64_t interval_ns, seed;
    uint64_t run;                    /* rb_verify_run */
    uint64_t rate_share, rate_index; /* workers that split the job's rate, and which one this is */
    rb_watch_group_t *watches;       /* of this job and subject; outlives the worker, as the next */
    rb_job_log_t *log;               /* NULL: none */
    uint32_t log_index;              /* of this worker's ring */
    uint32_t passes;                 /* of a fill (block.h); 0: it is none */
    rb_kv_share_t *kv;               /* of the job; outlives the worker; NULL: it has no KV cache */
    uint32_t kv_ordinal;             /* of the drive in it */
} rb_worker_opts_t;

typedef struct {
    rb_worker_opts_t o;
    pthread_t thread;
    bool started;
    rb_start_t start;
    atomic_bool ended; /* the last window is published */

    /* the loop */
    void *io; /* of o.backend */
    const rb_workload_t *load;
    rb_block_t block;
    rb_slot_t *slots; /* [iodepth] */
    uint32_t *free;   /* [iodepth]; the first nfree are slots in no use */
    uint32_t iodepth, nfree, inflight, queued;
    uint32_t wait_min; /* completions that a wait is for */
    bool open_loop, thinks, submitting, filling, behind, broken, cancelled;
    bool zeroes;  /* write_mode: zeroes */
    bool counted; /* SYNCs or unequal sizes: limits are counted operation by operation */
    uint64_t left_ops, left_bytes, sequence;
    rb_pace_t pace;
    rb_think_t think;
    /* Open loop: since when each slot that became free was wanted at once, UINT64_MAX: there is one
     * to spare; and the same before the last operations were taken: those of them that became due
     * then or later had to wait for a slot. */
    uint64_t starved_ns, waited_ns;
    uint32_t batch; /* most operations of one submission, most completions of one reap */
    /* What the workload gave out, [at, drawn) not taken yet; the current batch. */
    rb_io_t ios[2 * RB_MAX_BATCH];
    const rb_io_t *taken;
    uint32_t at, drawn;
    uint64_t due[RB_MAX_BATCH];
    /* of a KV cache; NULL: it is none */
    rb_kv_queue_t *kv;    /* of o.kv */
    rb_kv_io_t *kv_slots; /* [iodepth] */
    rb_kv_io_t *kv_taken; /* [RB_MAX_BATCH] the current batch */
    uint32_t kv_told;     /* batches that are in rows; the main thread's */
    uint8_t *write_buffers, *read_buffers;
    bool stamps; /* verify: what is written */
    bool checks; /* each completion: what is read; writes that are logged or must not overtake */
    bool guards; /* before each batch: is there room for it (worker_verify.h)? */
    bool fills;  /* each batch has data to be written, or a log of what to find */
    bool judges, judged;
    rb_verify_t verify;
    rb_worker_write_t *writes; /* [iodepth]; NULL: not needed */
    uint64_t order_end;        /* first sequence that may have to wait */
    rb_watch_t *watch;         /* of o.watches; NULL: none */
    rb_log_ring_t *ring;       /* of o.log; NULL: none */
    uint32_t log_phase;        /* of the log that is read */
    uint64_t turn_start_ns;    /* last reap; 0: in the wait */

    /* its borders in time, by this host's clock */
    rb_part_t part;
    uint64_t now_ns;    /* of the last turn */
    rb_timeline_t line; /* the common clock, as looked up last */
    uint64_t t0_ns, ramp_end_ns, te_ns;
    uint64_t look_ns;          /* when it is looked up again */
    uint64_t index, border_ns; /* current window, and where it ends */
    uint64_t cut_ns;           /* next border or change of part */
    uint64_t main_start_ns, cpu_start_ns;

    rb_windows_t windows;
    rb_window_t *win; /* the one being filled */
    rb_hist_t *turn;  /* of MAIN [ns]: from one reap to the next, or to the wait before it: how late
                       * a completion may be seen */
    rb_hist_t *lateness; /* of MAIN [ns]: from when an operation was due, and a slot was free for
                          * it, to its submission; NULL: nothing is due at a time of its own */
    rb_worker_account_t account;
    rb_hung_t hung;
    rb_told_t told; /* alternatives taken in PREPARE */
    rb_data_t data; /* of what is written */

    rb_place_t place; /* set before the thread starts */
    size_t stride_bytes, buffers_bytes;
    uint8_t *buffers;
    /* By number_ios, io_size or one pass of the region; UINT64_MAX: none. Of equal sizes and
     * without SYNCs limit_ops says it all. */
    uint64_t limit_ops, limit_bytes;
    uint64_t ramp_ns, runtime_ns; /* as planned; runtime 0: none */
    int fd;
} rb_worker_t;

/* Of rb_block_ops: those that change data. */
#define RB_WORKER_CHANGES (1u << RB_OP_WRITE | 1u << RB_OP_TRIM)

/* RB_ERR_INPUT: the job does not fit the subject or the backend. Starts nothing. */
rb_worker_t *rb_worker_new(const rb_worker_opts_t *opts, rb_err_t *err);
/* The thread has ended or was never started. */
void rb_worker_destroy(rb_worker_t **worker);

/* What it will allocate: I/O buffers and windows [bytes]. */
uint64_t rb_worker_memory_bytes(const rb_worker_t *w);

int rb_worker_start(rb_worker_t *w, rb_err_t *err); /* RB_ERR_INTERNAL: no thread to be had */
void rb_worker_join(rb_worker_t *w);                /* idempotent */

/* The thread's parts, apart for tests. The calling thread becomes the one that owns the backend. */
int rb_worker_prepare(rb_worker_t *w, rb_err_t *err);
void rb_worker_loop(rb_worker_t *w); /* armed: from before T0 to the end of the drain */
void rb_worker_release(rb_worker_t *w);
