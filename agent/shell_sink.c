#include "agent/shell_priv.h"

#include "agent/phase_start.h"
#include "common/clock.h"
#include "common/log.h"
#include "proto/select.h"

void rb_shell_send(rb_shell_t *sh, const char *peer, rb_bytes_t frame)
{
    rb_socket_send(sh->link, peer != NULL ? peer : RB_LINK_COORDINATOR, frame.data, frame.size);
    rb_bytes_clear(&frame);
}

static void sink_send(void *ctx, const char *peer, const Rackbench__ToCoordinator *msg)
{
    rb_shell_send(ctx, peer, rb_wire_pack_to_coordinator(msg));
}

static void sink_send_row(void *ctx, const char *peer, const void *row, size_t size)
{
    rb_shell_send(ctx, peer, rb_wire_pack_row(row, size));
}

static void sink_note(void *ctx, const char *kind, const char *text)
{
    rb_shell_t *sh = ctx;
    bool in_phase = sh->engine != NULL && sh->t0_ns != 0;
    int64_t at_ns = in_phase ? (int64_t)(rb_clock_now_ns() - sh->t0_ns) : 0;
    rb_notes_add(&sh->notes, in_phase ? (int32_t)sh->number : -1, at_ns, kind, text);
    rb_log_warn("%s: %s", kind, text);
}

static void note_power(void *ctx, const char *text)
{
    sink_note(ctx, "power_state", text);
}

void rb_shell_restore_power(rb_shell_t *sh)
{
    if (sh->here != NULL)
        rb_power_restore(&sh->here->power, note_power, sh);
}

/* ---- errands ---- */

static void end_engine(rb_shell_t *sh)
{
    rb_engine_destroy(&sh->engine);
    rb_shell_restore_power(sh);
}

static void begin(rb_shell_t *sh, rb_errand_t *errand)
{
    rb_probe_opts_t opts = {rb_errand_run, rb_errand_drop, errand, sh->event_fd};
    rb_err_t err;
    rb_probe_abandon(&sh->probe);
    sh->probe = rb_probe_start(&opts, &err);
    sh->has_ended = sh->probe == NULL;
    if (!sh->has_ended)
        return;
    errand->fault = err;
    sh->ended = errand;
}

/* A drive may hold on to what is under way: nobody waits for it any more. */
static void forget(rb_shell_t *sh)
{
    end_engine(sh); /* it borrows what is freed here */
    rb_probe_abandon(&sh->probe);
    rb_errand_destroy(&sh->ended);
    rb_errand_destroy(&sh->here);
    sh->has_ended = sh->has_failed = false;
}

static void sink_load(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello)
{
    rb_shell_t *sh = ctx;
    forget(sh);
    sh->plan = plan;
    sh->host = hello->host;
    sh->run_id = hello->run_id;
    sh->nlabels = hello->n_labels;
    sh->labels = hello->labels;
    begin(sh, rb_errand_new(RB_ERRAND_LOAD, &sh->opts->allowances, hello->host,
                            rb_plan_on_host(plan, hello->n_labels, hello->labels)));
}

static void sink_clean(void *ctx, const Rackbench__Plan *plan, const Rackbench__Hello *hello)
{
    rb_shell_t *sh = ctx;
    begin(sh,
          rb_errand_new(RB_ERRAND_CLEAN, &sh->opts->allowances, hello->host, rb_plan_copy(plan)));
}

static void sink_prepare(void *ctx, const Rackbench__Prepare *prepare)
{
    rb_shell_t *sh = ctx;
    end_engine(sh);
    sh->t0_ns = 0;
    rb_phase_destroy(&sh->phase);
    sh->number = prepare->phase;
    sh->phase = rb_phase_copy(prepare->override != NULL ? prepare->override
                                                        : sh->plan->phases[prepare->phase]);
    rb_log_debug("preparing phase '%s'", sh->phase->name);
    rb_prepare_destroy(&sh->prepare);
    sh->prepare = rb_prepare_copy(prepare);
    Rackbench__Phase *here_only = rb_phase_copy(sh->phase);
    rb_phase_keep_on_host(here_only, sh->nlabels, sh->labels);
    rb_errand_next(sh->here, here_only);
    begin(sh, RB_MOVE(sh->here));
}

void rb_shell_start_engine(rb_shell_t *sh)
{
    rb_phase_start_t start = {.plan = sh->plan,
                              .phase = sh->phase,
                              .number = sh->number,
                              .run_id = sh->run_id,
                              .host = sh->host,
                              .nlabels = sh->nlabels,
                              .labels = sh->labels,
                              .here = sh->here,
                              .health = sh->opts->health,
                              .prepare = sh->prepare};
    sh->engine_state = RB_ENGINE_PREPARING;
    sh->engine = rb_phase_start(&start, &sh->prepare_fault);
    rb_prepare_destroy(&sh->prepare);
    sh->has_failed = sh->engine == NULL;
    if (sh->has_failed)
        end_engine(sh);
}

/* ---- the phase ---- */

static void sink_arm(void *ctx, uint64_t t0_ns, int64_t drift_ppb)
{
    rb_shell_t *sh = ctx;
    rb_log_debug("armed: starts in %.1f ms",
                 ((double)t0_ns - (double)rb_clock_now_ns()) / RB_NS_PER_MS);
    sh->t0_ns = t0_ns;
    rb_engine_arm(sh->engine, t0_ns, drift_ppb);
    rb_health_arm(sh->opts->health, t0_ns, drift_ppb);
}

static void sink_stop(void *ctx, uint64_t te_ns)
{
    rb_shell_t *sh = ctx;
    if (sh->engine != NULL) {
        rb_engine_stop(sh->engine, te_ns);
        return;
    }
    if (sh->probe == NULL && !sh->has_ended) /* it has failed already */
        return;
    forget(sh);
    sh->has_failed = true;
    rb_err_set(&sh->prepare_fault, RB_ERR_INTERRUPTED, "stopped before the start");
}

static void sink_discipline(void *ctx, const Rackbench__Discipline *told)
{
    rb_shell_t *sh = ctx;
    if (sh->engine != NULL)
        rb_engine_tell(sh->engine, told->at_ns, told->local_ns, told->drift_ppb);
    rb_health_tell(sh->opts->health, told->at_ns, told->local_ns, told->drift_ppb);
}

static void sink_release(void *ctx)
{
    rb_shell_t *sh = ctx;
    forget(sh);
    rb_phase_destroy(&sh->phase);
    rb_prepare_destroy(&sh->prepare);
    rb_health_release(sh->opts->health);
    sh->plan = NULL;
    sh->labels = NULL;
    sh->host = sh->run_id = NULL;
    sh->nlabels = 0;
}

rb_session_sink_t rb_shell_sink(rb_shell_t *sh)
{
    return (rb_session_sink_t){sh,           sink_send,    sink_send_row, sink_load,
                               sink_prepare, sink_arm,     sink_stop,     sink_discipline,
                               sink_clean,   sink_release, sink_note};
}
