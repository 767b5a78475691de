#include "coordinator/report/json_parts.h"

static json_t *point_json(const rb_result_curve_t *c, size_t i)
{
    const rb_sweep_point_t *p = &c->points[i];
    json_t *o = json_object();
    json_object_set_new(o, "phase", rb_json_u64(c->phases[i]));
    json_object_set_new(o, "iodepth", rb_json_u64(p->iodepth));
    json_object_set_new(o, "numjobs", rb_json_u64(p->numjobs));
    json_object_set_new(o, "bytes_per_s", json_real(p->rate));
    if (p->half_width > 0)
        json_object_set_new(o, "half_width_bytes_per_s", json_real(p->half_width));
    json_object_set_new(o, "mean_ns", json_real(p->mean_ns));
    json_object_set_new(o, "p99_ns", json_real(p->p99_ns));
    if (c->little[i] > 0)
        json_object_set_new(o, "little", json_real(c->little[i]));
    json_object_set_new(o, "client_bound", json_boolean(p->client_bound));
    if (c->even[i].n > 0)
        json_object_set_new(o, "consistency",
                            json_pack("{s:o,s:f,s:f,s:f}", "seconds", rb_json_u64(c->even[i].n),
                                      "cv", c->even[i].cv, "below_90_share", c->even[i].weak,
                                      "slowest_over_mean", c->even[i].low));
    return o;
}

/* The number of a point in the curve's list. */
static void set_point(json_t *o, const char *key, size_t point)
{
    if (point != RB_NO_POINT)
        json_object_set_new(o, key, rb_json_u64(point));
}

static json_t *cliffs_json(const rb_sweep_verdict_t *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->ncliffs; i++) {
        const rb_cliff_t *c = &v->cliffs[i];
        json_t *o = json_object();
        json_object_set_new(o, "axis", json_string(rb_axis_names[c->axis]));
        set_point(o, "best", c->best);
        set_point(o, "onset", c->onset);
        set_point(o, "lowest", c->lowest);
        json_object_set_new(o, "depth", json_real(c->depth));
        json_object_set_new(o, "recovered", json_boolean(c->recovery != RB_NO_POINT));
        set_point(o, "recovery", c->recovery);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *curve_json(const rb_result_curve_t *c)
{
    json_t *o = json_object(), *points = json_array();
    for (size_t i = 0; i < c->npoints; i++)
        json_array_append_new(points, point_json(c, i));
    json_object_set_new(o, "scope",
                        json_string(c->drive != NULL  ? "drive"
                                    : c->host != NULL ? "host"
                                                      : "cluster"));
    if (c->host != NULL)
        json_object_set_new(o, "host", rb_json_text(c->host));
    if (c->drive != NULL)
        json_object_set_new(o, "drive", rb_json_text(c->drive));
    json_object_set_new(o, "op", json_string(rb_op_names[c->op]));
    json_object_set_new(o, "where", rb_json_text(c->where));
    json_object_set_new(o, "points", points);
    set_point(o, "peak", c->verdict.peak);
    set_point(o, "knee", c->verdict.knee);
    set_point(o, "qd1", c->verdict.qd1);
    set_point(o, "worst_mean", c->verdict.worst_mean);
    set_point(o, "worst_p99", c->verdict.worst_p99);
    json_object_set_new(o, "cliffs", cliffs_json(&c->verdict));
    return o;
}

json_t *rb_json_sweep(const rb_result_t *result, const rb_result_sweep_t *sweep)
{
    json_t *o = json_object(), *curves = json_array();
    for (size_t i = 0; i < sweep->ncurves; i++)
        json_array_append_new(curves, curve_json(&sweep->curves[i]));
    json_object_set_new(o, "phase", rb_json_text(result->phases[sweep->first].name));
    json_object_set_new(o, "first", rb_json_u64(sweep->first));
    json_object_set_new(o, "count", rb_json_u64(sweep->count));
    json_object_set_new(o, "of", rb_json_u64(sweep->of));
    json_object_set_new(o, "curves", curves);
    return o;
}

static json_t *straggler_json(const rb_result_straggler_t *s)
{
    static const char *const keys[RB_BYS] = {"bytes_per_s", "mean_ns", "beyond_p99_9"};
    const rb_straggler_t *v = &s->verdict;
    json_t *o = json_object(), *by = json_array();
    json_object_set_new(o, "host", rb_json_text(s->host));
    json_object_set_new(o, "drive", rb_json_text(s->drive));
    json_object_set_new(o, "op", json_string(rb_op_names[s->op]));
    json_object_set_new(o, "peers", rb_json_u64(s->npeers));
    for (int i = 0; i < RB_BYS; i++) {
        if (v->bits & 1u << i)
            json_array_append_new(by, json_string(rb_straggler_names[i]));
        json_object_set_new(o, keys[i],
                            json_pack("{s:f,s:f,s:f}", "value", s->figures.by[i], "median",
                                      v->median[i], "z", v->z[i]));
    }
    json_object_set_new(o, "by", by);
    if (s->beyond_ns > 0) {
        json_object_set_new(o, "p99_9_ns", rb_json_u64(s->beyond_ns));
        json_object_set_new(o, "tail_share", json_real(v->tail_share));
    }
    return o;
}

json_t *rb_json_stragglers(const rb_result_phase_t *phase)
{
    json_t *list = json_array();
    for (size_t i = 0; i < phase->nstragglers; i++)
        json_array_append_new(list, straggler_json(&phase->stragglers[i]));
    return list;
}
