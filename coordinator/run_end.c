#include "coordinator/run_priv.h"

#define STOP_LEAD_NS    (20 * RB_NS_PER_MS)
#define STOP_SILENCE_NS (3 * RB_NS_PER_S)
#define SILENT_NS       (1400 * RB_NS_PER_MS) /* looked at once a beat: named within 2 s */
#define STRAGGLER_NS    (2 * RB_NS_PER_S)
#define SLOW_DRIVE_NS   (2 * RB_NS_PER_S)
enum { MAX_NAMED = 2 }; /* hosts in one message beside the first */

static void judge_losses(rb_run_t *run)
{
    const Rackbench__Plan *plan = run->opts.plan;
    size_t left = run->opts.nhosts - run->lost;
    bool excused = plan != NULL && plan->min_hosts > 0 && left >= plan->min_hosts;
    if (run->lost > 0 && run->outcome.err.code == RB_OK && !excused) {
        run->outcome.status = "host_lost";
        rb_err_set(&run->outcome.err, RB_ERR_LOST, "%zu of %zu hosts were lost", run->lost,
                   run->opts.nhosts);
    }
    if (run->outcome.err.code != RB_OK || (!run->was_cut && !run->left_out))
        return;
    run->outcome.status = "truncated";
    rb_err_set(&run->outcome.err, RB_ERR_INTERRUPTED, "interrupted: %s",
               run->was_cut ? "a phase was cut short while no coordinator was there"
                            : "rows were collected, and the phases that were left not run");
}

/* Who still holds rows keeps them, for the run to be resumed, unless another run needs the host
 * first: a Collect, which stops what it does, sets it free for that. */
void rb_run_end(rb_run_t *run, uint64_t now_ns)
{
    if (run->stage == RB_STAGE_DONE)
        return;
    judge_losses(run);
    rb_run_note_collected(run, now_ns);
    rb_run_write_end(run, now_ns);
    rb_run_sync(run, now_ns);
    if (run->stage == RB_STAGE_DONE) /* the journal refused: that has ended the run */
        return;
    run->stage = RB_STAGE_DONE;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_run_host_t *host = &run->hosts[i];
        if (host->link == LINK_FREE || host->elsewhere)
            continue;
        if (rb_run_holds_rows(run, host))
            rb_run_send_collect(run, host, now_ns);
        else
            rb_run_send_bye(run, host);
    }
}

void rb_run_finish(rb_run_t *run, uint64_t now_ns)
{
    if (run->stage != RB_STAGE_COLLECT && run->stage != RB_STAGE_DONE && !run->journal_broken)
        rb_run_begin_collect(run, now_ns);
    if (run->stage != RB_STAGE_COLLECT || !rb_run_owed(run))
        rb_run_end(run, now_ns);
}

void rb_run_stop_phase(rb_run_t *run, uint64_t now_ns)
{
    uint64_t worst_ns = 0;
    for (size_t i = 0; i < run->opts.nhosts; i++)
        worst_ns = RB_MAX(worst_ns, run->hosts[i].clock.worst_rtt_ns);
    run->te_ns = now_ns + STOP_LEAD_NS + RB_MIN(worst_ns, RB_NS_PER_S);
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_run_host_t *host = &run->hosts[i];
        if (host->takes_part && host->link == LINK_UP && host->want != WANT_NOTHING)
            rb_run_command(run, host, WANT_DRAINED);
    }
}

void rb_run_verdict(rb_run_t *run, uint64_t now_ns, const char *reason)
{
    if (run->stage != RB_STAGE_RUN || run->te_ns != 0 || rb_run_in_resumed_phase(run))
        return;
    snprintf(run->reason, sizeof(run->reason), "%s", reason);
    rb_run_stop_phase(run, now_ns);
}

/* Stop what is under way: a running phase drains and keeps its figures, anything else just ends. */
static void wind_up(rb_run_t *run, uint64_t now_ns)
{
    if (run->resuming) /* first it must be known what runs */
        return;
    if (run->stage == RB_STAGE_COLLECT)
        rb_run_end(run, now_ns);
    else if (run->stage != RB_STAGE_RUN)
        rb_run_finish(run, now_ns);
    else if (run->te_ns == 0)
        rb_run_stop_phase(run, now_ns);
}

void rb_run_fail(rb_run_t *run, uint64_t now_ns, const char *status, const rb_err_t *err)
{
    if (run->stage == RB_STAGE_DONE)
        return;
    if (run->outcome.err.code == RB_OK)
        run->outcome = (rb_run_outcome_t){status, *err};
    rb_run_note(run, NULL, now_ns, "fault", err->text);
    wind_up(run, now_ns);
}

void rb_run_interrupt(rb_run_t *run, uint64_t now_ns)
{
    rb_err_t err;
    rb_err_set(&err, RB_ERR_INTERRUPTED, "interrupted");
    if (run->outcome.err.code == RB_OK)
        run->outcome = (rb_run_outcome_t){"truncated", err};
    rb_run_note(run, NULL, now_ns, "interrupted", "stopped by the user");
    if (++run->interrupts == 1) {
        wind_up(run, now_ns);
        return;
    }
    if (run->stage == RB_STAGE_RUN)
        rb_run_write_phase_end(run);
    rb_run_end(run, now_ns);
}

/* ---- hosts that do not answer ---- */

static void lose(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns, const char *why)
{
    host->link = LINK_LOST;
    host->want = WANT_NOTHING;
    host->burst = 0;
    host->want_beat = host->beat; /* older answers say nothing of its end */
    snprintf(host->why, sizeof(host->why), "%s", why);
    run->lost++;
    if (host->inventory == NULL && !host->known) /* it never came: the result still names it */
        rb_run_write_host(run, host);
    rb_run_note(run, host, now_ns, "host_lost", why);
    if (host->stranger && host->known)
        rb_run_note(run, host, now_ns, "rows_lost",
                    host->elsewhere ? "what this journal lacks is in another one"
                                    : "what it had not handed over is gone");
}

/* Whoever lists or frees hosts has something to say of each of them. */
static bool each_alone(const rb_run_t *run)
{
    return run->opts.goal == RB_RUN_INVENTORY || run->opts.goal == RB_RUN_STOP;
}

/* Abort or go on, by the plan. */
static void after_loss(rb_run_t *run, uint64_t now_ns, const rb_err_t *err)
{
    const Rackbench__Plan *plan = run->opts.plan;
    size_t left = run->opts.nhosts - run->lost;
    bool go_on = plan != NULL && plan->on_host_loss == RACKBENCH__PLAN__ON_HOST_LOSS__continue &&
                 left >= RB_MAX(plan->min_hosts, 1u);
    if (each_alone(run) && left > 0) {
        if (run->outcome.err.code == RB_OK)
            run->outcome = (rb_run_outcome_t){"host_lost", *err};
    } else if (!go_on) {
        rb_run_fail(run, now_ns, "host_lost", err);
    }
}

void rb_run_fail_host(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns, const rb_err_t *err)
{
    rb_err_t named = *err;
    rb_err_wrap(&named, "agent %s", host->opts->name);
    if (each_alone(run) && host->link != LINK_LOST) {
        lose(run, host, now_ns, err->text);
        after_loss(run, now_ns, &named);
        return;
    }
    rb_run_fail(run, now_ns, err->code == RB_ERR_UNSAFE ? "refused" : "failed", &named);
}

static const char *const stages[] = {
    [RB_STAGE_CONNECT] = "connecting",
    [RB_STAGE_PROBE] = "measuring clocks",
    [RB_STAGE_LOAD] = "loading",
    [RB_STAGE_PREPARE] = "preparing",
    [RB_STAGE_PROBE_PHASE] = "measuring clocks",
    [RB_STAGE_RUN] = "running",
    [RB_STAGE_CLEAN] = "cleaning",
    [RB_STAGE_COLLECT] = "collecting rows",
    [RB_STAGE_DONE] = "ending",
};

/* STOP: a host that drains answers, again and again, that it is busy. */
static bool still_busy(const rb_run_t *run, const rb_run_host_t *host, uint64_t now_ns,
                       rb_err_t *ret)
{
    if (now_ns >= host->heard_ns + STOP_SILENCE_NS)
        return rb_err_set(ret, RB_ERR_NET, "busy with run %s, and no answer any more", host->owner);
    if (now_ns < run->start_ns + RB_DRAIN_LIMIT_NS)
        return false;
    return rb_err_set(ret, RB_ERR_NET, "still busy with run %s after %.0f s", host->owner,
                      (double)(now_ns - run->start_ns) / 1e9);
}

uint64_t rb_run_due_ns(const rb_run_t *run)
{
    if (run->stage != RB_STAGE_RUN)
        return 0;
    uint64_t runtime_ns = rb_phase_runtime_ns(rb_run_phase(run));
    if (run->te_ns != 0)
        return run->te_ns;
    return runtime_ns == 0 ? 0 : run->t0_ns + rb_phase_ramp_ns(rb_run_phase(run)) + runtime_ns;
}

/* CONNECTING: why it did not come. */
static bool never_came(const rb_run_t *run, const rb_run_host_t *host, rb_err_t *ret)
{
    /* One that was there before is lost; another may never have been. */
    rb_code_t code = run->opts.resume != NULL ? RB_ERR_LOST : RB_ERR_NET;
    double timeout_s = (double)run->opts.connect_timeout_ns / 1e9;
    if (host->probing[0] != '\0')
        return rb_err_set(ret, code, "gave no inventory within %.1f s: still probing %s for %.0f s",
                          timeout_s, host->probing, (double)host->probing_ns / 1e9);
    if (host->opts->address == NULL)
        return rb_err_set(ret, code,
                          "has not joined within %.1f s; it must dial us by --join and that name",
                          timeout_s);
    if (host->why[0] != '\0')
        return rb_err_set(ret, code, "no answer from %s within %.1f s: %s", host->opts->address,
                          timeout_s, host->why);
    return rb_err_set(
        ret, code,
        "no answer from %s within %.1f s; is rackbench-agent running there, and the port open?",
        host->opts->address, timeout_s);
}

/* Why this host is given up now; false if it is not. */
static bool given_up(const rb_run_t *run, const rb_run_host_t *host, uint64_t now_ns, rb_err_t *ret)
{
    if (host->link == LINK_UP && run->opts.goal == RB_RUN_STOP)
        return false; /* it is free: no more of it */
    if (host->link == LINK_CONNECTING && host->owner != NULL)
        return still_busy(run, host, now_ns, ret);
    double silent_s = (double)(now_ns - host->heard_ns) / 1e9;
    uint64_t lease_ns = run->opts.plan != NULL ? run->opts.plan->lease_ns : 3 * RB_NS_PER_S;
    bool late = now_ns >= run->connect_ns + run->opts.connect_timeout_ns;
    if (host->link == LINK_CONNECTING && late)
        return never_came(run, host, ret);
    if (host->link != LINK_UP)
        return false;
    if (host->probing_ns > RB_PROBE_LIMIT_NS)
        return rb_err_set(ret, RB_ERR_LOST, "still probing %s for %.0f s while %s", host->probing,
                          (double)host->probing_ns / 1e9, stages[run->stage]);
    if (now_ns > host->heard_ns + lease_ns)
        return rb_err_set(ret, RB_ERR_LOST, "no answer for %.1f s while %s", silent_s,
                          stages[run->stage]);
    if (run->stage != RB_STAGE_RUN || !host->takes_part || rb_run_reached(run, host))
        return false;
    uint64_t due_ns = rb_run_due_ns(run);
    if (due_ns != 0 && now_ns > due_ns + RB_DRAIN_LIMIT_NS)
        return rb_err_set(ret, RB_ERR_LOST, "still busy %.0f s after the end of the phase",
                          (double)RB_DRAIN_LIMIT_NS / 1e9);
    return false;
}

void rb_run_refused(rb_run_t *run, const rb_run_event_t *ev)
{
    rb_run_host_t *host = &run->hosts[ev->host - 1];
    if (host->link == LINK_CONNECTING)
        snprintf(host->why, sizeof(host->why), "%s", ev->text);
}

void rb_run_heard(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns)
{
    char text[64];
    if (host->silent && host->link == LINK_UP) {
        snprintf(text, sizeof(text), "answers again after %.1f s",
                 (double)(now_ns - host->heard_ns) / 1e9);
        rb_run_note(run, host, now_ns, "answers", text);
    }
    host->silent = false;
    host->heard_ns = now_ns;
}

void rb_run_probing(rb_run_host_t *host, const char *what, uint64_t for_ns)
{
    what = what != NULL ? what : "";
    host->slow_drive &= strcmp(host->probing, what) == 0;
    snprintf(host->probing, sizeof(host->probing), "%s", what);
    host->probing_ns = for_ns;
}

static void name_slow_drive(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns)
{
    char text[RB_MAX_TEXT];
    if (host->link == LINK_LOST || host->slow_drive || host->probing_ns < SLOW_DRIVE_NS)
        return;
    host->slow_drive = true;
    snprintf(text, sizeof(text), "still probing %.400s for %.1f s while %s", host->probing,
             (double)host->probing_ns / 1e9, stages[run->stage]);
    rb_run_note(run, host, now_ns, "slow_drive", text);
}

/* Hosts that make the others wait are named, and not given up for it. */
static void name_slow(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns)
{
    char text[96];
    if (host->link == LINK_UP && !host->silent && now_ns > host->heard_ns + SILENT_NS) {
        host->silent = true;
        snprintf(text, sizeof(text), "no answer for %.1f s while %s",
                 (double)(now_ns - host->heard_ns) / 1e9, stages[run->stage]);
        rb_run_note(run, host, now_ns, "no_answer", text);
    }
    uint64_t due_ns = rb_run_due_ns(run);
    bool late = due_ns != 0 && now_ns > RB_MAX(due_ns, run->connect_ns) + STRAGGLER_NS;
    if (!late || host->straggler || !host->takes_part || host->link != LINK_UP ||
        rb_run_reached(run, host))
        return;
    host->straggler = true;
    snprintf(text, sizeof(text), "still busy %.1f s after the end of the phase",
             (double)(now_ns - due_ns) / 1e9);
    rb_run_note(run, host, now_ns, "straggler", text);
}

void rb_run_check_silence(rb_run_t *run, uint64_t now_ns)
{
    rb_err_t all = {0};
    size_t more = 0;
    if (run->stage == RB_STAGE_COLLECT)
        return;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_run_host_t *host = &run->hosts[i];
        rb_err_t why;
        name_slow(run, host, now_ns);
        name_slow_drive(run, host, now_ns);
        if (run->stage == RB_STAGE_DONE) /* the journal refused a row */
            return;
        if (!given_up(run, host, now_ns, &why))
            continue;
        lose(run, host, now_ns, why.text);
        if (all.code == RB_OK) {
            all = why;
            rb_err_wrap(&all, "agent %s", host->opts->name);
        } else {
            rb_err_t before = all;
            if (++more > MAX_NAMED)
                continue;
            rb_err_set(&all, before.code, "%s; agent %s: %s", before.text, host->opts->name,
                       why.text);
        }
    }
    rb_err_t named = all;
    if (more > MAX_NAMED)
        rb_err_set(&all, named.code, "%s; and %zu more", named.text, more - MAX_NAMED);
    if (all.code != RB_OK)
        after_loss(run, now_ns, &all);
}

void rb_run_lose(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns, const char *why)
{
    rb_err_t err;
    /* While rows are collected all others have done their work. */
    if (host->link == LINK_LOST || run->stage == RB_STAGE_COLLECT)
        return;
    lose(run, host, now_ns, why);
    rb_err_set(&err, RB_ERR_LOST, "agent %s: %s", host->opts->name, why);
    after_loss(run, now_ns, &err);
}
