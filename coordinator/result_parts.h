/* result_parts.h - what the files of the result share; nobody else includes this. Main thread. */
#pragma once

#include "coordinator/result.h"

/* What a figure describes: all of a phase, narrowed by whatever is not -1 (label: not NULL). */
typedef struct {
    const rb_fold_t *fold;
    uint32_t phase;
    bool layout;  /* what was written before the phase, not in it */
    int64_t host; /* number */
    int64_t job, target, drive;
    const char *label;
    double seconds; /* the rates' denominator */
} rb_scope_t;

/* Merged histograms of a scope; large, so one serves all scopes in turn. */
typedef struct rb_summer rb_summer_t;
rb_summer_t *rb_summer_new(void);
void rb_summer_destroy(rb_summer_t **summer);
void rb_summer_stats(rb_summer_t *summer, const rb_scope_t *scope, rb_stats_t *ret_stats);

bool rb_scope_has_member(const rb_scope_t *scope, uint32_t host);
bool rb_scope_has_place(const rb_scope_t *scope, uint32_t job, uint32_t target, uint32_t drive);

/* Fills phase->seconds, interval, common_share, to_last. Returns the host that stopped first. */
uint32_t rb_result_interval(const rb_fold_t *fold, rb_result_phase_t *phase);
/* The part of M that a host was there for: all of it, unless it was lost. Needs the interval. */
double rb_result_host_seconds(const rb_fold_t *fold, const rb_result_phase_t *phase,
                              const rb_member_t *m);
/* Fills workers, inflight, marks, closed_loop and little; needs cluster. */
void rb_result_judge(const rb_fold_t *fold, rb_result_phase_t *phase);
/* Fills cpu, limits and places. */
void rb_result_cpu(const rb_fold_t *fold, uint32_t phase, const rb_member_t *m,
                   rb_result_host_t *host);
/* Fills little and its verdict, for a phase whose slots are all known to have been busy. */
void rb_result_little(rb_result_phase_t *phase);
/* Do the labels of a host let the job run there? */
bool rb_result_job_is_on(const rb_row_host_t *host, const Rackbench__Job *job);
/* Fills what; needs jobs. */
void rb_result_what(const rb_fold_t *fold, rb_result_phase_t *phase);
/* Fills watts; needs cluster and hosts. */
void rb_result_watts(const rb_fold_t *fold, rb_result_phase_t *phase);
/* Fills idle, what was written before, and sweeps; needs prepares and phases. */
void rb_result_sweeps(rb_result_t *result);
/* Fills not_run. */
void rb_result_not_run(rb_result_t *result);
/* Fills point. */
void rb_result_point(const rb_fold_t *fold, rb_result_phase_t *phase);
/* Fills searches; needs the phases. */
void rb_result_searches(rb_result_t *result);
void rb_result_search_clear(rb_result_search_t *search);
/* Fills cluster, jobs, groups and hosts from the scope's phase. */
void rb_result_scopes(rb_summer_t *summer, const rb_scope_t *scope, rb_result_phase_t *phase);
/* Fills stragglers; needs cluster. */
void rb_result_stragglers(const rb_fold_t *fold, rb_result_phase_t *phase);
/* Fills the curves of a sweep; needs phases. */
void rb_result_curves(const rb_result_t *result, rb_result_sweep_t *sweep);
void rb_result_curves_free(rb_result_sweep_t *sweep);
