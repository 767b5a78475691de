/* run_priv.h - what the files of the run share: run.c (stages), run_message.c (what agents say),
 * run_send.c (what we say), run_row.c (the journal), run_budget.c (its size), run_step.c (what is
 * run next), run_end.c (loss, faults, the end). */
#pragma once

#include "coordinator/budget.h"
#include "coordinator/run.h"
#include "proto/sample.h"
#include "proto/select.h"

typedef enum { LINK_CONNECTING, LINK_UP, LINK_LOST } rb_run_link_t;

/* The answer that a host owes us. */
typedef enum {
    WANT_NOTHING,
    WANT_WELCOME,
    WANT_LOADED,
    WANT_READY,
    WANT_ARMED,
    WANT_DRAINED,
    WANT_CLEANED,
    WANT_FREE
} rb_run_want_t;

typedef struct {
    const rb_run_host_opts_t *opts; /* borrowed */
    rb_run_link_t link;
    rb_run_want_t want;
    uint64_t want_beat; /* Beats after this one know of the command */
    uint64_t heard_ns;
    uint64_t beat;                           /* seq of the last Beat */
    uint32_t burst;                          /* probes of the burst still to come, at most */
    uint32_t burst_idle;                     /* of the last ones, how many told nothing new */
    uint64_t burst_bound_ns;                 /* of the clock, when one last did */
    uint64_t next_row;                       /* the only one we accept */
    char why[sizeof(((rb_err_t *)0)->text)]; /* LOST, or not let in: the reason */
    bool takes_part;                         /* in the phase */
    uint64_t last_row;   /* DRAINED: the phase's rows are in when next_row is beyond it */
    bool started;        /* a worker's first submission is known: */
    int64_t lateness_ns; /* the earliest one against its due time */
    uint64_t done_bytes, total_bytes;
    char *owner; /* STOP: run id that it was busy with, or NULL */
    uint64_t owner_wall_ns;
    rb_clocksync_t clock;
    bool clock_disagrees;              /* the wall clocks say otherwise, and that was noted */
    Rackbench__Inventory *inventory;   /* owned, from Welcome */
    Rackbench__ToCoordinator *loaded;  /* owned, body loaded */
    Rackbench__ToCoordinator *cleaned; /* owned, body cleaned */
} rb_run_host_t;

struct rb_run {
    rb_run_opts_t opts;
    rb_run_sink_t sink;
    rb_stage_t stage;
    rb_run_host_t *hosts; /* [opts.nhosts] */
    uint64_t start_ns, next_beat_ns;
    uint64_t next_row;          /* of host 0 */
    uint64_t next_clocks_ns;    /* when the clocks are journaled again */
    uint32_t phase;             /* number of the step in the run */
    uint32_t plan_phase;        /* index in the plan */
    uint32_t step;              /* of this phase of the plan, from 1 */
    Rackbench__Phase *override; /* owned: the phase as it is run; NULL: as the plan has it */
    int search_job;             /* index in the phase; -1: it is no step of a search */
    rb_latency_search_t search;
    uint64_t t0_ns, te_ns;                      /* of the phase; te_ns 0: as the plan says */
    char reason[sizeof(((rb_err_t *)0)->text)]; /* of the verdict that set te_ns; "": none */
    rb_wall_clock_t wall_clock;                 /* ours; not synchronised until it was read */
    bool journal_broken;
    rb_budget_t budget; /* of the journal */
    uint32_t interrupts;
    size_t lost;
    rb_run_outcome_t outcome; /* the first fault wins */
};

static inline uint32_t rb_run_host_index(const rb_run_t *run, const rb_run_host_t *host)
{
    return (uint32_t)(host - run->hosts) + 1;
}

static inline const Rackbench__Phase *rb_run_phase(const rb_run_t *run)
{
    return run->override != NULL ? run->override : run->opts.plan->phases[run->plan_phase];
}

/* run.c */
/* Has this host done what the stage waits for? */
bool rb_run_reached(const rb_run_t *run, const rb_run_host_t *host);
void rb_run_advance(rb_run_t *run, uint64_t now_ns); /* leaves every stage that is complete */

/* run_budget.c */
/* How many windows of each host are still to come by the plan; searches may take all their steps.
 */
uint64_t rb_run_windows_left(const rb_run_t *run, uint64_t now_ns);
/* Once a beat: windows merge where the journal would grow too large. */
void rb_run_keep_budget(rb_run_t *run, uint64_t now_ns);

/* run_step.c */
void rb_run_begin(rb_run_t *run, uint64_t now_ns); /* the first step */
/* The step under way is over and journaled: tells the search, and begins the next step. false: that
 * was the last. */
bool rb_run_go_on(rb_run_t *run, uint64_t now_ns);

/* run_send.c */
void rb_run_send_beat(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns);
/* The first word to a host, said again until it answers. */
void rb_run_greet(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns);
/* Sends the command that leads to `want`, and remembers that an answer is due. */
void rb_run_command(rb_run_t *run, rb_run_host_t *host, rb_run_want_t want);
void rb_run_send_stop(rb_run_t *run, rb_run_host_t *host);
void rb_run_send_bye(rb_run_t *run, rb_run_host_t *host);

/* run_message.c */
void rb_run_on_message(rb_run_t *run, const rb_run_event_t *ev);

/* run_row.c */
void rb_run_on_row(rb_run_t *run, const rb_run_event_t *ev);
void rb_run_write_run(rb_run_t *run);
void rb_run_write_host(rb_run_t *run, const rb_run_host_t *host);
void rb_run_write_clocks(rb_run_t *run, uint64_t now_ns); /* one row per host that is up */
void rb_run_write_step(rb_run_t *run, uint64_t now_ns);   /* where it is not the plan's phase */
/* What the step at this rate did, and what it means. */
void rb_run_write_search(rb_run_t *run, uint64_t now_ns, const rb_row_search_t *search);
void rb_run_write_phase_start(rb_run_t *run);
void rb_run_write_phase_end(rb_run_t *run);
void rb_run_note(rb_run_t *run, const rb_run_host_t *host, uint64_t now_ns, const char *kind,
                 const char *text); /* host NULL: the run itself */
void rb_run_write_end(rb_run_t *run, uint64_t now_ns);

/* The hosts' starts were further apart than max_skew: an event, or with strict_skew the end. */
void rb_run_judge_skew(rb_run_t *run);

/* run_end.c */
/* The first fault becomes the outcome, later ones events. A phase under way is stopped, else the
 * run ends. */
void rb_run_fail(rb_run_t *run, uint64_t now_ns, const char *status, const rb_err_t *err);
void rb_run_fail_host(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                      const rb_err_t *err); /* "agent NAME: " before the text */
/* This host is known to be gone: does nothing if that is no news. */
void rb_run_lose(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns, const char *why);
void rb_run_refused(rb_run_t *run, const rb_run_event_t *ev); /* the reason of a later loss */
void rb_run_check_silence(rb_run_t *run, uint64_t now_ns);
void rb_run_stop_phase(rb_run_t *run, uint64_t now_ns);
void rb_run_verdict(rb_run_t *run, uint64_t now_ns, const char *reason);
void rb_run_interrupt(rb_run_t *run, uint64_t now_ns);
void rb_run_finish(rb_run_t *run, uint64_t now_ns);
