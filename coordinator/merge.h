/* merge.h - the fold: journal records in, everything that was measured out.
 *
 * Live view, reports and metrics all read this one structure, so a replay equals the live result.
 * Main thread; pure: no I/O, no clock. A window row costs two sparse histogram merges per cell and
 * one per operation kind and series; memory per window is counters only, histograms of windows are
 * dropped once every host has delivered them. The structures are public to be read; only
 * rb_fold_row changes them.
 *
 * Order of rows: RUN, REACH, HOST, CLOCK; per phase STEP where it is not the plan's phase of that
 * number, DRIVES, PLACEMENT, LAYOUT and EVENT of the agents, PHASE_START, WINDOW, HEALTH, WORKER,
 * KERNEL, CPU, PHASE_END, SEARCH; NOTE and WATTS anywhere; RUN_END last (absent: the run is
 * "truncated"). Rows of a host that was lost may come after PHASE_END and still count. A resumed
 * run goes on behind what stands there, a RUN_END too: the last one counts.
 */
#pragma once

#include "common/hist.h"
#include "coordinator/merge_health.h"
#include "coordinator/merge_kv.h"
#include "proto/sample.h"

/* Windows of a phase: times the longest interval (60 s) this still fits in int64_t [ns]. */
enum { RB_MAX_WINDOWS = 100 * 1000 * 1000 };

typedef struct {
    uint64_t ops, bytes;
} rb_count_t;

/* What one (job, target, drive, op) did on one host. Completions after the common end of a phase
 * bound by count are in outside[RB_PART_DRAINED]: no operation is lost or counted twice. */
typedef struct {
    uint32_t job, target, drive;
    rb_op_t op;
    uint64_t ops, bytes, errors; /* in M */
    rb_hist_sparse_t service, response;
    rb_count_t outside[RB_PART_COUNT]; /* [RB_PART_MAIN] stays zero */
} rb_total_t;

typedef struct {
    uint64_t ops, bytes, errors;
    uint64_t inflight, oldest_inflight_ns;    /* at gauge_end */
    uint64_t gauge_end;                       /* window index */
    uint64_t service_sum_ns, response_sum_ns; /* of ops */
    uint64_t p50_ns, p99_ns;                  /* of response, once the window is final */
    rb_hist_sparse_t response;                /* until then */
} rb_window_op_t;

typedef struct {
    uint64_t index;
    uint64_t span; /* > 1: windows that were merged under pressure */
    bool ramp;
    bool final;
    rb_window_op_t *op[RB_OP_COUNT]; /* NULL: no such cell */
} rb_window_t;

/* Disjoint windows, ramp first, ascending. A window under way has no percentiles yet. */
typedef struct {
    size_t nwindows;
    rb_window_t *windows;
} rb_series_t;

/* What a host did in a round of a phase that is to come to rest. */
typedef struct {
    size_t ntotals;
    rb_total_t *totals; /* nothing outside */
    bool incomplete;    /* a merged row spans its border: some of it counts elsewhere */
} rb_round_t;

/* A host in a phase. */
typedef struct {
    bool takes_part; /* named by PHASE_START */
    bool lost;       /* named by PHASE_END */
    uint64_t bound_ns;
    uint64_t delivered; /* first window that did not come whole */
    uint64_t next;      /* the same, or UINT64_MAX: no more will come */
    size_t ntotals, nlayouts, nworkers, nkernels, ndrives, nrounds;
    rb_round_t *rounds; /* [nrounds] besides totals */
    rb_total_t *totals;
    rb_total_t *layouts; /* writes before the phase; service only */
    rb_row_worker_t *workers;
    rb_row_kernel_t *kernels;
    rb_drive_ref_t *drives; /* every drive that a row names has an entry */
    uint32_t reused;        /* files */
    uint64_t layout_ns;     /* of the slowest file */
    rb_fold_health_t health;
    rb_series_t series;
    rb_row_cpu_t cpu;             /* ncpus 0: not told */
    rb_row_placement_t placement; /* nplaces 0: not told */
    size_t nkv;
    rb_row_kv_drive_t *kv; /* [nkv] accounts of its drives */
} rb_member_t;

typedef struct {
    uint32_t host;
    rb_row_window_t window;
} rb_pending_t;

typedef struct {
    uint32_t plan_phase;        /* index in the plan */
    uint32_t step;              /* of that phase, from 1 */
    Rackbench__Phase *override; /* owned: as it was run; NULL: as the plan has it */
    rb_row_t search_row;        /* kind RB_ROW_SEARCH; zero: none */
    rb_fold_kv_t kv;
    bool started, over;
    uint64_t t0_ns, t0_wall_ns;
    int64_t te_at_ns; /* INT64_MAX: as planned */
    bool truncated;
    char *reason; /* of a verdict that ended it before its time; NULL: none */
    size_t nmembers;
    rb_member_t *members;               /* [nmembers], by host number - 1 */
    rb_series_t series;                 /* of the cluster */
    uint64_t complete;                  /* windows below this came from every host */
    size_t nbehind;                     /* members whose next is `complete` */
    uint32_t steady_first, steady_last; /* over: rounds of M, from 1; 0: all of the phase is M */
    bool by_count;                      /* bound by bytes or operations, alone or besides runtime */
    bool common_over;                   /* ... and a host has finished */
    bool common_any;
    uint64_t common_end; /* window border up to which all hosts were running */
    /* By count, once over: behind the last completion; UINT64_MAX: not all work was done. */
    uint64_t all_done_ns;
    size_t npending;
    rb_pending_t *pending; /* [npending] rows not yet known to be before common_end */
} rb_fold_phase_t;

typedef struct {
    rb_row_t row;                    /* kind RB_ROW_HOST; zero: no such host */
    Rackbench__Inventory *inventory; /* NULL if there was none */
    bool has_clock;
    rb_row_clock_t clock; /* the latest */
    uint64_t seq;
} rb_fold_host_t;

typedef struct {
    uint32_t host; /* 0: the run */
    int32_t phase; /* -1: none */
    bool absolute; /* at_ns: coordinator's clock, else since T0 of its phase */
    int64_t at_ns;
    char *kind, *text;
} rb_fold_event_t;

typedef struct {
    rb_row_t run_row; /* kind RB_ROW_RUN; zero: none yet */
    rb_row_t end_row; /* kind RB_ROW_RUN_END; zero: none yet */
    size_t nreaches;
    rb_row_reach_t *reaches; /* [nreaches], in the order of the host list; older journals: none */
    Rackbench__Plan *plan;
    uint64_t seq; /* of the coordinator's own rows */
    size_t nhosts;
    rb_fold_host_t *hosts; /* [nhosts], by host number - 1 */
    size_t nphases;
    rb_fold_phase_t *phases; /* [nphases], by number of the step in the run */
    size_t nevents;
    rb_fold_event_t *events;
    size_t nwatts;
    rb_watts_reading_t *watts; /* [nwatts] of power, as the user gave them */
    rb_hist_t *scratch;
} rb_fold_t;

rb_fold_t *rb_fold_new(void);
void rb_fold_destroy(rb_fold_t **fold);

/* One journal record. Fails with RB_ERR_NET where a row does not decode or names what the plan does
 * not have, RB_ERR_INTERNAL where a host's numbering has a gap or a duplicate or rows are out of
 * order. After a failure the fold is good for destroy only. */
int rb_fold_row(rb_fold_t *fold, uint32_t host, const void *row, size_t size, rb_err_t *err);

/* A phase was started, or files were laid out for one. */
bool rb_fold_any_measured(const rb_fold_t *fold);

/* NULL: the host is not known. */
const char *rb_fold_host_name(const rb_fold_t *fold, uint32_t host);
uint64_t rb_fold_interval_ns(const rb_fold_t *fold);
uint64_t rb_fold_ramp_ns(const rb_fold_t *fold, uint32_t phase);
uint64_t rb_fold_runtime_ns(const rb_fold_t *fold, uint32_t phase); /* 0: bound by count alone */
/* Is it a step of a search? */
bool rb_fold_is_step(const rb_fold_t *fold, uint32_t phase);
/* The phase as that step ran it; NULL when there is no such step. */
const Rackbench__Phase *rb_fold_plan_phase(const rb_fold_t *fold, uint32_t phase);

/* Start of M [ns since T0]: the end of the ramp; over, of the rounds before those that count. */
uint64_t rb_fold_start_ns(const rb_fold_t *fold, uint32_t phase);
/* End of M as far as it is known [ns since T0]: by plan, stop, common end and last completion;
 * while the phase goes on, or if all its hosts were lost, no later than one of them was there. */
uint64_t rb_fold_end_ns(const rb_fold_t *fold, uint32_t phase);
/* Until when a host is known to have been there [ns since T0]: the end of its last window, in which
 * its workers may have stopped. */
uint64_t rb_member_until_ns(const rb_fold_t *fold, const rb_member_t *member);
/* Start of a window of a phase [ns since T0] and its length [ns], cut at ramp and end of M. */
void rb_fold_window_time(const rb_fold_t *fold, uint32_t phase, const rb_window_t *window,
                         uint64_t *ret_at_ns, uint64_t *ret_length_ns);
/* The newest window of a phase that every host has delivered; NULL if none. */
const rb_window_t *rb_fold_last_window(const rb_fold_t *fold, uint32_t phase);
/* Of response [ns]; 0 when empty or when q is neither 0.5 nor 0.99 and the window is final. */
uint64_t rb_window_quantile(const rb_window_op_t *op, double q);

/* Lateness and first submissions of a host in a phase; -1 if it never submitted. [ns] */
typedef struct {
    int64_t lateness_ns;      /* earliest worker's first submission - its due time */
    int64_t first_io_ns;      /* earliest first submission since T0 */
    int64_t last_first_io_ns; /* latest */
    int64_t last_lateness_ns; /* latest worker's first submission - its due time */
} rb_start_t;
int rb_member_start(const rb_member_t *member, rb_start_t *ret_start);
/* Difference of the extreme hosts and the sum of their clock bounds; false before any WORKER row.
 */
bool rb_fold_skew(const rb_fold_phase_t *phase, uint64_t *ret_skew_ns, uint64_t *ret_bound_ns);
/* The same of their ends: when the last worker of a host stopped to submit. */
bool rb_fold_end_skew(const rb_fold_phase_t *phase, uint64_t *ret_skew_ns, uint64_t *ret_bound_ns);
