/* test_health_rows.c - readings as rows, and the events behind them: across phases of a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/health_rows.h"

static char told[1024]; /* "health N", "PHASE AT_NS KIND", a line each */

static void hear(void *ctx, rb_row_t *row)
{
    size_t used = strlen(told);
    assert_ptr_equal(ctx, told);
    if (row->kind == RB_ROW_HEALTH)
        snprintf(told + used, sizeof(told) - used, "health %zu\n", row->health.ndrives);
    else
        snprintf(told + used, sizeof(told) - used, "%d %lld %s\n", row->event.phase,
                 (long long)row->event.at_ns, row->event.kind);
}

typedef struct {
    uint32_t phase;
    rb_health_when_t when;
    uint32_t lanes;
    int64_t temperature;
} say_t;

static void read_once(rb_health_rows_t *rows, say_t say, const char *expected)
{
    rb_row_t row = {.kind = RB_ROW_HEALTH,
                    .health = {.phase = say.phase, .when = say.when, .at_ns = 7, .ndrives = 1}};
    row.health.drives = rb_calloc(1, sizeof(*row.health.drives));
    row.health.drives[0] = (rb_health_drive_t){.path = rb_strdup("/dev/nvme0n1"),
                                               .serial = rb_strdup("S1"),
                                               .firmware = rb_strdup("F1"),
                                               .link_mts = 16000,
                                               .link_width = say.lanes,
                                               .link_max_mts = 16000,
                                               .link_max_width = 4};
    row.health.drives[0].figure[RB_HEALTH_TEMPERATURE] = say.temperature;
    row.health.drives[0].figure[RB_HEALTH_SENSOR_MAX] = RB_HEALTH_UNKNOWN;
    told[0] = '\0';
    rb_health_rows_emit(rows, &row, hear, told);
    rb_row_clear(&row);
    assert_string_equal(told, expected);
}

static void a_lane_lost_between_phases(void **state)
{
    (void)state;
    RB_AUTO(rb_health_rows_clear) rb_health_rows_t rows = {0};
    read_once(&rows, (say_t){0, RB_HEALTH_BEGIN, 4, 40}, "health 1\n");
    read_once(&rows, (say_t){0, RB_HEALTH_END, 4, 40}, "health 1\n");
    read_once(&rows, (say_t){1, RB_HEALTH_BEGIN, 2, 40}, "health 1\n1 7 link\n");
    read_once(&rows, (say_t){1, RB_HEALTH_END, 2, 40}, "health 1\n");
    assert_int_equal(rows.nknown, 1);
}

static void the_temperature_that_ends_a_phase(void **state)
{
    (void)state;
    RB_AUTO(rb_health_rows_clear) rb_health_rows_t rows = {0};
    read_once(&rows, (say_t){0, RB_HEALTH_BEGIN, 4, 99}, "health 1\n");
    assert_int_equal(rows.fault.code, RB_OK); /* there is no limit */
    rows.stop_c = 75;
    read_once(&rows, (say_t){0, RB_HEALTH_DURING, 4, 74}, "health 1\n");
    read_once(&rows, (say_t){0, RB_HEALTH_END, 4, 80}, "health 1\n");
    assert_int_equal(rows.fault.code, RB_OK); /* not reached while it could end the phase */
    read_once(&rows, (say_t){0, RB_HEALTH_DURING, 4, 75}, "health 1\n");
    assert_int_equal(rows.fault.code, RB_ERR_IO);
    assert_string_equal(rows.fault.text,
                        "/dev/nvme0n1 (S/N S1) is at 75 C, and stop_when ends the phase at 75 C");
    read_once(&rows, (say_t){0, RB_HEALTH_DURING, 4, 90}, "health 1\n");
    assert_non_null(strstr(rows.fault.text, "at 75 C, and")); /* the first reason stays */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_lost_between_phases),
        cmocka_unit_test(the_temperature_that_ends_a_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
