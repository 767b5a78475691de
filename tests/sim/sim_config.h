/* sim_config.h - what a seed chooses: hosts, plan, clocks, network, what goes wrong and when. */
#pragma once

#include "common/rng.h"
#include "coordinator/run.h"

enum {
    SIM_MAX_HOSTS = 64,
    SIM_FEW_HOSTS = 8,  /* most courses have no more */
    SIM_MAX_DRIVES = 8, /* of a host */
    SIM_MAX_PHASES = 3,
    SIM_MAX_FAULTS = 5
};

/* A process gets to its timers this late at most: the tick of I1. */
#define SIM_TICK_NS        (20 * RB_NS_PER_MS)
#define SIM_MAX_DELAY_NS   (900 * RB_NS_PER_MS) /* of one message, one way */
#define SIM_MAX_PREPARE_NS (3 * RB_NS_PER_S)
#define SIM_MAX_ANSWER_NS  (200 * RB_NS_PER_MS) /* Load, Clean */
#define SIM_MAX_LENGTH_NS  (20 * RB_NS_PER_S)   /* of I/O, beside the ramp ... */
#define SIM_MAX_AUTO_NS    (100 * RB_NS_PER_S)  /* ... and where windows merge */
#define SIM_MAX_DRAIN_NS   (30 * RB_NS_PER_S)
#define SIM_MAX_STUCK_NS   (100 * RB_NS_PER_S) /* an engine that breaks its promise */
#define SIM_MAX_AWAY_NS    (8 * RB_NS_PER_S)   /* of a process or a link */

/* ---- clocks ---- */

typedef struct {
    int64_t offset_ns, drift_ppb;
} sim_clock_t;
#define SIM_BIG_BANG_NS (10ull * 3600 * RB_NS_PER_S) /* real time at which a course begins */
uint64_t sim_local_ns(const sim_clock_t *clock, uint64_t real_ns);
uint64_t sim_real_ns(const sim_clock_t *clock, uint64_t local_ns); /* first instant that shows it */

/* ---- configuration ---- */

typedef enum {
    SIM_BREAK,
    SIM_KILL_AGENT, /* and restart it after length_ns, if that is not 0 */
    SIM_GONE,       /* killed, and the coordinator is told */
    SIM_PAUSE_AGENT,
    SIM_PAUSE_COORDINATOR,
    SIM_KILL_COORDINATOR, /* and it is taken up again after length_ns, if that is not 0 */
    SIM_POWER_FAILS,      /* the same, and what was not synced is gone */
    SIM_INTERRUPT,
    SIM_INTRUDE,
    SIM_EVICT,   /* somebody frees the host */
    SIM_GARBAGE, /* a frame that cannot be understood */
    SIM_SYNC_FAILS,
    SIM_FAULT_KINDS
} sim_fault_kind_t;

typedef struct {
    sim_fault_kind_t kind;
    uint64_t at_ns, length_ns; /* at: since the start */
    uint32_t host;             /* from 1 */
} sim_fault_t;

/* A wall clock: real time but for off_ns, and what its kernel says of it. */
typedef struct {
    bool synchronised, lies; /* lies: it is further off than it says */
    int64_t off_ns;
    uint64_t maxerror_ns;
} sim_wall_t;

/* In a window of an engine. */
typedef enum {
    SIM_NO_TROUBLE,
    SIM_ERRORS,
    SIM_JUMP,  /* of response times */
    SIM_HANGS, /* an operation */
    SIM_TROUBLES
} sim_trouble_t;

/* In every phase, by number of the window: now and then, each time another kind; and errors all the
 * time for a while. */
typedef struct {
    uint64_t kind, first, every; /* every 0: never */
    uint64_t bad_from, bad_until;
} sim_troubles_t;

typedef struct {
    uint64_t base_ns[2], tail_ns; /* to the agent, to the coordinator */
    sim_clock_t clock;
    uint64_t appears_ns; /* the agent starts; UINT64_MAX: never */
    bool joins;
    sim_wall_t wall;
    bool refuses, load_fails;
    int32_t prepare_fails, io_fails, stuck; /* in this phase; -1: in none */
    uint64_t failed_lost_ns; /* so long the link breaks under its first Failed; 0: it does not */
    sim_troubles_t troubles;
} sim_host_config_t;

typedef struct {
    rb_run_opts_t run;
    rb_run_host_opts_t hosts[SIM_MAX_HOSTS];
    Rackbench__Label labels[SIM_MAX_HOSTS], *label_of[SIM_MAX_HOSTS];
    char names[SIM_MAX_HOSTS][8];
    Rackbench__Plan plan;
    Rackbench__Target target, *targets[1];
    Rackbench__Phase phases[SIM_MAX_PHASES], *phase_of[SIM_MAX_PHASES];
    Rackbench__Job jobs[SIM_MAX_PHASES], *job_of[SIM_MAX_PHASES];
    Rackbench__Label on, *on_of[1];
    sim_host_config_t machines[SIM_MAX_HOSTS];
    sim_clock_t clock; /* of the coordinator */
    sim_wall_t wall;   /* likewise; never lies */
    size_t nfaults;
    sim_fault_t faults[SIM_MAX_FAULTS];
    uint64_t journal_rows;   /* the journal takes no more than this */
    uint64_t longest_run_ns; /* I6, derived in sim_config.c */
    uint64_t capacity_iops;  /* of the cluster, for searches */
    uint64_t verdict_ns;     /* since the start: enough is known of what runs then; 0: never */
    uint32_t ndrives;        /* of each host */
    uint32_t pairs;          /* of a window's histograms */
    bool is_long;            /* rows are not kept, and virtual time goes in long strides */
    uint64_t nap_ns;         /* the coordinator gets to its timers so late, too */
} sim_config_t;
void sim_config_init(sim_config_t *config, uint64_t seed);
/* 16 hosts of 8 drives for 14 days, with --journal-max 10 GB; rows and limit are so many times
 * smaller. */
void sim_config_long(sim_config_t *config, uint64_t scale);
/* In [low, high], each order of magnitude as likely. */
uint64_t sim_any_scale(rb_rng_t *rng, uint64_t low, uint64_t high);
static inline bool sim_chance(rb_rng_t *rng, uint32_t percent)
{
    return rb_rng_below(rng, 100) < percent;
}
static inline uint64_t sim_between(rb_rng_t *rng, uint64_t low, uint64_t high)
{
    return low + rb_rng_below(rng, high - low + 1);
}
