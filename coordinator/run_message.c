#include "coordinator/opinion.h"
#include "coordinator/run_priv.h"

#include "common/units.h"

static Rackbench__ToCoordinator *copy_of(const Rackbench__ToCoordinator *msg)
{
    rb_err_t err;
    rb_bytes_t packed = rb_wire_pack_to_coordinator(msg);
    rb_frame_t frame = {RB_FRAME_TO_COORDINATOR, packed.data + RB_WIRE_HEADER,
                        packed.size - RB_WIRE_HEADER};
    Rackbench__ToCoordinator *copy = rb_wire_to_coordinator(&frame, &err);
    rb_bytes_clear(&packed);
    RB_ASSERT(copy != NULL);
    return copy;
}

/* A host that gave itself up, because it did not hear us, is lost like one that we do not hear. */
static void fail_by(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                    const Rackbench__Fault *fault)
{
    rb_err_t err;
    bool stopped = fault->code == RB_ERR_LOST || fault->code == RB_ERR_INTERRUPTED;
    if (stopped && rb_run_in_resumed_phase(run)) { /* it was we who were not there */
        rb_run_cut(run, host, now_ns, fault->text);
        return;
    }
    if (fault->code == RB_ERR_LOST) {
        rb_run_lose(run, host, now_ns, fault->text);
        return;
    }
    rb_err_set(&err, (rb_code_t)fault->code, "%s", fault->text);
    if (fault->code == RB_OK || fault->code > RB_ERR_INTERNAL)
        err.code = RB_ERR_INTERNAL;
    rb_run_fail_host(run, host, now_ns, &err);
}

/* Whoever joins again after its Welcome is another process, that knows nothing of this run. */
static void on_join(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns)
{
    if (host->link == LINK_CONNECTING) {
        rb_run_command(run, host, WANT_WELCOME);
        return;
    }
    host->stranger = true;
    if (host->link == LINK_UP)
        rb_run_lose(run, host, now_ns,
                    "an agent that knows nothing of this run joined under its name: it was started "
                    "again, or "
                    "another one has the same --name");
}

/* They understand each other; that they measure alike is not sure. */
static void note_release(rb_run_t *run, const rb_run_host_t *host, uint64_t now_ns)
{
    const char *theirs = host->inventory->agent_version;
    if (theirs == NULL || strcmp(theirs, RB_VERSION) == 0)
        return;
    RB_AUTO(rb_free_str)
    char *text = rb_asprintf("the agent is release %s, the coordinator %s: use the same release on "
                             "every host",
                             theirs, RB_VERSION);
    rb_run_note(run, host, now_ns, "release", text);
}

static void on_welcome(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                       const Rackbench__Welcome *welcome)
{
    if (host->link == LINK_LOST && !host->known)
        rb_run_send_bye(run, host); /* it came too late: set it free */
    if (host->link != LINK_CONNECTING)
        return;
    host->link = LINK_UP;
    host->want = WANT_NOTHING;
    rb_run_probing(host, NULL, 0);
    rb_inventory_destroy(&host->inventory);
    host->inventory = rb_inventory_copy(welcome->inventory);
    rb_run_write_host(run, host);
    host->known |= !run->journal_broken;
    note_release(run, host, now_ns);
}

/* STOP: not free yet. What it was busy with at first is what the user is told. */
static void on_still_busy(rb_run_host_t *host, const Rackbench__Busy *busy)
{
    if (host->owner != NULL)
        return;
    host->owner = rb_strdup(busy->run_id);
    host->owner_wall_ns = busy->since_wall_ns;
}

static void on_busy(rb_run_t *run, rb_run_host_t *host, const rb_run_event_t *ev)
{
    const Rackbench__Busy *busy = ev->message->busy;
    char since[RB_FMT_SIZE];
    rb_err_t err;
    if (run->opts.goal == RB_RUN_STOP) {
        on_still_busy(host, busy);
        return;
    }
    host->stranger |= strcmp(busy->run_id, run->opts.id) != 0;
    if (!host->stranger && run->opts.resume != NULL) { /* asked again until it is silent */
        snprintf(host->why, sizeof(host->why),
                 "another coordinator of this run is at work; this directory is a copy of its");
        return;
    }
    if (!host->stranger)
        rb_err_set(&err, RB_ERR_INPUT, "stands in the host list twice, under another address");
    else
        rb_err_set(&err, RB_ERR_NET,
                   "busy with run %s since %s; wait until that run has ended, or free the host by "
                   "rackbench stop --hosts %s",
                   busy->run_id,
                   rb_fmt_since(since, sizeof(since), busy->since_wall_ns, ev->wall_ns),
                   host->opts->name);
    if (host->stranger && run->opts.resume != NULL) /* the others hold rows of this run */
        rb_run_lose(run, host, ev->now_ns, err.text);
    else
        rb_run_fail_host(run, host, ev->now_ns, &err);
}

/* The agent is not where the last command should have brought it: the command or its answer was
 * lost. */
static bool must_resend(const rb_run_t *run, const rb_run_host_t *host,
                        const Rackbench__BeatAck *ack)
{
    switch (host->want) {
    case WANT_NOTHING:
    case WANT_WELCOME:
    case WANT_FREE:
        return false;
    case WANT_LOADED:
    case WANT_CLEANED:
        return ack->probing == NULL;
    case WANT_ARMED:
        return true;
    case WANT_READY:
        return ack->state != RACKBENCH__BEAT_ACK__STATE__preparing;
    case WANT_DRAINED:
        return ack->state == RACKBENCH__BEAT_ACK__STATE__loaded ||
               ack->state == RACKBENCH__BEAT_ACK__STATE__failed ||
               (run->te_ns != 0 && ack->state != RACKBENCH__BEAT_ACK__STATE__draining);
    }
    return false;
}

static void on_free(rb_run_host_t *host, const Rackbench__BeatAck *ack)
{
    if (host->link != LINK_CONNECTING || ack->state != RACKBENCH__BEAT_ACK__STATE__idle)
        return;
    host->link = LINK_UP;
    host->want = WANT_NOTHING;
}

/* Probes back to back, until they tell nothing new. */
static void go_on_probing(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns)
{
    rb_clock_estimate_t estimate = {.bound_ns = UINT64_MAX};
    rb_clocksync_estimate(&host->clock, now_ns, &estimate);
    host->burst_idle++;
    if (estimate.bound_ns < host->burst_bound_ns - host->burst_bound_ns / 8) {
        host->burst_bound_ns = estimate.bound_ns;
        host->burst_idle = 0;
    }
    bool enough = host->burst_idle >= RB_IDLE_PROBES && estimate.bound_ns <= RB_GOOD_BOUND_NS;
    host->burst = enough ? 0 : host->burst - 1;
    if (host->burst > 0)
        rb_run_send_beat(run, host, now_ns);
}

/* What do the wall clocks of both hosts say? Noted once, until they agree again. */
static void ask_wall_clock(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                           const Rackbench__BeatAck *ack)
{
    const Rackbench__WallClock *theirs = ack->wall_clock;
    rb_wall_clock_t wall = {theirs->ahead_ns, theirs->synchronised, theirs->maxerror_ns,
                            theirs->tai_s};
    rb_clock_estimate_t clock;
    rb_opinion_t opinion;
    char text[RB_MAX_TEXT];
    if (!rb_opinion(&run->wall_clock, &wall, &opinion) ||
        !rb_clocksync_estimate(&host->clock, now_ns, &clock))
        return;
    /* It was read while the probe was under way, not now. */
    opinion.bound_ns += (now_ns - ack->t1_ns) * RB_CLOCK_MAX_DRIFT_PPB / 1000000000 + 1;
    bool differs = rb_opinion_disagrees(&opinion, &clock);
    if (differs && !host->clock_disagrees) {
        snprintf(text, sizeof(text),
                 "by messages its clock is %+.3f us from ours, +- %.3f us; by the wall clocks of "
                 "both hosts %+.3f us, +- %.3f us: one of the two is wrong",
                 (double)clock.offset_ns / 1e3, (double)clock.bound_ns / 1e3,
                 (double)opinion.offset_ns / 1e3, (double)opinion.bound_ns / 1e3);
        rb_run_note(run, host, now_ns, "clock_disagrees", text);
    }
    host->clock_disagrees = differs;
}

static void on_beat_ack(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                        const Rackbench__BeatAck *ack)
{
    rb_clocksync_add(&host->clock, ack->t1_ns, ack->t2_ns, now_ns);
    if (run->opts.goal == RB_RUN_STOP) {
        on_free(host, ack);
        return;
    }
    rb_run_probing(host, ack->probing, ack->probing_ns);
    if (host->link == LINK_LOST)
        rb_run_on_lost_ack(run, host, now_ns, ack);
    if (host->link != LINK_UP)
        return;
    if (ack->wall_clock != NULL)
        ask_wall_clock(run, host, now_ns, ack);
    if (run->stage == RB_STAGE_DONE) /* the journal refused the note */
        return;
    if (run->resuming && !rb_run_resume_check(run, host, now_ns, ack))
        return;
    if (ack->state == RACKBENCH__BEAT_ACK__STATE__idle) {
        host->stranger = true;
        rb_run_lose(run, host, now_ns, "it was restarted");
        return;
    }
    if (ack->seq > host->want_beat && must_resend(run, host, ack)) {
        bool drained = host->want == WANT_ARMED && ack->has_phase && ack->phase == run->phase &&
                       ack->state == RACKBENCH__BEAT_ACK__STATE__loaded;
        rb_run_command(run, host, drained ? WANT_DRAINED : host->want);
    }
    if (host->burst > 0 && ack->seq == host->beat)
        go_on_probing(run, host, now_ns);
}

static void on_loaded(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                      const Rackbench__ToCoordinator *msg)
{
    if (host->want != WANT_LOADED)
        return;
    host->want = WANT_NOTHING;
    host->loaded = copy_of(msg);
    if (msg->loaded->fault != NULL)
        fail_by(run, host, now_ns, msg->loaded->fault);
}

static void on_ready(rb_run_t *run, rb_run_host_t *host, uint32_t phase)
{
    if (host->want == WANT_READY && phase == run->phase)
        host->want = WANT_NOTHING;
}

static void on_armed(rb_run_t *run, rb_run_host_t *host, uint32_t phase)
{
    if (host->want != WANT_ARMED || phase != run->phase)
        return;
    host->want = WANT_DRAINED;
    host->want_beat = host->beat;
}

static bool in_run(const rb_run_t *run, const rb_run_host_t *host, uint32_t phase)
{
    return run->stage == RB_STAGE_RUN && phase == run->phase &&
           (host->want == WANT_ARMED || host->want == WANT_DRAINED);
}

static void on_drained(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                       const Rackbench__Drained *drained)
{
    if (!in_run(run, host, drained->phase))
        return;
    host->want = WANT_NOTHING;
    host->last_row = drained->last_row;
    if (drained->fault != NULL)
        fail_by(run, host, now_ns, drained->fault);
}

/* A host may fail after it was ready, while others still prepare. */
static void on_failed(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                      const Rackbench__Failed *failed)
{
    bool before_run = (run->stage == RB_STAGE_PREPARE || run->stage == RB_STAGE_PROBE_PHASE) &&
                      host->takes_part && host->link == LINK_UP && failed->phase == run->phase;
    if (!before_run && !in_run(run, host, failed->phase))
        return;
    host->want = WANT_NOTHING;
    fail_by(run, host, now_ns, failed->fault);
}

static void on_cleaned(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns,
                       const Rackbench__ToCoordinator *msg)
{
    if (host->want != WANT_CLEANED)
        return;
    host->want = WANT_NOTHING;
    host->cleaned = copy_of(msg);
    if (msg->cleaned->fault != NULL)
        fail_by(run, host, now_ns, msg->cleaned->fault);
}

void rb_run_on_message(rb_run_t *run, const rb_run_event_t *ev)
{
    rb_run_host_t *host = &run->hosts[ev->host - 1];
    const Rackbench__ToCoordinator *msg = ev->message;
    rb_run_heard(run, host, ev->now_ns);
    switch (msg->body_case) {
    case RACKBENCH__TO_COORDINATOR__BODY_WELCOME:
        on_welcome(run, host, ev->now_ns, msg->welcome);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_BUSY:
        on_busy(run, host, ev);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_BEAT_ACK:
        on_beat_ack(run, host, ev->now_ns, msg->beat_ack);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_LOADED:
        on_loaded(run, host, ev->now_ns, msg);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_PROGRESS:
        host->done_bytes = msg->progress->done_bytes;
        host->total_bytes = msg->progress->total_bytes;
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_READY:
        on_ready(run, host, msg->ready->phase);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_ARMED:
        on_armed(run, host, msg->armed->phase);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_DRAINED:
        on_drained(run, host, ev->now_ns, msg->drained);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_FAILED:
        on_failed(run, host, ev->now_ns, msg->failed);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_LEAVING:
        host->stranger = true; /* its rows end with it */
        if (host->link == LINK_UP)
            rb_run_lose(run, host, ev->now_ns, msg->leaving->reason);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_CLEANED:
        on_cleaned(run, host, ev->now_ns, msg);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_JOIN:
        on_join(run, host, ev->now_ns);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY_PROBING:
        rb_run_probing(host, msg->probing->what, msg->probing->for_ns);
        break;
    case RACKBENCH__TO_COORDINATOR__BODY__NOT_SET:
    case _RACKBENCH__TO_COORDINATOR__BODY__CASE_IS_INT_SIZE:
        break;
    }
}
