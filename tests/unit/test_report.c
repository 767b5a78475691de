/* test_report.c - JSON, CSV, text: equal for a replay and for any split, whole, narrow enough. */
#include "tests/unit/report_rows.h"

#include "coordinator/report/csv.h"
#include "coordinator/report/json.h"

/* 60 operations of three windows, dealt to n hosts (and to drives) in turn. */
static void feed_split(feed_t *feed, uint32_t n)
{
    enum { OPS = 60 };
    feed_begin(feed, feed_job(S, 3 * S, 0), n);
    for (uint64_t k = 0; k < 4; k++)
        for (uint32_t host = 1; host <= n; host++) {
            uint64_t values[OPS];
            size_t count = 0;
            for (size_t i = 0; i < OPS; i++)
                if (i % n == host - 1)
                    values[count++] = (i * i * 7919 + k * 104729) % (20 * MS);
            feed_window(feed, host,
                        (feed_window_t){.part = k == 0 ? RB_PART_RAMP : RB_PART_MAIN,
                                        .index = k,
                                        .values_ns = values,
                                        .n = count});
        }
    for (uint32_t i = 0; i < 12; i++)
        feed_worker(feed, i % n + 1, feed_worker_row());
    for (uint32_t host = 1; host <= n; host++)
        feed_row(feed, host,
                 (rb_row_t){.kind = RB_ROW_KERNEL,
                            .kernel = {.op = {{.sectors = 240 * 8 / n}, {0}, {0}}}});
    feed_end(feed, INT64_MAX, 0);
    feed_run_end(feed, "done");
}

/* The part of the text from `from` up to `to`. */
static char *between(const char *text, const char *from, const char *to)
{
    const char *begin = strstr(text, from);
    assert_non_null(begin);
    const char *end = strstr(begin, to);
    assert_non_null(end);
    return rb_strndup(begin, (size_t)(end - begin));
}

static void any_split_gives_the_same_figures(void **state)
{
    (void)state;
    char *whole = NULL;
    for (uint32_t n = 1; n <= 6; n++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        feed_split(&feed, n);
        RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
        RB_AUTO(rb_free_str) char *figures = between(json, "\"cluster\":", "\"groups\":");
        if (whole == NULL)
            whole = rb_strdup(figures);
        assert_string_equal(figures, whole);
    }
    free(whole);
}

static void a_replay_equals_the_live_result(void **state)
{
    (void)state;
    write_fn *const writers[] = {rb_report_json, rb_report_csv, write_text};
    RB_AUTO(feed_clear) feed_t feed = {0};
    rb_err_t err = {0};
    feed_split(&feed, 3);
    RB_AUTO(rb_fold_destroy) rb_fold_t *again = rb_fold_new();
    for (size_t i = 0; i < feed.nrecords; i++) {
        const feed_record_t *r = &feed.records[i];
        assert_int_equal(rb_fold_row(again, r->host, r->row.data, r->row.size, &err), 0);
    }
    for (size_t i = 0; i < RB_LEN(writers); i++) {
        RB_AUTO(rb_free_str) char *live = written(feed.fold, writers[i]);
        RB_AUTO(rb_free_str) char *replay = written(again, writers[i]);
        assert_string_equal(live, replay);
        assert_true(strlen(live) > 100);
    }
}

/* What a host's rows were interleaved with must not matter either. */
static void the_order_among_hosts_does_not_matter(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t a = {0};
    RB_AUTO(feed_clear) feed_t b = {0};
    feed_begin(&a, feed_job(0, 3 * S, 0), 2);
    feed_begin(&b, feed_job(0, 3 * S, 0), 2);
    for (uint64_t k = 0; k < 3; k++)
        for (uint32_t host = 1; host <= 2; host++)
            feed_reads(&a, host, k, 10 * host + k, false);
    for (uint32_t host = 2; host >= 1; host--)
        for (uint64_t k = 0; k < 3; k++)
            feed_reads(&b, host, k, 10 * host + k, false);
    for (uint32_t host = 1; host <= 2; host++) {
        feed_worker(&a, host, feed_worker_row());
        feed_worker(&b, host, feed_worker_row());
    }
    RB_AUTO(rb_free_str) char *one = written(a.fold, rb_report_json);
    RB_AUTO(rb_free_str) char *two = written(b.fold, rb_report_json);
    assert_string_equal(one, two);
}

/* Sum of column `ops` over the rows that begin with `prefix`. */
static uint64_t sum_ops(const char *csv, const char *prefix)
{
    uint64_t sum = 0;
    for (const char *line = csv; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *at = line;
        if (strncmp(line, prefix, strlen(prefix)) != 0)
            continue;
        for (int column = 0; column < 9; column++)
            at = strchr(at, ',') + 1;
        sum += strtoull(at, NULL, 10);
    }
    return sum;
}

static void the_csv_sums_to_the_result(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_split(&feed, 3);
    RB_AUTO(rb_free_str) char *csv = written(feed.fold, rb_report_csv);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    assert_int_equal(sum_ops(csv, "one,cluster,cluster,read,main,"),
                     r->phases[0].cluster.op[RB_OP_READ].ops);
    assert_int_equal(sum_ops(csv, "one,host,h02,read,main,"),
                     r->phases[0].hosts[1].total.op[RB_OP_READ].ops);
    assert_int_equal(sum_ops(csv, "one,cluster,cluster,read,ramp,"), 60);
}

static void csv_text_is_quoted(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job job = feed_job(0, S, 0);
    feed_plan(&feed, &job, 1);
    feed_host(&feed, 1, "a,\"b\"", NULL);
    feed_start(&feed, 0, 1);
    feed_reads(&feed, 1, 0, 1, false);
    RB_AUTO(rb_free_str) char *csv = written(feed.fold, rb_report_csv);
    assert_non_null(strstr(csv, "\none,host,\"a,\"\"b\"\"\",read,main,0,1,0,1000000000,1,4096,0,"));
}

/* Work that ended inside a window: its rates are those of the table, and it lasts as long as M. */
static void a_window_ends_with_the_work(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 0, 10), 1);
    feed_reads(&feed, 1, 0, 10, true);
    feed_finished(&feed, 1, 250 * (int64_t)MS - 1);
    feed_end(&feed, INT64_MAX, 0);
    RB_AUTO(rb_result_destroy) rb_result_t *r = result_of(&feed);
    RB_AUTO(rb_free_str) char *csv = written(feed.fold, rb_report_csv);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_near(r->phases[0].cluster.op[RB_OP_READ].iops, 40);
    assert_non_null(strstr(csv, ",read,main,0,1,0,250000000,10,40960,0,40.000,163840.000,"));
    assert_non_null(strstr(json, "\"length_ns\": 250000000,"));
}

/* The wall clock of a window is T0's, and at_ns later. */
static void a_window_tells_the_wall_clock(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_split(&feed, 1);
    RB_AUTO(rb_free_str) char *csv = written(feed.fold, rb_report_csv);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(csv, ",oldest_inflight_ns,wall_ns,step\n"));
    const char *line = strstr(csv, ",read,main,2,1,2000000000,");
    assert_non_null(line);
    assert_memory_equal(strchr(line, '\n') - 16, ",1012000000000,0", 16);
    assert_non_null(strstr(json, "\"started\": \"1970-01-01T00:16:50.000Z\""));
}

/* The coordinator was killed: what nobody reported is not 0, it is not there. */
static void json_leaves_out_what_is_not_known(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "\"turn_ns\"", "\"cpu_share\"", "\"unfinished\"",           "\"to_last\"",
        "\"little\"",  "\"start\":",    "\"generator_lateness_ns\""};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, 0, 100), 2);
    feed_reads(&feed, 1, 0, 10, false);
    feed_reads(&feed, 1, 1, 10, false);
    RB_AUTO(rb_free_str) char *killed = written(feed.fold, rb_report_json);
    for (size_t i = 0; i < RB_LEN(keys); i++)
        if (strstr(killed, keys[i]) != NULL)
            fail_msg("%s in %s", keys[i], killed);
    rb_row_worker_t w = feed_worker_row();
    const uint64_t turns[] = {1000};
    w.turn = sparse_of(turns, 1);
    w.lateness = sparse_of(turns, 1);
    w.done_at_ns = 1;
    feed_worker(&feed, 1, w);
    feed_worker(&feed, 2, w);
    feed_end(&feed, 2 * (int64_t)S, 0);
    rb_hist_sparse_clear(&w.turn);
    rb_hist_sparse_clear(&w.lateness);
    RB_AUTO(rb_free_str) char *whole = written(feed.fold, rb_report_json);
    for (size_t i = 0; i < RB_LEN(keys); i++)
        if (strstr(whole, keys[i]) == NULL)
            fail_msg("no %s in %s", keys[i], whole);
}

static void an_empty_distribution_is_left_out(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    const uint64_t values[] = {MS};
    rb_row_layout_t layout = {.ops = 1, .bytes = RB_MIB, .took_ns = S};
    layout.service = sparse_of(values, 1);
    feed_row(&feed, 1, (rb_row_t){.kind = RB_ROW_LAYOUT, .layout = layout});
    rb_hist_sparse_clear(&layout.service);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(json, "\"service_ns\": {"));
    assert_null(strstr(json, "\"response_ns\""));
}

static void json_has_the_documented_fields(void **state)
{
    (void)state;
    static const char *const fields[] = {"\"rackbench\": \"0.1.0\"",
                                         "\"started\": \"1970-01-01T00:16:40Z\"",
                                         "\"status\": \"done\"",
                                         "\"start_ns\": 1000000000",
                                         "\"common_share\": 1.0",
                                         "\"skew_ns\": 0",
                                         "\"bound_ns\": 3000",
                                         "\"ops\": 180",
                                         "\"iops\": 60.0",
                                         "\"sectors\": 960",
                                         "\"uncertain\": [",
                                         "\"last_first_io_ns\": {",
                                         "\"interval_ns\": 1000000000"};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_split(&feed, 2);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    for (size_t i = 0; i < RB_LEN(fields); i++)
        if (strstr(json, fields[i]) == NULL)
            fail_msg("no %s in %s", fields[i], json);
}

static void json_survives_text_that_is_not_utf8(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_row(&feed, 1,
             (rb_row_t){.kind = RB_ROW_EVENT,
                        .event = {.kind = (char *)"x", .text = (char *)"/mnt/\xff\"q"}});
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    assert_non_null(strstr(json, "\"text\": \"/mnt/?\\\"q\""));
}

static void text_says_the_figures(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "demo (id1): 2 hosts, 110.0 s, done, marks: insecure\n",
        "phase one: from 00:16:50.000Z, measured 1.000 s to 4.000 s (3.000 s)\n",
        "\n  2 hosts, 12 workers, 12 in flight\n",
        "  all hosts            IOPS     MiB/s     mean      p50      p90      p99    p99.9",
        "  read response          60       0.2 ",
        "  start skew 0 ns +- 3.00 us\n",
        "Little's law X R / N = 0.0",
        "  h01 ",
        "  kernel: 1920 sectors read, ours 1920, drives 2: equal\n",
        "~ uncertain: fewer than 10 operations beyond it\n",
        "closed loop: response not free of coordinated omission\n"};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_split(&feed, 2);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    for (size_t i = 0; i < RB_LEN(lines); i++)
        if (strstr(text, lines[i]) == NULL)
            fail_msg("no '%s' in\n%s", lines[i], text);
}

static void text_fits_in_100_columns(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    Rackbench__Job job = feed_job(0, S, 0);
    feed_plan(&feed, &job, 1);
    for (uint32_t host = 1; host <= 64; host++) {
        char name[80];
        snprintf(name, sizeof(name), "a-rather-long-name-of-a-storage-node.rack-7.example.%u",
                 host);
        feed_host(&feed, host, name, NULL);
    }
    feed_start(&feed, 0, 64);
    for (uint32_t host = 1; host <= 64; host++) {
        feed_reads(&feed, host, 0, host == 40 ? 5 : 10 + host, false);
        feed_worker(&feed, host, feed_worker_row());
    }
    feed_end(&feed, INT64_MAX, 40);
    rb_row_note_t note = {.kind = (char *)"k",
                          .text = (char *)"a note of a great many words that goes on and on until "
                                          "it is beyond what a line of a hundred columns can hold"};
    feed_row(&feed, 0, (rb_row_t){.kind = RB_ROW_NOTE, .note = note});
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    size_t nlines = 0;
    for (const char *line = text; *line != '\0'; line = strchr(line, '\n') + 1, nlines++)
        if (strcspn(line, "\n") > 100)
            fail_msg("longer than 100 columns: %.150s", line);
    assert_true(nlines < 30);
    assert_non_null(strstr(text, "and 59 more; IOPS of a host: least 5, median 42, most 74\n"));
    assert_non_null(strstr(text, "  lost after "));
    assert_non_null(strstr(text, "host_lost"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_split_gives_the_same_figures),
        cmocka_unit_test(a_replay_equals_the_live_result),
        cmocka_unit_test(the_order_among_hosts_does_not_matter),
        cmocka_unit_test(the_csv_sums_to_the_result),
        cmocka_unit_test(csv_text_is_quoted),
        cmocka_unit_test(a_window_ends_with_the_work),
        cmocka_unit_test(a_window_tells_the_wall_clock),
        cmocka_unit_test(json_leaves_out_what_is_not_known),
        cmocka_unit_test(an_empty_distribution_is_left_out),
        cmocka_unit_test(json_has_the_documented_fields),
        cmocka_unit_test(json_survives_text_that_is_not_utf8),
        cmocka_unit_test(text_says_the_figures),
        cmocka_unit_test(text_fits_in_100_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
