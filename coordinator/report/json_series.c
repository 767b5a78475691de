#include "coordinator/report/json_parts.h"

static json_t *op_json(const rb_window_op_t *op)
{
    json_t *o = json_object();
    json_object_set_new(o, "ops", rb_json_u64(op->ops));
    json_object_set_new(o, "bytes", rb_json_u64(op->bytes));
    if (op->errors > 0)
        json_object_set_new(o, "errors", rb_json_u64(op->errors));
    json_object_set_new(o, "p50_ns", rb_json_u64(rb_window_quantile(op, 0.5)));
    json_object_set_new(o, "p99_ns", rb_json_u64(rb_window_quantile(op, 0.99)));
    json_object_set_new(o, "inflight", rb_json_u64(op->inflight));
    json_object_set_new(o, "oldest_inflight_ns", rb_json_u64(op->oldest_inflight_ns));
    return o;
}

json_t *rb_json_window(const rb_fold_t *fold, uint32_t phase, const rb_window_t *window)
{
    uint64_t at_ns, length_ns;
    rb_fold_window_time(fold, phase, window, &at_ns, &length_ns);
    json_t *o = json_object();
    json_object_set_new(o, "at_ns", rb_json_u64(at_ns));
    json_object_set_new(o, "length_ns", rb_json_u64(length_ns));
    if (window->span > 1)
        json_object_set_new(o, "span", rb_json_u64(window->span));
    json_object_set_new(o, "ramp", json_boolean(window->ramp));
    for (int op = 0; op < RB_OP_COUNT; op++)
        if (window->op[op] != NULL)
            json_object_set_new(o, rb_op_names[op], op_json(window->op[op]));
    return o;
}

/* host 0: the cluster. */
static json_t *window_json(const rb_result_t *result, const rb_result_phase_t *phase, uint32_t host,
                           const rb_window_t *window)
{
    uint32_t health = rb_result_window_health(result->fold, phase->index, host, window);
    json_t *o = rb_json_window(result->fold, phase->index, window);
    if (rb_result_window_part(result, phase, window) == RB_PART_DRAINED)
        json_object_set_new(o, "after_common", json_true());
    if ((health & RB_WINDOW_READ) != 0)
        json_object_set_new(o, "drives_read", json_true());
    if ((health & RB_WINDOW_THROTTLED) != 0)
        json_object_set_new(o, "throttled", json_true());
    return o;
}

json_t *rb_json_series(const rb_result_t *result, const rb_result_phase_t *phase)
{
    json_t *cluster = json_array(), *hosts = json_object();
    const rb_series_t *series = phase->series;
    for (size_t i = 0; i < series->nwindows; i++) {
        json_t *w = window_json(result, phase, 0, &series->windows[i]);
        json_object_set_new(w, "hosts", rb_json_u64(phase->series_hosts[i]));
        json_array_append_new(cluster, w);
    }
    for (size_t h = 0; h < phase->nhosts; h++) {
        const rb_result_host_t *host = &phase->hosts[h];
        json_t *list = json_array();
        for (size_t i = 0; i < host->series->nwindows; i++)
            json_array_append_new(
                list, window_json(result, phase, host->number, &host->series->windows[i]));
        rb_json_set(hosts, host->name, list);
    }
    uint64_t start_ns = 0, length_ns;
    if (series->nwindows > 0)
        rb_fold_window_time(result->fold, phase->index, &series->windows[0], &start_ns, &length_ns);
    return json_pack("{s:o,s:o,s:o,s:o}", "interval_ns",
                     rb_json_u64(rb_fold_interval_ns(result->fold)), "start_ns",
                     rb_json_u64(start_ns), "cluster", cluster, "hosts", hosts);
}
