#include "coordinator/report/json_parts.h"

static json_t *reading_json(const rb_result_phase_t *phase, const rb_result_watts_t *w)
{
    json_t *o = json_object();
    json_object_set_new(o, "host", rb_json_text(w->host != NULL ? w->host : "*"));
    json_object_set_new(o, "scope", json_string(rb_power_scopes[w->scope]));
    json_object_set_new(o, "readings", rb_json_u64(w->nreadings));
    if (w->nsummed > 0)
        json_object_set_new(o, "sum_of_hosts", rb_json_u64(w->nsummed));
    json_object_set_new(o, "watts", json_real(w->watts));
    json_object_set_new(o, "covered_share", json_real(w->seconds / phase->seconds));
    if (w->seconds > 0)
        json_object_set_new(o, "joules", json_real(w->joules));
    if (w->has_rates) {
        json_object_set_new(o, "iops_per_watt", json_real(w->iops_per_watt));
        json_object_set_new(o, "bytes_per_s_per_watt", json_real(w->bytes_per_s_per_watt));
    }
    return o;
}

json_t *rb_json_watts(const rb_result_phase_t *phase)
{
    json_t *list = json_array();
    for (size_t i = 0; i < phase->nwatts; i++)
        json_array_append_new(list, reading_json(phase, &phase->watts[i]));
    return list;
}
