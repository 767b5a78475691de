#include "agent/shell.h"

#include "agent/inventory.h"
#include "agent/notes.h"
#include "agent/phase_start.h"
#include "agent/session.h"
#include "common/clock.h"
#include "common/log.h"
#include "proto/select.h"

#define PROGRESS_PERIOD_NS (250 * RB_NS_PER_MS)
enum { MAX_WAIT_MS = 1000, ENGINE_WAIT_MS = 100 };

typedef struct {
    const rb_shell_opts_t *opts;
    rb_socket_t *link;
    const char *told_why; /* why the coordinator does not let us in, as last told */
    rb_session_t *session;
    Rackbench__Inventory *inventory;
    const Rackbench__Plan *plan; /* borrowed from the session until release */
    Rackbench__Plan *plan_here;  /* owned: the same without jobs that do not run here */
    Rackbench__Phase *phase;     /* owned: what the engine runs; NULL: it has run nothing yet */
    char *host;                  /* our name in the coordinator's host list */
    size_t nlabels;
    Rackbench__Label **labels; /* borrowed from the session's Hello until release */
    const char *run_id;        /* borrowed likewise */
    rb_targets_t *targets;
    rb_engine_t *engine;
    rb_engine_state_t engine_state; /* as last told to the session */
    uint32_t number;                /* of the step that it runs: rows carry it */
    uint64_t t0_ns;                 /* of the phase; 0: not armed */
    bool owned;                     /* as last logged */
    uint64_t next_progress_ns, next_warning_ns;
    /* Events that a step asked for, to be delivered after it. */
    bool has_loaded, has_cleaned, has_failed;
    rb_err_t load_fault, clean_fault, prepare_fault;
    Rackbench__Cleaned cleaned;
    rb_notes_t notes;
    rb_power_t power;
} shell_t;

static void step(shell_t *sh, rb_session_event_t ev)
{
    ev.now_ns = rb_clock_now_ns();
    rb_session_step(sh->session, &ev);
}

/* ---- the sink: what the session asks for ---- */

static void send_frame(shell_t *sh, const char *peer, rb_bytes_t frame)
{
    rb_socket_send(sh->link, peer != NULL ? peer : RB_LINK_COORDINATOR, frame.data, frame.size);
    rb_bytes_clear(&frame);
}

static void sink_send(void *ctx, const char *peer, const Rackbench__ToCoordinator *msg)
{
    send_frame(ctx, peer, rb_wire_pack_to_coordinator(msg));
}

static void sink_send_row(void *ctx, const char *peer, const void *row, size_t size)
{
    send_frame(ctx, peer, rb_wire_pack_row(row, size));
}

static void sink_note(void *ctx, const char *kind, const char *text)
{
    shell_t *sh = ctx;
    bool in_phase = sh->engine != NULL && sh->t0_ns != 0;
    int64_t at_ns = in_phase ? (int64_t)(rb_clock_now_ns() - sh->t0_ns) : 0;
    rb_notes_add(&sh->notes, in_phase ? (int32_t)sh->number : -1, at_ns, kind, text);
    rb_log_warn("%s: %s", kind, text);
}

static void note_power(void *ctx, const char *text)
{
    sink_note(ctx, "power_state", text);
}

static void end_engine(shell_t *sh)
{
    rb_engine_destroy(&sh->engine);
    rb_power_restore(&sh->power, note_power, sh);
}

static void sink_load(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello)
{
    shell_t *sh = ctx;
    end_engine(sh); /* of a phase that never began: it borrows what is freed here */
    sh->has_failed = false;
    rb_targets_destroy(&sh->targets);
    rb_plan_destroy(&sh->plan_here);
    rb_free_str(&sh->host);
    sh->plan = plan;
    sh->plan_here = rb_plan_on_host(plan, hello->n_labels, hello->labels);
    sh->host = rb_strdup(hello->host);
    sh->run_id = hello->run_id;
    sh->nlabels = hello->n_labels;
    sh->labels = hello->labels;
    sh->load_fault = (rb_err_t){0};
    sh->targets = rb_targets_new(sh->plan_here, sh->host, &sh->opts->allowances, &sh->load_fault);
    sh->has_loaded = true;
}

static void sink_prepare(void *ctx, const Rackbench__Prepare *prepare)
{
    shell_t *sh = ctx;
    end_engine(sh);
    sh->t0_ns = 0;
    rb_phase_destroy(&sh->phase);
    sh->number = prepare->phase;
    sh->phase = rb_phase_copy(prepare->override != NULL ? prepare->override
                                                        : sh->plan->phases[prepare->phase]);
    rb_log_debug("preparing phase '%s'", sh->phase->name);
    sh->engine_state = RB_ENGINE_PREPARING;
    sh->prepare_fault = (rb_err_t){0};
    rb_phase_start_t start = {sh->plan,    sh->phase,  sh->run_id,  sh->host,         prepare,
                              sh->nlabels, sh->labels, sh->targets, sh->opts->health, &sh->power};
    sh->engine = rb_phase_start(&start, &sh->prepare_fault);
    sh->has_failed = sh->engine == NULL;
    if (sh->has_failed)
        end_engine(sh);
}

static void sink_arm(void *ctx, uint64_t t0_ns, int64_t drift_ppb)
{
    shell_t *sh = ctx;
    rb_log_debug("armed: starts in %.1f ms",
                 ((double)t0_ns - (double)rb_clock_now_ns()) / RB_NS_PER_MS);
    sh->t0_ns = t0_ns;
    rb_engine_arm(sh->engine, t0_ns, drift_ppb);
    rb_health_arm(sh->opts->health, t0_ns, drift_ppb);
}

static void sink_stop(void *ctx, uint64_t te_ns)
{
    shell_t *sh = ctx;
    if (sh->engine != NULL)
        rb_engine_stop(sh->engine, te_ns);
}

static void sink_discipline(void *ctx, const Rackbench__Discipline *told)
{
    shell_t *sh = ctx;
    if (sh->engine != NULL)
        rb_engine_tell(sh->engine, told->at_ns, told->local_ns, told->drift_ppb);
    rb_health_tell(sh->opts->health, told->at_ns, told->local_ns, told->drift_ppb);
}

static void sink_clean(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello)
{
    shell_t *sh = ctx;
    rb_cleaned_t cleaned = {0};
    rackbench__cleaned__init(&sh->cleaned);
    sh->clean_fault = (rb_err_t){0};
    rb_targets_clean(plan, hello->host, &sh->opts->allowances, &cleaned, &sh->clean_fault);
    sh->cleaned.files = cleaned.files;
    sh->cleaned.bytes = cleaned.bytes;
    sh->has_cleaned = true;
}

static void sink_release(void *ctx)
{
    shell_t *sh = ctx;
    end_engine(sh);
    rb_phase_destroy(&sh->phase);
    rb_health_release(sh->opts->health);
    rb_targets_destroy(&sh->targets);
    rb_plan_destroy(&sh->plan_here);
    sh->plan = NULL;
    sh->labels = NULL;
    sh->run_id = NULL;
    sh->nlabels = 0;
    sh->has_loaded = sh->has_failed = sh->has_cleaned = false;
}

/* ---- events for the session ---- */

static void emit_row(void *ctx, rb_row_t *row)
{
    shell_t *sh = ctx;
    row->seq = rb_session_next_row(sh->session);
    rb_bytes_t bytes = rb_row_pack(row);
    step(sh,
         (rb_session_event_t){.kind = RB_SESSION_ROW, .row = bytes.data, .row_size = bytes.size});
    rb_bytes_clear(&bytes);
}

static void deliver_loaded(shell_t *sh)
{
    Rackbench__Loaded loaded = RACKBENCH__LOADED__INIT;
    Rackbench__Fault fault = RACKBENCH__FAULT__INIT;
    sh->has_loaded = false;
    if (sh->targets != NULL) {
        loaded = *rb_targets_loaded(sh->targets);
    } else {
        fault.code = (uint32_t)sh->load_fault.code;
        fault.text = sh->load_fault.text;
        loaded.fault = &fault;
    }
    step(sh, (rb_session_event_t){.kind = RB_SESSION_LOADED, .loaded = &loaded});
}

static void deliver_cleaned(shell_t *sh)
{
    Rackbench__Fault fault = RACKBENCH__FAULT__INIT;
    sh->has_cleaned = false;
    fault.code = (uint32_t)sh->clean_fault.code;
    fault.text = sh->clean_fault.text;
    sh->cleaned.fault = sh->clean_fault.code == RB_OK ? NULL : &fault;
    step(sh, (rb_session_event_t){.kind = RB_SESSION_CLEANED, .cleaned = &sh->cleaned});
}

static void deliver_progress(shell_t *sh)
{
    uint64_t now_ns = rb_clock_now_ns();
    if (now_ns < sh->next_progress_ns)
        return;
    sh->next_progress_ns = now_ns + PROGRESS_PERIOD_NS;
    rb_session_event_t ev = {.kind = RB_SESSION_PROGRESS};
    rb_engine_progress(sh->engine, &ev.done_bytes, &ev.total_bytes);
    step(sh, ev);
}

static void tell_engine_state(shell_t *sh, rb_engine_state_t state)
{
    const rb_err_t *fault = rb_engine_fault(sh->engine);
    sh->engine_state = state;
    switch (state) {
    case RB_ENGINE_READY:
        step(sh, (rb_session_event_t){.kind = RB_SESSION_READY});
        break;
    case RB_ENGINE_FAILED:
        step(sh, (rb_session_event_t){.kind = RB_SESSION_FAILED, .fault = fault});
        break;
    case RB_ENGINE_DRAINED:
        rb_log_debug("drained%s%s", fault->code == RB_OK ? "" : ": ", fault->text);
        step(sh, (rb_session_event_t){.kind = RB_SESSION_DRAINED,
                                      .fault = fault->code == RB_OK ? NULL : fault});
        rb_engine_destroy(&sh->engine);
        break;
    case RB_ENGINE_PREPARING:
    case RB_ENGINE_ARMED:
        break;
    }
}

/* Rows before the change of state that they belong to; while the outbox is full, both wait. */
static void poll_engine(shell_t *sh)
{
    if (sh->engine == NULL)
        return;
    rb_health_poll(sh->opts->health);
    rb_engine_state_t state = rb_engine_poll(sh->engine);
    if (state == RB_ENGINE_PREPARING)
        deliver_progress(sh);
    if (state == RB_ENGINE_PREPARING || !rb_session_takes_rows(sh->session))
        return;
    rb_engine_set_span(sh->engine, rb_session_span(sh->session));
    bool tells = state != sh->engine_state && rb_health_border(sh->opts->health, state);
    rb_engine_rows(sh->engine, emit_row, sh);
    rb_health_rows(sh->opts->health, emit_row, sh);
    rb_engine_fail(sh->engine, rb_health_fault(sh->opts->health));
    if (!tells)
        return;
    if (state == RB_ENGINE_FAILED || state == RB_ENGINE_DRAINED) {
        rb_power_restore(&sh->power, note_power, sh);
        rb_notes_deliver(&sh->notes, emit_row, sh);
    }
    tell_engine_state(sh, state);
}

static void log_owner(shell_t *sh)
{
    bool owned = rb_session_owned(sh->session);
    if (owned != sh->owned)
        rb_log_info("%s", sh->owned ? "free again" : "taken by a coordinator");
    sh->owned = owned;
}

static void deliver(shell_t *sh)
{
    if (sh->has_loaded)
        deliver_loaded(sh);
    if (sh->has_cleaned)
        deliver_cleaned(sh);
    if (sh->has_failed) {
        sh->has_failed = false;
        step(sh, (rb_session_event_t){.kind = RB_SESSION_FAILED, .fault = &sh->prepare_fault});
    }
    rb_notes_deliver(&sh->notes, emit_row, sh);
    poll_engine(sh);
    log_owner(sh);
}

/* ---- frames ---- */

/* One side says what it did not understand; the other only notes it. */
static void refuse(shell_t *sh, const char *peer, const rb_err_t *err, bool answer)
{
    uint64_t now_ns = rb_clock_now_ns();
    if (now_ns >= sh->next_warning_ns) { /* a flood of garbage must not fill the log */
        rb_log_warn("%s '%s': %s", answer ? "frame refused, from" : "coordinator", peer, err->text);
        sh->next_warning_ns = now_ns + RB_NS_PER_S;
    }
    if (answer)
        send_frame(sh, peer, rb_wire_pack_refusal(err->text));
}

static void on_frame(shell_t *sh, const char *peer, const void *data, size_t size)
{
    rb_frame_t frame = {0};
    rb_err_t err;
    RB_AUTO(rb_to_agent_destroy) Rackbench__ToAgent *msg = NULL;
    uint64_t wall_ns = rb_clock_wall_ns();
    bool parsed = rb_wire_parse(data, size, &frame, &err) == 0;
    if (parsed && frame.kind == RB_FRAME_REFUSAL)
        rb_wire_refusal(data, size, &err);
    else if (parsed)
        msg = rb_wire_to_agent(&frame, &err);
    if (msg == NULL)
        refuse(sh, peer, &err, frame.kind != RB_FRAME_REFUSAL);
    else
        step(sh, (rb_session_event_t){.kind = RB_SESSION_MESSAGE,
                                      .wall_ns = wall_ns,
                                      .peer = peer,
                                      .message = msg,
                                      .wall_clock = rb_inventory_wall_clock(sh->inventory, msg)});
}

static void receive_all(shell_t *sh)
{
    char peer[RB_SOCKET_PEER];
    const void *data;
    size_t size;
    while (rb_socket_receive(sh->link, peer, &data, &size)) {
        on_frame(sh, peer, data, size);
        deliver(sh);
    }
}

static int wait_ms(const shell_t *sh)
{
    uint64_t now_ns = rb_clock_now_ns(), due_ns = rb_session_deadline_ns(sh->session);
    int limit_ms = sh->engine != NULL ? ENGINE_WAIT_MS : MAX_WAIT_MS;
    if (due_ns <= now_ns)
        return 0;
    uint64_t ms = (due_ns - now_ns) / RB_NS_PER_MS + 1;
    return ms < (uint64_t)limit_ms ? (int)ms : limit_ms;
}

static void serve(shell_t *sh)
{
    bool ready[3] = {false};
    while (!ready[0]) {
        int fds[3] = {sh->opts->signal_fd, sh->engine != NULL ? rb_engine_fd(sh->engine) : -1,
                      sh->engine != NULL ? rb_health_fd(sh->opts->health) : -1};
        rb_socket_wait(sh->link, wait_ms(sh), fds, RB_LEN(fds), ready);
        rb_link_tell(sh->link, sh->opts->link.coordinator_key, &sh->told_why);
        receive_all(sh);
        deliver(sh);
        step(sh, (rb_session_event_t){.kind = RB_SESSION_TICK});
        deliver(sh);
    }
}

int rb_shell_run(const rb_shell_opts_t *opts, rb_err_t *err)
{
    shell_t sh = {.opts = opts};
    rb_session_sink_t sink = {&sh,          sink_send,    sink_send_row, sink_load,
                              sink_prepare, sink_arm,     sink_stop,     sink_discipline,
                              sink_clean,   sink_release, sink_note};
    sh.link = rb_link_open(&opts->link, err);
    if (sh.link == NULL)
        return -1;
    sh.inventory = rb_inventory_new();
    sh.session =
        rb_session_new(&sink, sh.inventory, opts->link.join != NULL ? opts->link.name : NULL);
    rb_log_info("%s %s", opts->link.join != NULL ? "dialling" : "listening on",
                rb_socket_endpoint(sh.link));
    serve(&sh);
    rb_session_leave(sh.session, "it was told to end (SIGTERM or SIGINT)");
    rb_session_destroy(&sh.session);
    rb_inventory_destroy(&sh.inventory);
    free(sh.host);
    rb_socket_destroy(&sh.link);
    return 0;
}
