#include "proto/sample_unpack.h"

#include "proto/sample_health.h"
#include "proto/sample_kv.h"

#include <inttypes.h>

/* ---------------------------------------------------------------- the coordinator's own */

static char **take_strings(rb_cursor_t *c, const char *field, size_t *ret_n)
{
    size_t n = rb_cursor_array(c, field, RB_MAX_LABELS, 1);
    char **strings = rb_calloc(n, sizeof(*strings));
    for (size_t i = 0; i < n; i++)
        strings[i] = rb_cursor_str(c, field, RB_MAX_ROW_TEXT);
    *ret_n = n;
    return strings;
}

static uint32_t *take_hosts(rb_cursor_t *c, const char *field, size_t *ret_n)
{
    size_t n = rb_cursor_array(c, field, RB_MAX_HOSTS, 1);
    uint32_t *hosts = rb_calloc(n, sizeof(*hosts));
    for (size_t i = 0; i < n; i++)
        hosts[i] = (uint32_t)rb_cursor_i64(c, field, 1, RB_MAX_HOSTS);
    *ret_n = n;
    return hosts;
}

static void take_run(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_run_t *r = &row->run;
    r->id = rb_cursor_str(c, "id", RB_MAX_NAME);
    r->name = rb_cursor_str(c, "name", RB_MAX_NAME);
    r->version = rb_cursor_str(c, "version", RB_MAX_NAME);
    r->started_wall_ns = take_u64(c, "started_wall_ns");
    r->plan = rb_cursor_bin(c, "plan");
    r->marks = take_strings(c, "marks", &r->nmarks);
}

static void take_host(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_host_t *h = &row->host;
    h->host = (uint32_t)rb_cursor_i64(c, "host", 1, RB_MAX_HOSTS);
    h->name = rb_cursor_str(c, "name", RB_MAX_NAME);
    h->inventory = rb_cursor_bin(c, "inventory");
    h->labels = take_strings(c, "labels", &h->nlabels);
}

static void take_clock(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_clock_t *k = &row->clock;
    k->host = (uint32_t)rb_cursor_i64(c, "host", 1, RB_MAX_HOSTS);
    k->at_ns = take_u64(c, "at_ns");
    k->offset_ns = take_i64(c, "offset_ns");
    k->bound_ns = take_u64(c, "bound_ns");
    k->rtt_ns = take_u64(c, "rtt_ns");
    k->drift_ppb = take_i64(c, "drift_ppb");
}

static void take_phase_start(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_phase_start_t *p = &row->phase_start;
    p->phase = take_phase(c);
    p->t0_ns = take_u64(c, "t0_ns");
    p->t0_wall_ns = take_u64(c, "t0_wall_ns");
    p->hosts = take_hosts(c, "hosts", &p->nhosts);
    size_t more = rb_cursor_enter(c, "bounds_ns", (uint32_t)p->nhosts);
    p->bounds_ns = rb_calloc(p->nhosts, sizeof(*p->bounds_ns));
    for (size_t i = 0; i < p->nhosts; i++)
        p->bounds_ns[i] = take_u64(c, "bounds_ns");
    rb_cursor_leave(c, more);
}

static void take_phase_end(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_phase_end_t *p = &row->phase_end;
    p->phase = take_phase(c);
    p->te_at_ns = take_i64(c, "te_at_ns");
    p->truncated = rb_cursor_bool(c, "truncated");
    p->lost = take_hosts(c, "lost", &p->nlost);
    if (rb_cursor_more(c))
        p->reason = rb_cursor_str(c, "reason", RB_MAX_ROW_TEXT);
}

static void take_note(rb_cursor_t *c, rb_row_t *row)
{
    row->note.host = rb_cursor_u32(c, "host", RB_MAX_HOSTS);
    row->note.phase = take_phase_or_none(c);
    row->note.at_ns = take_u64(c, "at_ns");
    row->note.kind = rb_cursor_str(c, "kind", RB_MAX_NAME);
    row->note.text = rb_cursor_str(c, "text", RB_MAX_ROW_TEXT);
}

static void take_run_end(rb_cursor_t *c, rb_row_t *row)
{
    row->run_end.status = rb_cursor_str(c, "status", RB_MAX_NAME);
    row->run_end.exit_code = rb_cursor_u32(c, "exit_code", 255);
    row->run_end.at_ns = take_u64(c, "at_ns");
    row->run_end.text = rb_cursor_str(c, "text", RB_MAX_ROW_TEXT);
}

static void take_step(rb_cursor_t *c, rb_row_t *row)
{
    row->step.phase = take_phase(c);
    row->step.plan_phase = rb_cursor_u32(c, "plan_phase", RB_MAX_PHASES - 1);
    row->step.step = (uint32_t)rb_cursor_i64(c, "step", 1, RB_MAX_PHASES);
    row->step.override = rb_cursor_bin(c, "override");
}

static void take_search(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_search_t *s = &row->search;
    s->phase = take_phase(c);
    s->job = take_job(c);
    s->rate_iops = take_u64(c, "rate_iops");
    s->offered_ops = take_u64(c, "offered_ops");
    s->ops = take_u64(c, "ops");
    s->length_ns = take_u64(c, "length_ns");
    s->quantile_ns = take_u64(c, "quantile_ns");
    s->uncertain = rb_cursor_bool(c, "uncertain");
    s->kept = rb_cursor_bool(c, "kept");
    s->verdict = rb_cursor_str(c, "verdict", RB_MAX_NAME);
}

static void take_reach(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_reach_t *r = &row->reach;
    r->host = (uint32_t)rb_cursor_i64(c, "host", 1, RB_MAX_HOSTS);
    r->name = rb_cursor_str(c, "name", RB_MAX_NAME);
    r->address = rb_cursor_str(c, "address", RB_MAX_ROW_TEXT);
    r->key = rb_cursor_str(c, "key", RB_MAX_NAME);
    r->listen = rb_cursor_str(c, "listen", RB_MAX_ROW_TEXT);
    r->labels = take_strings(c, "labels", &r->nlabels);
}

static void take_watts(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_watts_t *w = &row->watts;
    w->nreadings = rb_cursor_array(c, "readings", RB_MAX_ROW_WATTS, 5);
    w->readings = rb_calloc(w->nreadings, sizeof(*w->readings));
    for (size_t i = 0; i < w->nreadings && !c->failed; i++) {
        size_t more = rb_cursor_enter(c, "reading", 4);
        w->readings[i].host = rb_cursor_u32(c, "host", RB_MAX_HOSTS);
        w->readings[i].scope = (rb_power_scope_t)rb_cursor_u32(c, "scope", RB_SCOPE_COUNT - 1);
        w->readings[i].at_wall_ns = take_u64(c, "at_wall_ns");
        w->readings[i].mw = take_u64(c, "mw");
        rb_cursor_leave(c, more);
    }
}

/* ---------------------------------------------------------------- any row */

static void take_body(rb_cursor_t *c, rb_row_t *row)
{
    static void (*const take[])(rb_cursor_t *, rb_row_t *) = {
        [RB_ROW_WINDOW] = rb_take_window,
        [RB_ROW_WORKER] = rb_take_worker,
        [RB_ROW_KERNEL] = rb_take_kernel,
        [RB_ROW_EVENT] = rb_take_event,
        [RB_ROW_DRIVES] = rb_take_drives,
        [RB_ROW_LAYOUT] = rb_take_layout,
        [RB_ROW_CPU] = rb_take_cpu,
        [RB_ROW_PLACEMENT] = rb_take_placement,
        [RB_ROW_HEALTH] = rb_row_health_take,
        [RB_ROW_KV_PARTS] = rb_row_kv_parts_take,
        [RB_ROW_KV_DRIVE] = rb_row_kv_drive_take,
        [RB_ROW_RUN] = take_run,
        [RB_ROW_HOST] = take_host,
        [RB_ROW_CLOCK] = take_clock,
        [RB_ROW_PHASE_START] = take_phase_start,
        [RB_ROW_PHASE_END] = take_phase_end,
        [RB_ROW_NOTE] = take_note,
        [RB_ROW_RUN_END] = take_run_end,
        [RB_ROW_STEP] = take_step,
        [RB_ROW_SEARCH] = take_search,
        [RB_ROW_REACH] = take_reach,
        [RB_ROW_WATTS] = take_watts,
    };
    take[row->kind](c, row);
}

/* Reads the array header, kind and seq; ret_fields: how many values follow. */
static int take_head(rb_cursor_t *c, rb_row_t *row, size_t *ret_fields)
{
    *ret_fields = rb_cursor_enter(c, "row", 2);
    uint64_t kind = rb_cursor_u64(c, "row kind", UINT64_MAX);
    if (!c->failed && rb_row_shape(kind) == NULL)
        return rb_err_set(c->err, RB_ERR_NET, "row kind %" PRIu64 " is not known to this version",
                          kind);
    row->seq = rb_cursor_u64(c, "row seq", UINT64_MAX);
    row->kind = c->failed ? (rb_row_kind_t)0 : (rb_row_kind_t)kind;
    return c->failed ? -1 : 0;
}

int rb_row_peek(const void *data, size_t size, rb_row_kind_t *ret_kind, uint64_t *ret_seq,
                rb_err_t *err)
{
    size_t fields;
    rb_row_t row = {0};
    rb_cursor_t c = {data, (const uint8_t *)data + size, err, 0, false};
    if (take_head(&c, &row, &fields) != 0)
        return -1;
    *ret_kind = row.kind;
    *ret_seq = row.seq;
    return 0;
}

static int take_fields(rb_cursor_t *c, rb_row_t *row, uint32_t wanted, size_t fields)
{
    if (fields < wanted)
        return rb_err_set(c->err, RB_ERR_NET, "expected at least %" PRIu32 " fields, got %zu",
                          wanted, fields);
    c->more = fields - wanted;
    take_body(c, row);
    rb_cursor_leave(c, c->more);
    if (!c->failed && c->at != c->end)
        return rb_err_set(c->err, RB_ERR_NET, "%zu bytes follow its end", (size_t)(c->end - c->at));
    return c->failed ? -1 : 0;
}

static int take_row(rb_cursor_t *c, rb_row_t *row)
{
    size_t fields;
    if (take_head(c, row, &fields) != 0)
        return -1;
    const rb_row_shape_t *shape = rb_row_shape(row->kind);
    int rc = take_fields(c, row, shape->fields, fields);
    return rc == 0 ? 0 : rb_err_wrap(c->err, "%s row %" PRIu64, shape->name, row->seq);
}

int rb_row_unpack(const void *data, size_t size, rb_row_t *ret_row, rb_err_t *err)
{
    rb_cursor_t c = {data, (const uint8_t *)data + size, err, 0, false};
    *ret_row = (rb_row_t){0};
    if (take_row(&c, ret_row) == 0)
        return 0;
    rb_row_clear(ret_row);
    return -1;
}
