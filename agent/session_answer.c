#include "agent/session_priv.h"

static void send(rb_session_t *s, const char *peer, Rackbench__ToCoordinator *msg)
{
    s->sink.send(s->sink.ctx, peer, msg);
}

#define ANSWER(s, peer, CASE, field, body)                                                         \
    do {                                                                                           \
        Rackbench__ToCoordinator answer_ = RACKBENCH__TO_COORDINATOR__INIT;                        \
        answer_.body_case = RACKBENCH__TO_COORDINATOR__BODY_##CASE;                                \
        answer_.field = (body);                                                                    \
        send((s), (peer), &answer_);                                                               \
    } while (0)

void rb_session_answer_welcome(rb_session_t *s)
{
    Rackbench__Welcome welcome = RACKBENCH__WELCOME__INIT;
    Rackbench__Inventory inventory = *s->inventory;
    welcome.inventory = &inventory;
    ANSWER(s, s->peer, WELCOME, welcome, &welcome);
}

void rb_session_answer_probing(rb_session_t *s, const rb_session_event_t *ev)
{
    Rackbench__Probing probing = RACKBENCH__PROBING__INIT;
    probing.what = (char *)(uintptr_t)(ev->probing != NULL ? ev->probing : "");
    probing.for_ns = ev->probing_ns;
    ANSWER(s, s->peer, PROBING, probing, &probing);
}

void rb_session_answer_busy(rb_session_t *s, const char *peer)
{
    Rackbench__Busy busy = RACKBENCH__BUSY__INIT;
    busy.run_id = s->hello->hello->run_id;
    busy.since_wall_ns = s->since_wall_ns;
    ANSWER(s, peer, BUSY, busy, &busy);
}

static void fault_message(const rb_err_t *err, Rackbench__Fault *ret)
{
    rackbench__fault__init(ret);
    ret->code = (uint32_t)err->code;
    ret->text = (char *)(uintptr_t)err->text;
}

void rb_session_answer_ready(rb_session_t *s)
{
    Rackbench__Ready ready = RACKBENCH__READY__INIT;
    ready.phase = s->phase;
    ANSWER(s, s->peer, READY, ready, &ready);
}

void rb_session_answer_armed(rb_session_t *s)
{
    Rackbench__Armed armed = RACKBENCH__ARMED__INIT;
    armed.phase = s->phase;
    ANSWER(s, s->peer, ARMED, armed, &armed);
}

void rb_session_answer_failed(rb_session_t *s)
{
    Rackbench__Failed failed = RACKBENCH__FAILED__INIT;
    Rackbench__Fault fault;
    fault_message(&s->fault, &fault);
    failed.phase = s->phase;
    failed.fault = &fault;
    ANSWER(s, s->peer, FAILED, failed, &failed);
}

void rb_session_answer_drained(rb_session_t *s)
{
    Rackbench__Drained drained = RACKBENCH__DRAINED__INIT;
    Rackbench__Fault fault;
    fault_message(&s->fault, &fault);
    drained.phase = s->phase;
    drained.last_row = rb_outbox_last(&s->outbox);
    drained.fault = s->fault.code == RB_OK ? NULL : &fault;
    ANSWER(s, s->peer, DRAINED, drained, &drained);
}

void rb_session_answer_beat(rb_session_t *s, const rb_session_event_t *ev)
{
    Rackbench__BeatAck ack = RACKBENCH__BEAT_ACK__INIT;
    const Rackbench__ToAgent *msg = ev->message;
    bool collect = msg->body_case == RACKBENCH__TO_AGENT__BODY_COLLECT;
    ack.seq = collect ? msg->collect->seq : msg->beat->seq;
    ack.t1_ns = collect ? msg->collect->t1_ns : msg->beat->t1_ns;
    ack.t2_ns = ev->now_ns;
    ack.state = s->state;
    ack.has_phase = s->has_phase;
    ack.phase = s->phase;
    ack.has_last_row = true;
    ack.last_row = rb_outbox_last(&s->outbox);
    ack.has_first_row = true;
    ack.first_row = s->outbox.acked + 1;
    ack.wall_clock = (Rackbench__WallClock *)(uintptr_t)ev->wall_clock;
    ack.probing = (char *)(uintptr_t)ev->probing;
    ack.has_probing_ns = ev->probing != NULL;
    ack.probing_ns = ev->probing_ns;
    ANSWER(s, ev->peer, BEAT_ACK, beat_ack, &ack);
}

void rb_session_answer_loaded(rb_session_t *s, const Rackbench__Loaded *loaded)
{
    ANSWER(s, s->peer, LOADED, loaded, (Rackbench__Loaded *)(uintptr_t)loaded);
}

void rb_session_answer_progress(rb_session_t *s, const rb_session_event_t *ev)
{
    Rackbench__Progress progress = RACKBENCH__PROGRESS__INIT;
    progress.phase = s->phase;
    progress.done_bytes = ev->done_bytes;
    progress.total_bytes = ev->total_bytes;
    ANSWER(s, s->peer, PROGRESS, progress, &progress);
}

void rb_session_answer_cleaned(rb_session_t *s, const Rackbench__Cleaned *cleaned)
{
    ANSWER(s, s->peer, CLEANED, cleaned, (Rackbench__Cleaned *)(uintptr_t)cleaned);
}

void rb_session_join(rb_session_t *s)
{
    Rackbench__Join join = RACKBENCH__JOIN__INIT;
    join.name = (char *)(uintptr_t)s->join_name;
    ANSWER(s, NULL, JOIN, join, &join);
}

void rb_session_answer_leaving(rb_session_t *s, const char *reason)
{
    Rackbench__Leaving leaving = RACKBENCH__LEAVING__INIT;
    leaving.reason = (char *)(uintptr_t)reason;
    ANSWER(s, s->peer, LEAVING, leaving, &leaving);
}
