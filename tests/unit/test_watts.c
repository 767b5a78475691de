/* test_watts.c - readings of power: what is understood of a file, and what a result makes of them.
 */
#include "coordinator/watts.h"

#include "tests/unit/report_rows.h"

#include "coordinator/report/json.h"

#include <jansson.h>
#include <unistd.h>

#define HEADER "time,host,scope,watts\n"

static feed_t two_hosts(void)
{
    feed_t feed = {0};
    feed_begin(&feed, feed_job(10 * S, 20 * S, 0), 2);
    return feed;
}

static int csv(const feed_t *feed, const char *text, rb_watts_t *watts, rb_err_t *err)
{
    FILE *in = fmemopen((char *)(uintptr_t)text, strlen(text), "r");
    watts->fold = feed->fold;
    int rc = rb_watts_csv(watts, in, "w.csv", err);
    fclose(in);
    return rc;
}

static void a_csv_file(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = two_hosts();
    RB_AUTO(rb_watts_clear) rb_watts_t watts = {0};
    rb_err_t err;
    const char *text = HEADER "1970-01-01T00:20:00Z,h02,chassis,312.5\r\n"
                              "\n"
                              " 1201.25 , * , PDU , 1000\n"
                              "1970-01-01T01:20:02.5+01:00,h01,drive,0.0016";
    if (csv(&feed, text, &watts, &err) != 0)
        fail_msg("%s", err.text);
    static const rb_watts_reading_t expected[] = {{2, RB_SCOPE_CHASSIS, 1200 * S, 312500},
                                                  {0, RB_SCOPE_PDU, 1201250 * MS, 1000000},
                                                  {1, RB_SCOPE_DRIVE, 1202500 * MS, 2}};
    assert_int_equal(watts.n, RB_LEN(expected));
    for (size_t i = 0; i < watts.n; i++) {
        assert_int_equal(watts.items[i].host, expected[i].host);
        assert_int_equal(watts.items[i].scope, expected[i].scope);
        assert_true(watts.items[i].at_wall_ns == expected[i].at_wall_ns);
        assert_true(watts.items[i].mw == expected[i].mw);
    }
}

static void a_csv_file_that_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"time;host;scope;watts\n",
         "w.csv:1: the first line must be the header time,host,scope,watts"},
        {HEADER "1,h01,chassis\n", "w.csv:2: a line has 4 columns: time,host,scope,watts; this one "
                                   "has fewer"},
        {HEADER "1,h01,chassis,2\n\n1,h01,chassis,2,3\n",
         "w.csv:4: a line has 4 columns: time,host,scope,watts; this one has more"},
        {HEADER "yesterday,h01,chassis,2\n",
         "w.csv:2: 'yesterday' is no time; 2026-11-30T21:00:00Z or seconds since 1970 are"},
        {HEADER "2026-11-30T21:00:00,h01,chassis,2\n", "w.csv:2: '2026-11-30T21:00:00' is no time"},
        {HEADER "2026-11-30T21:00:00+1,h01,chassis,2\n", "is no time"},
        {HEADER "1.2.3,h01,chassis,2\n", "is no time"},
        {HEADER "1,h03,chassis,2\n", "w.csv:2: the run has no host 'h03'; its hosts are called as "
                                     "in its host list (h01, ...), and * is all of them together"},
        {HEADER "1,h01,rack,2\n", "w.csv:2: unknown scope 'rack'; package, drive, chassis or pdu"},
        {HEADER "1,h01,chassis,-2\n", "w.csv:2: '-2' is no number of watts; 312.5 is"},
        {HEADER "1,h01,chassis,nan\n", "w.csv:2: 'nan' is no number of watts"},
        {HEADER "1,h01,chassis,10000001\n", "w.csv:2: 1e+07 W is out of range; 0 to 10000000"},
    };
    RB_AUTO(feed_clear) feed_t feed = two_hosts();
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        RB_AUTO(rb_watts_clear) rb_watts_t watts = {0};
        rb_err_t err = {0};
        assert_int_equal(csv(&feed, rows[i].text, &watts, &err), -1);
        assert_int_equal(err.code, RB_ERR_INPUT);
        if (strstr(err.text, rows[i].message) == NULL)
            fail_msg("'%s' is not in: %s", rows[i].message, err.text);
    }
}

/* Such as /dev/zero: told, not read to its end. */
static void a_line_without_an_end(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = two_hosts();
    RB_AUTO(rb_watts_clear) rb_watts_t watts = {0};
    rb_err_t err = {0};
    char text[3000] = HEADER;
    memset(text + strlen(text), 'x', sizeof(text) - strlen(text) - 1);
    assert_int_equal(csv(&feed, text, &watts, &err), -1);
    assert_non_null(strstr(err.text, "w.csv:2: more than 1024 bytes in a line"));
}

static void redfish(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        uint32_t host;
        rb_power_scope_t scope;
        uint64_t at_ns, mw;
    } rows[] = {
        {"d/h01.json",
         "{\"PowerControl\": [{\"PowerConsumedWatts\": 344}, {\"PowerConsumedWatts\": 90}]}", 1,
         RB_SCOPE_CHASSIS, 77 * S, 344000},
        {"d/h02@1970-01-01T00:20:00Z.json", "{\"PowerWatts\": {\"Reading\": 374.5}}", 2,
         RB_SCOPE_CHASSIS, 1200 * S, 374500},
        {"h02@1200.json",
         "{\"@odata.id\": \"/redfish/v1/Chassis/1/Drives/3/EnvironmentMetrics\", "
         "\"PowerWatts\": {\"Reading\": 11}}",
         2, RB_SCOPE_DRIVE, 1200 * S, 11000},
        {"h01.json",
         "{\"ReadingUnits\": \"W\", \"PhysicalContext\": \"CPU\", \"Reading\": 120, "
         "\"ReadingTime\": \"1970-01-01T00:00:05Z\"}",
         1, RB_SCOPE_PACKAGE, 5 * S, 120000},
    };
    RB_AUTO(feed_clear) feed_t feed = two_hosts();
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        RB_AUTO(rb_watts_clear) rb_watts_t watts = {.fold = feed.fold};
        rb_err_t err;
        if (rb_watts_redfish(&watts, rows[i].name, rows[i].text, 77 * S, &err) != 0)
            fail_msg("%s", err.text);
        assert_int_equal(watts.n, 1);
        assert_int_equal(watts.items[0].host, rows[i].host);
        assert_int_equal(watts.items[0].scope, rows[i].scope);
        assert_true(watts.items[0].at_wall_ns == rows[i].at_ns);
        assert_true(watts.items[0].mw == rows[i].mw);
    }
}

static void redfish_that_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } rows[] = {
        {"h01.json", "{\"PowerControl\": [}", "h01.json:1:19: not JSON: "},
        {"h01.json", "{\"Temperature\": 3}", "h01.json: no power in it; PowerControl[0]."},
        {"h01.json", "{\"PowerWatts\": {\"Reading\": null}}", "h01.json: no power in it"},
        {"h01.json", "{\"ReadingUnits\": \"Cel\", \"Reading\": 4}", "h01.json: no power in it"},
        {"h01.json", "{\"ReadingUnits\": \"W\", \"PhysicalContext\": \"Fan\", \"Reading\": 4}",
         "h01.json: unknown scope 'Fan'"},
        {"h09.json", "{\"PowerWatts\": {\"Reading\": 5}}", "h09.json: the run has no host 'h09'"},
        {"h01@noon.json", "{\"PowerWatts\": {\"Reading\": 5}}", "'noon' is no time"},
        {"h01.json", "{\"PowerWatts\": {\"Reading\": -5}}", "-5 W is out of range"},
    };
    RB_AUTO(feed_clear) feed_t feed = two_hosts();
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        RB_AUTO(rb_watts_clear) rb_watts_t watts = {.fold = feed.fold};
        rb_err_t err = {0};
        assert_int_equal(rb_watts_redfish(&watts, rows[i].name, rows[i].text, 77 * S, &err), -1);
        assert_int_equal(err.code, RB_ERR_INPUT);
        if (strstr(err.text, rows[i].message) == NULL)
            fail_msg("'%s' is not in: %s", rows[i].message, err.text);
    }
}

/* ---- in a result ---- */

/* M is 1020 to 1040 s by the wall clock (T0 1010 s, 10 s of ramp, 20 s). */
static void feed_phase(feed_t *feed)
{
    feed_begin(feed, feed_job(10 * S, 20 * S, 0), 2);
    for (uint32_t h = 1; h <= 2; h++) {
        for (uint64_t k = 10; k < 30; k++)
            feed_reads(feed, h, k, h * 100, false);
        feed_worker(feed, h, feed_worker_row());
    }
    feed_end(feed, INT64_MAX, 0);
}

static void feed_watts(feed_t *feed, rb_watts_reading_t *readings, size_t n)
{
    feed_row(feed, 0, (rb_row_t){.kind = RB_ROW_WATTS, .watts = {n, readings}});
}

static const rb_result_watts_t *find(const rb_result_t *result, const char *host,
                                     rb_power_scope_t scope)
{
    const rb_result_phase_t *phase = &result->phases[0];
    for (size_t i = 0; i < phase->nwatts; i++) {
        const rb_result_watts_t *w = &phase->watts[i];
        bool same = host == NULL || w->host == NULL ? host == w->host : strcmp(host, w->host) == 0;
        if (same && w->scope == scope)
            return w;
    }
    return NULL;
}

/* 100 W until 1030 s and from there up to 300 W at 1040 s: by hand 1000 J + 2000 J. */
static void the_part_in_m_counts(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    rb_watts_reading_t readings[] = {{1, RB_SCOPE_CHASSIS, 1030 * S, 100000}, /* in no order */
                                     {1, RB_SCOPE_CHASSIS, 1000 * S, 100000},
                                     {1, RB_SCOPE_CHASSIS, 1050 * S, 500000}};
    feed_phase(&feed);
    feed_watts(&feed, readings, 3);
    RB_AUTO(rb_result_destroy) rb_result_t *result = result_of(&feed);
    const rb_result_watts_t *w = find(result, "h01", RB_SCOPE_CHASSIS);
    assert_non_null(w);
    assert_near(w->joules, 3000);
    assert_near(w->seconds, 20);
    assert_near(w->watts, 150);
    assert_int_equal(w->nreadings, 1);
    assert_true(w->has_rates);
    assert_near(w->iops_per_watt, 100.0 / 150);
    assert_near(w->bytes_per_s_per_watt, 100.0 * 4096 / 150);
    assert_null(find(result, NULL, RB_SCOPE_CHASSIS)); /* of one host of two: no sum */
}

static void each_scope_for_itself(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    rb_watts_reading_t readings[] = {
        {1, RB_SCOPE_DRIVE, 1020 * S, 20000},   {1, RB_SCOPE_DRIVE, 1040 * S, 20000},
        {2, RB_SCOPE_DRIVE, 1020 * S, 30000},   {2, RB_SCOPE_DRIVE, 1040 * S, 30000},
        {0, RB_SCOPE_PDU, 1030 * S, 900000},    {1, RB_SCOPE_PACKAGE, 1025 * S, 80000},
        {1, RB_SCOPE_PACKAGE, 1035 * S, 80000}, {2, RB_SCOPE_CHASSIS, 1010 * S, 500000},
        {2, RB_SCOPE_CHASSIS, 1050 * S, 500000}};
    feed_phase(&feed);
    feed_watts(&feed, readings, RB_LEN(readings));
    RB_AUTO(rb_result_destroy) rb_result_t *result = result_of(&feed);
    const rb_result_watts_t *drives = find(result, NULL, RB_SCOPE_DRIVE);
    assert_true(drives->nsummed == 2 && drives->nreadings == 4);
    assert_near(drives->watts, 50);
    assert_near(drives->joules, 1000);
    assert_near(drives->iops_per_watt, 300.0 / 50);
    const rb_result_watts_t *pdu = find(result, NULL, RB_SCOPE_PDU);
    assert_near(pdu->watts, 900); /* one reading */
    assert_true(pdu->seconds <= 0 && !pdu->has_rates);
    const rb_result_watts_t *package = find(result, "h01", RB_SCOPE_PACKAGE);
    assert_near(package->seconds, 10); /* the half of M */
    assert_near(package->joules, 800);
    assert_false(package->has_rates);
    assert_null(find(result, "h02", RB_SCOPE_CHASSIS)); /* no reading in M */
}

static void as_text_and_json(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    rb_watts_reading_t readings[] = {{1, RB_SCOPE_CHASSIS, 1020 * S, 100000},
                                     {1, RB_SCOPE_CHASSIS, 1040 * S, 100000},
                                     {0, RB_SCOPE_PDU, 1030 * S, 900000}};
    feed_phase(&feed);
    feed_watts(&feed, readings, 3);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    const char *lines = "  power: pdu of all hosts: 900.0 W (1 reading, 0 % of the time)\n"
                        "  power: chassis of h01: 100.0 W, 2000.0 J (2 readings, 100 % of the "
                        "time): 1.0 IOPS/W, 0.00 MiB/s per W\n";
    if (strstr(text, lines) == NULL)
        fail_msg("%s is not in\n%s", lines, text);
    RB_AUTO(rb_free_str) char *json = written(feed.fold, rb_report_json);
    json_t *root = json_loads(json, 0, NULL);
    json_t *list = json_object_get(json_array_get(json_object_get(root, "phases"), 0), "watts");
    assert_int_equal(json_array_size(list), 2);
    json_t *pdu = json_array_get(list, 0), *chassis = json_array_get(list, 1);
    assert_string_equal(json_string_value(json_object_get(pdu, "host")), "*");
    assert_null(json_object_get(pdu, "joules"));
    assert_null(json_object_get(pdu, "iops_per_watt"));
    assert_string_equal(json_string_value(json_object_get(chassis, "scope")), "chassis");
    assert_near(json_real_value(json_object_get(chassis, "covered_share")), 1);
    assert_near(json_real_value(json_object_get(chassis, "iops_per_watt")), 1);
    json_decref(root);
}

static void a_host_that_is_not_there(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = two_hosts();
    rb_watts_reading_t reading = {3, RB_SCOPE_PDU, 1, 1};
    rb_row_t row = {.kind = RB_ROW_WATTS, .watts = {1, &reading}};
    rb_err_t err = {0};
    assert_int_equal(feed_try(&feed, 0, &row, &err), -1);
    assert_non_null(strstr(err.text, "WATTS row of host 3, which no HOST row names"));
}

static void two_meters_of_one_thing(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = two_hosts();
    char path[] = "/tmp/test_watts.XXXXXX";
    static const char text[] = HEADER "5,h01,pdu,1\n4,h01,pdu,1\n5,h01,pdu,2\n";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
    close(fd);
    rb_err_t err = {0};
    assert_int_equal(rb_watts_feed(feed.fold, NULL, path, &err), -1);
    unlink(path);
    assert_non_null(strstr(err.text, "two readings of pdu of h01 at the same time (5); add up"));
    assert_int_equal(feed.fold->nwatts, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_csv_file),
        cmocka_unit_test(a_csv_file_that_is_wrong),
        cmocka_unit_test(a_line_without_an_end),
        cmocka_unit_test(redfish),
        cmocka_unit_test(redfish_that_is_wrong),
        cmocka_unit_test(the_part_in_m_counts),
        cmocka_unit_test(each_scope_for_itself),
        cmocka_unit_test(as_text_and_json),
        cmocka_unit_test(a_host_that_is_not_there),
        cmocka_unit_test(two_meters_of_one_thing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
