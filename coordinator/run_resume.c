#include "coordinator/run_priv.h"

/* The outcome that was written stands. */
static void restore_outcome(rb_run_t *run, const rb_row_run_end_t *end)
{
    static const char *const words[] = {"done", "truncated", "refused", "failed", "host_lost"};
    run->outcome.status = "failed";
    for (size_t i = 0; i < RB_LEN(words); i++)
        if (strcmp(end->status, words[i]) == 0)
            run->outcome.status = words[i];
    run->outcome.err.code = (rb_code_t)end->exit_code;
    snprintf(run->outcome.err.text, sizeof(run->outcome.err.text), "%s", end->text);
}

static void restore_host(rb_run_t *run, rb_run_host_t *host, const rb_resume_host_t *from)
{
    host->known = from->known;
    host->next_row = from->next_row;
    host->safe_row = from->next_row - 1;
    host->heard_ns = run->connect_ns;
    host->takes_part = from->takes_part;
    host->end_at_ns = from->end_at_ns;
    host->ended_early = from->ended_early;
    host->stranger = from->stranger;
    if (!from->lost) {
        host->link = run->opts.resume->complete != NULL ? LINK_FREE : LINK_CONNECTING;
        return;
    }
    host->link = LINK_LOST;
    snprintf(host->why, sizeof(host->why), "%s", from->why);
    run->lost++;
}

static void note_resumed(rb_run_t *run, uint64_t now_ns)
{
    const rb_resume_t *from = run->opts.resume;
    char text[128];
    uint64_t rows = 0;
    for (size_t i = 0; i < from->nhosts; i++)
        rows += from->hosts[i].next_row - 1;
    snprintf(text, sizeof(text), "taken up again behind %llu rows of %zu hosts%s",
             (unsigned long long)rows, from->nhosts,
             from->complete != NULL ? ", to fetch what lost ones still hold" : "");
    rb_run_note(run, NULL, now_ns, "resumed", text);
}

void rb_run_resume(rb_run_t *run, const rb_run_event_t *ev)
{
    const rb_resume_t *from = run->opts.resume;
    RB_ASSERT(from->nhosts == run->opts.nhosts);
    int64_t offset_ns =
        from->has_start ? from->wall_offset_ns : (int64_t)(ev->wall_ns - ev->now_ns);
    run->start_ns = from->started_wall_ns - (uint64_t)offset_ns;
    run->next_row = from->next_row;
    run->budget.used_bytes = from->journal_bytes;
    run->was_cut = from->was_cut;
    rb_run_restore_step(run); /* rows of it may come before all have answered */
    run->t0_ns = from->t0_ns;
    for (size_t i = 0; i < run->opts.nhosts; i++)
        restore_host(run, &run->hosts[i], &from->hosts[i]);
    note_resumed(run, ev->now_ns);
    if (run->stage == RB_STAGE_DONE) /* the journal refused a row */
        return;
    if (from->complete != NULL) {
        restore_outcome(run, from->complete);
        rb_run_begin_collect(run, ev->now_ns);
        rb_run_collect(run, ev->now_ns);
        return;
    }
    run->resuming = true;
    for (size_t i = 0; i < run->opts.nhosts; i++)
        if (run->hosts[i].link == LINK_CONNECTING)
            rb_run_command(run, &run->hosts[i], WANT_WELCOME);
    rb_run_collect(run, ev->now_ns);
}

bool rb_run_resume_fault(const rb_run_t *run, rb_run_host_t *host, const Rackbench__BeatAck *ack,
                         rb_err_t *ret)
{
    const rb_resume_t *from = run->opts.resume;
    uint32_t known = from->under_way ? from->phase + 1 : from->next_phase;
    bool waits = ack->state == RACKBENCH__BEAT_ACK__STATE__preparing ||
                 ack->state == RACKBENCH__BEAT_ACK__STATE__ready ||
                 ack->state == RACKBENCH__BEAT_ACK__STATE__failed;
    bool in_phase = from->under_way && host->takes_part;
    if (ack->last_row + 1 < host->next_row || (in_phase && !ack->has_phase))
        return rb_err_set(ret, RB_ERR_LOST, "it was restarted, or freed (rackbench stop)");
    host->elsewhere = ack->has_first_row && ack->first_row > host->next_row;
    if (host->elsewhere)
        return rb_err_set(ret, RB_ERR_LOST,
                          "its rows %llu to %llu were acknowledged to another journal: this one is "
                          "a copy, or was put back from an older state; resume the run from the "
                          "other",
                          (unsigned long long)host->next_row,
                          (unsigned long long)ack->first_row - 1);
    /* After a power failure the journal may end before what the agents did. */
    if (ack->has_phase && ack->phase >= known && !waits)
        return rb_err_set(ret, RB_ERR_LOST, "it has run a phase that the journal does not know of");
    return false;
}

bool rb_run_resume_check(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                         const Rackbench__BeatAck *ack)
{
    const rb_resume_t *from = run->opts.resume;
    bool in_phase = from->under_way && host->takes_part;
    rb_err_t fault;
    bool is_stranger = rb_run_resume_fault(run, host, ack, &fault);
    host->checked = true;
    host->at_rest = ack->state == RACKBENCH__BEAT_ACK__STATE__loaded ||
                    ack->state == RACKBENCH__BEAT_ACK__STATE__failed;
    if (in_phase && ack->state == RACKBENCH__BEAT_ACK__STATE__ready)
        run->cut = true; /* ARM did not reach it */
    if (is_stranger) {
        host->stranger = true;
        rb_run_lose(run, host, now_ns, fault.text);
    } else if (in_phase && ack->phase != from->phase) {
        rb_run_lose(run, host, now_ns, "it had gone on to a phase that the journal does not know");
    }
    return host->link == LINK_UP;
}

bool rb_run_in_resumed_phase(const rb_run_t *run)
{
    const rb_resume_t *from = run->opts.resume;
    return from != NULL && from->under_way && run->stage == RB_STAGE_RUN &&
           run->phase == from->phase;
}

void rb_run_cut(rb_run_t *run, const rb_run_host_t *host, uint64_t now_ns, const char *why)
{
    rb_run_note(run, host, now_ns, "cut_short", why);
    run->cut = true;
    if (run->te_ns == 0)
        rb_run_stop_phase(run, now_ns);
}

/* The phase goes on as if nothing had been, unless it cannot. */
static void rejoin_phase(rb_run_t *run, uint64_t now_ns)
{
    run->stage = RB_STAGE_RUN;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_run_host_t *host = &run->hosts[i];
        if (host->link != LINK_UP || !host->takes_part)
            continue;
        host->want = WANT_DRAINED;
        host->want_beat = host->beat;
        if (host->at_rest)
            rb_run_send_stop(run, host); /* it did: to hear Drained */
    }
    if (run->cut || run->opts.collect_only || run->outcome.err.code != RB_OK)
        rb_run_stop_phase(run, now_ns);
}

void rb_run_resume_course(rb_run_t *run, uint64_t now_ns)
{
    run->resuming = false;
    if (run->opts.resume->under_way)
        rejoin_phase(run, now_ns);
    else
        rb_run_go_on(run, now_ns);
}
