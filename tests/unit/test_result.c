/* test_result.c - the model: start, marks, uncertain and censored, scopes, events. */
#include "tests/unit/result_rows.h"

#include "coordinator/result.h"

static void an_empty_journal_has_no_result(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(rb_fold_destroy) rb_fold_t *fold = rb_fold_new();
    assert_null(rb_result_new(fold, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
}

static void skew_is_between_hosts_and_bound_of_the_extremes(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    /* Host 2 has a worker that is early and one that is late: its earliest counts. */
    const int64_t submits[] = {1000, 100, 9000, 5000};
    const uint32_t hosts[] = {1, 2, 2, 3};
    feed_begin(&feed, feed_job(0, S, 0), 3);
    for (size_t i = 0; i < RB_LEN(hosts); i++) {
        rb_row_worker_t w = feed_worker_row();
        w.first_due_at_ns = i == 3 ? 2000 : 0;
        w.first_submit_at_ns = submits[i];
        feed_worker(&feed, hosts[i], w);
    }
    rb_row_worker_t idle = feed_worker_row();
    idle.first_submit_at_ns = INT64_MIN; /* never submitted */
    feed_worker(&feed, 3, idle);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(p->skew_ns, 3000 - 100);        /* host 3 against host 2 */
    assert_int_equal(p->skew_bound_ns, 2000 + 3000); /* their clock bounds */
    assert_int_equal(p->hosts[1].start.lateness_ns, 100);
    assert_int_equal(p->hosts[1].start.first_io_ns, 100);
    assert_int_equal(p->hosts[1].start.last_first_io_ns, 9000);
    assert_int_equal(p->hosts[2].start.lateness_ns, 3000);
    assert_int_equal(p->hosts[2].start.first_io_ns, 5000);
}

static void a_host_alone_has_no_skew(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_worker(&feed, 1, feed_worker_row());
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_true(r->phases[0].has_start);
    assert_int_equal(r->phases[0].skew_ns, 0);
    assert_int_equal(r->phases[0].skew_bound_ns, 0);
}

static void hosts_as_late_as_each_other_still_have_a_bound(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 2);
    feed_worker(&feed, 1, feed_worker_row());
    feed_worker(&feed, 2, feed_worker_row());
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].skew_ns, 0);
    assert_int_equal(r->phases[0].skew_bound_ns, 1000 + 2000);
}

/* 1 % of all I/O takes 50 ms, all of it on one of two hosts: against the sorted concatenation. */
static void percentiles_are_those_of_all_operations(void **state)
{
    (void)state;
    enum { N = 50000 };
    RB_AUTO(feed_clear) feed_t feed = {0};
    uint64_t *values = rb_calloc(N, sizeof(*values));
    feed_begin(&feed, feed_job(0, S, 0), 2);
    for (uint32_t host = 1; host <= 2; host++) {
        for (size_t i = 0; i < N; i++)
            values[i] = host == 2 && i % 50 == 0 ? 25 * MS : 50 * RB_NS_PER_US + i;
        feed_window(&feed, host,
                    (feed_window_t){.part = RB_PART_MAIN, .values_ns = values, .n = N});
    }
    free(values);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_lat_t *all = &r->phases[0].cluster.op[RB_OP_READ].response;
    const rb_lat_t *one = &r->phases[0].hosts[0].total.op[RB_OP_READ].response;
    const rb_lat_t *two = &r->phases[0].hosts[1].total.op[RB_OP_READ].response;
    assert_int_equal(all->count, 2 * N);
    /* rank 99000 of 100000: the last of those that are fast */
    assert_in_range(all->quantile_ns[3], 199900, 201700);
    assert_in_range(all->quantile_ns[4], 50 * MS, 504 * MS / 10);
    assert_in_range(one->quantile_ns[4], 199000, 201700);
    assert_in_range(two->quantile_ns[3], 50 * MS, 504 * MS / 10);
    assert_int_equal(all->max_ns, 50 * MS);
}

static void rare_quantiles_are_uncertain(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 2 * S, 0), 1);
    feed_reads(&feed, 1, 0, 999, false);
    RB_AUTO(rb_result_destroy) rb_result_t *few = result_of(&feed);
    assert_true(few->phases[0].cluster.op[RB_OP_READ].response.uncertain[3]);
    feed_reads(&feed, 1, 1, 1, false);
    RB_AUTO(rb_result_destroy) rb_result_t *enough = result_of(&feed);
    const rb_lat_t *lat = &enough->phases[0].cluster.op[RB_OP_READ].response;
    assert_int_equal(lat->count, 1000);
    assert_false(lat->uncertain[3]); /* p99: exactly 10 beyond */
    assert_true(lat->uncertain[4]);
    assert_true(lat->uncertain[6]);
    assert_false(lat->censored[3]);
}

/* 11 in flight older than everything: more than 1 % of 1000, fewer than 10 %. */
static void old_operations_in_flight_censor(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_reads(&feed, 1, 0, 1000, false);
    rb_row_worker_t w = feed_worker_row();
    w.unfinished = 10;
    w.oldest_unfinished_ns = S;
    feed_worker(&feed, 1, w);
    RB_AUTO(rb_result_destroy) rb_result_t *ten = result_of(&feed);
    assert_false(ten->phases[0].cluster.op[RB_OP_READ].response.censored[3]);
    assert_true(ten->phases[0].cluster.op[RB_OP_READ].response.censored[4]);
    w.unfinished = 1;
    feed_worker(&feed, 1, w);
    w.unfinished = 1000;
    w.oldest_unfinished_ns = 2 * MS; /* no older than the quantile: says nothing */
    feed_worker(&feed, 1, w);
    RB_AUTO(rb_result_destroy) rb_result_t *eleven = result_of(&feed);
    const rb_stats_t *c = &eleven->phases[0].cluster;
    assert_true(c->op[RB_OP_READ].response.censored[3]);
    assert_false(c->op[RB_OP_READ].response.censored[1]);
    assert_int_equal(c->unfinished, 1011);
    assert_int_equal(c->oldest_unfinished_ns, S);
}

/* Unfinished writes cannot move up a percentile of reads. */
static void only_the_kind_in_flight_is_censored(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job jobs[] = {feed_job(0, S, 0), feed_job(0, S, 0)};
    jobs[1].has_rw = true;
    jobs[1].rw = RACKBENCH__RW__MODE__randwrite;
    feed_plan(&feed, jobs, 2);
    feed_host(&feed, 1, "a", NULL);
    feed_start(&feed, 0, 1);
    feed_reads(&feed, 1, 0, 1000, false);
    rb_row_worker_t w = feed_worker_row();
    w.job = 1;
    w.unfinished = 100;
    w.oldest_unfinished_ns = S;
    feed_worker(&feed, 1, w);
    RB_AUTO(rb_result_destroy) rb_result_t *writes = result_of(&feed);
    assert_false(writes->phases[0].cluster.op[RB_OP_READ].response.censored[6]);
    w.job = 0;
    feed_worker(&feed, 1, w);
    RB_AUTO(rb_result_destroy) rb_result_t *both = result_of(&feed);
    assert_true(both->phases[0].cluster.op[RB_OP_READ].response.censored[6]);
}

static void a_host_counts_once_in_a_merged_window(void **state)
{
    (void)state;
    const uint64_t values[] = {MS};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 2 * S, 0), 2);
    feed_reads(&feed, 1, 0, 1, false);
    feed_reads(&feed, 1, 1, 1, false);
    feed_window(&feed, 2,
                (feed_window_t){.part = RB_PART_MAIN, .span = 2, .values_ns = values, .n = 1});
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->phases[0].series->nwindows, 1);
    assert_int_equal(r->phases[0].series_hosts[0], 2);
}

static void marks_name_whose_limit_it_was(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_row(&feed, 1,
             (rb_row_t){.kind = RB_ROW_EVENT,
                        .event = {.kind = (char *)"iowq", .text = (char *)"/dev/x"}});
    feed_reads(&feed, 1, 0, 10, false);
    rb_row_worker_t w = feed_worker_row();
    w.cpu_ns = 9;
    feed_worker(&feed, 1, w);
    RB_AUTO(rb_result_destroy) rb_result_t *nine = result_of(&feed);
    assert_false(has_mark(&nine->phases[0], "client_bound"));
    assert_true(has_mark(&nine->phases[0], "iowq"));
    assert_false(has_mark(&nine->phases[0], "batched_reap"));
    feed_row(&feed, 1,
             (rb_row_t){.kind = RB_ROW_EVENT,
                        .event = {.kind = (char *)"batched_reap", .text = (char *)"4"}});
    w.cpu_ns = 91;
    w.wall_ns = 100;
    feed_worker(&feed, 1, w); /* one worker is enough, whatever the others do */
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_true(has_mark(&r->phases[0], "client_bound"));
    assert_true(has_mark(&r->phases[0], "batched_reap"));
}

static void scopes_hold_what_is_theirs(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job jobs[] = {feed_job(0, S, 0), feed_job(0, S, 0)};
    jobs[1].name = (char *)"k";
    feed_plan(&feed, jobs, 2);
    feed_host(&feed, 1, "a", "gen=15");
    feed_host(&feed, 2, "b", "gen=16");
    feed_host(&feed, 3, "c", "gen=15");
    for (uint32_t host = 1; host <= 3; host++) {
        char path[16];
        snprintf(path, sizeof(path), "/dev/%u", host);
        rb_drive_ref_t drives[] = {{0, 0, path, 1}, {0, 1, (char *)"/dev/y", 1}};
        feed_row(&feed, host, (rb_row_t){.kind = RB_ROW_DRIVES, .drives = {0, 2, drives}});
    }
    feed_start(&feed, 0, 3);
    for (uint32_t host = 1; host <= 3; host++) {
        rb_cell_t cells[] = {{.job = 0, .drive = 0, .op = RB_OP_READ, .ops = host, .bytes = 512},
                             {.job = 1, .drive = 0, .op = RB_OP_READ, .ops = 10 * host},
                             {.job = 1, .drive = 1, .op = RB_OP_WRITE, .bytes = 512, .errors = 1}};
        feed_row(
            &feed, host,
            (rb_row_t){.kind = RB_ROW_WINDOW,
                       .window = {.part = RB_PART_MAIN, .span = 1, .ncells = 3, .cells = cells}});
    }
    rb_row_kernel_t kernel = {.op = {{1, 1}, {0, 0}, {0, 0}}};
    kernel.op[0].sectors = 1;
    feed_row(&feed, 2, (rb_row_t){.kind = RB_ROW_KERNEL, .kernel = kernel});
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    const rb_result_phase_t *p = &r->phases[0];
    assert_int_equal(p->cluster.op[RB_OP_READ].ops, 66);
    assert_true(p->cluster.op[RB_OP_WRITE].present); /* for its errors */
    assert_false(p->cluster.op[RB_OP_SYNC].present);
    assert_int_equal(p->jobs[1].stats.op[RB_OP_READ].ops, 60);
    assert_int_equal(p->ngroups, 2);
    assert_string_equal(p->groups[0].name, "gen=15");
    assert_int_equal(p->groups[0].stats.op[RB_OP_READ].ops, 44);
    const rb_result_target_t *t = &p->hosts[1].targets[0];
    assert_int_equal(t->ndrives, 2);
    assert_string_equal(t->drives[0].name, "/dev/2");
    assert_int_equal(t->drives[0].stats.op[RB_OP_READ].ops, 22);
    assert_int_equal(t->drives[1].stats.op[RB_OP_WRITE].errors, 1);
    assert_string_equal(p->hosts[1].kernels[0].path, "/dev/2");
    assert_int_equal(p->hosts[1].kernels[0].our_sectors[RB_OP_READ], 1);
}

static void layouts_stand_under_prepare(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 2);
    for (uint32_t host = 1; host <= 2; host++)
        feed_row(&feed, host,
                 (rb_row_t){.kind = RB_ROW_LAYOUT,
                            .layout = {.ops = 4, .bytes = 4 * RB_MIB, .took_ns = host * S}});
    feed_row(&feed, 2, (rb_row_t){.kind = RB_ROW_LAYOUT, .layout = {.drive = 1, .reused = true}});
    feed_reads(&feed, 1, 0, 1, false);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nprepares, 1);
    assert_int_equal(r->prepares[0].laid_out, 2);
    assert_int_equal(r->prepares[0].reused, 1);
    assert_near(r->prepares[0].seconds, 2);
    assert_near(r->prepares[0].cluster.op[RB_OP_WRITE].bytes_per_s, 4.0 * RB_MIB);
    assert_false(r->prepares[0].cluster.op[RB_OP_READ].present);
    assert_int_equal(r->phases[0].cluster.op[RB_OP_WRITE].ops, 0);
}

static void events_count_from_the_first_start(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    rb_row_note_t note = {
        .host = 1, .phase = -1, .at_ns = 499 * S, .kind = (char *)"n", .text = (char *)"t"};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_row(&feed, 0, (rb_row_t){.kind = RB_ROW_NOTE, .note = note});
    feed_start(&feed, 1, 1);
    feed_row(
        &feed, 1,
        (rb_row_t){
            .kind = RB_ROW_EVENT,
            .event = {.phase = 1, .at_ns = 7, .kind = (char *)"io_error", .text = (char *)"t"}});
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->events[0].at_ns, -(int64_t)S);
    assert_null(r->events[0].phase);
    assert_string_equal(r->events[0].host, "h01");
    assert_int_equal(r->events[1].at_ns, 100 * S + 7);
    assert_string_equal(r->events[1].phase, "two");
}

/* The rows of a host come when they come; of the same time, the first told stays the first. */
static void events_stand_by_time(void **state)
{
    (void)state;
    static const struct {
        uint32_t host;
        int64_t at_ns;
        const char *text;
    } told[] = {{1, 9, "d"}, {1, 5, "b"}, {2, 5, "c"}, {2, 1, "a"}};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 2);
    for (size_t i = 0; i < RB_LEN(told); i++)
        feed_row(&feed, told[i].host,
                 (rb_row_t){.kind = RB_ROW_EVENT,
                            .event = {.at_ns = told[i].at_ns,
                                      .kind = (char *)"k",
                                      .text = (char *)told[i].text}});
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(r->nevents, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(r->events[i].text[0], "abcd"[i]);
}

/* Before anybody reported: what the plan asks of the drives that are there. */
static void what_is_in_flight_is_reported_or_planned(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Label on = RACKBENCH__LABEL__INIT, *list[] = {&on};
    Rackbench__Job jobs[] = {feed_job(0, S, 0), feed_job(0, S, 0)};
    on.name = (char *)"gen";
    on.value = (char *)"16";
    jobs[0].iodepth = 4;
    jobs[0].numjobs = 3;
    jobs[0].has_numjobs = true;
    jobs[1].on = list;
    jobs[1].n_on = 1;
    feed_plan(&feed, jobs, 2);
    feed_host(&feed, 1, "a", "gen=15");
    feed_host(&feed, 2, "b", "gen=16");
    for (uint32_t host = 1; host <= 2; host++) {
        rb_drive_ref_t drives[] = {{0, 0, (char *)"/x", 1}, {0, 1, (char *)"/y", 1}};
        feed_row(&feed, host, (rb_row_t){.kind = RB_ROW_DRIVES, .drives = {0, 2, drives}});
    }
    feed_start(&feed, 0, 2);
    RB_AUTO(rb_result_destroy) rb_result_t *planned = result_of(&feed);
    assert_true(planned->phases[0].is_planned);
    assert_int_equal(planned->phases[0].workers, 2 * 2 * 3 + 2);
    assert_int_equal(planned->phases[0].inflight, 2 * 2 * 3 * 4 + 2);
    feed_worker(&feed, 1, feed_worker_row());
    RB_AUTO(rb_result_destroy) rb_result_t *reported = result_of(&feed);
    assert_false(reported->phases[0].is_planned);
    assert_int_equal(reported->phases[0].workers, 1);
    assert_int_equal(reported->phases[0].inflight, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_journal_has_no_result),
        cmocka_unit_test(skew_is_between_hosts_and_bound_of_the_extremes),
        cmocka_unit_test(a_host_alone_has_no_skew),
        cmocka_unit_test(hosts_as_late_as_each_other_still_have_a_bound),
        cmocka_unit_test(percentiles_are_those_of_all_operations),
        cmocka_unit_test(rare_quantiles_are_uncertain),
        cmocka_unit_test(old_operations_in_flight_censor),
        cmocka_unit_test(only_the_kind_in_flight_is_censored),
        cmocka_unit_test(a_host_counts_once_in_a_merged_window),
        cmocka_unit_test(marks_name_whose_limit_it_was),
        cmocka_unit_test(scopes_hold_what_is_theirs),
        cmocka_unit_test(layouts_stand_under_prepare),
        cmocka_unit_test(events_count_from_the_first_start),
        cmocka_unit_test(events_stand_by_time),
        cmocka_unit_test(what_is_in_flight_is_reported_or_planned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
