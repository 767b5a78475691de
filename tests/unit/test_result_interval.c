/* test_result_interval.c - the measured interval: bound by time, by count, by a loss or a stop. */
#include "tests/unit/result_rows.h"

#include "coordinator/result.h"

static void rates_are_over_the_measured_interval(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    const uint64_t values[] = {MS};
    feed_begin(&feed, feed_job(S, 2 * S, 0), 1);
    feed_window(&feed, 1, (feed_window_t){.part = RB_PART_RAMP, .values_ns = values, .n = 1});
    feed_reads(&feed, 1, 1, 100, false);
    feed_reads(&feed, 1, 2, 200, false);
    feed_worker(&feed, 1, feed_worker_row());
    feed_end(&feed, INT64_MAX, 0);
    feed_run_end(&feed, "done");
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(r->nphases, 1);
    assert_int_equal(p->start_ns, S);
    assert_int_equal(p->end_ns, 3 * S);
    assert_near(p->seconds, 2);
    assert_near(p->cluster.op[RB_OP_READ].iops, 150);
    assert_near(p->cluster.op[RB_OP_READ].bytes_per_s, 150 * 4096);
    assert_int_equal(p->cluster.outside[RB_PART_RAMP][RB_OP_READ].ops, 1);
    assert_near(p->cluster.cpu_share, 0.3);
    assert_near(p->common_share, 1);
    assert_false(p->by_count);
    assert_true(p->has_little);
    assert_near(p->little, 300 * 0.001 / 2);
    assert_int_equal(p->nmarks, 0);
    assert_string_equal(r->status, "done");
    assert_near(r->seconds, 110); /* T0 is 10 s after the begin, and 100 s before the end */
    assert_int_equal(r->nmarks, 1);
    assert_int_equal(r->nevents, 0);
}

static void a_phase_bound_by_count_has_two_results(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 0, 35), 2);
    for (uint64_t k = 0; k < 3; k++)
        feed_reads(&feed, 1, k, 10, k == 2);
    feed_finished(&feed, 1, 2500 * (int64_t)MS);
    for (uint64_t k = 0; k < 4; k++)
        feed_reads(&feed, 2, k, 5, k == 3);
    feed_finished(&feed, 2, 3500 * (int64_t)MS);
    rb_row_worker_t earlier = feed_worker_row();
    earlier.done_at_ns = 3200 * (int64_t)MS;
    feed_worker(&feed, 2, earlier);
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_true(p->by_count);
    assert_int_equal(p->end_ns, 2 * S);
    assert_int_equal(p->cluster.op[RB_OP_READ].ops, 30);
    assert_near(p->cluster.op[RB_OP_READ].iops, 15);
    assert_int_equal(p->to_last.ops, 50);
    assert_int_equal(p->to_last.bytes, 50 * 4096);
    assert_near(p->to_last_seconds, 3.5);
    assert_near(p->common_share, (2 - 1e-5) / 2); /* all but the 10 us before the first I/O */
    assert_int_equal(rb_result_window_part(r, p, &p->series->windows[1]), RB_PART_MAIN);
    assert_int_equal(rb_result_window_part(r, p, &p->series->windows[2]), RB_PART_DRAINED);
}

static void work_done_in_the_first_window_says_so(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 0, 10), 2);
    feed_reads(&feed, 1, 0, 10, true);
    feed_finished(&feed, 1, 250 * (int64_t)MS);
    feed_reads(&feed, 2, 0, 8, false);
    feed_reads(&feed, 2, 1, 2, true);
    feed_finished(&feed, 2, 1100 * (int64_t)MS);
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(p->end_ns, S);
    assert_int_equal(p->cluster.op[RB_OP_READ].ops, 18);
    assert_int_equal(p->to_last.ops, 20);
    assert_near(p->common_share, 0.25 - 1e-5);
    const rb_result_event_t *e = find_event(r, "common_share");
    assert_non_null(e);
    assert_string_equal(e->host, "h01");
    assert_non_null(strstr(e->text, "25.0 %"));
}

/* Everything ended inside the first window: the rate is over the time that was worked. */
static void work_shorter_than_a_window_is_over_its_own_time(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 0, 10), 2);
    for (uint32_t host = 1; host <= 2; host++)
        feed_reads(&feed, host, 0, 10, true);
    feed_finished(&feed, 1, 200 * (int64_t)MS - 1);
    feed_finished(&feed, 2, 250 * (int64_t)MS - 1);
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(p->end_ns, 250 * MS);
    assert_near(p->cluster.op[RB_OP_READ].iops, 80);
    assert_true(fabs(p->common_share - 0.8) < 1e-3);
}

/* A worker whose first operation is not due yet has started all the same. */
static void a_late_schedule_is_no_late_start(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 2 * S, 0), 1);
    feed_reads(&feed, 1, 0, 10, false);
    feed_reads(&feed, 1, 1, 10, false);
    rb_row_worker_t w = feed_worker_row();
    w.first_due_at_ns = 500 * (int64_t)MS;
    w.first_submit_at_ns = w.first_due_at_ns + 1000;
    feed_worker(&feed, 1, w);
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_true(r->phases[0].common_share > 0.999);
}

/* runtime and number_ios, and nobody got through: bound by time, last partial window included. */
static void a_count_that_is_not_reached_leaves_it_bound_by_time(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 1500 * MS, 1000), 1);
    feed_reads(&feed, 1, 0, 10, false);
    feed_reads(&feed, 1, 1, 5, false);
    feed_worker(&feed, 1, feed_worker_row());
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_false(r->phases[0].by_count);
    assert_int_equal(r->phases[0].end_ns, 1500 * MS);
    assert_int_equal(r->phases[0].cluster.op[RB_OP_READ].ops, 15);
}

static void a_lost_host_is_named(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 4 * S, 0), 2);
    for (uint64_t k = 0; k < 4; k++) {
        feed_reads(&feed, 1, k, 10, false);
        if (k < 3)
            feed_reads(&feed, 2, k, 10, false);
    }
    rb_row_worker_t w = feed_worker_row();
    w.first_submit_at_ns = 0;
    feed_worker(&feed, 1, w);
    feed_end(&feed, INT64_MAX, 2);
    feed_run_end(&feed, "host_lost");
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_near(p->common_share, 0.75);
    assert_true(has_mark(p, "host_lost"));
    assert_false(has_mark(p, "truncated"));
    assert_true(p->hosts[1].lost);
    assert_int_equal(p->start_hosts, 1); /* the lost host told nothing of its start */
    assert_int_equal(p->start_of, 2);
    assert_false(p->has_little);
    assert_int_equal(p->cluster.op[RB_OP_READ].ops, 70);
    assert_near(p->seconds, 4); /* the cluster's figures stay over M; its own are over its part */
    assert_near(p->cluster.op[RB_OP_READ].iops, 17.5);
    assert_near(p->hosts[0].seconds, 4);
    assert_near(p->hosts[0].total.op[RB_OP_READ].iops, 10);
    assert_near(p->hosts[1].seconds, 3);
    assert_near(p->hosts[1].total.op[RB_OP_READ].iops, 10);
    assert_near(p->hosts[1].jobs[0].stats.op[RB_OP_READ].iops, 10);
    assert_near(p->hosts[1].targets[0].drives[0].stats.op[RB_OP_READ].iops, 10);
    assert_string_equal(find_event(r, "common_share")->host, "h02");
    assert_int_equal(p->series_hosts[2], 2);
    assert_int_equal(p->series_hosts[3], 1);
}

/* The coordinator was stopped for longer than the lease: all agents ended by themselves, and it
 * noticed at 9 s. M ends with the last of them; the first has a part of it. */
static void all_lost_ends_the_interval(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    const int64_t stopped_ns[] = {3500 * (int64_t)MS, 3200 * (int64_t)MS};
    uint32_t lost[] = {1, 2};
    feed_begin(&feed, feed_job(S, 9 * S, 0), 2);
    feed_row(
        &feed, 0,
        (rb_row_t){.kind = RB_ROW_PHASE_END,
                   .phase_end = {
                       .te_at_ns = 9 * (int64_t)S, .truncated = true, .nlost = 2, .lost = lost}});
    for (uint32_t host = 1; host <= 2; host++) { /* handed over later */
        for (uint64_t k = 1; k < 4; k++)
            feed_reads(&feed, host, k, 11, false);
        rb_row_worker_t worker = feed_worker_row();
        worker.end_at_ns = stopped_ns[host - 1];
        feed_worker(&feed, host, worker);
    }
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(p->end_ns, 3500 * MS);
    assert_near(p->seconds, 2.5);
    assert_near(p->common_share, 2.2 / 2.5);
    assert_near(p->cluster.op[RB_OP_READ].iops, 66 / 2.5);
    assert_near(p->hosts[0].total.op[RB_OP_READ].iops, 33 / 2.5);
    assert_near(p->hosts[1].seconds, 2.2);
    assert_near(p->hosts[1].total.op[RB_OP_READ].iops, 15);
    assert_int_equal(p->hosts[1].lost_after_ns, 3200 * MS);
}

static void a_stop_ends_the_interval(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 10 * S, 0), 1);
    feed_reads(&feed, 1, 0, 10, false);
    feed_reads(&feed, 1, 1, 5, false);
    feed_worker(&feed, 1, feed_worker_row());
    feed_end(&feed, 1500 * (int64_t)MS, 0);
    feed_run_end(&feed, "truncated");
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(p->end_ns, 1500 * MS);
    assert_near(p->cluster.op[RB_OP_READ].iops, 10);
    assert_true(has_mark(p, "truncated"));
    assert_int_equal(r->nmarks, 2);
    assert_string_equal(r->marks[1], "truncated");
}

static void a_journal_without_end_is_truncated(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 10 * S, 0), 2);
    for (uint64_t k = 0; k < 3; k++)
        feed_reads(&feed, 1, k, 10, false);
    feed_reads(&feed, 2, 0, 10, false);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_string_equal(r->status, "truncated");
    assert_true(has_mark(&r->phases[0], "truncated"));
    assert_int_equal(r->phases[0].end_ns, 3 * S);
    assert_near(r->phases[0].common_share, 1.0 / 3);
    assert_near(r->phases[0].cluster.op[RB_OP_READ].iops, 40.0 / 3);
    assert_near(r->phases[0].hosts[1].total.op[RB_OP_READ].iops, 10); /* in the second it told of */
    assert_near(r->seconds, 13);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_over_the_measured_interval),
        cmocka_unit_test(a_phase_bound_by_count_has_two_results),
        cmocka_unit_test(work_done_in_the_first_window_says_so),
        cmocka_unit_test(work_shorter_than_a_window_is_over_its_own_time),
        cmocka_unit_test(a_late_schedule_is_no_late_start),
        cmocka_unit_test(a_count_that_is_not_reached_leaves_it_bound_by_time),
        cmocka_unit_test(a_lost_host_is_named),
        cmocka_unit_test(all_lost_ends_the_interval),
        cmocka_unit_test(a_stop_ends_the_interval),
        cmocka_unit_test(a_journal_without_end_is_truncated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
