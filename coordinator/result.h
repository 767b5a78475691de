/* result.h - the model of a result: every figure of result.json, computed from the fold.
 *
 * Pure: no I/O, no clock. Main thread. All formats (JSON, CSV, text) print this model and compute
 * nothing of their own. Names, series and events borrow from the fold, which must outlive it.
 * Percentiles come from the merged histogram of what they describe. Cost: one merge of each cell's
 * histograms per scope that it belongs to (drive, target, host, job, group, cluster).
 *
 * Source of every definition: measurement.md ("what each figure means").
 */
#pragma once

#include "coordinator/merge_rounds.h"
#include "coordinator/plan/schema.h"
#include "coordinator/result_health.h"
#include "coordinator/result_kv.h"
#include "coordinator/result_verdict.h"
#include "coordinator/result_watts.h"

enum { RB_QUANTILES = 7, RB_P99 = 3, RB_MAX_PHASE_MARKS = 6 };

typedef struct {
    const char *key;   /* "p99_9" */
    const char *title; /* "p99.9" */
    uint32_t per_100k; /* 99900 */
} rb_quantile_t;
extern const rb_quantile_t rb_quantiles[RB_QUANTILES];

/* A latency distribution. */
typedef struct {
    uint64_t count;
    uint64_t min_ns, max_ns; /* 0 while count is 0 */
    double mean_ns, stddev_ns;
    uint64_t quantile_ns[RB_QUANTILES];
    bool uncertain[RB_QUANTILES]; /* fewer than 10 operations beyond it */
    bool censored[RB_QUANTILES];  /* operations in flight at Te could move it up */
} rb_lat_t;

typedef struct {
    bool present; /* there were operations or errors */
    uint64_t ops, bytes, errors;
    double iops, bytes_per_s;
    rb_lat_t service, response;
} rb_op_stats_t;

typedef struct {
    rb_op_stats_t op[RB_OP_COUNT];
    rb_count_t outside[RB_PART_COUNT][RB_OP_COUNT]; /* [RB_PART_MAIN] is zero */
    uint64_t workers; /* that reported; while 0, what is below is not known */
    uint64_t unfinished, oldest_unfinished_ns;
    uint64_t offered_ops; /* open loop: due in M; 0 in a closed loop */
    double offered_iops;
    bool has_turn, has_cpu; /* false: no worker came to M */
    uint64_t turn_p50_ns, turn_p99_ns;
    bool has_lateness; /* something was due at a time of its own */
    uint64_t lateness_p50_ns, lateness_p99_ns, lateness_max_ns;
    double cpu_share;
} rb_stats_t;

typedef struct {
    const char *name; /* of a job or group, path of a drive */
    rb_stats_t stats;
} rb_named_stats_t;

typedef struct {
    const char *name;
    rb_stats_t total;
    size_t ndrives;
    rb_named_stats_t *drives;
} rb_result_target_t;

typedef struct {
    const char *path;
    rb_kernel_counter_t op[3]; /* read, write, discard */
    uint64_t our_sectors[3];   /* of this drive, all parts of the phase */
} rb_result_kernel_t;

/* The host's CPUs while it was measured; shares of time. */
typedef struct {
    size_t ncpus; /* 0: not told */
    double seconds;
    double busy, busy_max, softirq_max, steal; /* mean, of the busiest, of one CPU, mean */
    uint32_t busy_max_cpu, softirq_max_cpu;
    size_t worker_cpus;     /* that workers may run on */
    double worker_busy_min; /* of the least busy of them, steal included; 0: there are none */
    double agent, others;   /* CPUs' worth: all threads of the agent; of these not its workers */
} rb_result_cpu_t;

/* Why a host is client_bound; bits. */
typedef enum {
    RB_LIMIT_WORKER = 1,  /* a worker's thread used over 90 % of a CPU */
    RB_LIMIT_SOFTIRQ = 2, /* interrupts used over 90 % of a CPU */
    RB_LIMIT_CPUS = 4     /* all CPUs that workers may run on were over 90 % busy */
} rb_limit_t;
enum { RB_LIMITS = 3 };
extern const char *const rb_limit_names[RB_LIMITS]; /* by bit: "worker", "softirq", "cpus" */

/* Workers of one job and drive that stand side by side and were placed alike. */
typedef struct {
    const char *job, *drive;
    size_t nworkers;
    const rb_worker_place_t *workers; /* [nworkers] */
} rb_result_place_t;

typedef struct {
    const char *name;
    bool lost;
    uint64_t lost_after_ns; /* until when it is known to have been there, since T0 */
    double seconds;         /* what its rates are over: |M|, or the part that it was there for */
    const char *lost_why;   /* "": not told */
    rb_stats_t total;
    rb_result_cpu_t cpu;
    unsigned limits; /* of rb_limit_t */
    size_t nplaces;
    rb_result_place_t *places;
    size_t njobs, ntargets, nkernels;
    rb_named_stats_t *jobs;
    rb_result_target_t *targets;
    rb_result_kernel_t *kernels;
    bool has_start;
    rb_start_t start;
    const rb_series_t *series;
    uint32_t number;                /* in the fold */
    const rb_fold_health_t *health; /* borrowed; a prepare has none */
    size_t ndrives;
    rb_result_drive_t *drives; /* [ndrives] as they speak of themselves */
} rb_result_host_t;

/* What a step has of its own. */
typedef struct {
    rb_key_t key; /* of the job: "rate_iops" */
    bool is_number;
    uint64_t number;  /* in the unit of the job's field: bytes, nanoseconds, a count */
    const char *text; /* of a sweep's point: as the plan writes it; else NULL */
} rb_point_t;

typedef struct {
    const char *name;
    uint32_t index; /* number of the step in the run */
    uint32_t step;  /* of a search, from 1; 0: none */
    size_t npoint;
    rb_point_t *point;
    uint64_t t0_wall_ns; /* since 1970 */
    /* Since the end of the phase before, to T0; and what the run had written by then, layouts
     * included: drives recover in a gap, and slow down by what they have taken. */
    bool has_idle;
    uint64_t idle_before_ns, written_before_bytes;
    double seconds; /* |M|; 0: it ended before M began, and has no rates and no share */
    size_t nmarks;
    const char *marks[RB_MAX_PHASE_MARKS];
    uint64_t start_ns, end_ns; /* M [ns since T0] */
    double common_share;
    uint32_t first_to_stop; /* host by number; 0: all ran to the end of M */
    bool has_start;
    uint64_t skew_ns, skew_bound_ns;
    size_t start_hosts, start_of; /* hosts whose start is known, of those that took part */
    bool has_end;
    uint64_t end_skew_ns, end_bound_ns;
    const char *end_reason; /* of a verdict that ended it before its time; NULL: none */
    rb_steady_t *steady;    /* owned; NULL: it is none that is to come to rest */
    rb_stats_t cluster;
    size_t njobs, ngroups, nhosts;
    rb_named_stats_t *jobs, *groups;
    char **what; /* [njobs] a sentence: what the job was; prepare: NULL */
    rb_result_host_t *hosts;
    uint64_t workers, inflight; /* that reported, and the sum of their iodepths */
    bool is_planned;            /* none did: these are the plan's figures */
    bool by_count;              /* cluster is `common` */
    bool has_to_last;           /* ... and to_last stands beside it */
    double to_last_seconds;
    rb_count_t to_last;
    bool closed_loop;
    bool has_little;
    double little;              /* X R / N */
    const char *little_verdict; /* "ok", "host_bound", "measuring_fault"; NULL: none */
    const rb_series_t *series;
    uint32_t *series_hosts;    /* [series->nwindows] hosts that delivered the window */
    uint32_t laid_out, reused; /* prepare: files */
    size_t nwatts;
    rb_result_watts_t *watts; /* [nwatts] power that the user read; a prepare has none */
    uint32_t passes;          /* of a fill, which is a prepare with all that a phase has; else 0 */
    bool discards;            /* ... that trims */
    rb_result_kv_t kv;        /* of a job with a KV cache */
    size_t nstragglers;
    rb_result_straggler_t *stragglers; /* [nstragglers] */
} rb_result_phase_t;

/* A step of a search. */
typedef struct {
    size_t phase;                       /* index in rb_result_t.phases */
    const rb_row_search_t *row;         /* borrowed from the fold */
    double offered_iops, achieved_iops; /* over speed: requests a second */
    double restored_bytes_per_s;        /* over speed */
    bool cut;                           /* ended as soon as it was out of reach */
} rb_result_step_t;

/* The highest rate that keeps a latency target. */
typedef struct {
    const char *phase, *job;
    uint32_t plan_phase;
    uint64_t target_ns;
    uint32_t percentile_ppm;
    bool over_speed; /* of a trace, for restores: rates are ppm of the trace's own speed */
    double planned_speed;
    const char *verdict; /* "": it was not brought to its end */
    size_t nsteps;
    rb_result_step_t *steps; /* as they were run: first the closed loop */
    size_t best; /* 1 + index of the open step that kept it at the highest rate; 0: none */
    /* Runtime that the best step would need for 10 operations beyond the percentile; 0: it had
     * them, or there is no best step. */
    uint64_t certain_ns;
} rb_result_search_t;

/* The points of a sweep that were run, one behind the other. */
typedef struct {
    size_t first, count; /* in rb_result_t.phases; a point that was cut short may be run again */
    size_t reached, of;  /* number of the last one that began, and points that the sweep has */
    size_t ncurves;      /* none where it has neither iodepth nor numjobs */
    rb_result_curve_t *curves; /* [ncurves] the cluster's, then those of hosts and drives */
} rb_result_sweep_t;

typedef struct {
    int64_t at_ns;     /* since T0 of the first phase that started */
    const char *host;  /* NULL: the run */
    const char *phase; /* NULL: none */
    const char *kind, *text;
    size_t order; /* among events of the same time */
} rb_result_event_t;

typedef struct {
    const rb_fold_t *fold;
    const char *id, *name, *version, *status;
    uint64_t started_wall_ns;
    double seconds; /* 0: not known, as no phase started */
    size_t nmarks, nnot_run;
    const char **marks;
    char **not_run; /* owned: phases of the plan that never started */
    size_t nprepares, nphases, nevents, nsearches, nsweeps;
    rb_result_sweep_t *sweeps;    /* in the order of the plan */
    rb_result_search_t *searches; /* in the order of the plan */
    rb_result_phase_t *prepares,
        *phases;               /* prepares: fills; and layouts, without interval, start, series */
    rb_result_event_t *events; /* by time */
    char **texts;              /* [nphases] of the events made here; NULL where none */
} rb_result_t;

bool rb_phase_has_mark(const rb_result_phase_t *phase, const char *word);
/* RB_ERR_INPUT when the fold has no RUN row (an empty journal). */
rb_result_t *rb_result_new(const rb_fold_t *fold, rb_err_t *err);
void rb_result_destroy(rb_result_t **result);

typedef enum { RB_LAT_SERVICE, RB_LAT_RESPONSE } rb_lat_kind_t;

/* Whose operations of a phase, of one kind. */
typedef struct {
    int64_t host; /* number; -1: all */
    int64_t job;  /* index in the phase; -1: all */
    rb_op_t op;
    rb_lat_kind_t kind;
} rb_lat_scope_t;

/* Merges their latencies into a histogram, for reports that need more of a distribution than
 * rb_lat_t. */
void rb_result_merge_lat(const rb_result_t *result, const rb_result_phase_t *phase,
                         const rb_lat_scope_t *scope, rb_hist_t *into);

/* Part of a phase that a window is in: RAMP, MAIN, or DRAINED (after the common end). */
rb_part_t rb_result_window_part(const rb_result_t *result, const rb_result_phase_t *phase,
                                const rb_window_t *window);
