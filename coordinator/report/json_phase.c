#include "coordinator/report/json_parts.h"
#include "coordinator/report/words.h"

static json_t *marks_json(const rb_result_phase_t *phase)
{
    json_t *list = json_array();
    for (size_t i = 0; i < phase->nmarks; i++)
        json_array_append_new(list, json_string(phase->marks[i]));
    return list;
}

static json_t *targets_json(const rb_result_host_t *host)
{
    json_t *targets = json_object();
    for (size_t i = 0; i < host->ntargets; i++) {
        const rb_result_target_t *t = &host->targets[i];
        json_t *o = json_object();
        json_object_set_new(o, "total", rb_json_stats(&t->total));
        json_object_set_new(o, "drives", rb_json_named(t->drives, t->ndrives));
        rb_json_set(targets, t->name, o);
    }
    return targets;
}

static json_t *hosts_json(const rb_result_phase_t *phase)
{
    json_t *hosts = json_object();
    for (size_t i = 0; i < phase->nhosts; i++) {
        const rb_result_host_t *h = &phase->hosts[i];
        json_t *o = json_object();
        if (h->lost)
            json_object_set_new(o, "lost",
                                json_pack("{s:o,s:o}", "after_ns", rb_json_u64(h->lost_after_ns),
                                          "why", rb_json_text(h->lost_why)));
        json_object_set_new(o, "seconds", json_real(h->seconds));
        json_object_set_new(o, "total", rb_json_stats(&h->total));
        json_object_set_new(o, "jobs", rb_json_named(h->jobs, h->njobs));
        json_object_set_new(o, "targets", targets_json(h));
        rb_json_set_cpu(o, h);
        rb_json_set(hosts, h->name, o);
    }
    return hosts;
}

static json_t *kernel_json(const rb_result_phase_t *phase)
{
    static const char *const names[] = {"read", "write", "discard"};
    json_t *kernel = json_object();
    for (size_t i = 0; i < phase->nhosts; i++) {
        const rb_result_host_t *h = &phase->hosts[i];
        json_t *drives = json_object();
        for (size_t k = 0; k < h->nkernels; k++) {
            json_t *drive = json_object();
            for (size_t op = 0; op < RB_LEN(names); op++)
                json_object_set_new(drive, names[op],
                                    json_pack("{s:o,s:o}", "ios",
                                              rb_json_u64(h->kernels[k].op[op].ios), "sectors",
                                              rb_json_u64(h->kernels[k].op[op].sectors)));
            rb_json_set(drives, h->kernels[k].path, drive);
        }
        rb_json_set(kernel, h->name, drives);
    }
    return kernel;
}

static json_t *start_json(const rb_result_phase_t *phase)
{
    json_t *lateness = json_object(), *first = json_object(), *last = json_object();
    for (size_t i = 0; i < phase->nhosts; i++) {
        const rb_result_host_t *h = &phase->hosts[i];
        if (!h->has_start)
            continue;
        rb_json_set(lateness, h->name, json_integer(h->start.lateness_ns));
        rb_json_set(first, h->name, json_integer(h->start.first_io_ns));
        rb_json_set(last, h->name, json_integer(h->start.last_first_io_ns));
    }
    json_t *o = json_object();
    /* With one host of several left there is nothing to compare. */
    if (phase->start_hosts > 1 || phase->start_of == 1) {
        json_object_set_new(o, "skew_ns", rb_json_u64(phase->skew_ns));
        json_object_set_new(o, "bound_ns", rb_json_u64(phase->skew_bound_ns));
    }
    json_object_set_new(o, "hosts", rb_json_u64(phase->start_hosts));
    json_object_set_new(o, "lateness_ns", lateness);
    json_object_set_new(o, "first_io_ns", first);
    json_object_set_new(o, "last_first_io_ns", last);
    return o;
}

static json_t *point_json(const rb_result_phase_t *phase)
{
    json_t *o = json_object();
    for (size_t i = 0; i < phase->npoint; i++)
        rb_json_set(o, phase->point[i].key.text,
                    phase->point[i].is_number ? rb_json_u64(phase->point[i].number)
                                              : rb_json_text(phase->point[i].text));
    return o;
}

static json_t *what_json(const rb_result_phase_t *phase)
{
    json_t *o = json_object();
    for (size_t i = 0; i < phase->njobs; i++)
        rb_json_set(o, phase->jobs[i].name, rb_json_text(phase->what[i]));
    return o;
}

static json_t *end_json(const rb_result_phase_t *phase)
{
    json_t *o = json_object();
    if (phase->has_end && (phase->start_hosts > 1 || phase->start_of == 1)) {
        json_object_set_new(o, "skew_ns", rb_json_u64(phase->end_skew_ns));
        json_object_set_new(o, "bound_ns", rb_json_u64(phase->end_bound_ns));
    }
    if (phase->end_reason != NULL)
        json_object_set_new(o, "reason", rb_json_text(phase->end_reason));
    return o;
}

static json_t *interval_json(const rb_result_phase_t *phase)
{
    json_t *o = json_pack("{s:o,s:o}", "start_ns", rb_json_u64(phase->start_ns), "end_ns",
                          rb_json_u64(phase->end_ns));
    if (phase->seconds > 0)
        json_object_set_new(o, "common_share", json_real(phase->common_share));
    return o;
}

static json_t *to_last_json(const rb_result_phase_t *phase)
{
    return json_pack("{s:f,s:o,s:o}", "seconds", phase->to_last_seconds, "ops",
                     rb_json_u64(phase->to_last.ops), "bytes", rb_json_u64(phase->to_last.bytes));
}

/* What a measured phase and a prepare have in common. */
static void set_scopes(json_t *o, const rb_result_phase_t *phase)
{
    json_object_set_new(o, "cluster", rb_json_stats(&phase->cluster));
    json_object_set_new(o, "jobs", rb_json_named(phase->jobs, phase->njobs));
    json_object_set_new(o, "groups", rb_json_named(phase->groups, phase->ngroups));
    json_object_set_new(o, "hosts", hosts_json(phase));
}

json_t *rb_json_phase(const rb_result_t *result, const rb_result_phase_t *phase)
{
    char started[RB_STAMP_SIZE];
    json_t *o = json_object();
    json_object_set_new(o, "name", rb_json_text(phase->name));
    if (phase->step > 0)
        json_object_set_new(o, "step", rb_json_u64(phase->step));
    if (phase->npoint > 0)
        json_object_set_new(o, "point", point_json(phase));
    json_object_set_new(o, "what", what_json(phase));
    json_object_set_new(o, "started", json_string(rb_words_stamp(started, phase->t0_wall_ns)));
    if (phase->has_idle)
        json_object_set_new(o, "idle_before_ns", rb_json_u64(phase->idle_before_ns));
    json_object_set_new(o, "written_before_bytes", rb_json_u64(phase->written_before_bytes));
    json_object_set_new(o, "seconds", json_real(phase->seconds));
    json_object_set_new(o, "marks", marks_json(phase));
    json_object_set_new(o, "interval", interval_json(phase));
    if (phase->has_start)
        json_object_set_new(o, "start", start_json(phase));
    if (phase->has_end || phase->end_reason != NULL)
        json_object_set_new(o, "end", end_json(phase));
    if (phase->steady != NULL)
        json_object_set_new(o, "steady_state", rb_json_steady(result, phase->steady));
    set_scopes(o, phase);
    json_object_set_new(o, "kernel", kernel_json(phase));
    json_object_set_new(o, "stragglers", rb_json_stragglers(phase));
    json_object_set_new(o, "health", rb_json_health(phase));
    if (phase->nwatts > 0)
        json_object_set_new(o, "watts", rb_json_watts(phase));
    if (phase->kv.present)
        json_object_set_new(o, "kv", rb_json_kv(&phase->kv));
    if (phase->has_to_last)
        json_object_set_new(o, "to_last", to_last_json(phase));
    if (phase->has_little)
        json_object_set_new(o, "little", json_real(phase->little));
    if (phase->little_verdict != NULL)
        json_object_set_new(o, "little_verdict", json_string(phase->little_verdict));
    json_object_set_new(o, "series", rb_json_series(result, phase));
    return o;
}

static json_t *fill_json(const rb_result_t *result, const rb_result_phase_t *phase)
{
    json_t *o = rb_json_phase(result, phase);
    json_object_set_new(o, "kind", json_string(phase->discards ? "discard" : "fill"));
    json_object_set_new(o, "passes", rb_json_u64(phase->passes));
    return o;
}

json_t *rb_json_prepare(const rb_result_t *result, const rb_result_phase_t *phase)
{
    if (phase->passes > 0)
        return fill_json(result, phase);
    json_t *o = json_object();
    json_object_set_new(o, "name", rb_json_text(phase->name));
    json_object_set_new(o, "kind", json_string("layout"));
    json_object_set_new(o, "seconds", json_real(phase->seconds));
    json_object_set_new(o, "files",
                        json_pack("{s:o,s:o}", "laid_out", rb_json_u64(phase->laid_out), "reused",
                                  rb_json_u64(phase->reused)));
    set_scopes(o, phase);
    return o;
}
