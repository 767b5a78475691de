#include "coordinator/report/json_parts.h"

#include <math.h>

static json_t *drive_json(const rb_steady_t *steady, const rb_steady_drive_t *drive)
{
    json_t *o = json_object(), *values = json_array();
    for (uint32_t i = 0; i < steady->rounds; i++)
        json_array_append_new(values,
                              isnan(drive->values[i]) ? json_null() : json_real(drive->values[i]));
    if (drive->latched > 0)
        json_object_set_new(o, "round", rb_json_u64(drive->latched));
    if (drive->fit.mean > 0)
        json_object_update_new(o, json_pack("{s:f,s:f,s:f,s:f,s:f}", "mean", drive->fit.mean,
                                            "range", drive->fit.range, "excursion",
                                            drive->fit.excursion, "deviation", drive->fit.deviation,
                                            "slope", drive->fit.slope));
    json_object_set_new(o, "held", json_boolean(drive->fit.holds));
    json_object_set_new(o, "rounds", values);
    return o;
}

static json_t *drives_json(const rb_result_t *result, const rb_steady_t *steady)
{
    json_t *hosts = json_object();
    for (size_t i = 0; i < steady->ndrives; i++) {
        const rb_steady_drive_t *d = &steady->drives[i];
        const char *name = rb_fold_host_name(result->fold, d->host);
        if (json_object_get(hosts, name) == NULL)
            rb_json_set(hosts, name, json_object());
        rb_json_set(json_object_get(hosts, name), d->path, drive_json(steady, d));
    }
    return hosts;
}

json_t *rb_json_steady(const rb_result_t *result, const rb_steady_t *steady)
{
    json_t *o = json_object();
    json_object_set_new(o, "metric", rb_json_text(steady->as->metric));
    json_object_set_new(o, "round_ns", rb_json_u64(steady->as->round_ns));
    json_object_set_new(o, "window", rb_json_u64(steady->rule.window));
    json_object_set_new(o, "max", rb_json_u64(steady->as->max));
    json_object_set_new(o, "reached", json_boolean(steady->reached));
    json_object_set_new(o, "first_round", rb_json_u64(steady->first));
    json_object_set_new(o, "last_round", rb_json_u64(steady->last));
    json_object_set_new(o, "hosts", drives_json(result, steady));
    return o;
}
