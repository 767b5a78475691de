#include "coordinator/report/json_parts.h"

static json_t *figures_json(const rb_health_drive_t *drive)
{
    json_t *o = json_object();
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++)
        if (drive->figure[i] != RB_HEALTH_UNKNOWN)
            json_object_set_new(o, rb_health_names[i], json_integer(drive->figure[i]));
    return o;
}

static void set_known(json_t *o, const char *key, int64_t value)
{
    if (value != RB_HEALTH_UNKNOWN)
        json_object_set_new(o, key, json_integer(value));
}

/* What the drive counted, and what we know to have done. */
static void set_moved(json_t *o, const char *key, int64_t drive_bytes, const rb_result_drive_t *d,
                      uint64_t our_bytes)
{
    if (drive_bytes == RB_HEALTH_UNKNOWN)
        return;
    json_t *moved = json_object();
    json_object_set_new(moved, "drive_bytes", json_integer(drive_bytes));
    json_object_set_new(moved, "resolution_bytes", json_integer(RB_DATA_UNIT));
    if (d->has_ours)
        json_object_set_new(moved, "our_bytes", rb_json_u64(our_bytes));
    json_object_set_new(o, key, moved);
}

/* At the end, at its slowest, and as it could be. */
static json_t *link_json(const rb_result_drive_t *d)
{
    return json_pack("{s:o,s:o,s:o,s:o,s:o,s:o}", "mts", rb_json_u64(d->end->link_mts), "width",
                     rb_json_u64(d->end->link_width), "least_mts", rb_json_u64(d->link.mts),
                     "least_width", rb_json_u64(d->link.width), "max_mts",
                     rb_json_u64(d->link.max_mts), "max_width", rb_json_u64(d->link.max_width));
}

static json_t *warnings_json(int64_t warnings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < RB_WARNINGS; i++)
        if ((warnings & rb_result_warnings[i].bit) != 0)
            json_array_append_new(list, json_string(rb_result_warnings[i].key));
    return list;
}

static json_t *drive_json(const rb_result_drive_t *d)
{
    json_t *o = json_object(), *carries = json_array();
    for (size_t i = 0; i < d->ncarries; i++)
        json_array_append_new(carries, rb_json_text(d->carries[i]));
    json_object_set_new(o, "carries", carries);
    json_object_set_new(o, "model", rb_json_text(d->identity != NULL ? d->identity->model : NULL));
    json_object_set_new(o, "serial", rb_json_text(d->end->serial));
    json_object_set_new(o, "firmware", rb_json_text(d->end->firmware));
    if (d->end->link_width > 0)
        json_object_set_new(o, "link", link_json(d));
    if (d->warnings != 0)
        json_object_set_new(o, "warnings", warnings_json(d->warnings));
    set_known(o, "power_state", d->begin->figure[RB_HEALTH_POWER_STATE]);
    set_known(o, "temperature_max_c", d->temperature_max);
    set_moved(o, "read", d->read_bytes, d, d->our_read_bytes);
    set_moved(o, "written", d->written_bytes, d, d->our_written_bytes);
    if (d->has_waf)
        json_object_set_new(o, "waf", json_real(d->waf));
    set_known(o, "throttled_s", d->throttled_s);
    set_known(o, "media_errors", d->media_errors);
    set_known(o, "used_percent", d->used_percent);
    json_object_set_new(o, "begin", figures_json(d->begin));
    json_object_set_new(o, "end", figures_json(d->end));
    return o;
}

static json_t *readings_json(const rb_fold_health_t *health)
{
    json_t *list = json_array();
    for (size_t i = 0; i < health->nreadings; i++) {
        const rb_fold_reading_t *r = &health->readings[i];
        json_t *o = json_pack("{s:I,s:o}", "at_ns", (json_int_t)r->at_ns, "took_ns",
                              rb_json_u64(r->took_ns));
        if (r->throttled)
            json_object_set_new(o, "throttled", json_true());
        json_array_append_new(list, o);
    }
    return list;
}

static void set_processors(json_t *o, const rb_fold_health_t *health)
{
    if (health->nmhz > 0)
        json_object_set_new(o, "cpu_mhz",
                            json_pack("{s:I,s:f,s:I}", "min", (json_int_t)health->mhz_min, "mean",
                                      (double)health->mhz_sum / (double)health->nmhz, "max",
                                      (json_int_t)health->mhz_max));
    if (health->energy_ns > 0)
        json_object_set_new(o, "energy",
                            json_pack("{s:s,s:f,s:f,s:f}", "scope", "package", "joules",
                                      (double)health->energy_uj / 1e6, "seconds",
                                      (double)health->energy_ns / 1e9, "watts",
                                      (double)health->energy_uj * 1e3 / (double)health->energy_ns));
}

json_t *rb_json_health(const rb_result_phase_t *phase)
{
    json_t *hosts = json_object();
    for (size_t i = 0; i < phase->nhosts; i++) {
        const rb_result_host_t *h = &phase->hosts[i];
        if (h->health->nreadings == 0)
            continue;
        json_t *o = json_object(), *drives = json_object();
        for (size_t k = 0; k < h->ndrives; k++)
            rb_json_set(drives, h->drives[k].begin->path, drive_json(&h->drives[k]));
        json_object_set_new(o, "drives", drives);
        json_object_set_new(o, "readings", readings_json(h->health));
        set_processors(o, h->health);
        rb_json_set(hosts, h->name, o);
    }
    return hosts;
}
