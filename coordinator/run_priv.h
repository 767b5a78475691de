/* run_priv.h - what the files of the run share: run.c (stages), run_message.c (what agents say),
 * run_send.c (what we say), run_row.c (the journal), run_budget.c (its size), run_step.c (what is
 * run next), run_end.c (loss, faults, the end), run_lost.c (rows of lost hosts), run_resume.c (a
 * run that is taken up again), run_view.c (what others see of it). */
#pragma once

#include "coordinator/budget.h"
#include "coordinator/resume.h"
#include "coordinator/run.h"
#include "proto/sample.h"
#include "proto/select.h"

/* FREE: of a run that was complete before; it has all its rows. */
typedef enum { LINK_CONNECTING, LINK_UP, LINK_LOST, LINK_FREE } rb_run_link_t;

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
    uint64_t beat;             /* seq of the last Beat */
    uint32_t burst;            /* probes of the burst still to come, at most */
    uint32_t burst_idle;       /* of the last ones, how many told nothing new */
    uint64_t burst_bound_ns;   /* of the clock, when one last did */
    uint64_t next_row;         /* the only one we accept */
    uint64_t safe_row;         /* up to here rows are acknowledged */
    bool known;                /* its HOST row is in the journal, so its rows may be */
    bool checked;              /* resumed: it knows what it did, so its rows are taken */
    bool silent;               /* "no_answer" was noted */
    bool straggler;            /* noted */
    char probing[RB_MAX_TEXT]; /* the drive that its answer waits for, by its last word; "": none */
    uint64_t probing_ns;       /* ... and since how long */
    bool slow_drive;           /* noted */
    /* LOST: */
    bool stranger;                           /* it holds nothing of this run any more */
    bool elsewhere;                          /* ... as another journal has its rows: it is let be */
    bool back;                               /* it has answered since */
    bool at_rest;                            /* ... and makes no more rows: last_row is the last */
    bool waited;                             /* long enough, at the end of the run */
    char why[sizeof(((rb_err_t *)0)->text)]; /* LOST, or not let in: the reason */
    bool takes_part;                         /* in the phase */
    uint64_t last_row;   /* DRAINED: the phase's rows are in when next_row is beyond it */
    int64_t end_at_ns;   /* a worker's last end in the phase, since T0 */
    bool ended_early;    /* ... before its work was done */
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
    rb_run_host_t *hosts;            /* [opts.nhosts] */
    uint64_t start_ns, next_beat_ns; /* start: of the whole run */
    uint64_t connect_ns;             /* of the first Hello */
    uint64_t collect_ns, due_ns;     /* COLLECT: begun; the end of the phase by plan or Stop */
    uint64_t next_row;               /* of host 0 */
    uint64_t next_clocks_ns;         /* when the clocks are journaled again */
    bool loaded;
    bool resuming; /* until it is known where the agents are */
    bool cut;      /* the phase was cut short while no coordinator was there */
    bool was_cut;  /* ... one of the phases */
    bool left_out; /* steps were not run: rows alone were asked for */

    uint32_t phase;             /* number of the step in the run */
    uint32_t plan_phase;        /* index in the plan */
    uint32_t step;              /* of this phase of the plan, from 1 */
    Rackbench__Phase *override; /* owned: the phase as it is run; NULL: as the plan has it */
    int search_job;             /* index in the phase; -1: it is no step of a search */
    rb_latency_search_t search;
    bool over;                                  /* the step is over: the next one is due. And: */
    bool told;                                  /* the search knows of it */
    uint64_t errors;                            /* of I/O in the step, of all hosts */
    bool cut_step;                              /* it was cut short: its figures say nothing */
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
/* Lost hosts are not waited for, nor those that the phase does not concern. */
bool rb_run_counts(const rb_run_t *run, const rb_run_host_t *host);
void rb_run_begin_load(rb_run_t *run);
void rb_run_advance(rb_run_t *run, uint64_t now_ns); /* leaves every stage that is complete */

/* run_budget.c */
/* How many windows of each host are still to come by the plan; searches may take all their steps.
 */
uint64_t rb_run_windows_left(const rb_run_t *run, uint64_t now_ns);
/* Once a beat: windows merge where the journal would grow too large. */
void rb_run_keep_budget(rb_run_t *run, uint64_t now_ns);

/* run_step.c */
void rb_run_first_step(rb_run_t *run);
/* Where the journal of a resumed run ends. */
void rb_run_restore_step(rb_run_t *run);
/* What is due next: the step, after a LOAD if that was not yet; or the end. If a step is over and
 * journaled, its search is told before. */
void rb_run_go_on(rb_run_t *run, uint64_t now_ns);

/* run_send.c */
void rb_run_send_beat(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns);
/* The first word to a host, said again until it answers. */
void rb_run_greet(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns);
void rb_run_send_collect(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns);
/* Sends the command that leads to `want`, and remembers that an answer is due. */
void rb_run_command(rb_run_t *run, rb_run_host_t *host, rb_run_want_t want);
void rb_run_send_stop(rb_run_t *run, rb_run_host_t *host);
void rb_run_send_bye(rb_run_t *run, rb_run_host_t *host);

/* run_kv.c: what PREPARE says of a phase with a KV cache; the trace is borrowed. */
void rb_run_kv_fill(const rb_run_t *run, const rb_run_host_t *host, Rackbench__Prepare *prepare);
void rb_run_kv_clear(Rackbench__Prepare *prepare);

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
void rb_run_write_reaches(rb_run_t *run);
/* Makes all rows safe. False: that failed, and ends the run. */
bool rb_run_sync(rb_run_t *run, uint64_t now_ns);
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
/* what NULL: its answer waits for no drive. */
void rb_run_probing(rb_run_host_t *host, const char *what, uint64_t for_ns);
void rb_run_heard(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns);
uint64_t rb_run_due_ns(const rb_run_t *run); /* end of the phase; 0: by count, or none runs */
void rb_run_stop_phase(rb_run_t *run, uint64_t now_ns);
void rb_run_verdict(rb_run_t *run, uint64_t now_ns, const char *reason);
void rb_run_interrupt(rb_run_t *run, uint64_t now_ns);
void rb_run_finish(rb_run_t *run, uint64_t now_ns);
/* Without waiting for anything. */
void rb_run_end(rb_run_t *run, uint64_t now_ns);

/* run_lost.c */
/* Rows of this host are not in, and it may have them. */
bool rb_run_holds_rows(const rb_run_t *run, const rb_run_host_t *host);
bool rb_run_owed(const rb_run_t *run); /* a host owes rows and is still waited for */
void rb_run_begin_collect(rb_run_t *run, uint64_t now_ns);
void rb_run_collect(rb_run_t *run, uint64_t now_ns); /* at every beat */
void rb_run_on_lost_ack(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                        const Rackbench__BeatAck *ack);
void rb_run_note_collected(rb_run_t *run, uint64_t now_ns); /* at the end */

/* run_resume.c */
void rb_run_resume(rb_run_t *run, const rb_run_event_t *ev); /* the first event */
/* Can this agent not go on from where the journal ends? *ret: why. */
bool rb_run_resume_fault(const rb_run_t *run, rb_run_host_t *host, const Rackbench__BeatAck *ack,
                         rb_err_t *ret);
/* ... then it is lost, and this false. */
bool rb_run_resume_check(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                         const Rackbench__BeatAck *ack);
void rb_run_resume_course(rb_run_t *run, uint64_t now_ns); /* after PROBE */
/* This phase was under way when the coordinator died. */
bool rb_run_in_resumed_phase(const rb_run_t *run);
void rb_run_cut(rb_run_t *run, const rb_run_host_t *host, uint64_t now_ns, const char *why);
