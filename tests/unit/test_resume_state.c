/* What a journal tells the coordinator that takes the run up, and what the fold makes of rows that
 * come after the end of their phase. */
#include "coordinator/resume.h"

#include "tests/unit/fold_rows.h"

static void note(feed_t *feed, uint32_t host, const char *kind)
{
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_NOTE,
                        .note = {.host = host,
                                 .phase = 0,
                                 .kind = (char *)(uintptr_t)kind,
                                 .text = (char *)(uintptr_t) "why"}});
}

/* With its inventory: it has answered. */
static void came(feed_t *feed, uint32_t host)
{
    static char name[] = "h";
    Rackbench__Inventory inventory = RACKBENCH__INVENTORY__INIT;
    inventory.hostname = name;
    rb_bytes_t bytes = rb_inventory_pack(&inventory);
    feed_row(
        feed, 0,
        (rb_row_t){.kind = RB_ROW_HOST, .host = {.host = host, .name = name, .inventory = bytes}});
    rb_bytes_clear(&bytes);
}

static void test_in_the_middle_of_a_phase(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 10 * S, 0), 2);
    came(&feed, 1);
    came(&feed, 2);
    feed_host(&feed, 3, "h3", NULL);
    feed_reads(&feed, 1, 0, 3, false);
    rb_row_worker_t worker = feed_worker_row();
    worker.end_at_ns = 4 * S;
    feed_worker(&feed, 1, worker);
    note(&feed, 2, "host_lost");
    RB_AUTO(rb_resume_destroy) rb_resume_t *r = rb_resume_new(feed.fold, 3);
    assert_int_equal(r->next_row, feed.seq[0] + 1);
    assert_true(r->under_way && r->phase == 0 && r->next_phase == 1);
    assert_int_equal(r->t0_ns, 500 * S);
    assert_int_equal(r->wall_offset_ns, 510 * S);
    assert_null(r->complete);
    assert_int_equal(r->hosts[0].next_row, 3);
    assert_true(r->hosts[0].known && r->hosts[0].takes_part && !r->hosts[0].lost);
    assert_true(r->hosts[0].ended_early);
    assert_int_equal(r->hosts[0].end_at_ns, 4 * S);
    assert_true(r->hosts[1].lost && r->hosts[1].takes_part && !r->hosts[1].ended_early);
    assert_string_equal(r->hosts[1].why, "why");
    assert_true(!r->hosts[2].known && r->hosts[2].next_row == 1); /* it never answered */
    assert_true(rb_resume_rows_missing(r));
}

static void test_between_phases(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 10 * S, 0), 2);
    feed_end(&feed, 4 * S, 0);
    RB_AUTO(rb_resume_destroy) rb_resume_t *r = rb_resume_new(feed.fold, 2);
    assert_true(!r->under_way && r->next_phase == 1 && r->was_cut);
    assert_false(rb_resume_rows_missing(r));
}

static void tell_step(feed_t *feed, const Rackbench__Job *job, uint32_t number)
{
    Rackbench__Job copy = *job, *jobs[] = {&copy};
    Rackbench__Phase phase = RACKBENCH__PHASE__INIT;
    phase.n_jobs = 1;
    phase.jobs = jobs;
    rb_bytes_t bytes = rb_phase_pack(&phase);
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_STEP,
                        .step = {.phase = number, .step = number + 1, .override = bytes}});
    rb_bytes_clear(&bytes);
}

/* The closed loop does 1000 a second and is too slow: half of it is next. */
static void tell_search(feed_t *feed, uint32_t number)
{
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_SEARCH,
                        .search = {.phase = number,
                                   .ops = 10000,
                                   .length_ns = 10 * S,
                                   .quantile_ns = 2 * S,
                                   .verdict = (char *)""}});
}

static void test_in_a_search(void **state)
{
    (void)state;
    static const struct {
        int rows; /* of: STEP 0, start, end, SEARCH 0, STEP 1, start */
        uint32_t next_phase, step, nsteps;
        bool under_way, told;
        uint64_t rate_iops;
    } cases[] = {{1, 0, 0, 1, false, false, 0},  {2, 1, 1, 1, true, false, 0},
                 {3, 1, 1, 1, false, false, 0},  {4, 1, 1, 1, false, true, 500},
                 {5, 1, 1, 2, false, true, 500}, {6, 2, 2, 2, true, false, 500}};
    Rackbench__Job job = feed_job(0, 10 * S, 0);
    job.has_latency_target_ns = true;
    job.latency_target_ns = S;
    for (size_t i = 0; i < RB_LEN(cases); i++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        feed_plan(&feed, &job, 1);
        feed_host(&feed, 1, "a", NULL);
        for (int row = 0; row < cases[i].rows; row++)
            if (row == 0 || row == 4)
                tell_step(&feed, &job, row == 4);
            else if (row == 1 || row == 5)
                feed_start(&feed, row == 5, 1);
            else if (row == 2)
                feed_end(&feed, INT64_MAX, 0);
            else
                tell_search(&feed, 0);
        RB_AUTO(rb_resume_destroy) rb_resume_t *r = rb_resume_new(feed.fold, 1);
        assert_int_equal(r->next_phase, cases[i].next_phase);
        assert_int_equal(r->nsteps, cases[i].nsteps);
        assert_int_equal(r->step, cases[i].step);
        assert_true(r->under_way == cases[i].under_way && r->told == cases[i].told);
        assert_int_equal(r->search.rate_iops, cases[i].rate_iops);
    }
}

static void test_complete_runs(void **state)
{
    (void)state;
    static const struct {
        const char *last;
        bool missing;
    } cases[] = {{"rows_missing", true}, {"rows_in", false}, {"rows_lost", false}};
    for (size_t i = 0; i < RB_LEN(cases); i++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        feed_begin(&feed, feed_job(0, 10 * S, 0), 2);
        came(&feed, 2);
        note(&feed, 2, "host_lost");
        feed_end(&feed, INT64_MAX, 2);
        note(&feed, 2, cases[i].last);
        feed_run_end(&feed, "host_lost");
        RB_AUTO(rb_resume_destroy) rb_resume_t *r = rb_resume_new(feed.fold, 2);
        assert_string_equal(r->complete->status, "host_lost");
        assert_int_equal(rb_resume_rows_missing(r), cases[i].missing);
    }
}

static void test_ends_before_their_time(void **state)
{
    (void)state;
    rb_row_worker_t w = feed_worker_row();
    w.end_at_ns = 11 * S - MS;
    assert_false(rb_resume_ended_early(&w, S, 10 * S));
    w.end_at_ns -= 1;
    assert_true(rb_resume_ended_early(&w, S, 10 * S));
    assert_true(rb_resume_ended_early(&w, S, 0)); /* by count, and not done */
    w.finished = true;
    assert_false(rb_resume_ended_early(&w, S, 0));
}

static uint64_t sum_ops(const rb_member_t *m, rb_part_t part)
{
    uint64_t ops = 0;
    for (size_t i = 0; i < m->ntotals; i++)
        ops += part == RB_PART_MAIN ? m->totals[i].ops : m->totals[i].outside[part].ops;
    return ops;
}

/* The host stopped by its own lease, a second after the others did. */
static void test_late_rows_count(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 10 * S, 0), 2);
    for (uint64_t i = 0; i < 3; i++)
        feed_reads(&feed, 1, i, 5, false);
    feed_end(&feed, 3 * S, 2);
    feed_run_end(&feed, "host_lost");
    for (uint64_t i = 0; i < 4; i++)
        feed_reads(&feed, 2, i, 7, false);
    const rb_member_t *m = &feed.fold->phases[0].members[1];
    assert_int_equal(sum_ops(m, RB_PART_MAIN), 21);
    assert_int_equal(sum_ops(m, RB_PART_DRAINED), 7);
    assert_int_equal(m->delivered, 3);
    assert_true(m->lost);
}

/* Bound by operations: what nobody settles any more must not be left pending. */
static void test_late_rows_of_a_phase_by_count(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 0, 1000), 2);
    for (uint64_t i = 0; i < 3; i++)
        feed_reads(&feed, 1, i, 5, i == 2);
    feed_finished(&feed, 1, 3 * S - 1);
    feed_end(&feed, INT64_MAX, 2);
    for (uint64_t i = 0; i < 4; i++)
        feed_reads(&feed, 2, i, 7, false);
    const rb_fold_phase_t *p = &feed.fold->phases[0];
    assert_int_equal(p->npending, 0);
    assert_int_equal(
        sum_ops(&p->members[1], RB_PART_MAIN) + sum_ops(&p->members[1], RB_PART_DRAINED), 28);
}

static void test_reach_rows(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job job = feed_job(0, S, 0);
    feed_plan(&feed, &job, 1);
    rb_row_t row = {
        .kind = RB_ROW_REACH,
        .reach = {
            .host = 1, .name = (char *)"a", .address = (char *)"a:7411", .listen = (char *)""}};
    feed_row(&feed, 0, row);
    assert_string_equal(feed.fold->reaches[0].address, "a:7411");
    rb_err_t err;
    row.seq = 0;
    assert_int_equal(feed_try(&feed, 0, &row, &err), -1); /* host 2 is due */
    assert_non_null(strstr(err.text, "where host 2 is due"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_the_middle_of_a_phase),
        cmocka_unit_test(test_between_phases),
        cmocka_unit_test(test_in_a_search),
        cmocka_unit_test(test_complete_runs),
        cmocka_unit_test(test_ends_before_their_time),
        cmocka_unit_test(test_late_rows_count),
        cmocka_unit_test(test_late_rows_of_a_phase_by_count),
        cmocka_unit_test(test_reach_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
