#include "proto/sample_cursor.h"
#include "proto/sample_health.h"
#include "proto/sample_kv.h"

#include <msgpack.h>

/* Doubles, so that a row of many cells is not copied once per value. */
typedef struct {
    rb_bytes_t bytes;
    size_t room;
} sink_t;

static int put(void *ctx, const char *data, size_t size)
{
    sink_t *s = ctx;
    if (s->room - s->bytes.size < size) {
        s->room = 2 * s->room + size + 256;
        s->bytes.data = rb_realloc(s->bytes.data, s->room);
    }
    if (size > 0)
        memcpy(s->bytes.data + s->bytes.size, data, size);
    s->bytes.size += size;
    return 0;
}

static void put_u64s(msgpack_packer *pk, const uint64_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        msgpack_pack_uint64(pk, values[i]);
}
#define PUT_U64S(pk, ...)                                                                          \
    put_u64s(pk, (const uint64_t[]){__VA_ARGS__},                                                  \
             sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

static void put_bool(msgpack_packer *pk, bool value)
{
    if (value)
        msgpack_pack_true(pk);
    else
        msgpack_pack_false(pk);
}

/* What the reader would refuse is the caller's error. */
static void put_array(msgpack_packer *pk, size_t n, size_t max)
{
    RB_ASSERT(n <= max);
    msgpack_pack_array(pk, n);
}

static void put_str(msgpack_packer *pk, const char *s, size_t max)
{
    size_t size = s == NULL ? 0 : strlen(s);
    RB_ASSERT(size <= max);
    msgpack_pack_str(pk, size);
    msgpack_pack_str_body(pk, s, size);
}

static void put_strings(msgpack_packer *pk, char *const *strings, size_t n)
{
    put_array(pk, n, RB_MAX_LABELS);
    for (size_t i = 0; i < n; i++)
        put_str(pk, strings[i], RB_MAX_ROW_TEXT);
}

static void put_bin(msgpack_packer *pk, const rb_bytes_t *b)
{
    msgpack_pack_bin(pk, b->size);
    msgpack_pack_bin_body(pk, b->data, b->size);
}

static void put_hosts(msgpack_packer *pk, const uint32_t *hosts, size_t n)
{
    put_array(pk, n, RB_MAX_HOSTS);
    for (size_t i = 0; i < n; i++)
        msgpack_pack_uint32(pk, hosts[i]);
}

static void put_hist(msgpack_packer *pk, const rb_hist_sparse_t *h)
{
    if (h->count == 0) {
        msgpack_pack_nil(pk);
        return;
    }
    msgpack_pack_array(pk, 5);
    PUT_U64S(pk, h->count, h->min, h->max, h->sum);
    put_array(pk, 2 * h->npairs, 2 * RB_HIST_BUCKETS);
    uint32_t last = 0;
    for (size_t i = 0; i < h->npairs; i++) {
        PUT_U64S(pk, h->pairs[i].index - last, h->pairs[i].count);
        last = h->pairs[i].index;
    }
}

/* ---------------------------------------------------------------- from agents */

static void put_window(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_window_t *w = &row->window;
    PUT_U64S(pk, w->phase, w->part, w->index, w->span);
    put_bool(pk, w->all_running);
    put_array(pk, w->ncells, RB_MAX_CELLS);
    for (size_t i = 0; i < w->ncells; i++) {
        const rb_cell_t *cell = &w->cells[i];
        msgpack_pack_array(pk, 11);
        PUT_U64S(pk, cell->job, cell->target, cell->drive, cell->op, cell->ops, cell->bytes,
                 cell->errors, cell->inflight, cell->oldest_inflight_ns);
        put_hist(pk, &cell->service);
        put_hist(pk, &cell->response);
    }
}

static void put_worker(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_worker_t *w = &row->worker;
    PUT_U64S(pk, w->phase, w->job, w->target, w->drive, w->worker);
    msgpack_pack_int64(pk, w->first_due_at_ns);
    msgpack_pack_int64(pk, w->first_submit_at_ns);
    msgpack_pack_int64(pk, w->done_at_ns);
    msgpack_pack_int64(pk, w->end_at_ns);
    put_bool(pk, w->finished);
    PUT_U64S(pk, w->unfinished, w->oldest_unfinished_ns, w->cpu_ns, w->wall_ns, w->offered_ops);
    put_hist(pk, &w->turn);
    put_hist(pk, &w->lateness);
    msgpack_pack_int64(pk, w->stopped_at_ns);
}

static void put_kernel(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_kernel_t *k = &row->kernel;
    PUT_U64S(pk, k->phase, k->target, k->drive);
    msgpack_pack_array(pk, RB_LEN(k->op));
    for (size_t i = 0; i < RB_LEN(k->op); i++) {
        msgpack_pack_array(pk, 2);
        PUT_U64S(pk, k->op[i].ios, k->op[i].sectors);
    }
}

static void put_event(msgpack_packer *pk, const rb_row_t *row)
{
    msgpack_pack_int32(pk, row->event.phase);
    msgpack_pack_int64(pk, row->event.at_ns);
    put_str(pk, row->event.kind, RB_MAX_NAME);
    put_str(pk, row->event.text, RB_MAX_ROW_TEXT);
}

static void put_drives(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_drives_t *d = &row->drives;
    msgpack_pack_uint32(pk, d->phase);
    put_array(pk, d->ndrives, RB_MAX_ROW_DRIVES);
    for (size_t i = 0; i < d->ndrives; i++) {
        msgpack_pack_array(pk, 4);
        PUT_U64S(pk, d->drives[i].target, d->drives[i].drive);
        put_str(pk, d->drives[i].path, RB_MAX_ROW_TEXT);
        msgpack_pack_uint64(pk, d->drives[i].size_bytes);
    }
}

static void put_layout(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_layout_t *l = &row->layout;
    PUT_U64S(pk, l->phase, l->target, l->drive);
    put_bool(pk, l->reused);
    PUT_U64S(pk, l->ops, l->bytes, l->took_ns);
    put_hist(pk, &l->service);
}

static void put_cpu(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_cpu_t *r = &row->cpu;
    PUT_U64S(pk, r->phase, r->wall_ns, r->agent_ns);
    put_array(pk, r->ncpus, RB_MAX_CPUS);
    for (size_t i = 0; i < r->ncpus; i++) {
        const rb_cpu_share_t *cpu = &r->cpus[i];
        msgpack_pack_array(pk, 5);
        msgpack_pack_uint32(pk, cpu->cpu);
        put_bool(pk, cpu->of_workers);
        PUT_U64S(pk, cpu->busy_ppm, cpu->softirq_ppm, cpu->steal_ppm);
    }
}

static void put_placement(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_placement_t *r = &row->placement;
    msgpack_pack_uint32(pk, r->phase);
    put_array(pk, r->nplaces, RB_MAX_WORKERS);
    for (size_t i = 0; i < r->nplaces; i++) {
        const rb_worker_place_t *p = &r->places[i];
        msgpack_pack_array(pk, 9);
        PUT_U64S(pk, p->job, p->target, p->drive, p->worker, p->how, p->ncpus);
        msgpack_pack_int32(pk, p->cpu);
        msgpack_pack_int32(pk, p->node);
        msgpack_pack_int32(pk, p->drive_node);
    }
}

/* ---------------------------------------------------------------- the coordinator's own */

static void put_run(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_run_t *r = &row->run;
    put_str(pk, r->id, RB_MAX_NAME);
    put_str(pk, r->name, RB_MAX_NAME);
    put_str(pk, r->version, RB_MAX_NAME);
    msgpack_pack_uint64(pk, r->started_wall_ns);
    put_bin(pk, &r->plan);
    put_strings(pk, r->marks, r->nmarks);
}

static void put_host(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_host_t *h = &row->host;
    msgpack_pack_uint32(pk, h->host);
    put_str(pk, h->name, RB_MAX_NAME);
    put_bin(pk, &h->inventory);
    put_strings(pk, h->labels, h->nlabels);
}

static void put_clock(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_clock_t *k = &row->clock;
    PUT_U64S(pk, k->host, k->at_ns);
    msgpack_pack_int64(pk, k->offset_ns);
    PUT_U64S(pk, k->bound_ns, k->rtt_ns);
    msgpack_pack_int64(pk, k->drift_ppb);
}

static void put_phase_start(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_phase_start_t *p = &row->phase_start;
    PUT_U64S(pk, p->phase, p->t0_ns, p->t0_wall_ns);
    put_hosts(pk, p->hosts, p->nhosts);
    put_array(pk, p->nhosts, RB_MAX_HOSTS);
    put_u64s(pk, p->bounds_ns, p->nhosts);
}

static void put_phase_end(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_phase_end_t *p = &row->phase_end;
    msgpack_pack_uint32(pk, p->phase);
    msgpack_pack_int64(pk, p->te_at_ns);
    put_bool(pk, p->truncated);
    put_hosts(pk, p->lost, p->nlost);
    put_str(pk, p->reason, RB_MAX_ROW_TEXT);
}

static void put_note(msgpack_packer *pk, const rb_row_t *row)
{
    msgpack_pack_uint32(pk, row->note.host);
    msgpack_pack_int32(pk, row->note.phase);
    msgpack_pack_uint64(pk, row->note.at_ns);
    put_str(pk, row->note.kind, RB_MAX_NAME);
    put_str(pk, row->note.text, RB_MAX_ROW_TEXT);
}

static void put_run_end(msgpack_packer *pk, const rb_row_t *row)
{
    put_str(pk, row->run_end.status, RB_MAX_NAME);
    PUT_U64S(pk, row->run_end.exit_code, row->run_end.at_ns);
    put_str(pk, row->run_end.text, RB_MAX_ROW_TEXT);
}

static void put_step(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_step_t *s = &row->step;
    PUT_U64S(pk, s->phase, s->plan_phase, s->step);
    put_bin(pk, &s->override);
}

static void put_search(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_search_t *s = &row->search;
    PUT_U64S(pk, s->phase, s->job, s->rate_iops, s->offered_ops, s->ops, s->length_ns,
             s->quantile_ns);
    put_bool(pk, s->uncertain);
    put_bool(pk, s->kept);
    put_str(pk, s->verdict, RB_MAX_NAME);
}

static void put_reach(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_reach_t *r = &row->reach;
    msgpack_pack_uint32(pk, r->host);
    put_str(pk, r->name, RB_MAX_NAME);
    put_str(pk, r->address, RB_MAX_ROW_TEXT);
    put_str(pk, r->key, RB_MAX_NAME);
    put_str(pk, r->listen, RB_MAX_ROW_TEXT);
    put_strings(pk, r->labels, r->nlabels);
}

static void put_watts(msgpack_packer *pk, const rb_row_t *row)
{
    const rb_row_watts_t *w = &row->watts;
    RB_ASSERT(w->nreadings <= RB_MAX_ROW_WATTS);
    msgpack_pack_array(pk, w->nreadings);
    for (size_t i = 0; i < w->nreadings; i++) {
        const rb_watts_reading_t *r = &w->readings[i];
        msgpack_pack_array(pk, 4);
        PUT_U64S(pk, r->host, r->scope, r->at_wall_ns, r->mw);
    }
}

rb_bytes_t rb_row_pack(const rb_row_t *row)
{
    static void (*const put_body[])(msgpack_packer *, const rb_row_t *) = {
        [RB_ROW_WINDOW] = put_window,
        [RB_ROW_WORKER] = put_worker,
        [RB_ROW_KERNEL] = put_kernel,
        [RB_ROW_EVENT] = put_event,
        [RB_ROW_DRIVES] = put_drives,
        [RB_ROW_LAYOUT] = put_layout,
        [RB_ROW_CPU] = put_cpu,
        [RB_ROW_PLACEMENT] = put_placement,
        [RB_ROW_HEALTH] = rb_row_health_put,
        [RB_ROW_KV_PARTS] = rb_row_kv_parts_put,
        [RB_ROW_KV_DRIVE] = rb_row_kv_drive_put,
        [RB_ROW_RUN] = put_run,
        [RB_ROW_HOST] = put_host,
        [RB_ROW_CLOCK] = put_clock,
        [RB_ROW_PHASE_START] = put_phase_start,
        [RB_ROW_PHASE_END] = put_phase_end,
        [RB_ROW_NOTE] = put_note,
        [RB_ROW_RUN_END] = put_run_end,
        [RB_ROW_STEP] = put_step,
        [RB_ROW_SEARCH] = put_search,
        [RB_ROW_REACH] = put_reach,
        [RB_ROW_WATTS] = put_watts,
    };
    const rb_row_shape_t *shape = rb_row_shape(row->kind);
    RB_ASSERT(shape != NULL);
    sink_t sink = {0};
    msgpack_packer pk;
    msgpack_packer_init(&pk, &sink, put);
    msgpack_pack_array(&pk, 2 + shape->fields + shape->added);
    PUT_U64S(&pk, row->kind, row->seq);
    put_body[row->kind](&pk, row);
    return sink.bytes;
}
