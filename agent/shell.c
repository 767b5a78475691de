#include "agent/shell_priv.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/inventory.h"
#include "common/clock.h"
#include "common/log.h"

#define PROGRESS_PERIOD_NS (250 * RB_NS_PER_MS)
enum { MAX_WAIT_MS = 1000, ENGINE_WAIT_MS = 100 };

static void step(rb_shell_t *sh, rb_session_event_t ev)
{
    ev.now_ns = rb_clock_now_ns();
    rb_session_step(sh->session, &ev);
}

/* ---- events for the session ---- */

static void emit_row(void *ctx, rb_row_t *row)
{
    rb_shell_t *sh = ctx;
    row->seq = rb_session_next_row(sh->session);
    rb_bytes_t bytes = rb_row_pack(row);
    step(sh,
         (rb_session_event_t){.kind = RB_SESSION_ROW, .row = bytes.data, .row_size = bytes.size});
    rb_bytes_clear(&bytes);
}

static Rackbench__Fault *fault_of(const rb_errand_t *errand, Rackbench__Fault *fault)
{
    rackbench__fault__init(fault);
    fault->code = (uint32_t)errand->fault.code;
    fault->text = (char *)(uintptr_t)errand->fault.text;
    return errand->fault.code == RB_OK ? NULL : fault;
}

static void deliver_loaded(rb_shell_t *sh)
{
    Rackbench__Loaded loaded = RACKBENCH__LOADED__INIT;
    Rackbench__Fault fault;
    if (sh->here->targets != NULL)
        loaded = *rb_targets_loaded(sh->here->targets);
    else
        loaded.fault = fault_of(sh->here, &fault);
    step(sh, (rb_session_event_t){.kind = RB_SESSION_LOADED, .loaded = &loaded});
}

static void deliver_cleaned(rb_shell_t *sh)
{
    RB_AUTO(rb_errand_destroy) rb_errand_t *clean = RB_MOVE(sh->ended);
    Rackbench__Cleaned cleaned = RACKBENCH__CLEANED__INIT;
    Rackbench__Fault fault;
    cleaned.files = clean->cleaned.files;
    cleaned.bytes = clean->cleaned.bytes;
    cleaned.fault = fault_of(clean, &fault);
    step(sh, (rb_session_event_t){.kind = RB_SESSION_CLEANED, .cleaned = &cleaned});
}

static void deliver_ended(rb_shell_t *sh)
{
    sh->has_ended = false;
    switch (sh->ended->kind) {
    case RB_ERRAND_LOAD:
        sh->here = RB_MOVE(sh->ended);
        deliver_loaded(sh);
        break;
    case RB_ERRAND_PREPARE:
        sh->here = RB_MOVE(sh->ended);
        rb_shell_start_engine(sh);
        break;
    case RB_ERRAND_CLEAN:
        deliver_cleaned(sh);
        break;
    }
}

/* What probes have found. */
static void poll_probes(rb_shell_t *sh)
{
    eventfd_t count;
    eventfd_read(sh->event_fd, &count);
    if (sh->inventory == NULL && (sh->inventory = rb_survey_poll(sh->survey)) != NULL)
        rb_session_take_inventory(sh->session, sh->inventory);
    if (sh->probe != NULL && rb_probe_done(sh->probe)) {
        sh->ended = rb_probe_take(&sh->probe);
        sh->has_ended = true;
    }
    if (sh->has_ended)
        deliver_ended(sh);
}

static void deliver_progress(rb_shell_t *sh)
{
    uint64_t now_ns = rb_clock_now_ns();
    if (now_ns < sh->next_progress_ns)
        return;
    sh->next_progress_ns = now_ns + PROGRESS_PERIOD_NS;
    rb_session_event_t ev = {.kind = RB_SESSION_PROGRESS};
    rb_engine_progress(sh->engine, &ev.done_bytes, &ev.total_bytes);
    step(sh, ev);
}

static void tell_engine_state(rb_shell_t *sh, rb_engine_state_t state)
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
static void poll_engine(rb_shell_t *sh)
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
        rb_shell_restore_power(sh);
        rb_notes_deliver(&sh->notes, emit_row, sh);
    }
    tell_engine_state(sh, state);
}

static void log_owner(rb_shell_t *sh)
{
    bool owned = rb_session_owned(sh->session);
    if (owned != sh->owned)
        rb_log_info("%s", sh->owned ? "free again" : "taken by a coordinator");
    sh->owned = owned;
}

static void deliver(rb_shell_t *sh)
{
    poll_probes(sh);
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
static void refuse(rb_shell_t *sh, const char *peer, const rb_err_t *err, bool answer)
{
    uint64_t now_ns = rb_clock_now_ns();
    bool told = !answer && strcmp(sh->refusal.text, err->text) == 0;
    if (!answer)
        sh->refusal = *err;
    if (!told && now_ns >= sh->next_warning_ns) { /* a flood of garbage must not fill the log */
        rb_log_warn("%s '%s': %s", answer ? "frame refused, from" : "coordinator", peer, err->text);
        sh->next_warning_ns = now_ns + RB_NS_PER_S;
    }
    if (answer)
        rb_shell_send(sh, peer, rb_wire_pack_refusal(err->text));
}

/* What the next answer waits for: "" nothing. */
static uint64_t probing(rb_shell_t *sh, char *buf, size_t size)
{
    buf[0] = '\0';
    if (sh->inventory == NULL)
        return rb_survey_at(sh->survey, buf, size);
    return sh->probe != NULL ? rb_probe_at(sh->probe, buf, size) : 0;
}

static const Rackbench__WallClock *wall_clock(rb_shell_t *sh, const Rackbench__ToAgent *msg)
{
    return sh->inventory != NULL ? rb_inventory_wall_clock(sh->inventory, msg) : NULL;
}

static void on_frame(rb_shell_t *sh, const char *peer, const void *data, size_t size)
{
    rb_frame_t frame = {0};
    rb_err_t err;
    RB_AUTO(rb_to_agent_destroy) Rackbench__ToAgent *msg = NULL;
    uint64_t wall_ns = rb_clock_wall_ns();
    char at[RB_MAX_TEXT];
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
                                      .wall_clock = wall_clock(sh, msg),
                                      .probing_ns = probing(sh, at, sizeof(at)),
                                      .probing = at[0] != '\0' ? at : NULL});
}

static void receive_all(rb_shell_t *sh)
{
    char peer[RB_SOCKET_PEER];
    const void *data;
    size_t size;
    while (rb_socket_receive(sh->link, peer, &data, &size)) {
        on_frame(sh, peer, data, size);
        deliver(sh);
    }
}

static int wait_ms(const rb_shell_t *sh)
{
    uint64_t now_ns = rb_clock_now_ns(), due_ns = rb_session_deadline_ns(sh->session);
    int limit_ms = sh->engine != NULL ? ENGINE_WAIT_MS : MAX_WAIT_MS;
    if (due_ns <= now_ns)
        return 0;
    uint64_t ms = (due_ns - now_ns) / RB_NS_PER_MS + 1;
    return ms < (uint64_t)limit_ms ? (int)ms : limit_ms;
}

static void serve(rb_shell_t *sh)
{
    bool ready[4] = {false};
    while (!ready[0]) {
        int fds[4] = {sh->opts->signal_fd, sh->engine != NULL ? rb_engine_fd(sh->engine) : -1,
                      sh->engine != NULL ? rb_health_fd(sh->opts->health) : -1, sh->event_fd};
        rb_socket_wait(sh->link, wait_ms(sh), fds, RB_LEN(fds), ready);
        rb_link_tell(sh->link, sh->opts->link.coordinator_key, &sh->told_why);
        receive_all(sh);
        deliver(sh);
        step(sh, (rb_session_event_t){.kind = RB_SESSION_TICK});
        deliver(sh);
    }
}

static void clear(rb_shell_t *sh)
{
    rb_session_destroy(&sh->session); /* which forgets what is under way */
    rb_survey_destroy(&sh->survey);
    if (sh->event_fd >= 0)
        close(sh->event_fd);
    rb_socket_destroy(&sh->link);
}

int rb_shell_run(const rb_shell_opts_t *opts, rb_err_t *err)
{
    rb_shell_t sh = {.opts = opts, .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    rb_session_sink_t sink = rb_shell_sink(&sh);
    if (sh.event_fd < 0)
        return rb_err_errno(err, errno, "eventfd");
    sh.link = rb_link_open(&opts->link, err);
    if (sh.link == NULL) {
        close(sh.event_fd);
        return -1;
    }
    sh.session = rb_session_new(&sink, NULL, opts->link.join != NULL ? opts->link.name : NULL);
    sh.survey = rb_survey_new(sh.event_fd);
    rb_log_info("%s %s", opts->link.join != NULL ? "dialling" : "listening on",
                rb_socket_endpoint(sh.link));
    serve(&sh);
    rb_session_leave(sh.session, "it was told to end (SIGTERM or SIGINT)");
    clear(&sh);
    return 0;
}
