#include "coordinator/run_priv.h"

#define WAIT_NS      RB_NS_PER_S           /* for hosts that are silent, at the end */
#define WAIT_BACK_NS (1500 * RB_NS_PER_MS) /* for those that came back, beyond the lease */

static bool all_in(const rb_run_host_t *host)
{
    return host->back && host->at_rest && host->next_row > host->last_row;
}

bool rb_run_holds_rows(const rb_run_t *run, const rb_run_host_t *host)
{
    if (run->opts.goal != RB_RUN_BENCHMARK || !host->known || host->stranger ||
        host->link == LINK_FREE)
        return false;
    return run->journal_broken || (host->link == LINK_LOST && !all_in(host));
}

size_t rb_run_rows_missing(const rb_run_t *run)
{
    size_t n = 0;
    for (size_t i = 0; i < run->opts.nhosts; i++)
        n += rb_run_holds_rows(run, &run->hosts[i]);
    return n;
}

bool rb_run_owed(const rb_run_t *run)
{
    for (size_t i = 0; i < run->opts.nhosts; i++)
        if (rb_run_holds_rows(run, &run->hosts[i]) && !run->hosts[i].waited)
            return true;
    return false;
}

void rb_run_begin_collect(rb_run_t *run, uint64_t now_ns)
{
    if (rb_run_rows_missing(run) == 0)
        return;
    run->due_ns = RB_MAX(rb_run_due_ns(run), run->opts.resume != NULL ? now_ns : 0);
    run->stage = RB_STAGE_COLLECT;
    run->collect_ns = now_ns;
}

/* A resumed run has first to reach them. */
static uint64_t waits_until_ns(const rb_run_t *run, const rb_run_host_t *host)
{
    uint64_t lease_ns = run->opts.plan->lease_ns;
    uint64_t until_ns =
        run->collect_ns + (run->opts.resume != NULL ? run->opts.connect_timeout_ns : WAIT_NS);
    return host->back ? RB_MAX(until_ns, run->due_ns + lease_ns + WAIT_BACK_NS) : until_ns;
}

void rb_run_collect(rb_run_t *run, uint64_t now_ns)
{
    for (size_t i = 0; i < run->opts.nhosts && !run->journal_broken; i++) {
        rb_run_host_t *host = &run->hosts[i];
        if (host->link != LINK_LOST || !host->known || host->stranger)
            continue;
        rb_run_send_collect(run, host, now_ns);
        host->waited = run->stage == RB_STAGE_COLLECT && now_ns >= waits_until_ns(run, host);
    }
}

void rb_run_on_lost_ack(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                        const Rackbench__BeatAck *ack)
{
    rb_err_t fault;
    if (!host->known || host->stranger || ack->seq <= host->want_beat)
        return;
    if (ack->state == RACKBENCH__BEAT_ACK__STATE__idle || ack->last_row + 1 < host->next_row)
        host->stranger = rb_err_set(&fault, RB_ERR_LOST, "it was restarted");
    else if (run->opts.resume != NULL && !host->checked)
        host->stranger = rb_run_resume_fault(run, host, ack, &fault);
    host->checked = true;
    if (host->stranger) {
        rb_run_note(run, host, now_ns, "rows_lost", fault.text);
        return;
    }
    if (!host->back)
        rb_run_note(run, host, now_ns, "host_back",
                    "answers again: its rows are taken, it stays out of the run");
    host->back = true;
    host->at_rest = ack->state == RACKBENCH__BEAT_ACK__STATE__owned ||
                    ack->state == RACKBENCH__BEAT_ACK__STATE__loaded ||
                    ack->state == RACKBENCH__BEAT_ACK__STATE__failed;
    host->last_row = ack->last_row;
}

void rb_run_note_collected(rb_run_t *run, uint64_t now_ns)
{
    char text[128];
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const rb_run_host_t *host = &run->hosts[i];
        unsigned long long rows = (unsigned long long)host->next_row - 1;
        if (rb_run_holds_rows(run, host)) {
            snprintf(text, sizeof(text),
                     "it may hold more than the %llu rows that came; rackbench resume fetches them",
                     rows);
            rb_run_note(run, host, now_ns, "rows_missing", text);
        } else if (host->link == LINK_LOST && all_in(host) && !host->stranger) {
            snprintf(text, sizeof(text), "all its %llu rows are in", rows);
            rb_run_note(run, host, now_ns, "rows_in", text);
        }
    }
}
