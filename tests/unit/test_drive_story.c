/* test_drive_story.c - a drive that gets hot, wears and loses PCIe lanes while a phase runs, all
 * the way: pages as a drive sends them and a captured sysfs, through the agent's decoder, judge and
 * rows, to the coordinator's journal, fold, result, table and JSON. */
#include "tests/unit/report_rows.h"
#include "tests/unit/sysfs_tree.h"

#include "agent/drive_facts.h"
#include "agent/health_rows.h"
#include "agent/nvme_page.h"
#include "coordinator/report/json.h"

#include <jansson.h>

#define PCI  "devices/pci0000:80/0000:80:01.1/0000:81:00.0"
#define DISK PCI "/nvme/nvme0/nvme0n1"

/* What changes in the SMART page (NVM Express Base Specification 2.0, figure 207). */
typedef struct {
    rb_health_when_t when;
    uint64_t at_s;
    const char *lanes;
    uint16_t kelvin;
    uint8_t warning, used, media, throttled_s;
} reading_t;

static const reading_t story[] = {
    {RB_HEALTH_BEGIN, 0, "4", 313, 0, 41, 0, 0},
    {RB_HEALTH_DURING, 10, "4", 344, RB_WARNING_TEMPERATURE, 41, 0, 0},
    {RB_HEALTH_DURING, 20, "2", 351, RB_WARNING_TEMPERATURE, 41, 0, 7},
    {RB_HEALTH_END, 30, "4", 330, 0, 42, 3, 9},
};

typedef struct {
    feed_t feed;
    rb_health_rows_t rows;
    char *sysfs;
} journal_t;

static void emit(void *ctx, rb_row_t *row)
{
    journal_t *j = ctx;
    rb_err_t err;
    row->seq = 0;
    if (feed_try(&j->feed, 1, row, &err) != 0)
        fail_msg("%s", err.text);
}

static void read_page(const reading_t *r, int64_t figure[RB_HEALTH_COUNT])
{
    uint8_t page[RB_NVME_LOG_BYTES] = {
        r->warning, (uint8_t)(r->kelvin & 0xff), (uint8_t)(r->kelvin >> 8), 100, 10, r->used};
    page[160] = r->media;
    page[224] = r->throttled_s;
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++)
        figure[i] = RB_HEALTH_UNKNOWN;
    rb_nvme_smart_decode(page, figure);
}

static void read_drive(journal_t *j, const reading_t *r)
{
    RB_AUTO(rb_free_str) char *disk = rb_asprintf("%s/%s", j->sysfs, DISK);
    rb_row_t row = {.kind = RB_ROW_HEALTH,
                    .health = {.when = r->when,
                               .at_ns = (int64_t)(r->at_s * S),
                               .ndrives = 1,
                               .drives = rb_calloc(1, sizeof(rb_health_drive_t)),
                               .cpu_mhz = RB_HEALTH_UNKNOWN,
                               .energy_uj = RB_HEALTH_UNKNOWN}};
    sysfs_set(j->sysfs, PCI "/current_link_width", r->lanes);
    rb_drive_link_t link = rb_drive_facts_link(disk);
    row.health.drives[0] = (rb_health_drive_t){.path = rb_strdup("/dev/nvme0n1"),
                                               .serial = rb_drive_facts_serial(disk),
                                               .firmware = rb_drive_facts_firmware(disk),
                                               .link_mts = link.mts,
                                               .link_width = link.width,
                                               .link_max_mts = link.max_mts,
                                               .link_max_width = link.max_width};
    read_page(r, row.health.drives[0].figure);
    rb_health_rows_emit(&j->rows, &row, emit, j);
    rb_row_clear(&row);
}

static void journal_clear(journal_t *j)
{
    feed_clear(&j->feed);
    rb_health_rows_clear(&j->rows);
    sysfs_remove(&j->sysfs);
}

static journal_t the_story(void)
{
    journal_t j = {.sysfs = sysfs_make("nvme")};
    feed_begin(&j.feed, feed_job(0, 30 * S, 0), 1);
    for (size_t i = 0; i < RB_LEN(story); i++) {
        read_drive(&j, &story[i]);
        for (uint64_t k = story[i].at_s; k < story[i].at_s + 10 && k < 30; k++)
            feed_reads(&j.feed, 1, k, 10, false);
    }
    feed_worker(&j.feed, 1, feed_worker_row());
    feed_end(&j.feed, INT64_MAX, 0);
    return j;
}

static void in_the_events(void **state)
{
    (void)state;
    static const struct {
        uint64_t at_s;
        const char *kind, *text;
    } expected[] = {
        {10, "hot", "above its warning temperature; now 71 C"},
        {20, "link", "its PCIe link is x2 at 16.0 GT/s now, x4 at 16.0 GT/s before"},
        {20, "throttled", "it slows itself down to cool (7 s since the reading before"},
        {30, "link", "its PCIe link is x4 at 16.0 GT/s now, x2 at 16.0 GT/s before"},
        {30, "media_errors", "3 more media errors, 3 in its life"},
        {30, "wear", "42 % of its rated life are used, 41 % before"},
    };
    RB_AUTO(journal_clear) journal_t j = the_story();
    RB_AUTO(rb_result_destroy) rb_result_t *result = result_of(&j.feed);
    assert_int_equal(result->nevents, RB_LEN(expected));
    for (size_t i = 0; i < result->nevents; i++) {
        const rb_result_event_t *e = &result->events[i];
        assert_string_equal(e->kind, expected[i].kind);
        assert_true(e->at_ns == (int64_t)(expected[i].at_s * S));
        assert_non_null(strstr(e->text, "/dev/nvme0n1 (S/N "));
        if (strstr(e->text, expected[i].text) == NULL)
            fail_msg("'%s' is not in: %s", expected[i].text, e->text);
    }
}

static void in_the_table(void **state)
{
    (void)state;
    RB_AUTO(journal_clear) journal_t j = the_story();
    RB_AUTO(rb_free_str) char *text = written(j.feed.fold, write_text);
    static const char *const lines[] = {
        "  drives: hottest 78 C (/dev/nvme0n1 of h01)\n",
        "  drive /dev/nvme0n1 of h01: above its warning temperature, slowed itself down to cool "
        "for 9 s, 3 media errors, 1 % more of its rated life used, PCIe link at x2 of x4, 16.0 of "
        "16.0 GT/s\n"};
    for (size_t i = 0; i < RB_LEN(lines); i++)
        if (strstr(text, lines[i]) == NULL)
            fail_msg("%s is not in\n%s", lines[i], text);
}

static int64_t number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

static void in_json(void **state)
{
    (void)state;
    RB_AUTO(journal_clear) journal_t j = the_story();
    RB_AUTO(rb_free_str) char *text = written(j.feed.fold, rb_report_json);
    json_t *root = json_loads(text, 0, NULL);
    json_t *phase = json_array_get(json_object_get(root, "phases"), 0);
    json_t *health = json_object_get(json_object_get(phase, "health"), "h01");
    json_t *drive = json_object_get(json_object_get(health, "drives"), "/dev/nvme0n1");
    json_t *link = json_object_get(drive, "link");
    json_t *warnings = json_object_get(drive, "warnings");
    json_t *series = json_object_get(json_object_get(phase, "series"), "cluster");
    assert_true(number(link, "width") == 4 && number(link, "least_width") == 2 &&
                number(link, "max_width") == 4);
    assert_int_equal(json_array_size(warnings), 1);
    assert_string_equal(json_string_value(json_array_get(warnings, 0)), "temperature");
    assert_true(number(drive, "temperature_max_c") == 78 && number(drive, "throttled_s") == 9 &&
                number(drive, "media_errors") == 3 && number(drive, "used_percent") == 1);
    for (size_t k = 0; k < 30; k++) { /* the seconds that it throttled in, and the readings */
        json_t *window = json_array_get(series, k);
        assert_int_equal(json_is_true(json_object_get(window, "throttled")), k >= 10);
        assert_int_equal(json_is_true(json_object_get(window, "drives_read")),
                         k == 0 || k == 10 || k == 20);
    }
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_the_events),
        cmocka_unit_test(in_the_table),
        cmocka_unit_test(in_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
