/* test_run_budget.c - a day of a run in virtual time, whose journal would be 30 times its limit:
 * the run asks for spans, agents thin out by them. As 14 days of 128 drives are to 10 GB. */
#include "agent/thin.h"
#include "coordinator/run.h"

#include "tests/unit/run_fixture.h"

enum { DAY_S = 86400, DRIVES = 2, PAIRS = 40, BEAT_S = 10 };

typedef struct {
    fixture_t *f;
    uint32_t host;
    rb_thin_t *thin;
    uint64_t next_row, made, sent, alone; /* operations made, sent; rows of one window */
    uint64_t *bytes;                      /* of the journal, shared */
} agent_t;

static void send_row(void *ctx, rb_row_t *row)
{
    agent_t *a = ctx;
    for (size_t i = 0; i < row->window.ncells; i++)
        a->sent += row->window.cells[i].ops;
    a->alone += row->window.span == 1;
    row->seq = ++a->next_row;
    rb_bytes_t bytes = rb_row_pack(row);
    *a->bytes += bytes.size + 12;
    step(a->f, (rb_run_event_t){
                   .kind = RB_RUN_ROW, .host = a->host, .row = bytes.data, .row_size = bytes.size});
    rb_bytes_clear(&bytes);
}

/* Latencies wander, so that merged histograms have more buckets than each of them. */
static void window(agent_t *a, uint64_t index)
{
    rb_hist_pair_t pairs[PAIRS];
    rb_cell_t cells[DRIVES];
    for (uint32_t i = 0; i < PAIRS; i++)
        pairs[i] = (rb_hist_pair_t){(uint32_t)(1000 + 3 * i + index % 7), 5};
    uint64_t low_ns = rb_hist_lowest(pairs[0].index), high_ns = rb_hist_highest(pairs[39].index);
    rb_hist_sparse_t hist = {5 * PAIRS, low_ns, high_ns, 5 * PAIRS * low_ns, PAIRS, pairs};
    for (uint32_t d = 0; d < DRIVES; d++)
        cells[d] = (rb_cell_t){.drive = d,
                               .ops = 5 * PAIRS,
                               .errors = d == 0 && index % 9000 == 8999,
                               .service = hist,
                               .response = hist};
    rb_row_t row = {
        .kind = RB_ROW_WINDOW,
        .window = {
            .part = RB_PART_MAIN, .index = index, .span = 1, .ncells = DRIVES, .cells = cells}};
    a->made += DRIVES * 5 * PAIRS;
    rb_thin_window(a->thin, &row, send_row, a);
}

static void say_loaded(fixture_t *f, uint32_t host)
{
    static char path[] = "/dev/x";
    Rackbench__Subject subject = RACKBENCH__SUBJECT__INIT, *subjects[DRIVES] = {&subject, &subject};
    subject.path = path;
    f->states[host] = RACKBENCH__BEAT_ACK__STATE__loaded;
    SAY(f, host, LOADED, loaded, Loaded, .n_subjects = DRIVES, .subjects = subjects);
}

static fixture_t *day_new(uint64_t limit_bytes)
{
    fixture_t *f = fixture_new();
    f->plan.has_interval_ns = true; /* auto */
    f->job.runtime_ns = DAY_S * RB_NS_PER_S;
    f->opts.journal_max_bytes = limit_bytes;
    reach_load(f);
    for (uint32_t host = 1; host <= HOSTS; host++)
        say_loaded(f, host);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__ready);
    all_enter(f, RACKBENCH__BEAT_ACK__STATE__armed);
    return f;
}

static void run_day(agent_t *agents, fixture_t *f)
{
    uint64_t start_ns = f->now_ns;
    for (uint64_t s = 0; s < DAY_S; s++) {
        f->now_ns = start_ns + s * RB_NS_PER_S;
        if (s % BEAT_S == 0) {
            tick(f);
            pump(f);
        }
        for (uint32_t i = 0; i < HOSTS; i++) {
            rb_thin_set_span(agents[i].thin, RB_MAX(f->spans[i + 1], 1u));
            window(&agents[i], s);
        }
    }
}

static void test_a_day(void **state)
{
    (void)state;
    uint64_t limit = 2500 * 1000, bytes = 0, full = 0;
    RB_AUTO(fixture_destroy) fixture_t *f = day_new(limit);
    agent_t agents[HOSTS];
    for (uint32_t i = 0; i < HOSTS; i++)
        agents[i] = (agent_t){.f = f, .host = i + 1, .thin = rb_thin_new(), .bytes = &bytes};
    run_day(agents, f);
    for (uint32_t i = 0; i < HOSTS; i++) {
        rb_thin_end(agents[i].thin, send_row, &agents[i]);
        assert_int_equal(agents[i].sent, agents[i].made);
        assert_true(agents[i].alone > 9); /* around the errors */
        full += agents[i].made / (5 * PAIRS) * 2 * (20 + 2 * PAIRS);
        rb_thin_destroy(&agents[i].thin);
    }
    print_message(
        "%.2f MB of %.2f MB, instead of %.0f MB; %zu changes, windows of %u s at the end\n",
        (double)bytes / 1e6, (double)limit / 1e6, (double)full / 1e6, f->rows[RB_ROW_NOTE],
        f->spans[1]);
    assert_false(rb_run_done(f->run));
    assert_int_equal(rb_run_outcome(f->run)->err.code, RB_OK);
    assert_true(bytes < limit);
    assert_true(bytes > limit / 3);
    assert_true(f->rows[RB_ROW_NOTE] > 0 && f->rows[RB_ROW_NOTE] < 200);
}

/* A search may take all of its steps: room is kept for those that are still to come. */
static void test_a_search(void **state)
{
    (void)state;
    static char percentile[] = "99";
    for (uint32_t searches = 0; searches < 2; searches++) {
        RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
        f->plan.has_interval_ns = true; /* auto: of one second */
        f->opts.journal_max_bytes = 1000 * 1000;
        f->job.latency_target_ns = searches * RB_NS_PER_MS;
        f->job.latency_percentile = percentile;
        reach_load(f);
        for (uint32_t host = 1; host <= HOSTS; host++)
            say_loaded(f, host);
        tick(f);
        /* 11 windows of 4 kB of each host, or 24 times as many, into 850 kB. */
        assert_int_equal(f->spans[1], searches ? 4 : 0);
        for (uint32_t step = 0; searches && step < 11; step++)
            do_step(f, step);
        tick(f);
        assert_int_equal(f->spans[1], searches ? 4 : 0); /* 13 steps left */
        assert_int_equal(f->prepared, searches ? 11 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_day),
                                       cmocka_unit_test(test_a_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
