#include "coordinator/report/json_parts.h"

static char *cleaned(const char *text)
{
    char *copy = rb_strdup(text);
    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    return copy;
}

json_t *rb_json_text(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *value = json_string(text);
    if (value != NULL)
        return value;
    RB_AUTO(rb_free_str) char *copy = cleaned(text);
    return json_string(copy);
}

json_t *rb_json_u64(uint64_t n)
{
    return json_integer((json_int_t)RB_MIN(n, (uint64_t)INT64_MAX));
}

void rb_json_set(json_t *object, const char *key, json_t *value)
{
    json_t *probe = json_string(key);
    RB_AUTO(rb_free_str) char *copy = probe == NULL ? cleaned(key) : rb_strdup(key);
    json_decref(probe);
    json_object_set_new(object, copy, value);
}

static json_t *flagged(const bool *flags)
{
    json_t *list = json_array();
    for (int i = 0; i < RB_QUANTILES; i++)
        if (flags[i])
            json_array_append_new(list, json_string(rb_quantiles[i].key));
    return list;
}

static json_t *lat_json(const rb_lat_t *lat)
{
    json_t *o = json_object();
    json_object_set_new(o, "count", rb_json_u64(lat->count));
    json_object_set_new(o, "min", rb_json_u64(lat->min_ns));
    json_object_set_new(o, "mean", json_real(lat->mean_ns));
    json_object_set_new(o, "stddev", json_real(lat->stddev_ns));
    for (int i = 0; i < RB_QUANTILES; i++)
        json_object_set_new(o, rb_quantiles[i].key, rb_json_u64(lat->quantile_ns[i]));
    json_object_set_new(o, "max", rb_json_u64(lat->max_ns));
    json_object_set_new(o, "uncertain", flagged(lat->uncertain));
    json_object_set_new(o, "censored", flagged(lat->censored));
    return o;
}

static json_t *op_json(const rb_op_stats_t *op)
{
    json_t *o = json_object();
    json_object_set_new(o, "ops", rb_json_u64(op->ops));
    json_object_set_new(o, "bytes", rb_json_u64(op->bytes));
    json_object_set_new(o, "errors", rb_json_u64(op->errors));
    json_object_set_new(o, "iops", json_real(op->iops));
    json_object_set_new(o, "bytes_per_s", json_real(op->bytes_per_s));
    if (op->service.count > 0)
        json_object_set_new(o, "service_ns", lat_json(&op->service));
    if (op->response.count > 0)
        json_object_set_new(o, "response_ns", lat_json(&op->response));
    return o;
}

static json_t *count_json(const rb_count_t *count)
{
    return json_pack("{s:o,s:o}", "ops", rb_json_u64(count->ops), "bytes",
                     rb_json_u64(count->bytes));
}

/* Parts and operation kinds in which nothing was done are left out. */
static json_t *outside_json(const rb_stats_t *stats)
{
    static const rb_part_t parts[] = {RB_PART_RAMP, RB_PART_DRAINED, RB_PART_SETUP};
    json_t *outside = json_object();
    for (size_t i = 0; i < RB_LEN(parts); i++) {
        json_t *part = json_object();
        for (int op = 0; op < RB_OP_COUNT; op++)
            if (stats->outside[parts[i]][op].ops > 0)
                json_object_set_new(part, rb_op_names[op],
                                    count_json(&stats->outside[parts[i]][op]));
        json_object_set_new(outside, rb_part_names[parts[i]], part);
    }
    return outside;
}

/* What workers tell at the end of a phase; left out where none did. */
static void set_workers(json_t *o, const rb_stats_t *stats)
{
    if (stats->workers > 0)
        json_object_set_new(o, "unfinished",
                            json_pack("{s:o,s:o}", "count", rb_json_u64(stats->unfinished),
                                      "oldest_ns", rb_json_u64(stats->oldest_unfinished_ns)));
    if (stats->offered_ops > 0)
        json_object_set_new(o, "offered",
                            json_pack("{s:o,s:o}", "ops", rb_json_u64(stats->offered_ops), "iops",
                                      json_real(stats->offered_iops)));
    if (stats->has_turn)
        json_object_set_new(o, "turn_ns",
                            json_pack("{s:o,s:o}", "p50", rb_json_u64(stats->turn_p50_ns), "p99",
                                      rb_json_u64(stats->turn_p99_ns)));
    if (stats->has_lateness)
        json_object_set_new(o, "generator_lateness_ns",
                            json_pack("{s:o,s:o,s:o}", "p50", rb_json_u64(stats->lateness_p50_ns),
                                      "p99", rb_json_u64(stats->lateness_p99_ns), "max",
                                      rb_json_u64(stats->lateness_max_ns)));
    if (stats->has_cpu)
        json_object_set_new(o, "cpu_share", json_real(stats->cpu_share));
}

json_t *rb_json_stats(const rb_stats_t *stats)
{
    json_t *o = json_object();
    for (int op = 0; op < RB_OP_COUNT; op++)
        if (stats->op[op].present)
            json_object_set_new(o, rb_op_names[op], op_json(&stats->op[op]));
    json_object_set_new(o, "outside", outside_json(stats));
    set_workers(o, stats);
    return o;
}

json_t *rb_json_named(const rb_named_stats_t *list, size_t n)
{
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++)
        rb_json_set(o, list[i].name, rb_json_stats(&list[i].stats));
    return o;
}
