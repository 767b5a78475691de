#include "coordinator/report/json_parts.h"

static json_t *cpu_json(const rb_result_cpu_t *cpu)
{
    json_t *o = json_object();
    json_object_set_new(o, "seconds", json_real(cpu->seconds));
    json_object_set_new(o, "cpus", rb_json_u64(cpu->ncpus));
    json_object_set_new(o, "busy", json_real(cpu->busy));
    json_object_set_new(o, "busy_max", json_real(cpu->busy_max));
    json_object_set_new(o, "busy_max_cpu", rb_json_u64(cpu->busy_max_cpu));
    json_object_set_new(o, "softirq_max", json_real(cpu->softirq_max));
    json_object_set_new(o, "softirq_max_cpu", rb_json_u64(cpu->softirq_max_cpu));
    json_object_set_new(o, "steal", json_real(cpu->steal));
    json_object_set_new(o, "worker_cpus", rb_json_u64(cpu->worker_cpus));
    json_object_set_new(o, "worker_busy_min", json_real(cpu->worker_busy_min));
    json_object_set_new(o, "agent", json_real(cpu->agent));
    json_object_set_new(o, "other_threads", json_real(cpu->others));
    return o;
}

static json_t *limits_json(unsigned limits)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < RB_LIMITS; i++)
        if (limits & 1u << i)
            json_array_append_new(list, json_string(rb_limit_names[i]));
    return list;
}

/* A CPU each, or how many they share. */
static void set_cpus(json_t *o, const rb_result_place_t *place)
{
    json_object_set_new(o, "cpus", rb_json_u64(place->workers[0].ncpus));
    if (place->workers[0].cpu < 0)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < place->nworkers; i++)
        json_array_append_new(list, json_integer(place->workers[i].cpu));
    json_object_set_new(o, "cpu", list);
}

static json_t *place_json(const rb_result_place_t *place)
{
    const rb_worker_place_t *first = &place->workers[0];
    json_t *o = json_object();
    json_object_set_new(o, "job", rb_json_text(place->job));
    json_object_set_new(o, "drive", rb_json_text(place->drive));
    json_object_set_new(o, "worker", rb_json_u64(first->worker));
    json_object_set_new(o, "workers", rb_json_u64(place->nworkers));
    json_object_set_new(o, "how", json_string(rb_place_names[first->how]));
    set_cpus(o, place);
    if (first->node >= 0)
        json_object_set_new(o, "node", json_integer(first->node));
    if (first->drive_node >= 0)
        json_object_set_new(o, "drive_node", json_integer(first->drive_node));
    return o;
}

void rb_json_set_cpu(json_t *object, const rb_result_host_t *host)
{
    if (host->cpu.ncpus > 0)
        json_object_set_new(object, "cpu", cpu_json(&host->cpu));
    if (host->limits != 0)
        json_object_set_new(object, "client_bound", limits_json(host->limits));
    if (host->nplaces == 0)
        return;
    json_t *list = json_array();
    for (size_t i = 0; i < host->nplaces; i++)
        json_array_append_new(list, place_json(&host->places[i]));
    json_object_set_new(object, "placement", list);
}
