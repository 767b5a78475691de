/* session_fixture.h - a session whose shell writes down what it is asked for, as words in one line.
 * Included by one test program. */
#pragma once

#include "agent/session.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LEASE_NS (3 * RB_NS_PER_S)

typedef struct {
    rb_session_t *session;
    Rackbench__Inventory inventory;
    Rackbench__Plan plan;
    Rackbench__Phase phase, *phases[2];
    uint64_t now_ns, seq;
    uint64_t first_row;  /* that the last BeatAck told of */
    const char *probing; /* what the shell waits for, or NULL */
    char said[4096];     /* since the last expect */
} agent_t;

static void put(agent_t *a, const char *fmt, ...) RB_PRINTF(2, 3);
static inline void put(agent_t *a, const char *fmt, ...)
{
    size_t n = strlen(a->said);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(a->said + n, sizeof(a->said) - n, fmt, ap);
    va_end(ap);
}

/* ---- the sink writes down ---- */

static inline void sink_send(void *ctx, const char *peer, const Rackbench__ToCoordinator *msg)
{
    static const char *const names[] = {"none",   "Join",     "Welcome", "Busy",   "BeatAck",
                                        "Loaded", "Progress", "Ready",   "Armed",  "Drained",
                                        "Failed", "Cleaned",  "Leaving", "Probing"};
    put(ctx, "%s", names[msg->body_case]);
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_BUSY)
        put(ctx, "(%s to %s)", msg->busy->run_id, peer);
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_DRAINED)
        put(ctx, "(%u rows %llu fault %u)", msg->drained->phase,
            (unsigned long long)msg->drained->last_row,
            msg->drained->fault != NULL ? msg->drained->fault->code : 0);
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_FAILED)
        put(ctx, "(fault %u)", msg->failed->fault->code);
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_BEAT_ACK) {
        put(ctx, "(%u%s%s)", (unsigned)msg->beat_ack->state,
            msg->beat_ack->probing != NULL ? " " : "",
            msg->beat_ack->probing != NULL ? msg->beat_ack->probing : "");
        ((agent_t *)ctx)->first_row = msg->beat_ack->first_row;
    }
    if (msg->body_case == RACKBENCH__TO_COORDINATOR__BODY_PROBING)
        put(ctx, "(%s)", msg->probing->what);
    put(ctx, " ");
}

static inline void sink_row(void *ctx, const char *peer, const void *row, size_t size)
{
    (void)peer;
    put(ctx, "row:%.*s ", (int)RB_MIN(size, 8u), (const char *)row);
}

static inline void sink_load(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello)
{
    put(ctx, "load(%zu phases, %s) ", plan->n_phases, hello->host);
}

static inline void sink_prepare(void *ctx, const Rackbench__Prepare *prepare)
{
    uint32_t phase = prepare->phase;
    put(ctx, "prepare(%u) ", phase);
}

static inline void sink_arm(void *ctx, uint64_t t0_ns, int64_t drift_ppb)
{
    put(ctx, "arm(%llu,%lld) ", (unsigned long long)t0_ns, (long long)drift_ppb);
}

static inline void sink_stop(void *ctx, uint64_t te_ns)
{
    put(ctx, "stop(%llu) ", (unsigned long long)te_ns);
}

static inline void sink_discipline(void *ctx, const Rackbench__Discipline *d)
{
    put(ctx, "discipline(%llu,%llu,%lld) ", (unsigned long long)d->at_ns,
        (unsigned long long)d->local_ns, (long long)d->drift_ppb);
}

static inline void sink_clean(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello)
{
    put(ctx, "clean(%zu phases, %s) ", plan->n_phases, hello->host);
}

static inline void sink_release(void *ctx)
{
    put(ctx, "release ");
}

static inline void sink_note(void *ctx, const char *kind, const char *text)
{
    (void)text;
    put(ctx, "note(%s) ", kind);
}

/* ---- events ---- */

static inline void step(agent_t *a, rb_session_event_t event)
{
    event.now_ns = a->now_ns;
    rb_session_step(a->session, &event);
}

static inline void hear(agent_t *a, const char *peer, const Rackbench__ToAgent *msg)
{
    step(a, (rb_session_event_t){.kind = RB_SESSION_MESSAGE,
                                 .wall_ns = 77,
                                 .peer = peer,
                                 .message = msg,
                                 .probing = a->probing});
}

/* HEAR(a, peer, BEAT, beat, Beat, BEAT, .seq = 1) */
#define HEAR(a, peer, CASE, field, type, INIT, ...)                                                \
    do {                                                                                           \
        Rackbench__ToAgent msg_ = RACKBENCH__TO_AGENT__INIT;                                       \
        Rackbench__##type body_ = {PROTOBUF_C_MESSAGE_INIT(&rackbench__##INIT##__descriptor),      \
                                   __VA_ARGS__};                                                   \
        msg_.body_case = RACKBENCH__TO_AGENT__BODY_##CASE;                                         \
        msg_.field = &body_;                                                                       \
        hear((a), (peer), &msg_);                                                                  \
    } while (0)

static char run1[] = "run1", run2[] = "run2", host[] = "h1";

static inline void hello(agent_t *a, const char *peer, char *run_id)
{
    HEAR(a, peer, HELLO, hello, Hello, hello, .run_id = run_id, .host = host, .lease_ns = LEASE_NS);
}

static inline void beat(agent_t *a, uint64_t acked)
{
    HEAR(a, "c", BEAT, beat, Beat, beat, .seq = ++a->seq, .acked_row = acked);
}

static inline void load(agent_t *a)
{
    HEAR(a, "c", LOAD, load, Load, load, .plan = &a->plan);
}

static inline void prepare(agent_t *a, uint32_t phase)
{
    HEAR(a, "c", PREPARE, prepare, Prepare, prepare, .phase = phase);
}

static inline void arm(agent_t *a, uint32_t phase)
{
    HEAR(a, "c", ARM, arm, Arm, arm, .phase = phase, .t0_ns = 5000, .drift_ppb = -3);
}

static inline void stop(agent_t *a, uint32_t phase, uint64_t te_ns)
{
    HEAR(a, "c", STOP, stop, Stop, stop, .phase = phase, .te_ns = te_ns);
}

static inline void bye(agent_t *a)
{
    HEAR(a, "c", BYE, bye, Bye, bye, .reason = NULL);
}

static inline void report(agent_t *a, rb_session_event_kind_t kind)
{
    Rackbench__Loaded loaded = RACKBENCH__LOADED__INIT;
    Rackbench__Cleaned cleaned = RACKBENCH__CLEANED__INIT;
    static const rb_err_t fault = {RB_ERR_IO, "broken"};
    step(a, (rb_session_event_t){.kind = kind,
                                 .loaded = &loaded,
                                 .cleaned = &cleaned,
                                 .fault = kind == RB_SESSION_FAILED ? &fault : NULL});
}

static inline void make_row(agent_t *a, const char *text)
{
    step(a, (rb_session_event_t){.kind = RB_SESSION_ROW, .row = text, .row_size = strlen(text)});
}

static inline void wait(agent_t *a, uint64_t ns)
{
    a->now_ns += ns;
    report(a, RB_SESSION_TICK);
}

static inline void expect(agent_t *a, const char *said)
{
    assert_string_equal(a->said, said);
    a->said[0] = '\0';
}

static inline agent_t *agent_new(const char *join_name)
{
    agent_t *a = rb_calloc(1, sizeof(*a));
    rb_session_sink_t sink = {a,        sink_send, sink_row,        sink_load,  sink_prepare,
                              sink_arm, sink_stop, sink_discipline, sink_clean, sink_release,
                              sink_note};
    rackbench__inventory__init(&a->inventory);
    rackbench__plan__init(&a->plan);
    rackbench__phase__init(&a->phase);
    a->phases[0] = a->phases[1] = &a->phase;
    a->plan.n_phases = RB_LEN(a->phases);
    a->plan.phases = a->phases;
    a->now_ns = 1000 * RB_NS_PER_S;
    a->session = rb_session_new(&sink, &a->inventory, join_name);
    return a;
}

static inline void agent_destroy(agent_t **a)
{
    rb_session_destroy(&(*a)->session);
    free(*a);
    *a = NULL;
}

/* Up to I/O in phase 0. */
static inline agent_t *agent_armed(void)
{
    agent_t *a = agent_new(NULL);
    hello(a, "c", run1);
    load(a);
    report(a, RB_SESSION_LOADED);
    prepare(a, 0);
    report(a, RB_SESSION_READY);
    arm(a, 0);
    expect(a, "Welcome load(2 phases, h1) Loaded prepare(0) Ready arm(5000,-3) Armed ");
    return a;
}
