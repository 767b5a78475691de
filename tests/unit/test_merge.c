/* test_merge.c - the fold: numbering and order of rows, totals, windows, the common end. */
#include "tests/unit/fold_rows.h"

#include "coordinator/merge.h"

static const rb_total_t *total(const feed_t *feed, uint32_t host)
{
    return &feed->fold->phases[0].members[host - 1].totals[0];
}

static void expect_error(feed_t *feed, uint32_t host, rb_row_t row, const char *text)
{
    rb_err_t err = {0};
    assert_int_equal(feed_try(feed, host, &row, &err), -1);
    assert_non_null(strstr(err.text, text));
}

static const rb_row_t event = {.kind = RB_ROW_EVENT,
                               .event = {.phase = 0, .kind = (char *)"x", .text = (char *)"y"}};

static void a_gap_and_a_duplicate_are_refused(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_row(&feed, 1, event);
    rb_row_t row = event;
    row.seq = 1;
    expect_error(&feed, 1, row, "h01: row 1 came again after row 1");
    row.seq = 3;
    expect_error(&feed, 1, row, "h01: row 3 follows row 1; the rows between are missing");
}

static void rows_out_of_place_are_refused(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job job = feed_job(0, S, 0);
    rb_cell_t cell = {.job = 1};
    rb_row_t window = {.kind = RB_ROW_WINDOW, .window = {.span = 1, .ncells = 1, .cells = &cell}};
    feed_plan(&feed, &job, 1);
    expect_error(&feed, 7, event, "host 7, which no HOST row names");
    feed_host(&feed, 1, "a", NULL);
    feed_host(&feed, 2, "b", NULL);
    expect_error(&feed, 1, window, "before its start");
    feed_start(&feed, 0, 1);
    expect_error(&feed, 2, window, "it was not started on");
    expect_error(&feed, 1, window, "job 1 is not among the 1");
    cell.job = 0;
    cell.target = 1;
    expect_error(&feed, 1, window, "target 1 is not among the 1");
    window.window.phase = 2;
    expect_error(&feed, 1, window, "phase 2 is not in the plan");
    expect_error(&feed, 0, event, "an agent's");
    expect_error(&feed, 1, (rb_row_t){.kind = RB_ROW_PHASE_END}, "the coordinator's own");
}

static void a_journal_begins_with_the_run(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {.fold = rb_fold_new()};
    expect_error(&feed, 0, (rb_row_t){.kind = RB_ROW_PHASE_END}, "does not begin with a RUN row");
}

static void only_main_counts_and_nothing_is_lost(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    const uint64_t values[] = {MS, MS, MS, 2 * MS};
    feed_begin(&feed, feed_job(S, 2 * S, 0), 1);
    feed_window(&feed, 1, (feed_window_t){.part = RB_PART_SETUP, .values_ns = values, .n = 1});
    feed_window(&feed, 1, (feed_window_t){.part = RB_PART_RAMP, .values_ns = values, .n = 2});
    feed_window(&feed, 1,
                (feed_window_t){.part = RB_PART_MAIN, .index = 1, .values_ns = values, .n = 4});
    feed_window(&feed, 1,
                (feed_window_t){.part = RB_PART_DRAINED, .index = 3, .values_ns = values, .n = 3});
    const rb_total_t *t = total(&feed, 1);
    assert_int_equal(t->ops, 4);
    assert_int_equal(t->bytes, 4 * 4096);
    assert_int_equal(t->service.count, 4);
    assert_int_equal(t->response.max, 4 * MS);
    assert_int_equal(t->outside[RB_PART_SETUP].ops, 1);
    assert_int_equal(t->outside[RB_PART_RAMP].ops, 2);
    assert_int_equal(t->outside[RB_PART_DRAINED].ops, 3);
    assert_int_equal(feed.fold->phases[0].series.nwindows, 2); /* ramp and main alone */
}

static void a_cluster_window_merges_histograms(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    uint64_t fast[990], slow[10];
    for (size_t i = 0; i < RB_LEN(fast); i++)
        fast[i] = 100 * RB_NS_PER_US;
    for (size_t i = 0; i < RB_LEN(slow); i++)
        slow[i] = 25 * MS;
    feed_begin(&feed, feed_job(0, 9 * S, 0), 2);
    for (uint64_t k = 0; k < 3; k++) {
        feed_window(&feed, 1,
                    (feed_window_t){.part = RB_PART_MAIN,
                                    .index = k,
                                    .values_ns = fast,
                                    .n = RB_LEN(fast),
                                    .inflight = 3});
        if (k == 0) /* one host is not the cluster */
            assert_null(rb_fold_last_window(feed.fold, 0));
        feed_window(&feed, 2,
                    (feed_window_t){.part = RB_PART_MAIN,
                                    .index = k,
                                    .values_ns = slow,
                                    .n = RB_LEN(slow),
                                    .inflight = 4});
    }
    const rb_fold_phase_t *phase = &feed.fold->phases[0];
    const rb_window_op_t *op = phase->series.windows[0].op[RB_OP_READ];
    assert_int_equal(phase->complete, 3);
    assert_true(phase->series.windows[0].final);
    assert_false(phase->series.windows[2].final);
    assert_ptr_equal(rb_fold_last_window(feed.fold, 0), &phase->series.windows[2]);
    assert_null(op->response.pairs); /* dropped: memory is counters only */
    assert_int_equal(op->ops, 1000);
    assert_int_equal(op->inflight, 7);
    assert_in_range(op->p50_ns, 200 * RB_NS_PER_US, 202 * RB_NS_PER_US);
    assert_in_range(op->p99_ns, 200 * RB_NS_PER_US, 202 * RB_NS_PER_US);
    const rb_window_t *last = rb_fold_last_window(feed.fold, 0);
    assert_in_range(rb_window_quantile(last->op[RB_OP_READ], 0.995), 50 * MS, 51 * MS);
}

/* Windows merged under pressure are never split: what they overlap merges with them. */
static void feed_singles(feed_t *feed)
{
    const uint64_t values[] = {MS, MS};
    for (uint64_t k = 0; k < 4; k++)
        feed_window(
            feed, 1,
            (feed_window_t){
                .part = RB_PART_MAIN, .index = k, .inflight = 10 + k, .values_ns = values, .n = 2});
}

static void feed_span(feed_t *feed)
{
    const uint64_t values[] = {MS, MS};
    feed_window_t w = {.part = RB_PART_MAIN, .inflight = 1, .values_ns = values, .n = 2};
    feed_window(feed, 2, w);
    w.index = 1;
    w.span = 2;
    w.inflight = 5;
    feed_window(feed, 2, w);
}

static void a_span_merges_what_it_overlaps(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        feed_begin(&feed, feed_job(0, 9 * S, 0), 2);
        (order == 0 ? feed_singles : feed_span)(&feed);
        (order == 0 ? feed_span : feed_singles)(&feed);
        const rb_series_t *s = &feed.fold->phases[0].series;
        assert_int_equal(s->nwindows, 3);
        assert_int_equal(s->windows[1].index, 1);
        assert_int_equal(s->windows[1].span, 2);
        assert_int_equal(s->windows[1].op[RB_OP_READ]->ops, 6);
        /* in flight at its end, not summed over it */
        assert_int_equal(s->windows[1].op[RB_OP_READ]->inflight, 12 + 5);
        assert_int_equal(s->windows[2].index, 3);
        assert_int_equal(s->windows[0].op[RB_OP_READ]->inflight, 10 + 1);
    }
}

static void a_ramp_that_ends_inside_a_window_makes_two(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    const uint64_t values[] = {MS};
    uint64_t at_ns, length_ns;
    feed_begin(&feed, feed_job(1500 * MS, 2 * S, 0), 1);
    for (uint64_t k = 0; k < 2; k++)
        feed_window(&feed, 1,
                    (feed_window_t){.part = RB_PART_RAMP, .index = k, .values_ns = values, .n = 1});
    assert_int_equal(feed.fold->phases[0].complete, 1); /* window 1 goes on in MAIN */
    for (uint64_t k = 1; k < 4; k++)
        feed_window(&feed, 1,
                    (feed_window_t){.part = RB_PART_MAIN, .index = k, .values_ns = values, .n = 1});
    const rb_series_t *s = &feed.fold->phases[0].series;
    assert_int_equal(s->nwindows, 5);
    rb_fold_window_time(feed.fold, 0, &s->windows[1], &at_ns, &length_ns);
    assert_true(s->windows[1].ramp && at_ns == S && length_ns == 500 * MS);
    rb_fold_window_time(feed.fold, 0, &s->windows[2], &at_ns, &length_ns);
    assert_true(!s->windows[2].ramp && at_ns == 1500 * MS && length_ns == 500 * MS);
    rb_fold_window_time(feed.fold, 0, &s->windows[4], &at_ns, &length_ns);
    assert_true(at_ns == 3 * S && length_ns == 500 * MS);
}

/* Host 1 finishes in window 2: windows 0 and 1 are common, however late host 2's rows come. */
static void the_common_end_is_where_all_were_running(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    const rb_fold_phase_t *phase;
    feed_begin(&feed, feed_job(0, 0, 35), 2);
    for (uint64_t k = 0; k < 3; k++)
        feed_reads(&feed, 1, k, 10 + k, k == 2);
    feed_finished(&feed, 1, 2500 * (int64_t)MS);
    phase = &feed.fold->phases[0];
    assert_int_equal(phase->npending, 3);
    for (uint64_t k = 0; k < 4; k++)
        feed_reads(&feed, 2, k, 5, k == 3);
    assert_int_equal(total(&feed, 1)->ops, 10 + 11);
    feed_finished(&feed, 2, 3500 * (int64_t)MS);
    assert_true(phase->common_over);
    assert_int_equal(phase->common_end, 2);
    assert_int_equal(phase->npending, 0);
    assert_int_equal(total(&feed, 1)->outside[RB_PART_DRAINED].ops, 12);
    assert_int_equal(total(&feed, 2)->ops, 10);
    assert_int_equal(total(&feed, 2)->response.count, 10);
    assert_int_equal(total(&feed, 2)->outside[RB_PART_DRAINED].ops, 10);
}

static void a_span_across_the_common_end_rounds_it_down(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    const uint64_t values[] = {MS};
    feed_begin(&feed, feed_job(0, 0, 4), 2);
    feed_reads(&feed, 1, 0, 1, false);
    feed_window(&feed, 1,
                (feed_window_t){.part = RB_PART_MAIN,
                                .index = 1,
                                .span = 3,
                                .done = true,
                                .values_ns = values,
                                .n = 1});
    for (uint64_t k = 0; k < 4; k++)
        feed_reads(&feed, 2, k, 1, false);
    feed_finished(&feed, 1, 1);
    feed_finished(&feed, 2, 1);
    assert_int_equal(feed.fold->phases[0].common_end, 1);
    assert_int_equal(total(&feed, 2)->ops, 1);
}

static void a_span_before_the_common_end_counts(void **state)
{
    (void)state;
    const uint64_t values[] = {MS};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 0, 4), 2);
    feed_reads(&feed, 1, 0, 1, false);
    feed_window(
        &feed, 1,
        (feed_window_t){.part = RB_PART_MAIN, .index = 1, .span = 2, .values_ns = values, .n = 1});
    feed_reads(&feed, 1, 3, 1, true);
    for (uint64_t k = 0; k < 4; k++)
        feed_reads(&feed, 2, k, 1, false);
    feed_finished(&feed, 1, 1);
    feed_finished(&feed, 2, 1);
    assert_int_equal(feed.fold->phases[0].common_end, 3);
    assert_int_equal(total(&feed, 1)->ops, 2);
    assert_int_equal(total(&feed, 2)->ops, 3);
}

static void a_lost_host_does_not_hold_up_the_common_end(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 0, 35), 2);
    feed_reads(&feed, 2, 0, 7, false);
    for (uint64_t k = 0; k < 3; k++)
        feed_reads(&feed, 1, k, 10, k == 2);
    feed_finished(&feed, 1, 2500 * (int64_t)MS);
    assert_int_equal(feed.fold->phases[0].members[0].ntotals,
                     0); /* the newest window of host 2 waits */
    feed_end(&feed, INT64_MAX, 2);
    assert_int_equal(feed.fold->phases[0].common_end, 2);
    assert_int_equal(total(&feed, 1)->ops, 20);
    assert_int_equal(total(&feed, 2)->ops, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gap_and_a_duplicate_are_refused),
        cmocka_unit_test(rows_out_of_place_are_refused),
        cmocka_unit_test(a_journal_begins_with_the_run),
        cmocka_unit_test(only_main_counts_and_nothing_is_lost),
        cmocka_unit_test(a_cluster_window_merges_histograms),
        cmocka_unit_test(a_span_merges_what_it_overlaps),
        cmocka_unit_test(a_ramp_that_ends_inside_a_window_makes_two),
        cmocka_unit_test(the_common_end_is_where_all_were_running),
        cmocka_unit_test(a_span_across_the_common_end_rounds_it_down),
        cmocka_unit_test(a_span_before_the_common_end_counts),
        cmocka_unit_test(a_lost_host_does_not_hold_up_the_common_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
