/* resume.h - where a run stands, as its journal tells: what a coordinator that takes it up again
 * has to know. Pure.
 *
 * Main thread; and the simulator.
 */
#pragma once

#include "coordinator/analysis/latency_search.h"
#include "coordinator/merge.h"

typedef struct {
    bool known;        /* it has come: there is a HOST row with its inventory */
    bool lost;         /* it was given up */
    bool stranger;     /* ... and has nothing more to give: it was restarted, or all is in */
    const char *why;   /* lost: the reason; borrowed from the fold */
    uint64_t next_row; /* the first that is not in the journal */
    bool takes_part;   /* in the phase that is under way */
    int64_t end_at_ns; /* in that phase: a worker's last end, INT64_MIN: none told */
    bool ended_early;  /* ... before its work was done */
} rb_resume_host_t;

typedef struct rb_resume {
    uint64_t next_row;   /* of host 0 */
    uint32_t next_phase; /* number of the first step that has not begun; > 0: of the one before, */
    bool under_way;      /* it has not ended */
    uint32_t phase;      /* its number */
    uint32_t plan_phase, step; /* what it is of the plan */
    uint64_t t0_ns;
    bool cut_step;                    /* it ended, and was cut short */
    rb_latency_search_t search;       /* after all steps that it was told of */
    bool told;                        /* of this one */
    uint32_t nsteps;                  /* STEP rows of numbers below are there */
    bool was_cut;                     /* a step was cut short */
    bool has_start;                   /* the clock of the run is known: */
    int64_t wall_offset_ns;           /* wall clock - coordinator's clock */
    uint64_t started_wall_ns;         /* since 1970 */
    uint64_t journal_bytes;           /* set by whoever read the file */
    const rb_row_run_end_t *complete; /* NULL: it has not ended. Borrowed from the fold */
    size_t nhosts;
    rb_resume_host_t *hosts; /* [nhosts] */
} rb_resume_t;

/* fold: of the whole journal; outlives the result. nhosts: of the run. */
rb_resume_t *rb_resume_new(const rb_fold_t *fold, size_t nhosts);
void rb_resume_destroy(rb_resume_t **resume);

/* A host that was lost may still have rows that a complete run lacks. */
bool rb_resume_rows_missing(const rb_resume_t *resume);

/* This worker was stopped before its time and before its work was done. runtime_ns 0: no time. */
bool rb_resume_ended_early(const rb_row_worker_t *worker, uint64_t ramp_ns, uint64_t runtime_ns);
