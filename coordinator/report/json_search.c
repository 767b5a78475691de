#include "coordinator/report/json_parts.h"

static json_t *step_json(const rb_result_search_t *search, const rb_result_step_t *step)
{
    json_t *o = json_object();
    json_object_set_new(o, "step", json_integer(step - search->steps + 1));
    if (search->over_speed) {
        json_object_set_new(o, "speed", json_real((double)step->row->rate_iops / 1e6));
        json_object_set_new(o, "requests_per_s", json_real(step->achieved_iops));
        json_object_set_new(o, "restored_bytes_per_s", json_real(step->restored_bytes_per_s));
    } else if (step->row->rate_iops > 0) {
        json_object_set_new(o, "rate_iops", rb_json_u64(step->row->rate_iops));
        json_object_set_new(o, "offered_iops", json_real(step->offered_iops));
    }
    if (!search->over_speed)
        json_object_set_new(o, "achieved_iops", json_real(step->achieved_iops));
    if (step->row->ops > 0)
        json_object_set_new(o, "quantile_ns", rb_json_u64(step->row->quantile_ns));
    json_object_set_new(o, "uncertain", json_boolean(step->row->uncertain));
    json_object_set_new(o, "kept", json_boolean(step->row->kept));
    json_object_set_new(o, "cut", json_boolean(step->cut));
    return o;
}

/* Of the best step. */
static void set_best(json_t *o, const rb_result_search_t *search, const rb_result_step_t *best)
{
    if (search->over_speed) {
        double speed = (double)best->row->rate_iops / 1e6;
        json_object_set_new(o, "speed", json_real(speed));
        json_object_set_new(o, "requests_per_s", json_real(best->achieved_iops));
        json_object_set_new(o, "restored_bytes_per_s", json_real(best->restored_bytes_per_s));
        json_object_set_new(o, "headroom", json_real(speed / search->planned_speed));
    } else {
        json_object_set_new(o, "rate_iops", rb_json_u64(best->row->rate_iops));
        json_object_set_new(o, "achieved_iops", json_real(best->achieved_iops));
    }
    json_object_set_new(o, "quantile_ns", rb_json_u64(best->row->quantile_ns));
    json_object_set_new(o, "uncertain", json_boolean(best->row->uncertain));
}

static json_t *steps_json(const rb_result_search_t *search)
{
    json_t *steps = json_array();
    for (size_t i = 0; i < search->nsteps; i++)
        json_array_append_new(steps, step_json(search, &search->steps[i]));
    return steps;
}

json_t *rb_json_search(const rb_result_search_t *search)
{
    json_t *o = json_object();
    json_object_set_new(o, "phase", rb_json_text(search->phase));
    json_object_set_new(o, "job", rb_json_text(search->job));
    if (search->over_speed)
        json_object_set_new(o, "over", json_string("speed"));
    json_object_set_new(o, "latency_target_ns", rb_json_u64(search->target_ns));
    json_object_set_new(o, "latency_percentile", json_real(search->percentile_ppm / 1e4));
    if (search->verdict[0] != '\0')
        json_object_set_new(o, "verdict", rb_json_text(search->verdict));
    if (search->best > 0) {
        const rb_result_step_t *best = &search->steps[search->best - 1];
        json_object_set_new(o, "best_step", rb_json_u64(search->best));
        set_best(o, search, best);
        if (search->certain_ns > 0)
            json_object_set_new(o, "certain_runtime_ns", rb_json_u64(search->certain_ns));
    }
    json_object_set_new(o, "steps", steps_json(search));
    return o;
}
