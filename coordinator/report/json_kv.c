#include "coordinator/report/json_parts.h"

static json_t *hist_json(const rb_hist_t *h)
{
    json_t *o = json_object();
    json_object_set_new(o, "count", rb_json_u64(h->count));
    json_object_set_new(o, "min", rb_json_u64(h->count > 0 ? h->min : 0));
    json_object_set_new(o, "mean", json_real(rb_hist_mean(h)));
    for (int i = 0; i < RB_QUANTILES; i++)
        json_object_set_new(o, rb_quantiles[i].key,
                            rb_json_u64(rb_hist_quantile(h, rb_quantiles[i].per_100k / 100000.0)));
    json_object_set_new(o, "max", rb_json_u64(h->max));
    json_t *uncertain = json_array();
    for (int i = 0; i < RB_QUANTILES; i++)
        if ((double)h->count * (100000 - rb_quantiles[i].per_100k) < 10 * 100000.0)
            json_array_append_new(uncertain, json_string(rb_quantiles[i].key));
    json_object_set_new(o, "uncertain", uncertain);
    return o;
}

static json_t *group_json(const rb_result_kv_group_t *g)
{
    json_t *o = json_object();
    json_object_set_new(o, "requests", rb_json_u64(g->requests));
    json_object_set_new(o, "bytes", rb_json_u64(g->bytes));
    json_object_set_new(o, "blocks", rb_json_u64(g->blocks));
    if (g->requests > 0) {
        json_object_set_new(o, "restore_ns", hist_json(g->restore));
        json_object_set_new(o, "first_layer_ns", hist_json(g->first_layer));
    }
    return o;
}

static json_t *groups_json(const rb_result_kv_group_t *groups, size_t n)
{
    json_t *o = json_object();
    for (size_t i = 0; i < n; i++)
        rb_json_set(o, groups[i].key, group_json(&groups[i]));
    return o;
}

static json_t *hits_json(const rb_kv_hits_t *h)
{
    json_t *o = json_object();
    json_object_set_new(o, "requests", rb_json_u64(h->requests));
    json_object_set_new(o, "references", rb_json_u64(h->references));
    json_object_set_new(o, "gpu_hits", rb_json_u64(h->gpu_hits));
    json_object_set_new(o, "dram_hits", rb_json_u64(h->dram_hits));
    json_object_set_new(o, "drive_hits", rb_json_u64(h->drive_hits));
    json_object_set_new(o, "hit_ratio", json_real(rb_kv_hit_ratio(h)));
    json_object_set_new(o, "token_hit_ratio", json_real(rb_kv_token_ratio(h)));
    return o;
}

static json_t *hit_ratios_json(const rb_row_kv_drive_t *sum)
{
    json_t *o = json_object();
    double references = (double)RB_MAX(sum->planned.references, 1u);
    json_object_set_new(o, "cold", hits_json(&sum->planned));
    if (sum->filled.references > 0)
        json_object_set_new(o, "filled", hits_json(&sum->filled));
    json_object_set_new(o, "infinite",
                        json_pack("{s:f}", "hit_ratio", (double)sum->infinite_hits / references));
    return o;
}

static json_t *host_json(const rb_result_kv_host_t *h)
{
    json_t *o = json_object();
    json_object_set_new(o, "read_blocks", rb_json_u64(h->read_blocks));
    json_object_set_new(o, "written_blocks", rb_json_u64(h->written_blocks));
    json_object_set_new(o, "evicted_blocks", rb_json_u64(h->evicted_blocks));
    json_object_set_new(o, "waited_for_write", rb_json_u64(h->waited_for_write));
    json_object_set_new(o, "not_done", rb_json_u64(h->not_begun));
    json_object_set_new(o, "restored_bytes_per_s", json_real(h->restored_bytes_per_s));
    json_object_set_new(o, "written_bytes_per_s", json_real(h->written_bytes_per_s));
    json_object_set_new(o, "last_of_requests", rb_json_u64(h->last));
    json_object_set_new(o, "last_by_s", json_real(h->late_s));
    return o;
}

static json_t *wear_json(const rb_result_kv_t *kv)
{
    json_t *o = json_object();
    json_object_set_new(o, "drive_bytes_per_day", json_real(kv->wear.drive_bytes_per_day));
    json_object_set_new(o, "rated_bytes", json_real(kv->wear_in.rated_bytes));
    json_object_set_new(o, "dwpd", json_real(kv->wear.dwpd));
    json_object_set_new(o, "years", json_real(kv->wear_in.years));
    json_object_set_new(o, "dwpd_needed", json_real(kv->wear.dwpd_needed));
    json_object_set_new(o, "class_dwpd", json_real(kv->wear.class_dwpd));
    return o;
}

json_t *rb_json_kv(const rb_result_kv_t *kv)
{
    json_t *o = group_json(&kv->all), *hosts = json_object();
    for (size_t i = 0; i < kv->nhosts; i++)
        rb_json_set(hosts, kv->hosts[i].host, host_json(&kv->hosts[i]));
    json_object_set_new(o, "scale", rb_json_u64(kv->scale));
    json_object_set_new(o, "outside", rb_json_u64(kv->counts.outside));
    json_object_set_new(o, "unfinished", rb_json_u64(kv->counts.open));
    json_object_set_new(o, "given_up", rb_json_u64(kv->counts.given_up));
    json_object_set_new(o, "failed", rb_json_u64(kv->counts.failed));
    json_object_set_new(o, "slower_than_recompute", rb_json_u64(kv->counts.slower));
    json_object_set_new(o, "by_size", groups_json(kv->classes, kv->nclasses));
    json_object_set_new(o, "by_hosts", groups_json(kv->spreads, kv->nspreads));
    if (kv->write != NULL)
        json_object_set_new(o, "write_ns", hist_json(kv->write));
    json_object_set_new(o, "hits", hit_ratios_json(&kv->sum));
    json_object_set_new(o, "restored_bytes_per_s", json_real(kv->restored_bytes_per_s));
    json_object_set_new(o, "written_bytes_per_s", json_real(kv->written_bytes_per_s));
    json_object_set_new(o, "read_blocks", rb_json_u64(kv->sum.read_blocks));
    json_object_set_new(o, "written_blocks", rb_json_u64(kv->sum.written_blocks));
    json_object_set_new(o, "evicted_blocks", rb_json_u64(kv->sum.evicted_blocks));
    json_object_set_new(o, "evicted_bytes",
                        rb_json_u64(kv->sum.evicted_blocks * kv->sum.slot_bytes));
    json_object_set_new(o, "waited_for_write", rb_json_u64(kv->sum.waited_for_write));
    json_object_set_new(o, "not_done", rb_json_u64(kv->sum.not_begun));
    json_object_set_new(o, "slots", rb_json_u64(kv->sum.slots));
    json_object_set_new(o, "slot_bytes", rb_json_u64(kv->sum.slot_bytes));
    json_object_set_new(o, "prefilled", rb_json_u64(kv->sum.prefilled));
    json_object_set_new(o, "hosts", hosts);
    if (kv->has_endurance)
        json_object_set_new(o, "endurance", wear_json(kv));
    json_object_set_new(o, "network", json_string("not modelled"));
    return o;
}
