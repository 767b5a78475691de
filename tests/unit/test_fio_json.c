/* test_fio_json.c - fio's JSON and logs: bins are fio's, "All clients" is the sum of its clients
 * however the operations were dealt, what is not measured says so. */
#include "tests/unit/report_rows.h"

#include <jansson.h>

#include "coordinator/report/fio_json_parts.h"

/* Keys that fio 3.33 prints for latencies in these bins. */
static void bins_are_fios(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,     1,      127,    128,     130,      27008,      38656,
                                      44800, 156672, 168960, 1695744, 15400960, 17112760320};
    for (size_t i = 0; i < RB_LEN(values); i++)
        assert_int_equal(rb_fio_bin_value(rb_fio_bin(values[i])), values[i] == 128   ? 129
                                                                  : values[i] == 130 ? 131
                                                                                     : values[i]);
    assert_int_equal(rb_fio_bin(UINT64_MAX), RB_FIO_BINS - 1);
    for (uint32_t b = 0; b < RB_FIO_BINS; b++)
        assert_int_equal(rb_fio_bin(rb_fio_bin_value(b)), b);
    for (uint32_t i = 0; i < RB_HIST_BUCKETS; i++) /* ours nest */
        assert_int_equal(rb_fio_bin(rb_hist_lowest(i)), rb_fio_bin(rb_hist_highest(i)));
}

static void percentiles_and_shares(void **state)
{
    (void)state;
    RB_AUTO(rb_hist_destroy) rb_hist_t *h = rb_hist_new();
    for (uint64_t i = 1; i <= 1000; i++)
        rb_hist_record(h, i * 1000);
    json_t *lat = rb_fio_json_lat(h, RB_FIO_PERCENTILES_AND_BINS);
    json_t *p = json_object_get(lat, "percentile");
    assert_int_equal(json_object_size(p), 17);
    double p50 = (double)json_integer_value(json_object_get(p, "50.000000"));
    double p9999 = (double)json_integer_value(json_object_get(p, "99.990000"));
    assert_true(p50 > 500e3 * 0.99 && p50 < 500e3 * 1.01);
    assert_true(p9999 > 1e6 * 0.99 && p9999 < 1e6 * 1.01);
    const char *key;
    json_t *value, *bins = json_object_get(lat, "bins");
    json_int_t sum = 0;
    json_object_foreach(bins, key, value) sum += json_integer_value(value);
    assert_int_equal(sum, 1000);
    json_decref(lat);
    lat = rb_fio_json_lat(h, RB_FIO_PERCENTILES);
    assert_null(json_object_get(lat, "bins"));
    json_decref(lat);
    rb_hist_record(h, 1500 * 1000);
    json_t *job = json_object();
    rb_fio_json_set_shares(job, h);
    json_t *us = json_object_get(job, "latency_us");
    assert_true(json_real_value(json_object_get(us, "2")) < 0.2);
    double third = json_real_value(json_object_get(us, "500")); /* 250 to 500 us */
    assert_true(third > 24 && third < 26);
    double last = json_real_value(json_object_get(json_object_get(job, "latency_ms"), "2"));
    assert_true(last > 0.05 && last < 0.2); /* 1 to 2 ms */
    json_decref(job);
    rb_hist_clear(h);
    lat = rb_fio_json_lat(h, RB_FIO_PERCENTILES_AND_BINS); /* fio's tools fail on empty bins */
    assert_null(json_object_get(lat, "bins"));
    assert_int_equal(json_integer_value(json_object_get(lat, "min")), 0);
    json_decref(lat);
}

/* 60 reads a window, three windows of a second, dealt to n hosts. */
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
    feed_end(feed, INT64_MAX, 0);
    feed_run_end(feed, "done");
}

static const char *only;

static int write_fio(FILE *out, const rb_result_t *result, rb_err_t *err)
{
    return rb_report_fio_json(out, result, RB_FIO_JSON_PLUS, only, err);
}

static json_t *parsed(const feed_t *feed)
{
    json_error_t error;
    RB_AUTO(rb_free_str) char *text = written(feed->fold, write_fio);
    json_t *root = json_loads(text, 0, &error);
    if (root == NULL)
        fail_msg("%s", error.text);
    return root;
}

static json_int_t number(json_t *o, const char *a, const char *b)
{
    return json_integer_value(json_object_get(json_object_get(o, a), b));
}

static void all_clients_are_the_sum(void **state)
{
    (void)state;
    json_t *first = NULL;
    for (uint32_t n = 1; n <= 5; n++) {
        RB_AUTO(feed_clear) feed_t feed = {0};
        only = NULL;
        feed_split(&feed, n);
        json_t *root = parsed(&feed), *clients = json_object_get(root, "client_stats");
        assert_null(json_object_get(root, "jobs"));
        assert_int_equal(json_array_size(clients), n + 1);
        json_t *all = json_array_get(clients, n), *read = json_object_get(all, "read");
        assert_string_equal(json_string_value(json_object_get(all, "jobname")), "All clients");
        assert_int_equal(number(all, "read", "total_ios"), 180);
        assert_int_equal(number(all, "read", "runtime"), 3000);
        assert_true(json_real_value(json_object_get(read, "iops")) == 60);
        json_int_t sum = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += number(json_array_get(clients, i), "read", "total_ios");
        assert_int_equal(sum, 180);
        assert_int_equal(number(read, "slat_ns", "N"), 0);
        assert_int_equal(number(read, "lat_ns", "N"), 180);
        first = first ? first : json_incref(read);
        assert_true(json_equal(first, read));
        json_decref(root);
    }
    json_decref(first);
}

static void one_host_is_as_fio(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    rb_err_t err = {0};
    feed_split(&feed, 3);
    only = rb_fold_host_name(feed.fold, 2);
    json_t *root = parsed(&feed), *jobs = json_object_get(root, "jobs");
    assert_null(json_object_get(root, "client_stats"));
    assert_int_equal(json_array_size(jobs), 1);
    assert_int_equal(number(json_array_get(jobs, 0), "read", "total_ios"), 60);
    assert_non_null(json_object_get(json_array_get(jobs, 0), "job options"));
    json_decref(root);
    RB_AUTO(rb_result_destroy) rb_result_t *result = rb_result_new(feed.fold, &err);
    assert_int_equal(rb_report_fio_json(stdout, result, RB_FIO_JSON, "nobody", &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "'nobody' is no host of this run"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_are_fios),
        cmocka_unit_test(percentiles_and_shares),
        cmocka_unit_test(all_clients_are_the_sum),
        cmocka_unit_test(one_host_is_as_fio),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
