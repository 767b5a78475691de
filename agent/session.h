/* session.h - the agent's side of the protocol as a pure step function. No socket, clock, thread or
 * I/O.
 *
 * One coordinator owns an agent at a time; another is answered BUSY. Commands are idempotent: one
 * that was carried out is answered again. Every agent row passes through here: it is numbered, held
 * until the coordinator has acknowledged it, and sent again when acknowledgements stand still
 * (go-back-N). No Beat within the lease, or a Collect, which says that we were given up: I/O stops,
 * rows are kept, and the owner may come back with the same run id: the same process, or another
 * one, by its name on the link, once the first was silent for more than two beats. A Load then
 * begins anew: what was prepared and not started is forgotten. EVICT, from anybody: I/O stops, what
 * it measured is sent, the owner is left.
 *
 *   IDLE -HELLO-> OWNED -LOAD-> LOADED -PREPARE-> PREPARING -> READY -ARM-> ARMED -> (drained)
 * LOADED
 *
 * Called by the agent's main thread, and by the simulator in virtual time. What an event asks for
 * is done by the sink's functions during the step; they must not call back into the session.
 */
#pragma once

#include "common/err.h"
#include "proto/wire.h"

typedef struct rb_session rb_session_t;

/* What the session asks its shell to do. `peer` is the coordinator's name on the link. */
typedef struct {
    void *ctx;
    void (*send)(void *ctx, const char *peer, const Rackbench__ToCoordinator *msg);
    void (*send_row)(void *ctx, const char *peer, const void *row, size_t size);
    /* Answered later by the LOADED event; not asked again before that. The plan is borrowed until
     * release. */
    void (*load)(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello);
    void (*prepare)(void *ctx, const Rackbench__Prepare *prepare); /* READY or FAILED event */
    void (*arm)(void *ctx, uint64_t t0_ns, int64_t drift_ppb);
    void (*stop)(void *ctx, uint64_t te_ns); /* DRAINED (or FAILED) event */
    /* Where the common clock of the phase that runs stands now. */
    void (*discipline)(void *ctx, const Rackbench__Discipline *discipline);
    /* CLEANED event */
    void (*clean)(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello);
    void (*release)(void *ctx); /* stop all I/O, forget plan and phase; no event follows */
    /* Write an EVENT row (through rb_session_next_row and a ROW event, after this step). */
    void (*note)(void *ctx, const char *kind, const char *text);
} rb_session_sink_t;

typedef enum {
    RB_SESSION_MESSAGE,  /* peer, message */
    RB_SESSION_TICK,     /* time has passed */
    RB_SESSION_LOADED,   /* loaded */
    RB_SESSION_PROGRESS, /* done_bytes, total_bytes */
    RB_SESSION_READY,
    RB_SESSION_FAILED,  /* fault: PREPARE failed */
    RB_SESSION_DRAINED, /* fault or NULL; every row of the phase came before */
    RB_SESSION_CLEANED, /* cleaned */
    RB_SESSION_ROW      /* row, row_size: numbered rb_session_next_row */
} rb_session_event_kind_t;

typedef struct {
    rb_session_event_kind_t kind;
    uint64_t now_ns;                        /* agent's clock */
    uint64_t wall_ns;                       /* since 1970; MESSAGE only */
    const Rackbench__WallClock *wall_clock; /* MESSAGE: to go with a BeatAck; NULL: not this time */
    const char *probing; /* MESSAGE: the drive that the shell waits for; NULL: none */
    uint64_t probing_ns; /* ... since so long */
    const char *peer;
    const Rackbench__ToAgent *message;
    const Rackbench__Loaded *loaded;
    const Rackbench__Cleaned *cleaned;
    const rb_err_t *fault;
    uint64_t done_bytes, total_bytes;
    const void *row;
    size_t row_size; /* [bytes] */
} rb_session_event_t;

/* inventory: may come later. join_name: the name to announce until a coordinator says HELLO, NULL
 * for an agent that listens. All borrowed. */
rb_session_t *rb_session_new(const rb_session_sink_t *sink, const Rackbench__Inventory *inventory,
                             const char *join_name);
void rb_session_destroy(rb_session_t **session);

void rb_session_step(rb_session_t *session, const rb_session_event_t *event);

/* The inventory is there, for whoever was told to wait for it. Borrowed. */
void rb_session_take_inventory(rb_session_t *session, const Rackbench__Inventory *inventory);

/* Tells the owner, if there is one, that this agent is being ended. */
void rb_session_leave(rb_session_t *session, const char *reason);

/* When the next TICK is due [agent's clock, ns]; UINT64_MAX: not until something else happens. */
uint64_t rb_session_deadline_ns(const rb_session_t *session);

uint64_t rb_session_next_row(const rb_session_t *session); /* number for the next ROW event */
/* False while RB_MAX_OUTBOX bytes are unacknowledged: leave the windows with the workers. An
 * evicted agent does not wait for that. */
bool rb_session_takes_rows(const rb_session_t *session);
uint32_t rb_session_span(const rb_session_t *session); /* windows to a row */
bool rb_session_owned(const rb_session_t *session);
Rackbench__BeatAck__State rb_session_state(const rb_session_t *session);
