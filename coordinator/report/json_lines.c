#include "coordinator/report/json_lines.h"
#include "coordinator/report/json_parts.h"

static json_t *line_of(const char *type)
{
    json_t *o = json_object();
    json_object_set_new(o, "type", json_string(type));
    return o;
}

static void put(FILE *out, json_t *o)
{
    json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(15));
    fputc('\n', out);
    fflush(out);
    json_decref(o);
}

static json_t *phase_json(const rb_fold_t *fold, int32_t phase)
{
    const Rackbench__Phase *p = phase < 0 ? NULL : rb_fold_plan_phase(fold, (uint32_t)phase);
    return rb_json_text(p == NULL ? NULL : p->name);
}

void rb_json_line_state(FILE *out, const char *word, const char *phase, uint32_t step)
{
    json_t *o = line_of("state");
    json_object_set_new(o, "state", rb_json_text(word));
    json_object_set_new(o, "phase", rb_json_text(phase));
    if (step > 0)
        json_object_set_new(o, "step", rb_json_u64(step));
    put(out, o);
}

void rb_json_line_window(FILE *out, const rb_fold_t *fold, uint32_t phase,
                         const rb_window_t *window)
{
    json_t *o = line_of("window"), *w = rb_json_window(fold, phase, window);
    uint64_t at_ns, length_ns;
    rb_fold_window_time(fold, phase, window, &at_ns, &length_ns);
    json_object_set_new(o, "phase", phase_json(fold, (int32_t)phase));
    if (rb_fold_is_step(fold, phase))
        json_object_set_new(o, "step", rb_json_u64(fold->phases[phase].step));
    json_object_set_new(o, "wall_ns", rb_json_u64(fold->phases[phase].t0_wall_ns + at_ns));
    json_object_update(o, w);
    json_decref(w);
    put(out, o);
}

void rb_json_line_event(FILE *out, const rb_fold_t *fold, const rb_fold_event_t *event)
{
    json_t *o = line_of("event");
    json_object_set_new(o, "phase", phase_json(fold, event->phase));
    if (!event->absolute)
        json_object_set_new(o, "at_ns", json_integer(event->at_ns));
    json_object_set_new(o, "host", rb_json_text(rb_fold_host_name(fold, event->host)));
    json_object_set_new(o, "kind", rb_json_text(event->kind));
    json_object_set_new(o, "text", rb_json_text(event->text));
    put(out, o);
}

void rb_json_line_result(FILE *out, const rb_result_t *result, int exit_code, const char *text)
{
    json_t *o = line_of("result"), *phases = json_array();
    for (size_t i = 0; i < result->nphases; i++) {
        const rb_result_phase_t *p = &result->phases[i];
        json_t *phase = json_pack("{s:o,s:o}", "name", rb_json_text(p->name), "cluster",
                                  rb_json_stats(&p->cluster));
        if (p->step > 0)
            json_object_set_new(phase, "step", rb_json_u64(p->step));
        json_array_append_new(phases, phase);
    }
    json_object_set_new(o, "run",
                        json_pack("{s:o,s:o,s:o}", "id", rb_json_text(result->id), "name",
                                  rb_json_text(result->name), "status",
                                  rb_json_text(result->status)));
    json_object_set_new(o, "exit_code", json_integer(exit_code));
    json_object_set_new(o, "text", rb_json_text(text));
    json_object_set_new(o, "phases", phases);
    put(out, o);
}
