/* test_result_health.c - what drives say of themselves: in the fold, the result and its texts. */
#include "tests/unit/report_rows.h"

#include "coordinator/report/json.h"

#include <jansson.h>

typedef struct {
    rb_health_when_t when;
    int64_t at_ns;
    int64_t units, physical, throttled, temperature, media, energy_uj;
} say_t;

/* The drive that the reads and writes of target 0, drive 0 are on, and one that nobody uses. */
static void feed_health(feed_t *feed, uint32_t host, const char *path, say_t say)
{
    rb_disk_place_t place = {0, 0};
    rb_health_drive_t drive = {.path = (char *)(uintptr_t)path,
                               .serial = (char *)"S1",
                               .firmware = (char *)"F1",
                               .nplaces = 1,
                               .places = &place};
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++)
        drive.figure[i] = RB_HEALTH_UNKNOWN;
    drive.figure[RB_HEALTH_UNITS_WRITTEN] = say.units;
    drive.figure[RB_HEALTH_PHYSICAL_WRITTEN] = say.physical;
    drive.figure[RB_HEALTH_THROTTLED_LIGHT] = say.throttled;
    drive.figure[RB_HEALTH_THROTTLED_HEAVY] = 0;
    drive.figure[RB_HEALTH_TEMPERATURE] = say.temperature;
    drive.figure[RB_HEALTH_MEDIA_ERRORS] = say.media;
    feed_row(feed, host,
             (rb_row_t){.kind = RB_ROW_HEALTH,
                        .health = {.when = say.when,
                                   .at_ns = say.at_ns,
                                   .took_ns = 5,
                                   .ndrives = 1,
                                   .drives = &drive,
                                   .cpu_mhz = 2000 + say.at_ns / (int64_t)S,
                                   .energy_uj = say.energy_uj}});
}

static void feed_written(feed_t *feed, uint32_t host, rb_part_t part, uint64_t index,
                         uint64_t bytes)
{
    rb_cell_t cell = {.op = RB_OP_WRITE, .ops = 1, .bytes = bytes};
    feed_row(feed, host,
             (rb_row_t){.kind = RB_ROW_WINDOW,
                        .window = {.part = part,
                                   .index = index,
                                   .span = 1,
                                   .all_running = true,
                                   .ncells = 1,
                                   .cells = &cell}});
}

enum { UNITS = 1000, SECONDS = 30 };

/* One host, 30 s; readings at -1, 10, 20 and 30 s; it throttles between 10 and 20 s. */
static void feed_phase(feed_t *feed)
{
    feed_begin(feed, feed_job(0, SECONDS * S, 0), 1);
    feed_health(feed, 1, "/dev/nvme0n1",
                (say_t){RB_HEALTH_BEGIN, -(int64_t)S, 7, 100, 4, 40, 2, 0});
    for (uint64_t k = 0; k < SECONDS; k++) {
        feed_written(feed, 1, RB_PART_MAIN, k, (uint64_t)UNITS / SECONDS * RB_DATA_UNIT);
        if (k == 10)
            feed_health(feed, 1, "/dev/nvme0n1",
                        (say_t){RB_HEALTH_DURING, 10 * (int64_t)S, 300, 101, 4, 60, 2, 11});
        if (k == 20)
            feed_health(feed, 1, "/dev/nvme0n1",
                        (say_t){RB_HEALTH_DURING, 20 * (int64_t)S, 700, 102, 9, 81, 2, 12});
    }
    feed_written(feed, 1, RB_PART_DRAINED, SECONDS, RB_DATA_UNIT);
    feed_health(feed, 1, "/dev/nvme0n1",
                (say_t){RB_HEALTH_END, SECONDS * (int64_t)S, 7 + UNITS,
                        100 + (int64_t)UNITS * RB_DATA_UNIT * 5 / 4, 9, 70, 3, 3100 * 1000000ll});
    feed_worker(feed, 1, feed_worker_row());
    feed_end(feed, INT64_MAX, 0);
}

static void deltas(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_phase(&feed);
    RB_AUTO(rb_result_destroy) rb_result_t *result = result_of(&feed);
    const rb_result_host_t *host = &result->phases[0].hosts[0];
    assert_int_equal(host->ndrives, 1);
    const rb_result_drive_t *d = &host->drives[0];
    assert_true(d->written_bytes == (int64_t)UNITS * RB_DATA_UNIT);
    assert_true(d->has_ours);
    assert_true(d->our_written_bytes == (UNITS / SECONDS * SECONDS + 1ull) * RB_DATA_UNIT);
    assert_true(d->has_waf);
    assert_near(d->waf, 1.25);
    assert_true(d->throttled_s == 5);
    assert_true(d->media_errors == 1);
    assert_true(d->temperature_max == 81);
    assert_true(d->read_bytes == RB_HEALTH_UNKNOWN);
    assert_true(host->health->nmhz == 4 && host->health->mhz_min == 1999 &&
                host->health->mhz_max == 2030);
    assert_true(host->health->energy_uj == 3100 * 1000000ll);
    assert_true(host->health->energy_ns == 31 * (int64_t)S);
}

/* So little that the steps of the counter would be most of it. */
static void too_little_for_a_waf(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_health(&feed, 1, "/dev/a", (say_t){.units = 7, .physical = 0});
    feed_health(&feed, 1, "/dev/a",
                (say_t){RB_HEALTH_END, 1, 6 + RB_WAF_LEAST_UNITS, 90000000, 0, 0, 0, 0});
    RB_AUTO(rb_result_destroy) rb_result_t *result = result_of(&feed);
    assert_false(result->phases[0].hosts[0].drives[0].has_waf);
}

/* Two drives under one place: an array. Whose share was which is not known. */
static void an_array_has_no_share_of_ours(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    feed_health(&feed, 1, "/dev/a", (say_t){.units = 7});
    feed_health(&feed, 1, "/dev/b", (say_t){.units = 7});
    RB_AUTO(rb_result_destroy) rb_result_t *result = result_of(&feed);
    assert_int_equal(result->phases[0].hosts[0].ndrives, 2);
    assert_false(result->phases[0].hosts[0].drives[0].has_ours);
    assert_false(result->phases[0].hosts[0].drives[1].has_ours);
}

static uint32_t marks_at(const feed_t *feed, uint64_t index)
{
    const rb_series_t *series = &feed->fold->phases[0].series;
    for (size_t i = 0; i < series->nwindows; i++)
        if (series->windows[i].index == index) {
            uint32_t all = rb_result_window_health(feed->fold, 0, 0, &series->windows[i]);
            assert_int_equal(all, rb_result_window_health(feed->fold, 0, 1, &series->windows[i]));
            return all;
        }
    fail();
    return 0;
}

static void marks_of_the_series(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_phase(&feed);
    assert_int_equal(marks_at(&feed, 0), 0); /* the first reading came before it */
    assert_int_equal(marks_at(&feed, 9), 0);
    assert_int_equal(marks_at(&feed, 10), RB_WINDOW_READ | RB_WINDOW_THROTTLED);
    assert_int_equal(marks_at(&feed, 11), RB_WINDOW_THROTTLED);
    assert_int_equal(marks_at(&feed, 19), RB_WINDOW_THROTTLED);
    assert_int_equal(marks_at(&feed, 20), RB_WINDOW_READ | RB_WINDOW_THROTTLED);
    assert_int_equal(marks_at(&feed, 21), 0);
    assert_int_equal(marks_at(&feed, 29), 0);
}

static void expect_text(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void as_text(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_phase(&feed);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    expect_text(text, "drives: 1 x (no model), firmware F1\n");
    expect_text(text, "  drives: hottest 81 C (/dev/nvme0n1 of h01)\n");
    expect_text(text,
                "  drives: 488.3 MiB written by their own count (steps of 512 kB), ours 483.9 "
                "MiB; write amplification 1.25\n");
    expect_text(text, "  drive /dev/nvme0n1 of h01: slowed itself down to cool for 5 s, 1 media "
                      "errors\n");
    expect_text(text, "  processors: 100.0 W in all, packages of 1 host alone: not drives, not "
                      "chassis\n");
}

/* Those that differ from the many are named. */
static void the_odd_one_is_named(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 3);
    for (uint32_t h = 1; h <= 3; h++) {
        rb_health_drive_t drive = {.path = (char *)"/dev/nvme0n1",
                                   .serial = (char *)"S",
                                   .firmware = (char *)(h == 2 ? "F2" : "F1")};
        rb_row_health_t row = {.ndrives = 1, .drives = &drive, .cpu_mhz = RB_HEALTH_UNKNOWN};
        row.energy_uj = RB_HEALTH_UNKNOWN;
        feed_row(&feed, h, (rb_row_t){.kind = RB_ROW_HEALTH, .health = row});
    }
    RB_AUTO(rb_free_str) char *text = written(feed.fold, write_text);
    expect_text(text, "drives: 2 x (no model), firmware F1; 1 x (no model), firmware F2: "
                      "/dev/nvme0n1 of h02\n");
}

static void as_json(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_phase(&feed);
    RB_AUTO(rb_free_str) char *text = written(feed.fold, rb_report_json);
    json_t *root = json_loads(text, 0, NULL);
    json_t *phase = json_array_get(json_object_get(root, "phases"), 0);
    json_t *host = json_object_get(json_object_get(phase, "health"), "h01");
    json_t *drive = json_object_get(json_object_get(host, "drives"), "/dev/nvme0n1");
    json_t *carries = json_object_get(drive, "carries");
    assert_int_equal(json_array_size(carries), 1);
    assert_string_equal(json_string_value(json_array_get(carries, 0)), "s.0");
    json_t *moved = json_object_get(drive, "written");
    assert_int_equal(json_integer_value(json_object_get(moved, "drive_bytes")),
                     UNITS * RB_DATA_UNIT);
    assert_int_equal(json_integer_value(json_object_get(moved, "resolution_bytes")), RB_DATA_UNIT);
    assert_null(json_object_get(drive, "read")); /* not known: absent */
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(drive, "begin"), "data_units_written")),
        7);
    assert_int_equal(json_array_size(json_object_get(host, "readings")), 4);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(host, "energy"), "scope")), "package");
    assert_near(json_real_value(json_object_get(json_object_get(host, "energy"), "watts")), 100);
    json_t *window =
        json_array_get(json_object_get(json_object_get(phase, "series"), "cluster"), 10);
    assert_true(json_is_true(json_object_get(window, "drives_read")));
    assert_true(json_is_true(json_object_get(window, "throttled")));
    json_decref(root);
}

static void refused(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(feed_clear) feed_t feed = {0};
    feed_begin(&feed, feed_job(0, S, 0), 1);
    rb_disk_place_t place = {9, 0};
    rb_health_drive_t drive = {.path = (char *)"/dev/a", .nplaces = 1, .places = &place};
    rb_row_t row = {.kind = RB_ROW_HEALTH, .health = {.ndrives = 1, .drives = &drive}};
    assert_int_equal(feed_try(&feed, 1, &row, &err), -1);
    expect_text(err.text, "target 9 is not among the 1 of the plan");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deltas),
        cmocka_unit_test(too_little_for_a_waf),
        cmocka_unit_test(an_array_has_no_share_of_ours),
        cmocka_unit_test(marks_of_the_series),
        cmocka_unit_test(as_text),
        cmocka_unit_test(the_odd_one_is_named),
        cmocka_unit_test(as_json),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
