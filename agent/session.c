#include "agent/session_priv.h"

#define JOIN_PERIOD_NS (250 * RB_NS_PER_MS)

rb_session_t *rb_session_new(const rb_session_sink_t *sink, const Rackbench__Inventory *inventory,
                             const char *join_name)
{
    rb_session_t *s = rb_calloc(1, sizeof(*s));
    s->sink = *sink;
    s->inventory = inventory;
    s->join_name = join_name;
    rb_outbox_init(&s->outbox);
    return s;
}

/* Back to IDLE, whatever was under way. */
static void release(rb_session_t *s)
{
    if (s->state != IDLE)
        s->sink.release(s->sink.ctx);
    rb_to_agent_destroy(&s->hello);
    rb_free_str(&s->peer);
    rb_free_str(&s->evicted);
    rb_plan_destroy(&s->plan);
    rb_outbox_clear(&s->outbox);
    s->state = IDLE;
    s->orphaned = s->has_phase = s->behind = s->answering = false;
    s->stalled_at = 0;
}

void rb_session_destroy(rb_session_t **session)
{
    if (*session == NULL)
        return;
    release(*session);
    free(*session);
    *session = NULL;
}

/* ---- commands ---- */

static void on_hello(rb_session_t *s, const rb_session_event_t *ev)
{
    const Rackbench__Hello *hello = ev->message->hello;
    bool same = s->state != IDLE && strcmp(s->hello->hello->run_id, hello->run_id) == 0;
    bool other_name = same && strcmp(s->hello->hello->host, hello->host) != 0;
    /* An orphan that still has I/O to drain is not free yet. */
    bool free_to_take =
        s->state == IDLE || (s->orphaned && s->state != ARMED && s->state != DRAINING);
    if (other_name || (same ? !rb_session_may_take_up(s, ev) : !free_to_take)) {
        rb_session_answer_busy(s, ev->peer);
        return;
    }
    if (!same) {
        release(s);
        rb_err_t err;
        rb_bytes_t copy = rb_wire_pack_to_agent(ev->message);
        rb_frame_t frame = {RB_FRAME_TO_AGENT, copy.data + RB_WIRE_HEADER,
                            copy.size - RB_WIRE_HEADER};
        s->hello = rb_wire_to_agent(&frame, &err);
        rb_bytes_clear(&copy);
        RB_ASSERT(s->hello != NULL);
        s->since_wall_ns = ev->wall_ns;
        s->state = OWNED;
    }
    rb_free_str(&s->peer);
    s->peer = rb_strdup(ev->peer);
    s->heard_ns = ev->now_ns;
    s->orphaned = false;
    s->behind = same;
    if (s->inventory != NULL)
        rb_session_answer_welcome(s);
    else
        rb_session_answer_probing(s, ev);
}

void rb_session_take_inventory(rb_session_t *s, const Rackbench__Inventory *inventory)
{
    s->inventory = inventory;
    if (s->state == OWNED)
        rb_session_answer_welcome(s);
}

static void on_beat(rb_session_t *s, const rb_session_event_t *ev)
{
    const Rackbench__Beat *beat = ev->message->beat;
    s->heard_ns = ev->now_ns;
    s->span = beat->has_span ? beat->span : 1;
    s->orphaned = false;
    if (beat->discipline != NULL && (s->state == ARMED || s->state == DRAINING) &&
        beat->discipline->phase == s->phase)
        s->sink.discipline(s->sink.ctx, beat->discipline);
    rb_session_answer_beat(s, ev); /* before rows: it says whose they are */
    rb_session_ack_rows(s, beat->acked_row, ev->now_ns);
}

/* Not while there is I/O, nor while the last one is under way: drives may take long to answer. A
 * phase that never began may be prepared again: a coordinator that was
 * started anew does not know of it. */
static void on_load(rb_session_t *s, const Rackbench__Load *load)
{
    if (s->state == ARMED || s->state == DRAINING || s->answering)
        return;
    if (s->state == PREPARING || s->state == READY || s->state == FAILED)
        s->has_phase = false;
    Rackbench__Plan *before = s->plan; /* until the sink has let go of it */
    s->plan = rb_plan_copy(load->plan);
    s->state = LOADED;
    s->answering = true;
    s->sink.load(s->sink.ctx, s->plan, s->hello->hello);
    rb_plan_destroy(&before);
}

static void on_prepare(rb_session_t *s, const Rackbench__Prepare *prepare)
{
    uint32_t phase = prepare->phase;
    if (s->has_phase && s->phase == phase) {
        if (s->state == READY)
            rb_session_answer_ready(s);
        else if (s->state == FAILED)
            rb_session_answer_failed(s);
        return;
    }
    bool next = !s->has_phase || phase > s->phase;
    bool known = prepare->override != NULL || phase < s->plan->n_phases;
    if (s->state != LOADED || s->answering || !next || !known)
        return;
    s->has_phase = true;
    s->phase = phase;
    s->fault = (rb_err_t){0};
    s->state = PREPARING;
    s->sink.prepare(s->sink.ctx, prepare);
}

static void on_arm(rb_session_t *s, const Rackbench__Arm *arm)
{
    if (!s->has_phase || s->phase != arm->phase)
        return;
    if (s->state == READY) {
        s->state = ARMED;
        s->sink.arm(s->sink.ctx, arm->t0_ns, arm->drift_ppb);
    }
    if (s->state == ARMED || s->state == DRAINING)
        rb_session_answer_armed(s);
    else if (s->state == FAILED)
        rb_session_answer_failed(s);
}

/* What runs ends at te; what is ready cannot be armed any more: FAILED follows. */
static void halt(rb_session_t *s, uint64_t te_ns)
{
    if (s->state == ARMED)
        s->state = DRAINING;
    else if (s->state == READY)
        s->state = PREPARING;
    if (s->state == DRAINING || s->state == PREPARING)
        s->sink.stop(s->sink.ctx, te_ns);
}

/* I/O ends at once, for a reason that is not the plan's: the cut phase says it. */
static void cut(rb_session_t *s, const char *kind, const char *note, const char *reason)
{
    s->sink.note(s->sink.ctx, kind, note);
    if ((s->state == PREPARING || s->state == READY || s->state == ARMED) && s->fault.code == RB_OK)
        rb_err_set(&s->fault, RB_ERR_LOST, "%s", reason);
    halt(s, 0);
}

/* No Beat: whoever is given up may be taken by others, once nothing is in flight. */
static void on_collect(rb_session_t *s, const rb_session_event_t *ev)
{
    static const char given_up[] = "the coordinator has gone on without this host: I/O stopped";
    bool at_work = s->state == PREPARING || s->state == READY || s->state == ARMED;
    if (at_work && s->fault.code == RB_OK) /* once */
        cut(s, "given_up", given_up, given_up);
    else if (s->state == DRAINING) /* the end that a Stop told may be still to come */
        halt(s, 0);
    s->orphaned = true;
    rb_session_answer_beat(s, ev);
    rb_session_ack_rows(s, ev->message->collect->acked_row, ev->now_ns);
}

static void on_stop(rb_session_t *s, const Rackbench__Stop *stop)
{
    if (!s->has_phase || s->phase != stop->phase)
        return;
    if (s->state == LOADED)
        rb_session_answer_drained(s);
    else if (s->state == FAILED)
        rb_session_answer_failed(s);
    halt(s, stop->te_ns);
}

static void leave_if_evicted(rb_session_t *s)
{
    bool at_work = s->state == PREPARING || s->state == ARMED || s->state == DRAINING;
    if (s->evicted == NULL || at_work)
        return;
    rb_session_answer_leaving(s, s->evicted);
    release(s);
}

/* Busy tells who the owner is, or still is; that we are free is told by the answer to a Beat. */
static void on_evict(rb_session_t *s, const rb_session_event_t *ev)
{
    if (s->state == IDLE)
        return;
    rb_session_answer_busy(s, ev->peer);
    if (s->evicted == NULL) {
        s->evicted = rb_strdup(ev->message->evict->reason);
        cut(s, "evicted", "told to leave its run: I/O stopped", s->evicted);
    }
    leave_if_evicted(s);
}

static void on_clean(rb_session_t *s, const Rackbench__Clean *clean)
{
    if (s->answering || (s->state != OWNED && (s->state != LOADED || s->has_phase)))
        return;
    s->answering = true;
    s->sink.clean(s->sink.ctx, clean->plan, s->hello->hello);
}

static void on_command(rb_session_t *s, const rb_session_event_t *ev)
{
    const Rackbench__ToAgent *msg = ev->message;
    switch (msg->body_case) {
    case RACKBENCH__TO_AGENT__BODY_BEAT:
        on_beat(s, ev);
        break;
    case RACKBENCH__TO_AGENT__BODY_LOAD:
        on_load(s, msg->load);
        break;
    case RACKBENCH__TO_AGENT__BODY_PREPARE:
        on_prepare(s, msg->prepare);
        break;
    case RACKBENCH__TO_AGENT__BODY_ARM:
        on_arm(s, msg->arm);
        break;
    case RACKBENCH__TO_AGENT__BODY_STOP:
        on_stop(s, msg->stop);
        break;
    case RACKBENCH__TO_AGENT__BODY_CLEAN:
        on_clean(s, msg->clean);
        break;
    case RACKBENCH__TO_AGENT__BODY_COLLECT:
        on_collect(s, ev);
        break;
    case RACKBENCH__TO_AGENT__BODY_BYE:
        release(s);
        break;
    case RACKBENCH__TO_AGENT__BODY_HELLO:
    case RACKBENCH__TO_AGENT__BODY_EVICT:
    case RACKBENCH__TO_AGENT__BODY__NOT_SET:
    case _RACKBENCH__TO_AGENT__BODY__CASE_IS_INT_SIZE:
        break;
    }
}

static bool asks_for_state(const Rackbench__ToAgent *msg)
{
    return msg->body_case == RACKBENCH__TO_AGENT__BODY_BEAT ||
           msg->body_case == RACKBENCH__TO_AGENT__BODY_COLLECT;
}

static void on_message(rb_session_t *s, const rb_session_event_t *ev)
{
    if (s->state != IDLE)
        rb_session_follow_heir(s, ev);
    if (ev->message->body_case == RACKBENCH__TO_AGENT__BODY_HELLO)
        on_hello(s, ev);
    else if (ev->message->body_case == RACKBENCH__TO_AGENT__BODY_EVICT)
        on_evict(s, ev);
    else if (s->state != IDLE && strcmp(ev->peer, s->peer) == 0)
        on_command(s, ev);
    else if (s->state == IDLE && asks_for_state(ev->message))
        rb_session_answer_beat(s, ev); /* whoever believes to own us learns that we started anew */
}

void rb_session_leave(rb_session_t *s, const char *reason)
{
    if (s->state != IDLE)
        rb_session_answer_leaving(s, reason);
}

/* ---- what the shell reports ---- */

static void on_tick(rb_session_t *s, uint64_t now_ns)
{
    if (s->state == IDLE) {
        if (s->join_name == NULL || now_ns < s->next_join_ns)
            return;
        rb_session_join(s);
        s->next_join_ns = now_ns + JOIN_PERIOD_NS;
        return;
    }
    if (s->orphaned || now_ns < s->heard_ns + s->hello->hello->lease_ns)
        return;
    s->orphaned = true;
    char why[80];
    snprintf(why, sizeof(why), "no word from the coordinator for %.1f s: I/O stopped",
             (double)s->hello->hello->lease_ns / 1e9);
    cut(s, "lease_expired", why, why);
}

static void on_ready(rb_session_t *s)
{
    if (s->state != PREPARING)
        return;
    s->state = READY;
    rb_session_answer_ready(s);
}

static void on_failed(rb_session_t *s, const rb_err_t *fault)
{
    if (s->state != PREPARING && s->state != READY)
        return;
    if (s->fault.code == RB_OK) /* an expired lease is the reason of what follows from it */
        s->fault = *fault;
    s->state = FAILED;
    rb_session_answer_failed(s);
    leave_if_evicted(s);
}

static void on_drained(rb_session_t *s, const rb_err_t *fault)
{
    if (s->state != ARMED && s->state != DRAINING)
        return;
    if (fault != NULL && s->fault.code == RB_OK)
        s->fault = *fault;
    s->state = LOADED;
    rb_session_answer_drained(s);
    leave_if_evicted(s);
}

static void on_progress(rb_session_t *s, const rb_session_event_t *ev)
{
    if (s->state != PREPARING)
        return;
    rb_session_answer_progress(s, ev);
}

void rb_session_step(rb_session_t *s, const rb_session_event_t *ev)
{
    switch (ev->kind) {
    case RB_SESSION_MESSAGE:
        on_message(s, ev);
        break;
    case RB_SESSION_TICK:
        on_tick(s, ev->now_ns);
        break;
    case RB_SESSION_LOADED:
        s->answering = false;
        if (s->state == LOADED)
            rb_session_answer_loaded(s, ev->loaded);
        break;
    case RB_SESSION_PROGRESS:
        on_progress(s, ev);
        break;
    case RB_SESSION_READY:
        on_ready(s);
        break;
    case RB_SESSION_FAILED:
        on_failed(s, ev->fault);
        break;
    case RB_SESSION_DRAINED:
        on_drained(s, ev->fault);
        break;
    case RB_SESSION_CLEANED:
        s->answering = false;
        if (s->state != IDLE)
            rb_session_answer_cleaned(s, ev->cleaned);
        break;
    case RB_SESSION_ROW:
        rb_session_take_row(s, ev->row, ev->row_size);
        break;
    }
}

uint64_t rb_session_deadline_ns(const rb_session_t *s)
{
    if (s->state == IDLE)
        return s->join_name != NULL ? s->next_join_ns : UINT64_MAX;
    return s->orphaned ? UINT64_MAX : s->heard_ns + s->hello->hello->lease_ns;
}

bool rb_session_owned(const rb_session_t *s)
{
    return s->state != IDLE;
}

Rackbench__BeatAck__State rb_session_state(const rb_session_t *s)
{
    return s->state;
}
