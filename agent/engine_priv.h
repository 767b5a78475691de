/* engine_priv.h - the engine's own parts, shared by engine.c and engine_rows.c. Main thread. */
#pragma once

#include "agent/cpu_stat.h"
#include "agent/engine.h"
#include "agent/sampler.h"
#include "agent/thin.h"

struct rb_engine {
    const Rackbench__Plan *plan;
    const Rackbench__Phase *phase;
    uint32_t phase_index;
    rb_engine_state_t state;
    rb_err_t fault;
    rb_crew_t crew;
    rb_timeline_t line; /* the phase's common clock, as told last */
    size_t ncells;      /* of a window row, at most RB_MAX_CELLS */
    size_t nsubjects, nworkers;
    rb_worker_subject_t *subjects; /* [nsubjects] */
    rb_worker_t **workers;         /* [nworkers], those of one (job, subject) side by side */
    _Atomic uint64_t *cursors;     /* [jobs x nsubjects] */
    rb_watch_group_t *watches;     /* [jobs x nsubjects] */
    rb_job_log_t **logs;           /* [jobs]; NULL: none */
    rb_kv_share_t *kv;             /* of the job that has a KV cache; NULL: none has */
    rb_sampler_t *sampler;
    rb_thin_t *thin;
    uint64_t total_bytes; /* to lay out */
    bool told_ready, told_last;
    uint32_t cpu_looks;       /* 0 to 2 */
    rb_cpu_stat_t *cpu_stats; /* [2]: as M began, as it ended */
};

/* Chooses where the workers run, before they start. RB_ERR_INPUT: a job's list of CPUs has none of
 * this host. */
int rb_engine_place(rb_engine_t *e, rb_err_t *err);
/* The PLACEMENT row, and an event where a job did not get what it asked for. */
void rb_engine_place_rows(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx);

/* Looks at the CPUs at the borders of this host's M, as soon as the main thread has a turn there.
 */
void rb_engine_cpu_poll(rb_engine_t *e);
/* The CPU row, and an event where a hypervisor took much; nothing where M was too short to tell. */
void rb_engine_cpu_rows(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx);

/* Told now, not by a process that is killed for want of memory. RB_ERR_INPUT. */
int rb_engine_check_memory(const rb_engine_t *e, rb_err_t *err);

/* engine_kv.c: what the workers of a job with a KV cache share; RB_ERR_INPUT, RB_ERR_NET. */
int rb_engine_kv_share(rb_engine_t *e, const Rackbench__Job *job, const rb_engine_opts_t *opts,
                       rb_err_t *err);
/* KV PARTS rows of what has finished since; the drives' KV DRIVE rows, once all have. */
void rb_engine_kv_rows(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx);
void rb_engine_kv_last(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx);

/* What an operation that failed says, in a fault: "read 4 KiB at 812 GiB of PATH: Input/output
 * error", or "verify: PATH at 812 GiB (sector N): found ...". RB_ERR_IO. */
int rb_engine_io_error(const rb_worker_t *w, const rb_io_error_t *error, rb_err_t *err);
