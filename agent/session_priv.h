/* session_priv.h - what session.c and session_answer.c share: the state, and one function per
 * answer; session_rows.c: what is done with rows; session_heir.c: who takes up the owner's run. */
#pragma once

#include "agent/outbox.h"
#include "agent/session.h"

#define IDLE      RACKBENCH__BEAT_ACK__STATE__idle
#define OWNED     RACKBENCH__BEAT_ACK__STATE__owned
#define LOADED    RACKBENCH__BEAT_ACK__STATE__loaded
#define PREPARING RACKBENCH__BEAT_ACK__STATE__preparing
#define READY     RACKBENCH__BEAT_ACK__STATE__ready
#define ARMED     RACKBENCH__BEAT_ACK__STATE__armed
#define DRAINING  RACKBENCH__BEAT_ACK__STATE__draining
#define FAILED    RACKBENCH__BEAT_ACK__STATE__failed

struct rb_session {
    rb_session_sink_t sink;
    const Rackbench__Inventory *inventory; /* borrowed; NULL: it is still being made */
    const char *join_name;                 /* borrowed, or NULL */
    uint64_t next_join_ns;
    Rackbench__BeatAck__State state;
    /* The owner; all below is meaningful only while state != idle. */
    Rackbench__ToAgent *hello; /* owned; as the owner sent it */
    char *peer;                /* owned; the owner's name on the link */
    uint64_t since_wall_ns;
    uint64_t heard_ns;     /* last Beat or Hello of the owner */
    uint32_t span;         /* windows to a row, by the last Beat; 0: none came */
    bool orphaned;         /* the lease ran out */
    char *evicted;         /* owned; why the owner is to be left once I/O has drained, or NULL */
    bool answering;        /* a Load or Clean is under way: its answer will come */
    Rackbench__Plan *plan; /* owned */
    bool has_phase;        /* `phase` is under way (preparing .. draining, failed) or done last */
    uint32_t phase;
    rb_err_t fault; /* of the phase that failed or was done last; RB_OK: none */
    rb_outbox_t outbox;
    uint64_t stalled_at; /* acked_row at which acknowledgements stand still, + 1; 0: none */
    uint64_t stalled_since_ns;
    bool behind; /* rows were not sent, or to somebody who is gone */
};

/* Another coordinator may take up our run, but not from one that is still heard: there may be
 * copies of a run. */
bool rb_session_may_take_up(const rb_session_t *s, const rb_session_event_t *ev);
/* A coordinator that has given us up says no Hello; by its name it is one of our run. */
void rb_session_follow_heir(rb_session_t *s, const rb_session_event_t *ev);

/* Rows that stay unacknowledged for a while were lost on the way, and are sent again. */
void rb_session_ack_rows(rb_session_t *s, uint64_t acked, uint64_t now_ns);
void rb_session_take_row(rb_session_t *s, const void *row, size_t size);

void rb_session_answer_welcome(rb_session_t *s);
void rb_session_answer_probing(rb_session_t *s, const rb_session_event_t *ev);
void rb_session_answer_busy(rb_session_t *s, const char *peer);
void rb_session_answer_beat(rb_session_t *s, const rb_session_event_t *ev); /* Beat or Collect */
void rb_session_answer_loaded(rb_session_t *s, const Rackbench__Loaded *loaded);
void rb_session_answer_progress(rb_session_t *s, const rb_session_event_t *ev);
void rb_session_answer_ready(rb_session_t *s);
void rb_session_answer_armed(rb_session_t *s);
void rb_session_answer_failed(rb_session_t *s);
void rb_session_answer_drained(rb_session_t *s);
void rb_session_answer_cleaned(rb_session_t *s, const Rackbench__Cleaned *cleaned);
void rb_session_answer_leaving(rb_session_t *s, const char *reason);
void rb_session_join(rb_session_t *s);
