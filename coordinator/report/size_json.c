#include "coordinator/report/json_parts.h"
#include "coordinator/report/size_report.h"

static void set_u64(json_t *o, const char *key, uint64_t n)
{
    json_object_set_new(o, key, rb_json_u64(n));
}

static void set_real(json_t *o, const char *key, double x)
{
    json_object_set_new(o, key, json_real(x));
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static json_t *model_json(const rb_size_t *s)
{
    const rb_kv_geometry_t *g = &s->geometry;
    json_t *o = json_object();
    json_object_set_new(o, "name", rb_json_text(s->opts.model.model.name));
    json_object_set_new(o, "dtype", rb_json_text(rb_kv_dtype_word(s->opts.model.dtype)));
    json_object_set_new(o, "shape", rb_json_text(rb_kv_shape_word(s->opts.model.shape)));
    set_u64(o, "tokens_per_block", g->tokens_per_block);
    set_u64(o, "token_bytes", g->token_bytes);
    set_u64(o, "layer_bytes", g->layer_bytes);
    set_u64(o, "block_bytes", g->block_bytes);
    set_u64(o, "io_bytes", g->piece_io_bytes);
    set_real(o, "padding", g->padding);
    return o;
}

static json_t *account_json(const rb_kv_account_t *a)
{
    uint64_t hits = a->gpu_hits + a->dram_hits + a->drive_hits;
    json_t *o = json_object();
    set_u64(o, "requests", a->requests);
    set_u64(o, "references", a->references);
    set_real(o, "hit_ratio", ratio(hits, a->references));
    set_real(o, "token_hit_ratio", ratio(a->hit_tokens, a->input_tokens));
    set_u64(o, "gpu_hits", a->gpu_hits);
    set_u64(o, "dram_hits", a->dram_hits);
    set_u64(o, "drive_hits", a->drive_hits);
    set_u64(o, "written_blocks", a->written_blocks);
    set_u64(o, "evicted_blocks", a->evicted_blocks);
    set_u64(o, "not_admitted", a->not_admitted);
    return o;
}

static json_t *infinite_json(const rb_size_t *s)
{
    json_t *o = json_object();
    set_real(o, "hit_ratio", ratio(s->stats.infinite_hits, s->stats.references));
    set_real(o, "token_hit_ratio", ratio(s->stats.infinite_tokens, s->stats.input_tokens));
    return o;
}

static json_t *rows_json(const rb_size_t *s)
{
    json_t *list = json_array();
    for (size_t i = 0; i < s->nrows; i++) {
        json_t *o = json_object();
        set_u64(o, "blocks", s->rows[i].blocks);
        set_u64(o, "bytes", s->rows[i].bytes);
        set_real(o, "hit_ratio", s->rows[i].hit_ratio);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *hosts_json(const rb_size_t *s)
{
    json_t *list = json_array();
    for (size_t h = 0; h < s->nhosts; h++) {
        json_t *o = json_object();
        set_u64(o, "read_bytes", s->hosts[h].read_bytes);
        set_u64(o, "written_bytes", s->hosts[h].written_bytes);
        set_u64(o, "evicted_bytes", s->hosts[h].evicted_bytes);
        set_real(o, "read_share", s->hosts[h].read_share);
        json_array_append_new(list, o);
    }
    return list;
}

static json_t *rates_json(const rb_size_t *s)
{
    json_t *o = json_object();
    set_real(o, "read_bytes_per_s", s->read_bytes_per_s);
    set_real(o, "write_bytes_per_s", s->write_bytes_per_s);
    set_real(o, "peak_read_bytes_per_s", s->peak_read_bytes_per_s);
    set_real(o, "peak_write_bytes_per_s", s->peak_write_bytes_per_s);
    set_real(o, "recomputed_tokens_per_s", s->new_tokens_per_s);
    return o;
}

static json_t *wear_json(const rb_size_t *s)
{
    json_t *o = json_object();
    for (size_t i = 0; i < s->nwear; i++) {
        json_t *w = json_object();
        set_u64(w, "copies", s->wear[i].copies);
        set_real(w, "drive_bytes_per_day", s->wear[i].wear.drive_bytes_per_day);
        set_real(w, "dwpd", s->wear[i].wear.dwpd);
        set_real(w, "dwpd_needed", s->wear[i].wear.dwpd_needed);
        if (s->wear[i].wear.class_dwpd > 0)
            set_real(w, "class_dwpd", s->wear[i].wear.class_dwpd);
        rb_json_set(o, s->wear[i].name, w);
    }
    return o;
}

void rb_report_size_json(FILE *out, const rb_size_t *s)
{
    const rb_kv_account_t *a = &s->account;
    json_t *o = json_object();
    json_object_set_new(o, "rackbench", rb_json_text(RB_VERSION));
    set_u64(o, "requests", s->stats.requests);
    set_u64(o, "references", s->stats.references);
    set_u64(o, "distinct_blocks", s->stats.distinct);
    set_real(o, "hit_ratio", ratio(a->gpu_hits + a->dram_hits + a->drive_hits, a->references));
    set_real(o, "token_hit_ratio", ratio(a->hit_tokens, a->input_tokens));
    set_real(o, "seconds", s->seconds);
    json_object_set_new(o, "model", model_json(s));
    json_object_set_new(o, "cold", account_json(a));
    if (s->filled.requests > 0)
        json_object_set_new(o, "filled", account_json(&s->filled));
    json_object_set_new(o, "infinite", infinite_json(s));
    json_object_set_new(o, "by_capacity", rows_json(s));
    json_object_set_new(o, "rates", rates_json(s));
    json_object_set_new(o, "hosts", hosts_json(s));
    if (s->nwear > 0)
        json_object_set_new(o, "endurance", wear_json(s));
    json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    fputc('\n', out);
    json_decref(o);
}
