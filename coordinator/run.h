/* run.h - the coordinator's side of the protocol as a pure step function. No socket, clock, thread
 * or I/O.
 *
 * All hosts go through the same stages together; a stage ends when every host that still takes part
 * has answered. Messages may be lost with a connection: each Beat's answer tells where an agent is,
 * and a command it has not reached is sent again.
 *
 *   CONNECT -> PROBE -> LOAD -> per step: PREPARE -> PROBE -> ARM/RUN (until all drained, all rows
 * in) -> COLLECT (if hosts were lost) -> DONE
 *
 * A host that was lost stays out of the run, but its rows are fetched (Collect) as soon as it
 * answers again; at the end the run waits for that a little. A run whose coordinator died, or that
 * ended before all rows were in, is taken up again with what its journal tells (resume.h).
 *
 * A step is a phase as it is run: each phase of the plan is one, and one with a latency target is
 * as many as its search takes. "phase" in messages and rows is the number of the step in the run.
 *
 * Rows go to the sink's row() in order, each exactly once; the coordinator's own facts go there
 * too, as host 0. Called by the coordinator's main thread, and by the simulator in virtual time.
 */
#pragma once

#include "common/err.h"
#include "common/wall_clock.h"
#include "coordinator/analysis/latency_search.h"
#include "coordinator/clocksync.h"
#include "proto/wire.h"

typedef struct rb_resume rb_resume_t; /* resume.h */

#define RB_BEAT_NS        (500 * RB_NS_PER_MS)
#define RB_DRAIN_LIMIT_NS (60 * RB_NS_PER_S)  /* after the end of M; the engine cancels at 30 s */
#define RB_PROBE_LIMIT_NS (60 * RB_NS_PER_S)  /* an answer that waits for one drive so long */
#define RB_CLOCK_ROWS_NS  (300 * RB_NS_PER_S) /* while a phase runs; and when it starts and ends */
/* Probes of a burst: the first of a benchmark, the one before ARM at most; it is over when so many
 * in a row have not made a good bound smaller by an eighth. */
enum { RB_FIRST_PROBES = 4, RB_BURST_PROBES = 32, RB_IDLE_PROBES = 8 };
#define RB_GOOD_BOUND_NS (300 * RB_NS_PER_US)

typedef enum {
    RB_RUN_BENCHMARK,
    RB_RUN_CHECK,     /* ends after LOAD */
    RB_RUN_INVENTORY, /* ends after the first PROBE */
    RB_RUN_CLEAN,     /* removes laid-out files */
    RB_RUN_STOP       /* frees agents of whatever run owns them; ends when all are free */
} rb_run_goal_t;

typedef struct {
    const char *name;    /* as spelled in the host list */
    const char *address; /* for messages: "10.77.0.3:7411"; NULL: it is to dial us */
    size_t nlabels;
    Rackbench__Label *const *labels; /* [nlabels] */
    const char *key;                 /* its public key, or NULL */
} rb_run_host_opts_t;

typedef struct {
    rb_run_goal_t goal;
    const char *id, *name;
    uint64_t started_wall_ns;    /* since 1970 */
    const Rackbench__Plan *plan; /* resolved; NULL for RB_RUN_INVENTORY */
    size_t nhosts;
    const rb_run_host_opts_t *hosts; /* [nhosts] */
    uint64_t connect_timeout_ns;
    uint64_t journal_max_bytes; /* with `interval: auto`; 0: no limit */
    size_t nmarks;
    const char *const *marks;  /* [nmarks] "insecure", ... */
    const char *listen;        /* where hosts dial us, "local" for embedded ones, or NULL */
    const rb_bytes_t *traces;  /* [n_phases] packed, of KV caches; NULL: there are none */
    const rb_resume_t *resume; /* the run so far; NULL: it begins */
    bool collect_only;         /* resumed: start nothing, stop what runs, take the rows */
} rb_run_opts_t;               /* all borrowed: outlives the run */

/* Hosts are numbered from 1 in the order of the options; 0 is the coordinator. */
typedef struct {
    void *ctx;
    void (*send)(void *ctx, uint32_t host, const Rackbench__ToAgent *msg);
    int (*row)(void *ctx, uint32_t host, const void *row, size_t size,
               rb_err_t *err); /* to the journal */
    /* What a job did in a step so far, on all hosts together. */
    void (*figures)(void *ctx, uint32_t phase, uint32_t job, uint32_t percentile_ppm,
                    rb_search_figures_t *ret);
    /* Makes the rows so far safe; rows are acknowledged after that. */
    int (*sync)(void *ctx, rb_err_t *err);
    /* Every host has answered LOAD, nothing is refused and nothing is touched so far. An error ends
     * the run as refused. NULL: nobody asks. */
    int (*loaded)(void *ctx, rb_err_t *err);
} rb_run_sink_t;

typedef enum {
    RB_RUN_START, /* first event */
    RB_RUN_TICK,
    RB_RUN_MESSAGE,   /* host, message */
    RB_RUN_ROW,       /* host, row, row_size */
    RB_RUN_BROKEN,    /* host, text: it sent what cannot be understood */
    RB_RUN_REFUSED,   /* host, text: it does not let us in, for now */
    RB_RUN_RIVAL,     /* host, text: who else wants to be it */
    RB_RUN_GONE,      /* host, text: it is known to have ended */
    RB_RUN_INTERRUPT, /* the user's Ctrl-C; the second one ends at once */
    RB_RUN_VERDICT    /* text: why no more of the phase under way is needed. It ends for all
                       * hosts at one instant, and the run goes on. */
} rb_run_event_kind_t;

typedef struct {
    rb_run_event_kind_t kind;
    uint64_t now_ns;                   /* coordinator's clock */
    uint64_t wall_ns;                  /* since 1970 */
    const rb_wall_clock_t *wall_clock; /* ours, read just now; NULL: not this time */
    uint32_t host;
    const Rackbench__ToCoordinator *message;
    const void *row;
    size_t row_size; /* [bytes] */
    const char *text;
} rb_run_event_t;

typedef struct rb_run rb_run_t;
rb_run_t *rb_run_new(const rb_run_opts_t *opts, const rb_run_sink_t *sink);
void rb_run_destroy(rb_run_t **run);
void rb_run_step(rb_run_t *run, const rb_run_event_t *event);
uint64_t rb_run_deadline_ns(const rb_run_t *run); /* when the next TICK is due */

typedef enum {
    RB_STAGE_CONNECT,
    RB_STAGE_PROBE,
    RB_STAGE_LOAD,
    RB_STAGE_PREPARE,
    RB_STAGE_PROBE_PHASE,
    RB_STAGE_RUN,
    RB_STAGE_CLEAN,
    RB_STAGE_COLLECT,
    RB_STAGE_DONE
} rb_stage_t;

/* What a live view shows. */
typedef struct {
    rb_stage_t stage;
    uint32_t phase;                   /* number of the step */
    uint32_t plan_phase;              /* index in the plan */
    uint32_t step;                    /* of a search, from 1; 0: the phase is none */
    uint64_t rate_iops;               /* of that step; 0: its closed loop */
    size_t hosts, answering;          /* taking part; of those, heard within 2 s */
    size_t reached;                   /* hosts that have done what the stage waits for */
    uint64_t done_bytes, total_bytes; /* layout, PREPARE only */
    uint64_t t0_ns;                   /* coordinator's clock, RUN only */
    bool stopping;
} rb_run_view_t;
void rb_run_view(const rb_run_t *run, uint64_t now_ns, rb_run_view_t *ret);

/* The search that the phase under way is a step of, and the index of its job; NULL: it is none. */
const rb_latency_search_t *rb_run_search(const rb_run_t *run, uint32_t *ret_job);

/* DONE: how it ended. text is "" or the one line to print. */
typedef struct {
    const char *status; /* done | truncated | refused | failed | host_lost */
    rb_err_t err;       /* code = exit status */
} rb_run_outcome_t;
bool rb_run_done(const rb_run_t *run);
const rb_run_outcome_t *rb_run_outcome(const rb_run_t *run);

/* DONE: hosts that may still hold rows; resuming the run fetches them. */
size_t rb_run_rows_missing(const rb_run_t *run);

/* What a host answered; NULL / false if it has not. host from 1. Borrowed. */
const char *rb_run_silence(const rb_run_t *run,
                           uint32_t host); /* why it gave no inventory, or "" */
const Rackbench__Inventory *rb_run_inventory(const rb_run_t *run, uint32_t host);
const Rackbench__Loaded *rb_run_loaded(const rb_run_t *run, uint32_t host);
const Rackbench__Cleaned *rb_run_cleaned(const rb_run_t *run, uint32_t host);
/* STOP: what the host was busy with. false: with nothing. run_id is borrowed. */
typedef struct {
    const char *run_id;
    uint64_t since_wall_ns;
    bool is_free; /* now */
} rb_run_stopped_t;
rb_run_stopped_t rb_run_stopped(const rb_run_t *run, uint32_t host);
bool rb_run_clock(const rb_run_t *run, uint32_t host, uint64_t now_ns, rb_clock_estimate_t *ret);
