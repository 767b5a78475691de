/* sim.h - a whole run in virtual time: the production run and sessions, everything else simulated.
 *
 * One seed chooses hosts, plan, clocks, network and faults, and gives the same course every time.
 * Each machine reads its own clock (offset of hours, drift within 100 ppm); `real` time is known to
 * the simulator alone. A violated invariant stops the course. One thread; a course of some ten
 * virtual seconds takes a few milliseconds.
 *
 *   sim_config   what the seed chooses         sim_queue   events in order of real time
 *   sim_net      links that delay and break    sim_agent   a host: session and its shell
 *   sim_engine   I/O that is only counted      sim_windows   what it measured, in rows
 *   sim_faults   what goes wrong, when         sim_coordinator   the run and its shell
 *   sim_check    invariants I1 .. I12          sim_report   trace and coverage
 *   sim_journal  what a resumed run begins with
 */
#pragma once

#include "agent/session.h"
#include "agent/thin.h"
#include "agent/timeline.h"
#include "coordinator/resume.h"
#include "proto/sample.h"
#include "proto/select.h"
#include "tests/sim/sim_config.h"

enum {
    SIM_MAX_RESUMES = 3, /* each may have a step run again */
    SIM_MAX_STEPS = SIM_MAX_PHASES * RB_SEARCH_MAX_STEPS + SIM_MAX_RESUMES,
    SIM_RECENT = 40,
    SIM_TOLD = 64, /* what the coordinator told of its clock, kept until it must have arrived */
    SIM_LINE = 200,
    SIM_STATES = 8,
    SIM_STAGES = 9,
    SIM_TO_AGENT_BODIES = 11,                      /* 0: none */
    SIM_TO_COORDINATOR_BODIES = 13,                /* likewise */
    SIM_SESSION_EVENTS = SIM_TO_AGENT_BODIES + 8,  /* then the kinds from TICK on */
    SIM_RUN_EVENTS = SIM_TO_COORDINATOR_BODIES + 8 /* then the kinds except MESSAGE */
};

#define SIM_PEER     "run"      /* the coordinator, as agents know it */
#define SIM_INTRUDER "intruder" /* a second coordinator */

typedef struct sim sim_t;

/* ---- events ---- */

typedef enum {
    SIM_TO_AGENT,
    SIM_TO_COORDINATOR,
    SIM_FAULT,
    SIM_RESTART,
    SIM_LINK_UP,
    SIM_ANSWER, /* Loaded or Cleaned is due */
    SIM_ENGINE,
    SIM_AGENT_TICK,
    SIM_START,
    SIM_RESUME,
    SIM_RUN_TICK,
    SIM_VERDICT
} sim_event_kind_t;

typedef struct {
    uint64_t at_ns; /* real */
    uint64_t order;
    sim_event_kind_t kind;
    uint32_t host;    /* from 1; FAULT: index */
    uint64_t epoch;   /* of the link, engine, timer: an older one is void */
    rb_bytes_t frame; /* TO_* */
} sim_event_t;

typedef struct {
    sim_event_t *heap;
    size_t count;
    uint64_t order;
} sim_queue_t;
void sim_push(sim_t *sim, sim_event_t event);     /* takes the frame */
void sim_postpone(sim_t *sim, sim_event_t event); /* keeps its order among its like */
bool sim_pop(sim_t *sim, sim_event_t *ret);       /* the caller owns the frame */
void sim_queue_clear(sim_queue_t *queue);

/* ---- network ---- */

typedef struct {
    bool up;
    uint64_t epoch, since_ns;
    uint64_t last_ns[2]; /* arrival of the last message of each direction */
} sim_link_t;
void sim_send(sim_t *sim, sim_event_kind_t kind, uint32_t host, rb_bytes_t frame);
void sim_break(sim_t *sim, uint32_t host, uint64_t length_ns); /* 0: until sim_connect */
void sim_connect(sim_t *sim, uint32_t host);

/* ---- agents ---- */

typedef enum {
    SIM_NO_ENGINE,
    SIM_PREPARING,
    SIM_READY,
    SIM_FAILING,
    SIM_ARMED,
    SIM_DRAINING
} sim_engine_state_t;

/* A window, or several, as handed to rb_thin. */
typedef struct {
    uint64_t index;
    uint32_t span, told; /* told: windows to a row, as the agent knew then */
    bool alone;          /* must not be merged */
} sim_cut_t;

typedef struct {
    sim_engine_state_t state;
    uint32_t phase;
    uint64_t epoch;
    uint64_t ramp_ns, runtime_ns, number_ios, rate_iops;     /* of the job, as Prepare has it */
    uint64_t ready_ns, t0_ns, end_ns, drained_ns, window_ns; /* agent's clock */
    rb_timeline_t line;
    uint64_t length_at_ns; /* common clock: planned end, since T0; 0: by operations or a fault */
    bool counted;          /* bound by operations */
    bool started, io, cut; /* cut: I/O ended before the work was done */
    bool in_time;          /* ARM came before T0 */
    uint64_t windows, next, cut_window; /* next: the window that the next border begins */
    rb_thin_t *thin;
    size_t ncuts; /* that are not in a row yet */
    sim_cut_t *cuts;
    uint32_t told;
    bool compares; /* response times, with those of windows before that could merge, too */
    uint64_t open, quiet_until; /* windows that must come alone; none because of what is earlier */
    rb_err_t fault;
} sim_engine_t;

/* What a host did in a phase, as only the simulator knows. */
typedef struct {
    bool ready, started, in_time, whole; /* whole: it did all of its work */
    uint64_t start_ns;                   /* real */
    uint64_t ops;
    uint64_t rate_iops; /* that it was told to offer */
} sim_deed_t;

typedef struct {
    sim_t *sim;
    uint32_t host;
    bool alive, ours; /* ours: rows that it makes belong to the run */
    uint64_t paused_until_ns;
    rb_session_t *session;
    Rackbench__Inventory inventory;
    sim_engine_t engine;
    sim_deed_t deeds[SIM_MAX_STEPS];
    uint64_t tick_ns, tick_epoch;
    uint64_t answer_epoch;
    bool cleaning, failed_lost;
    uint64_t lease_end_ns; /* agent's clock: last word of the owner + lease */
    uint64_t evicted_ns;   /* agent's clock; 0: not, since it was taken */
    uint64_t stop_ns;      /* agent's clock: a Collect came; UINT64_MAX: none */
    uint64_t rest_ns;      /* real: the last engine ended */
    uint64_t born_ns;      /* real */
    size_t nmade;
    rb_bytes_t *made; /* rows, as made */
    size_t nnotes;
    rb_row_event_t *notes;        /* constant strings */
    uint32_t acts, answers, busy; /* what the session did and said: for I8 */
} sim_agent_t;

void sim_agent_start(sim_t *sim, uint32_t host);
void sim_agent_kill(sim_t *sim, uint32_t host);
void sim_agent_event(sim_t *sim, sim_event_t *event);
void sim_agent_intrude(sim_t *sim, uint32_t host);
void sim_agent_evict(sim_t *sim, uint32_t host);
/* For the engine: an event of its own, and a row. */
void sim_agent_step(sim_agent_t *agent, rb_session_event_t event);
void sim_agent_row(sim_agent_t *agent, rb_row_t *row);
uint64_t sim_agent_now_ns(const sim_agent_t *agent);

void sim_engine_prepare(sim_agent_t *agent, const Rackbench__Prepare *prepare);
void sim_engine_arm(sim_agent_t *agent, uint64_t t0_ns, int64_t drift_ppb);
void sim_engine_tell(sim_agent_t *agent, const Rackbench__Discipline *discipline);
void sim_engine_stop(sim_agent_t *agent, uint64_t te_ns);
void sim_engine_release(sim_agent_t *agent);
void sim_engine_event(sim_agent_t *agent);

uint64_t sim_interval_ns(const sim_t *sim);
void sim_windows_begin(sim_engine_t *engine);
void sim_windows_clear(sim_engine_t *engine);
uint64_t sim_windows_stride(const sim_agent_t *agent); /* windows until the next border */
void sim_windows_cut(sim_agent_t *agent);              /* what is over goes on its way */
void sim_windows_end(sim_agent_t *agent);

/* ---- coordinator ---- */

/* What a host was told of the common clock, and how true the coordinator holds it to be. */
typedef struct {
    uint64_t at_ns; /* since T0; 0: by ARM */
    rb_clock_estimate_t clock;
} sim_told_t;

/* A step of the run, as the journal tells it. */
typedef struct {
    uint32_t plan_phase;
    uint32_t step;
    bool told, verdict;                  /* of a search: its SEARCH row came, with the last word */
    bool started, ended, truncated, cut; /* cut: by a verdict */
    uint64_t t0_ns;
    bool stopped[SIM_MAX_HOSTS + 1];        /* Stop was said ... */
    uint64_t stop_ns[SIM_MAX_HOSTS + 1];    /* ... for this instant, in truth, on our clock ... */
    uint64_t stop_bound[SIM_MAX_HOSTS + 1]; /* ... which is right within [ns] */
    bool takes_part[SIM_MAX_HOSTS + 1], lost[SIM_MAX_HOSTS + 1];
    uint64_t bound_ns[SIM_MAX_HOSTS + 1];
    uint64_t ops[SIM_MAX_HOSTS + 1];
} sim_phase_t;

typedef struct {
    uint32_t host;
    rb_bytes_t row;
} sim_record_t;

typedef struct {
    rb_run_t *run;
    bool alive, journal_failed, sync_fails, resume_pending, hasty; /* hasty: it ended at once */
    uint32_t resumed;                                              /* how often */
    uint64_t start_ns, paused_until_ns, done_ns;                   /* real; done 0: not yet */
    uint64_t tick_ns, tick_epoch;
    uint64_t rows[SIM_MAX_HOSTS + 1], total_rows;
    bool lost[SIM_MAX_HOSTS + 1], bye[SIM_MAX_HOSTS + 1];
    bool rows_in[SIM_MAX_HOSTS + 1], stranger[SIM_MAX_HOSTS + 1]; /* as noted */
    size_t nrecords, nsynced;
    uint64_t journal_bytes;
    uint32_t stated_span;  /* windows to a row, as noted; 0: nothing was */
    sim_record_t *journal; /* [nrecords] */
    rb_fold_t *fold;       /* resumed: of the journal until then */
    rb_resume_t *resume;
    uint64_t lost_ns[SIM_MAX_HOSTS + 1]; /* real */
    uint32_t nsteps;                     /* that were begun */
    rb_latency_search_t search;          /* by what the journal tells */
    sim_phase_t phases[SIM_MAX_STEPS];
    sim_told_t armed[SIM_MAX_HOSTS + 1], told[SIM_MAX_HOSTS + 1][SIM_TOLD];
    uint64_t ntold[SIM_MAX_HOSTS + 1];
    bool run_end, disagrees[SIM_MAX_HOSTS + 1];
    rb_run_outcome_t before; /* the last step */
    rb_stage_t stage_before;
} sim_coordinator_t;

void sim_coordinator_start(sim_t *sim);
void sim_coordinator_event(sim_t *sim, sim_event_t *event);
void sim_coordinator_step(sim_t *sim, rb_run_event_t event);
void sim_coordinator_kill(sim_t *sim);
void sim_coordinator_verdict(sim_t *sim); /* somebody knows enough of what runs */
/* Another one takes its place, later: by chance, or because there are rows to fetch. */
void sim_coordinator_replace(sim_t *sim, uint64_t after_ns);
void sim_coordinator_begin(sim_t *sim, const rb_run_opts_t *opts);
void sim_read_row(sim_t *sim, uint32_t host, const void *data, size_t size);

void sim_journal_append(sim_t *sim, uint32_t host, const void *row, size_t size);
void sim_journal_cut(sim_t *sim); /* to what was synced */
void sim_journal_clear(sim_coordinator_t *c);
void sim_resume(sim_t *sim);
uint64_t sim_coordinator_now_ns(const sim_t *sim);

void sim_fault(sim_t *sim, uint32_t index);

/* ---- the course ---- */

typedef struct {
    uint64_t session[SIM_STATES][SIM_SESSION_EVENTS];
    uint64_t run[SIM_STAGES][SIM_RUN_EVENTS];
    uint64_t exits[256];
} sim_coverage_t;

typedef struct {
    uint64_t rows, alone; /* of windows; of those, around what went wrong */
    uint32_t widest;      /* windows in a row */
} sim_counts_t;

struct sim {
    sim_config_t config;
    rb_rng_t rng;
    uint64_t now_ns; /* real */
    sim_queue_t queue;
    sim_link_t links[SIM_MAX_HOSTS + 1];
    sim_agent_t agents[SIM_MAX_HOSTS + 1]; /* from 1 */
    sim_coordinator_t coordinator;
    sim_coverage_t *coverage;
    sim_counts_t counts;
    uint32_t without;  /* this invariant is not checked; 0: all are */
    uint32_t violated; /* number of the invariant; 0: none */
    char what[SIM_LINE];
    bool recording, printing;
    size_t nrecent;
    char recent[SIM_RECENT][SIM_LINE];
};

typedef struct {
    uint64_t seed;
    uint32_t without;
    bool recording, printing;
    uint64_t scale; /* of the long course; 0: it is another */
} sim_opts_t;
/* Runs one course to its end; the caller frees it. */
sim_t *sim_course(const sim_opts_t *opts, sim_coverage_t *coverage);
void sim_destroy(sim_t **sim);

/* ---- invariants ---- */

void sim_violate(sim_t *sim, uint32_t invariant, const char *fmt, ...) RB_PRINTF(3, 4);
bool sim_takes_part(const sim_t *sim, uint32_t step, uint32_t host); /* by the plan alone */
bool sim_is_search(const sim_t *sim, uint32_t plan_phase);
void sim_check_io(sim_agent_t *agent);       /* I1, I10, whenever an engine works */
void sim_check_evicted(sim_agent_t *agent);  /* I10, whenever one is at rest */
void sim_check_io_start(sim_agent_t *agent); /* I2 */
void sim_check_arm(sim_t *sim, uint32_t host, uint32_t phase);               /* I2 */
void sim_check_row(sim_t *sim, uint32_t host, const void *row, size_t size); /* I3 */
void sim_check_clock(sim_t *sim, const rb_row_clock_t *clock);               /* I5 */
void sim_check_opinion(sim_t *sim, uint32_t host); /* I5: it was noted that its clock disagrees */
void sim_check_border(const sim_agent_t *agent, uint64_t at_ns, uint64_t local_ns); /* I5 */
void sim_check_told(const sim_agent_t *agent, uint64_t at_ns);                      /* I5 */
void sim_check_step(sim_t *sim, const rb_run_event_t *event);                       /* I7 */
void sim_check_begin(sim_t *sim, const rb_row_step_t *step);                        /* I9 */
void sim_check_search(sim_t *sim, const rb_row_search_t *search);                   /* I9 */
void sim_check_all_steps(sim_t *sim);                            /* I9, of a run that ended well */
void sim_check_stops(sim_t *sim, const rb_row_phase_end_t *end); /* I5 */
void sim_check_done(sim_t *sim);                                 /* I4, I5, I7, I9 */
void sim_check_overdue(sim_t *sim);                              /* I6 */
void sim_check_rest(sim_t *sim);                                 /* I6 */
void sim_check_bye(sim_t *sim, uint32_t host);                   /* I10 */
void sim_check_collected(sim_t *sim);                            /* I10 */
void sim_check_room(sim_t *sim);                                 /* I12 */
void sim_check_journal(sim_t *sim);                              /* I12 */
void sim_check_span(sim_t *sim, uint32_t host, const Rackbench__Beat *beat); /* I12 */

/* ---- what is shown ---- */

void sim_log(sim_t *sim, const char *fmt, ...) RB_PRINTF(2, 3);
void sim_cover_session(sim_t *sim, const sim_agent_t *agent, const rb_session_event_t *event);
void sim_cover_run(sim_t *sim, rb_stage_t stage, const rb_run_event_t *event);
const char *sim_to_agent_name(const Rackbench__ToAgent *msg);
const char *sim_to_coordinator_name(const Rackbench__ToCoordinator *msg);
void sim_print_coverage(const sim_coverage_t *coverage);
size_t sim_covered(const sim_coverage_t *coverage); /* pairs visited */
