/* test_report_text.c - what the table says, and what it does not say because nobody knows it. */
#include "tests/unit/report_rows.h"

#include "coordinator/report/text.h"

static void has(const char *text, const char *words)
{
    if (strstr(text, words) == NULL)
        fail_msg("no '%s' in\n%s", words, text);
}

static void has_not(const char *text, const char *words)
{
    if (strstr(text, words) != NULL)
        fail_msg("'%s' in\n%s", words, text);
}

static void a_host_alone_has_no_skew_line(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_reads(&feed, 1, 0, 10, false);
    feed_worker(&feed, 1, feed_worker_row());
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    has(text, "\n  1 host, 1 worker, 1 in flight\n");
    has_not(text, "start skew");
}

/* The coordinator was killed: no worker has reported, and of host 2 nothing came at all. */
static void what_is_not_known_is_no_zero(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 9 * S, 0), 2);
    feed_reads(&feed, 1, 0, 10, false);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    has(text, "2 hosts, 1 worker, 1 in flight (as planned)\n"); /* no drive of host 2 is known */
    has(text, "h02                                    -         -         -          -\n");
    has_not(text, "worker turn");
    has_not(text, "cpu share");
    has_not(text, "Little");
}

static void a_host_that_did_nothing_did_zero(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 2);
    feed_reads(&feed, 1, 0, 10, false);
    feed_worker(&feed, 2, feed_worker_row());
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    has(text, "h02                                    0       0.0     0.0 %          -\n");
}

static void a_stop_in_the_ramp_has_no_table(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    const uint64_t values[] = {MS, MS, MS};
    feed_begin(&feed, feed_job(5 * S, 9 * S, 0), 2);
    for (uint32_t host = 1; host <= 2; host++) {
        feed_window(&feed, host,
                    (feed_window_t){.part = RB_PART_RAMP, .values_ns = values, .n = 3});
        feed_worker(&feed, host, (rb_row_worker_t){.unfinished = 1});
    }
    feed_end(&feed, 800 * (int64_t)MS, 0);
    feed_run_end(&feed, "truncated");
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    has(text, "\nphase one: from 00:16:50.000Z, stopped in the ramp: 6 operations, see outside in "
              "result.json\n");
    has(text, "in flight at the end: 2");
    has_not(text, "all hosts");
    has_not(text, "h01");
    has_not(text, "measured");
    has_not(text, "cpu share");
    has_not(text, "events"); /* an empty M has no common share */
}

static void work_done_in_the_ramp_was_not_stopped(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    const uint64_t values[] = {MS};
    feed_begin(&feed, feed_job(5 * S, 0, 1), 1);
    feed_window(&feed, 1, (feed_window_t){.part = RB_PART_RAMP, .values_ns = values, .n = 1});
    feed_finished(&feed, 1, MS);
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    has(text, "ended in the ramp: 1 operation, see outside");
}

static void phases_that_never_ran_are_named(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 9 * S, 0), 1);
    feed_reads(&feed, 1, 0, 10, false);
    feed_end(&feed, S, 0);
    feed_run_end(&feed, "truncated");
    feed_row(&feed, 1, (rb_row_t){.kind = RB_ROW_DRIVES, .drives = {.phase = 1}}); /* prepared */
    RB_AUTO(rb_free_str) char *stopped = written(feed.fold, write_text);
    has(stopped, "\nnot run: two\n");
    has(stopped, "110.0 s, truncated, marks: insecure\n"); /* and not "truncated" once more */
    feed_start(&feed, 1, 1);
    RB_AUTO(rb_free_str) char *ran = written(feed.fold, write_text);
    has_not(ran, "not run");
}

/* A rate of a third of an operation a second, and a phase in which nothing came back. */
/* Bound by operations: the headline has the part in which all ran, and the whole. */
static void the_headline_has_all_the_work(void **state)
{
    (void)state;
    for (int32_t all = 0; all <= 1; all++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        feed_begin(&feed, feed_job(0, 0, 512), 2);
        feed_reads(&feed, 1, 0, 256, false);
        feed_reads(&feed, 1, 1, 256, true);
        feed_finished(&feed, 1, 1500 * (int64_t)MS);
        for (uint64_t k = 0; k < 4; k++)
            feed_reads(&feed, 2, k, 128, k == 3);
        rb_row_worker_t worker = feed_worker_row();
        worker.finished = all;
        worker.done_at_ns = 4 * (int64_t)S;
        feed_worker(&feed, 2, worker);
        feed_end(&feed, INT64_MAX, 0);
        RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
        has(text, all ? "measured 0.000 s to 1.000 s (1.000 s); all 4 MiB in 4.000 s = 1.0\n"
                        "              MiB/s (1.02k operations)\n"
                      : "(1.000 s); 4 MiB in 4.000 s = 1.0 ");
    }
}

/* What failed the kernel has counted, and we have not. */
static void failed_reads_explain_the_kernel(void **state)
{
    (void)state;
    for (uint64_t errors = 0; errors <= 3; errors += 3) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        const uint64_t values[] = {MS, MS};
        rb_row_kernel_t kernel = {.op = {{.ios = 5, .sectors = 40}}};
        feed_begin(&feed, feed_job(0, S, 0), 1);
        feed_window(
            &feed, 1,
            (feed_window_t){.part = RB_PART_MAIN, .values_ns = values, .n = 2, .errors = errors});
        feed_row(&feed, 1, (rb_row_t){.kind = RB_ROW_KERNEL, .kernel = kernel});
        feed_end(&feed, INT64_MAX, 0);
        RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
        has(text, "40 sectors read, ours 16, drives 1: 1 differ, +24 in all\n");
        (errors > 0 ? has : has_not)(text, "3 reads that failed are not in ours\n");
        (errors > 0 ? has_not : has)(text, "someone else used the drive");
    }
}

static void what_is_slow_is_not_zero(void **state)
{
    (void)state;
    for (size_t n = 0; n < 2; n++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        Rackbench__Job job = feed_job(0, 3 * S, 0);
        rb_row_worker_t worker = feed_worker_row();
        job.has_rate_iops = true;
        job.rate_iops = 1;
        worker.offered_ops = n;
        feed_begin(&feed, job, 1);
        for (uint64_t w = 0; w < 3; w++)
            feed_reads(&feed, 1, w, w == 0 ? n : 0, false);
        feed_worker(&feed, 1, worker);
        feed_end(&feed, INT64_MAX, 0);
        RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
        if (n == 1) {
            has(text, "  read response        0.33       0.0  ");
            has(text, "  job j: offered 0.33 IOPS, achieved 0.33 IOPS\n");
        } else {
            has(text, "  no operation completed\n");
            has(text, "  job j: offered 0 IOPS, achieved 0 IOPS\n");
            has_not(text, "all hosts");
        }
    }
}

static void one_file_is_not_files(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    rb_row_layout_t layout = {.ops = 1, .bytes = RB_MIB, .took_ns = S};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_row(&feed, 1, (rb_row_t){.kind = RB_ROW_LAYOUT, .layout = layout});
    RB_AUTO(rb_free_str) char *one = written(feed.fold, write_text);
    has(one, "laid out for one: 1 file, 1 MiB in 1.0 s");
    layout.drive = 1;
    feed_row(&feed, 1, (rb_row_t){.kind = RB_ROW_LAYOUT, .layout = layout});
    RB_AUTO(rb_free_str) char *two = written(feed.fold, write_text);
    has(two, "laid out for one: 2 files, 2 MiB in 1.0 s");
}

/* Of responses of 2 ms: a median of 190 us of our own is no line, more than a tenth is one. */
static void lateness_of_our_own_is_told_where_it_matters(void **state)
{
    (void)state;
    const uint64_t values[][3] = {{190000, 190000, 9 * MS}, {400000, 400000, 9 * MS}};
    for (size_t i = 0; i < RB_LEN(values); i++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        rb_row_worker_t w = feed_worker_row();
        feed_begin(&feed, feed_job(0, S, 0), 1);
        feed_reads(&feed, 1, 0, 10, false);
        w.lateness = sparse_of(values[i], RB_LEN(values[i]));
        feed_worker(&feed, 1, w);
        rb_hist_sparse_clear(&w.lateness);
        feed_end(&feed, INT64_MAX, 0);
        RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
        if (i == 0)
            has_not(text, "submitted late");
        else
            has(text,
                "\n  job j: submitted late by rackbench itself: p50 401.4 us, p99 9.00 ms (20 % "
                "of the response p50)\n");
    }
}

/* Phase "two" has the jobs of "one", so a feed of its own plan: one is open, two closed. */
static void the_footer_names_the_closed_loops(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_start(&feed, 1, 1);
    RB_AUTO(rb_free_str) char *all = written(feed.fold, write_text);
    has(all, "\nclosed loop: response not free");
    Rackbench__Job open = *feed.fold->plan->phases[0]->jobs[0];
    open.rate_iops = 100;
    Rackbench__Job *jobs[] = {&open}, **before = feed.fold->plan->phases[0]->jobs;
    feed.fold->plan->phases[0]->jobs = jobs;
    RB_AUTO(rb_free_str) char *some = written(feed.fold, write_text);
    feed.fold->plan->phases[0]->jobs = before;
    has(some, "\nclosed loop (two): response not free of coordinated omission\n");
}

/* Job j reads and writes with a response of twice its service, job k reads at once. */
static void feed_mix(feed_t *feed)
{
    Rackbench__Job jobs[] = {feed_job(0, S, 0), feed_job(0, S, 0)};
    const uint64_t once[] = {MS}, twice[] = {2 * MS};
    rb_cell_t cells[3];
    jobs[1].name = (char *)"k";
    feed_plan(feed, jobs, 2);
    feed_host(feed, 1, "a", NULL);
    feed_start(feed, 0, 1);
    for (uint32_t i = 0; i < 3; i++)
        cells[i] = (rb_cell_t){.job = i == 2,
                               .op = i == 1 ? RB_OP_WRITE : RB_OP_READ,
                               .ops = 10,
                               .bytes = RB_MIB,
                               .service = sparse_of(once, 1),
                               .response = sparse_of(i == 2 ? once : twice, 1)};
    feed_row(feed, 1,
             (rb_row_t){.kind = RB_ROW_WINDOW,
                        .window = {.part = RB_PART_MAIN, .span = 1, .ncells = 3, .cells = cells}});
    for (uint32_t i = 0; i < 3; i++) {
        rb_hist_sparse_clear(&cells[i].service);
        rb_hist_sparse_clear(&cells[i].response);
    }
}

static void tables_say_service_and_the_sum(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_mix(&feed);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    char *job_j = strstr(text, "  job j\n"), *job_k = strstr(text, "  job k\n");
    assert_true(job_j != NULL && job_k != NULL);
    has(job_k, "  read response          10");
    has_not(job_k, "service");
    has_not(job_k, "\n  all ");
    *job_k = '\0';
    has(job_j, "       service   ");
    has(job_j, "\n  all                    20       2.0\n");
    *job_j = '\0';
    has(text, "\n  all                    30       3.0\n");
}

static void feed_witness(feed_t *feed, uint64_t sectors, bool buffered)
{
    Rackbench__Job job = feed_job(0, S, 0);
    job.has_direct = buffered;
    feed_begin(feed, job, 1);
    feed_reads(feed, 1, 0, 10, false);
    feed_row(feed, 1,
             (rb_row_t){.kind = RB_ROW_KERNEL, .kernel = {.op = {{.sectors = sectors}, {0}, {0}}}});
}

static void more_sectors_than_ours_were_somebodys(void **state)
{
    (void)state;
    static const char *const hint = "someone else used the drive (udev, another agent)\n";
    for (int i = 0; i < 4; i++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        feed_witness(&feed, i == 0 ? 80 : i == 1 ? 79 : 88, i == 3);
        RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
        static const char *const told[] = {": equal\n", ": 1 differ, -1 in all\n",
                                           ": 1 differ, +8 in all\n", ": 1 differ, +8 in all\n"};
        has(text, told[i]);
        (i == 2 ? has : has_not)(text, hint);
        (i == 3 ? has : has_not)(text, "page cache");
    }
}

/* Escape, bell, line feed, C1's CSI in UTF-8; the rest of UTF-8 stays. */
static void control_characters_are_not_printed(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job job = feed_job(0, S, 0);
    feed_plan(&feed, &job, 1);
    feed_host(&feed, 1, "a\x1b[2J\n", "gen=\x1b");
    feed_host(&feed, 2, "b\x7f", "gen=2");
    feed_start(&feed, 0, 2);
    feed_reads(&feed, 1, 0, 10, false);
    rb_row_event_t event = {.kind = (char *)"k\t",
                            .text = (char *)"\x07 \xc2\x9b"
                                            "31m \xc3\xa9 \xc2z \xc2"};
    feed_row(&feed, 1, (rb_row_t){.kind = RB_ROW_EVENT, .event = event});
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    has(text, "\n  a?[2J? ");
    has(text, "\n  b? ");
    has(text, "\n  group gen=?\n");
    has(text, "a?[2J? k?: ? ??31m \xc3\xa9 \xc2z \xc2\n");
    for (const char *c = text; *c != '\0'; c++)
        assert_true(*c == '\n' || (unsigned char)*c >= 0x20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_alone_has_no_skew_line),
        cmocka_unit_test(what_is_not_known_is_no_zero),
        cmocka_unit_test(a_host_that_did_nothing_did_zero),
        cmocka_unit_test(a_stop_in_the_ramp_has_no_table),
        cmocka_unit_test(work_done_in_the_ramp_was_not_stopped),
        cmocka_unit_test(phases_that_never_ran_are_named),
        cmocka_unit_test(the_headline_has_all_the_work),
        cmocka_unit_test(failed_reads_explain_the_kernel),
        cmocka_unit_test(what_is_slow_is_not_zero),
        cmocka_unit_test(one_file_is_not_files),
        cmocka_unit_test(lateness_of_our_own_is_told_where_it_matters),
        cmocka_unit_test(the_footer_names_the_closed_loops),
        cmocka_unit_test(tables_say_service_and_the_sum),
        cmocka_unit_test(more_sectors_than_ours_were_somebodys),
        cmocka_unit_test(control_characters_are_not_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
