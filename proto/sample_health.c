#include "proto/sample_health.h"

const char *const rb_health_names[RB_HEALTH_COUNT] = {
    [RB_HEALTH_TEMPERATURE] = "temperature_c",
    [RB_HEALTH_SENSOR_MAX] = "hottest_sensor_c",
    [RB_HEALTH_WARNING] = "critical_warning",
    [RB_HEALTH_SPARE] = "available_spare_percent",
    [RB_HEALTH_SPARE_THRESHOLD] = "spare_threshold_percent",
    [RB_HEALTH_USED] = "percentage_used",
    [RB_HEALTH_UNITS_READ] = "data_units_read",
    [RB_HEALTH_UNITS_WRITTEN] = "data_units_written",
    [RB_HEALTH_HOST_READS] = "host_read_commands",
    [RB_HEALTH_HOST_WRITES] = "host_write_commands",
    [RB_HEALTH_POWER_ON_HOURS] = "power_on_hours",
    [RB_HEALTH_MEDIA_ERRORS] = "media_errors",
    [RB_HEALTH_WARM_MINUTES] = "warning_temperature_minutes",
    [RB_HEALTH_HOT_MINUTES] = "critical_temperature_minutes",
    [RB_HEALTH_THROTTLES_LIGHT] = "light_throttles",
    [RB_HEALTH_THROTTLES_HEAVY] = "heavy_throttles",
    [RB_HEALTH_THROTTLED_LIGHT] = "light_throttle_s",
    [RB_HEALTH_THROTTLED_HEAVY] = "heavy_throttle_s",
    [RB_HEALTH_PHYSICAL_WRITTEN] = "physical_written_bytes",
    [RB_HEALTH_POWER_STATE] = "power_state",
};

static void put_str(msgpack_packer *pk, const char *s, size_t max)
{
    size_t size = s == NULL ? 0 : strlen(s);
    RB_ASSERT(size <= max);
    msgpack_pack_str(pk, size);
    msgpack_pack_str_body(pk, s, size);
}

static void put_drive(msgpack_packer *pk, const rb_health_drive_t *d)
{
    msgpack_pack_array(pk, 9);
    put_str(pk, d->path, RB_MAX_ROW_TEXT);
    put_str(pk, d->serial, RB_MAX_NAME);
    put_str(pk, d->firmware, RB_MAX_NAME);
    RB_ASSERT(d->nplaces <= RB_MAX_ROW_DRIVES);
    msgpack_pack_array(pk, d->nplaces);
    for (size_t i = 0; i < d->nplaces; i++) {
        msgpack_pack_array(pk, 2);
        msgpack_pack_uint32(pk, d->places[i].target);
        msgpack_pack_uint32(pk, d->places[i].drive);
    }
    msgpack_pack_uint32(pk, d->link_mts);
    msgpack_pack_uint32(pk, d->link_width);
    msgpack_pack_uint32(pk, d->link_max_mts);
    msgpack_pack_uint32(pk, d->link_max_width);
    msgpack_pack_array(pk, RB_HEALTH_COUNT);
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++)
        msgpack_pack_int64(pk, d->figure[i]);
}

void rb_row_health_put(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_health_t *h = &row->health;
    msgpack_pack_uint32(pk, h->phase);
    msgpack_pack_uint32(pk, h->when);
    msgpack_pack_int64(pk, h->at_ns);
    msgpack_pack_uint64(pk, h->took_ns);
    RB_ASSERT(h->ndrives <= RB_MAX_HEALTH_DRIVES);
    msgpack_pack_array(pk, h->ndrives);
    for (size_t i = 0; i < h->ndrives; i++)
        put_drive(pk, &h->drives[i]);
    msgpack_pack_int64(pk, h->cpu_mhz);
    msgpack_pack_int64(pk, h->energy_uj);
}

static void take_places(rb_cursor_t *c, rb_health_drive_t *d)
{
    d->nplaces = rb_cursor_array(c, "places", RB_MAX_ROW_DRIVES, 3);
    d->places = rb_calloc(d->nplaces, sizeof(*d->places));
    for (size_t i = 0; i < d->nplaces && !c->failed; i++) {
        size_t more = rb_cursor_enter(c, "place", 2);
        d->places[i].target = rb_cursor_u32(c, "target", RB_MAX_TARGETS - 1);
        d->places[i].drive = rb_cursor_u32(c, "drive", RB_MAX_DRIVES - 1);
        rb_cursor_leave(c, more);
    }
}

/* Older rows have fewer figures, newer ones more. */
static void take_figures(rb_cursor_t *c, rb_health_drive_t *d)
{
    size_t n = rb_cursor_enter(c, "figures", 0);
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++) {
        d->figure[i] = n > 0 ? rb_cursor_i64(c, "figure", INT64_MIN, INT64_MAX) : RB_HEALTH_UNKNOWN;
        n -= n > 0;
    }
    rb_cursor_leave(c, n);
}

static void take_drive(rb_cursor_t *c, rb_health_drive_t *d)
{
    size_t more = rb_cursor_enter(c, "drive", 9);
    d->path = rb_cursor_str(c, "path", RB_MAX_ROW_TEXT);
    d->serial = rb_cursor_str(c, "serial", RB_MAX_NAME);
    d->firmware = rb_cursor_str(c, "firmware", RB_MAX_NAME);
    take_places(c, d);
    d->link_mts = rb_cursor_u32(c, "link_mts", UINT32_MAX);
    d->link_width = rb_cursor_u32(c, "link_width", UINT32_MAX);
    d->link_max_mts = rb_cursor_u32(c, "link_max_mts", UINT32_MAX);
    d->link_max_width = rb_cursor_u32(c, "link_max_width", UINT32_MAX);
    take_figures(c, d);
    rb_cursor_leave(c, more);
}

void rb_row_health_take(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_health_t *h = &row->health;
    h->phase = rb_cursor_u32(c, "phase", RB_MAX_PHASES - 1);
    h->when = (rb_health_when_t)rb_cursor_u32(c, "when", RB_HEALTH_WHENS - 1);
    h->at_ns = rb_cursor_i64(c, "at_ns", INT64_MIN, INT64_MAX);
    h->took_ns = rb_cursor_u64(c, "took_ns", UINT64_MAX);
    h->ndrives = rb_cursor_array(c, "drives", RB_MAX_HEALTH_DRIVES, 10);
    h->drives = rb_calloc(h->ndrives, sizeof(*h->drives));
    for (size_t i = 0; i < h->ndrives && !c->failed; i++) {
        take_drive(c, &h->drives[i]);
        if (c->failed)
            rb_err_wrap(c->err, "drive %zu", i);
    }
    h->cpu_mhz = rb_cursor_i64(c, "cpu_mhz", INT64_MIN, INT64_MAX);
    h->energy_uj = rb_cursor_i64(c, "energy_uj", INT64_MIN, INT64_MAX);
}

void rb_health_drive_clear(rb_health_drive_t *drive)
{
    free(drive->path);
    free(drive->serial);
    free(drive->firmware);
    free(drive->places);
    *drive = (rb_health_drive_t){0};
}
