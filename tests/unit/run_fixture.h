/* run_fixture.h - a run whose agents are played by the test: what the run says is written down as
 * words in one line (Beats apart, which `pump` answers), what it journals is counted by kind.
 * Included by one test program. */
#pragma once

#include "coordinator/run.h"
#include "proto/sample.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { HOSTS = 2, MAX_KIND = 80 };

typedef struct {
    rb_run_t *run;
    rb_run_opts_t opts;
    rb_run_host_opts_t hosts[HOSTS];
    Rackbench__Plan plan;
    Rackbench__Phase phase, *phases[2];
    Rackbench__Job job, *jobs[1];
    uint64_t now_ns;
    Rackbench__BeatAck__State states[HOSTS + 1]; /* what the agents answer to a Beat */
    uint64_t beats[HOSTS + 1];                   /* seq of the last one; 0: answered */
    uint64_t sent_ns[HOSTS + 1], acked[HOSTS + 1];
    Rackbench__Discipline told[HOSTS + 1]; /* in the last Beat; at_ns 0: not */
    uint32_t prepared; /* of the last Prepare: number, whether with a phase, and its job's rate */
    bool overridden;
    uint64_t rate_iops;
    uint32_t spans[HOSTS + 1];    /* that the last Beat asked for; 0: none */
    uint64_t collects[HOSTS + 1]; /* seq of the last Collect */
    bool sync_fails;
    size_t safe_steps;     /* STEP rows that were synced */
    uint64_t last_row;     /* what agents say they have */
    uint64_t first_row;    /* ... from where on; 0: they do not say */
    uint32_t at_phase;     /* ... and have prepared last; of pump() */
    char said[4096];       /* since the last expect */
    size_t rows[MAX_KIND]; /* of host 0, by kind */
    size_t agent_rows;
    size_t rows_left;        /* the journal takes no more than these */
    rb_row_t last[MAX_KIND]; /* of each kind of host 0; owned */
} fixture_t;

static void put(fixture_t *f, const char *fmt, ...) RB_PRINTF(2, 3);
static inline void put(fixture_t *f, const char *fmt, ...)
{
    size_t n = strlen(f->said);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(f->said + n, sizeof(f->said) - n, fmt, ap);
    va_end(ap);
}

static inline void take_prepare(fixture_t *f, const Rackbench__Prepare *prepare)
{
    assert_int_equal(f->safe_steps, f->rows[RB_ROW_STEP]);
    f->prepared = prepare->phase;
    f->overridden = prepare->override != NULL;
    f->rate_iops = f->overridden ? prepare->override->jobs[0]->rate_iops : 0;
}

static inline void sink_send(void *ctx, uint32_t host, const Rackbench__ToAgent *msg)
{
    fixture_t *f = ctx;
    static const char *const names[] = {"none", "Hello", "Beat", "Load",    "Prepare", "Arm",
                                        "Stop", "Clean", "Bye",  "Collect", "Evict"};
    if (msg->body_case == RACKBENCH__TO_AGENT__BODY_COLLECT) {
        f->collects[host] = msg->collect->seq;
        f->acked[host] = msg->collect->acked_row;
        return;
    }
    if (msg->body_case != RACKBENCH__TO_AGENT__BODY_BEAT) {
        put(f, "%s%u ", names[msg->body_case], host);
        if (msg->body_case == RACKBENCH__TO_AGENT__BODY_PREPARE)
            take_prepare(f, msg->prepare);
        return;
    }
    f->beats[host] = msg->beat->seq;
    f->sent_ns[host] = msg->beat->t1_ns;
    f->acked[host] = msg->beat->acked_row;
    f->spans[host] = msg->beat->has_span ? msg->beat->span : 0;
    f->told[host] = (Rackbench__Discipline)RACKBENCH__DISCIPLINE__INIT;
    if (msg->beat->discipline != NULL)
        f->told[host] = *msg->beat->discipline;
}

static inline int sink_row(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    fixture_t *f = ctx;
    rb_row_t row;
    if (f->rows_left == 0)
        return rb_err_set(err, RB_ERR_IO, "journal: no space left on device");
    f->rows_left--;
    assert_int_equal(rb_row_unpack(data, size, &row, err), 0);
    if (host != 0) {
        f->agent_rows++;
        rb_row_clear(&row);
        return 0;
    }
    f->rows[row.kind]++;
    rb_row_clear(&f->last[row.kind]);
    f->last[row.kind] = row;
    return 0;
}

/* A server that does 1000 operations a second, fast at half of that and less. */
static inline void sink_figures(void *ctx, uint32_t phase, uint32_t job, uint32_t percentile_ppm,
                                rb_search_figures_t *ret)
{
    fixture_t *f = ctx;
    uint64_t rate = f->rate_iops;
    assert_int_equal(job, 0);
    assert_int_equal(percentile_ppm, 990000);
    assert_int_equal(phase, f->prepared);
    bool fast = rate > 0 && rate <= 500;
    *ret = (rb_search_figures_t){.offered_ops = rate * 10,
                                 .ops = rate == 0 || rate > 1000 ? 10000 : rate * 10,
                                 .length_ns = 10 * RB_NS_PER_S,
                                 .quantile_ns = fast ? RB_NS_PER_MS : 50 * RB_NS_PER_MS};
}

static inline int sink_sync(void *ctx, rb_err_t *err)
{
    fixture_t *f = ctx;
    f->safe_steps = f->rows[RB_ROW_STEP];
    return f->sync_fails ? rb_err_set(err, RB_ERR_IO, "journal: Input/output error") : 0;
}

/* ---- events ---- */

static inline void step(fixture_t *f, rb_run_event_t event)
{
    event.now_ns = f->now_ns += 10 * RB_NS_PER_US;
    rb_run_step(f->run, &event);
}

static inline void say(fixture_t *f, uint32_t host, const Rackbench__ToCoordinator *msg)
{
    step(f, (rb_run_event_t){.kind = RB_RUN_MESSAGE, .host = host, .message = msg});
}

/* SAY(f, host, READY, ready, Ready, .phase = 0): like the type's name in lower case. */
#define SAY(f, host, CASE, field, type, ...)                                                       \
    do {                                                                                           \
        Rackbench__ToCoordinator msg_ = RACKBENCH__TO_COORDINATOR__INIT;                           \
        Rackbench__##type body_ = {PROTOBUF_C_MESSAGE_INIT(&rackbench__##field##__descriptor),     \
                                   __VA_ARGS__};                                                   \
        msg_.body_case = RACKBENCH__TO_COORDINATOR__BODY_##CASE;                                   \
        msg_.field = &body_;                                                                       \
        say((f), (host), &msg_);                                                                   \
    } while (0)

static inline void welcome(fixture_t *f, uint32_t host)
{
    Rackbench__Inventory inventory = RACKBENCH__INVENTORY__INIT;
    f->states[host] = RACKBENCH__BEAT_ACK__STATE__owned;
    SAY(f, host, WELCOME, welcome, Welcome, .inventory = &inventory);
}

static inline void beat_ack(fixture_t *f, uint32_t host, uint32_t phase)
{
    Rackbench__ToCoordinator msg = RACKBENCH__TO_COORDINATOR__INIT;
    Rackbench__BeatAck ack = RACKBENCH__BEAT_ACK__INIT;
    ack.seq = f->beats[host];
    ack.t1_ns = f->sent_ns[host];
    ack.t2_ns = f->now_ns + 5 * RB_NS_PER_US;
    ack.state = f->states[host];
    ack.has_phase = true;
    ack.last_row = f->last_row;
    ack.has_first_row = f->first_row > 0;
    ack.first_row = f->first_row;
    ack.phase = phase;
    msg.body_case = RACKBENCH__TO_COORDINATOR__BODY_BEAT_ACK;
    msg.beat_ack = &ack;
    f->beats[host] = 0;
    say(f, host, &msg);
}

/* Answers every Beat, those that follow from an answer too: a burst ends. */
static inline void pump(fixture_t *f)
{
    for (uint32_t host = 1; host <= HOSTS; host++)
        while (f->beats[host] != 0)
            beat_ack(f, host, f->at_phase);
}

/* The next beat, unanswered. */
static inline void tick(fixture_t *f)
{
    f->now_ns = RB_MAX(f->now_ns, rb_run_deadline_ns(f->run));
    step(f, (rb_run_event_t){.kind = RB_RUN_TICK});
}

/* `host` answers nothing; the others do. */
static inline void silence(fixture_t *f, uint32_t host, uint64_t ns)
{
    for (uint64_t end_ns = f->now_ns + ns; f->now_ns < end_ns && !rb_run_done(f->run);) {
        tick(f);
        for (uint32_t other = 1; other <= HOSTS; other++)
            if (other != host && f->beats[other] != 0)
                beat_ack(f, other, 0);
    }
}

/* The end of a run that lost h2, which stays silent: so long it is waited for. */
static inline void wait_for_rows(fixture_t *f)
{
    assert_false(rb_run_done(f->run));
    silence(f, 2, 1600 * RB_NS_PER_MS);
}

static inline void interrupt(fixture_t *f)
{
    step(f, (rb_run_event_t){.kind = RB_RUN_INTERRUPT});
}

static inline void agent_row(fixture_t *f, uint32_t host, uint64_t seq)
{
    rb_row_t row = {.kind = RB_ROW_DRIVES, .seq = seq};
    rb_bytes_t bytes = rb_row_pack(&row);
    step(f, (rb_run_event_t){
                .kind = RB_RUN_ROW, .host = host, .row = bytes.data, .row_size = bytes.size});
    rb_bytes_clear(&bytes);
}

static inline void enter(fixture_t *f, uint32_t host, Rackbench__BeatAck__State state)
{
    f->states[host] = state;
    if (state == RACKBENCH__BEAT_ACK__STATE__loaded)
        SAY(f, host, LOADED, loaded, Loaded, .fault = NULL);
    if (state == RACKBENCH__BEAT_ACK__STATE__ready)
        SAY(f, host, READY, ready, Ready, .phase = 0);
    if (state == RACKBENCH__BEAT_ACK__STATE__armed)
        SAY(f, host, ARMED, armed, Armed, .phase = 0);
}

static inline void all_enter(fixture_t *f, Rackbench__BeatAck__State state)
{
    for (uint32_t host = 1; host <= HOSTS; host++)
        enter(f, host, state);
    if (state == RACKBENCH__BEAT_ACK__STATE__ready)
        pump(f);
}

static inline void drained(fixture_t *f, uint32_t host, uint64_t last_row)
{
    f->states[host] = RACKBENCH__BEAT_ACK__STATE__loaded;
    SAY(f, host, DRAINED, drained, Drained, .phase = 0, .last_row = last_row);
}

/* READY, ARMED and DRAINED of both for the step of that number. */
static inline void do_step(fixture_t *f, uint32_t phase)
{
    for (uint32_t host = 1; host <= HOSTS; host++) {
        f->states[host] = RACKBENCH__BEAT_ACK__STATE__ready;
        SAY(f, host, READY, ready, Ready, .phase = phase);
    }
    pump(f);
    for (uint32_t host = 1; host <= HOSTS; host++) {
        f->states[host] = RACKBENCH__BEAT_ACK__STATE__armed;
        SAY(f, host, ARMED, armed, Armed, .phase = phase);
    }
    for (uint32_t host = 1; host <= HOSTS; host++) {
        f->states[host] = RACKBENCH__BEAT_ACK__STATE__loaded;
        SAY(f, host, DRAINED, drained, Drained, .phase = phase, .last_row = 0);
    }
}

/* ---- what must have happened ---- */

static inline void expect(fixture_t *f, const char *said)
{
    assert_string_equal(f->said, said);
    f->said[0] = '\0';
}

static inline void expect_end(fixture_t *f, const char *status, rb_code_t code, const char *text)
{
    assert_true(rb_run_done(f->run));
    assert_string_equal(rb_run_outcome(f->run)->status, status);
    assert_int_equal(rb_run_outcome(f->run)->err.code, code);
    if (strstr(rb_run_outcome(f->run)->err.text, text) == NULL)
        fail_msg("'%s' does not say '%s'", rb_run_outcome(f->run)->err.text, text);
}

/* ---- the fixture ---- */

static inline fixture_t *fixture_new(void)
{
    static char name[] = "p";
    fixture_t *f = rb_calloc(1, sizeof(*f));
    rackbench__plan__init(&f->plan);
    rackbench__phase__init(&f->phase);
    rackbench__job__init(&f->job);
    f->plan.lease_ns = 3 * RB_NS_PER_S;
    f->plan.has_lease_ns = true;
    f->plan.n_phases = 1;
    f->plan.phases = f->phases;
    f->phases[0] = f->phases[1] = &f->phase;
    f->phase.name = name;
    f->phase.n_jobs = 1;
    f->phase.jobs = f->jobs;
    f->jobs[0] = &f->job;
    f->job.runtime_ns = 10 * RB_NS_PER_S;
    f->hosts[0] = (rb_run_host_opts_t){.name = "h1", .address = "a1:7411"};
    f->hosts[1] = (rb_run_host_opts_t){.name = "h2", .address = "a2:7411"};
    f->opts = (rb_run_opts_t){.goal = RB_RUN_BENCHMARK,
                              .id = "r",
                              .name = "n",
                              .plan = &f->plan,
                              .nhosts = HOSTS,
                              .hosts = f->hosts,
                              .connect_timeout_ns = 5 * RB_NS_PER_S};
    f->now_ns = 1000 * RB_NS_PER_S;
    f->rows_left = SIZE_MAX;
    return f;
}

static inline void start(fixture_t *f)
{
    rb_run_sink_t sink = {f, sink_send, sink_row, sink_figures, sink_sync, NULL};
    f->run = rb_run_new(&f->opts, &sink);
    step(f, (rb_run_event_t){.kind = RB_RUN_START});
}

static inline void fixture_destroy(fixture_t **f)
{
    rb_run_destroy(&(*f)->run);
    for (size_t i = 0; i < MAX_KIND; i++)
        rb_row_clear(&(*f)->last[i]);
    free(*f);
    *f = NULL;
}

/* Up to LOAD, and what was said so far is forgotten. */
static inline void reach_load(fixture_t *f)
{
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    pump(f);
    expect(f, "Hello1 Hello2 Load1 Load2 ");
}

/* Up to both running. */
static inline void reach_run(fixture_t *f)
{
    reach_load(f);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__loaded);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__ready);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__armed);
    expect(f, "Prepare1 Prepare2 Arm1 Arm2 ");
}
