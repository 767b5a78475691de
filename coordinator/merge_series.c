#include "coordinator/merge_parts.h"

int rb_sparse_add(rb_hist_sparse_t *into, const rb_hist_sparse_t *from, rb_hist_t *scratch)
{
    if (from->count == 0 && from->npairs == 0)
        return 0;
    rb_hist_clear(scratch);
    if (rb_hist_merge_sparse(scratch, into) < 0 || rb_hist_merge_sparse(scratch, from) < 0)
        return -1;
    rb_hist_sparse_clear(into);
    rb_hist_to_sparse(scratch, into);
    return 0;
}

static void window_clear(rb_window_t *w)
{
    for (int op = 0; op < RB_OP_COUNT; op++) {
        if (w->op[op] == NULL)
            continue;
        rb_hist_sparse_clear(&w->op[op]->response);
        free(w->op[op]);
    }
    *w = (rb_window_t){0};
}

void rb_series_clear(rb_series_t *series)
{
    for (size_t i = 0; i < series->nwindows; i++)
        window_clear(&series->windows[i]);
    free(series->windows);
    *series = (rb_series_t){0};
}

/* A gauge of the newest end counts; those of the same end are of other workers or hosts. */
static void add_gauge(rb_window_op_t *into, uint64_t end, uint64_t inflight, uint64_t oldest_ns)
{
    if (end < into->gauge_end)
        return;
    if (end > into->gauge_end) {
        into->gauge_end = end;
        into->inflight = into->oldest_inflight_ns = 0;
    }
    into->inflight += inflight;
    into->oldest_inflight_ns = RB_MAX(into->oldest_inflight_ns, oldest_ns);
}

static rb_window_op_t *window_op(rb_window_t *w, rb_op_t op)
{
    if (w->op[op] == NULL)
        w->op[op] = rb_calloc(1, sizeof(*w->op[op]));
    return w->op[op];
}

/* What comes after a window became final still counts; its percentiles stay what they were. */
static void add_response(rb_window_t *w, rb_window_op_t *into, const rb_hist_sparse_t *response,
                         rb_hist_t *scratch)
{
    if (!w->final)
        rb_sparse_add(&into->response, response, scratch);
}

static void absorb(rb_window_t *into, rb_window_t *from, rb_hist_t *scratch)
{
    uint64_t end = RB_MAX(into->index + into->span, from->index + from->span);
    into->index = RB_MIN(into->index, from->index);
    into->span = end - into->index;
    for (rb_op_t op = 0; op < RB_OP_COUNT; op++) {
        const rb_window_op_t *f = from->op[op];
        if (f == NULL)
            continue;
        rb_window_op_t *t = window_op(into, op);
        t->ops += f->ops;
        t->bytes += f->bytes;
        t->errors += f->errors;
        t->service_sum_ns += f->service_sum_ns;
        t->response_sum_ns += f->response_sum_ns;
        add_gauge(t, f->gauge_end, f->inflight, f->oldest_inflight_ns);
        add_response(into, t, &f->response, scratch);
    }
    window_clear(from);
}

static bool is_before(const rb_window_t *w, bool ramp, uint64_t index)
{
    return w->ramp == ramp ? w->index + w->span <= index : w->ramp;
}

static void insert_window(rb_series_t *s, size_t at, const rb_window_t *window)
{
    (void)RB_PUSH(s->windows, s->nwindows);
    memmove(&s->windows[at + 1], &s->windows[at], (s->nwindows - 1 - at) * sizeof(s->windows[0]));
    s->windows[at] = *window;
}

static void absorb_next(rb_series_t *s, size_t at, rb_hist_t *scratch)
{
    absorb(&s->windows[at], &s->windows[at + 1], scratch);
    s->nwindows--;
    memmove(&s->windows[at + 1], &s->windows[at + 2],
            (s->nwindows - at - 1) * sizeof(s->windows[0]));
}

static rb_window_t *window_for(rb_series_t *s, const rb_row_window_t *row, rb_hist_t *scratch)
{
    rb_window_t fresh = {.index = row->index, .span = row->span, .ramp = row->part == RB_PART_RAMP};
    uint64_t end = row->index + row->span;
    size_t at = s->nwindows;
    while (at > 0 && !is_before(&s->windows[at - 1], fresh.ramp, row->index))
        at--;
    if (at == s->nwindows || s->windows[at].ramp != fresh.ramp || s->windows[at].index >= end)
        insert_window(s, at, &fresh);
    else
        absorb(&s->windows[at], &fresh, scratch);
    while (at + 1 < s->nwindows && s->windows[at + 1].ramp == fresh.ramp &&
           s->windows[at + 1].index < s->windows[at].index + s->windows[at].span)
        absorb_next(s, at, scratch);
    return &s->windows[at];
}

void rb_series_add(rb_series_t *series, const rb_row_window_t *row, rb_hist_t *scratch)
{
    rb_window_t *w = window_for(series, row, scratch);
    for (size_t i = 0; i < row->ncells; i++) {
        const rb_cell_t *cell = &row->cells[i];
        rb_window_op_t *op = window_op(w, cell->op);
        op->ops += cell->ops;
        op->bytes += cell->bytes;
        op->errors += cell->errors;
        op->service_sum_ns += cell->service.sum;
        op->response_sum_ns += cell->response.sum;
        add_gauge(op, row->index + row->span, cell->inflight, cell->oldest_inflight_ns);
        add_response(w, op, &cell->response, scratch);
    }
}

static void finish_window(rb_window_t *w, rb_hist_t *scratch)
{
    w->final = true;
    for (int op = 0; op < RB_OP_COUNT; op++) {
        rb_window_op_t *o = w->op[op];
        if (o == NULL)
            continue;
        rb_hist_clear(scratch);
        rb_hist_merge_sparse(scratch, &o->response);
        o->p50_ns = rb_hist_quantile(scratch, 0.5);
        o->p99_ns = rb_hist_quantile(scratch, 0.99);
        rb_hist_sparse_clear(&o->response);
    }
}

void rb_series_finish(rb_series_t *series, uint64_t complete, rb_hist_t *scratch)
{
    /* A row of a merged window may follow the rows of its parts: the newest window stays open. */
    for (size_t i = series->nwindows; i-- > 0;) {
        rb_window_t *w = &series->windows[i];
        if (w->final && complete != UINT64_MAX)
            return;
        if (!w->final && w->index + w->span < complete)
            finish_window(w, scratch);
    }
}

uint64_t rb_window_quantile(const rb_window_op_t *op, double q)
{
    if (op->response.count == 0)
        return q == 0.5 ? op->p50_ns : q == 0.99 ? op->p99_ns : 0;
    RB_AUTO(rb_hist_destroy) rb_hist_t *h = rb_hist_new();
    rb_hist_merge_sparse(h, &op->response);
    return rb_hist_quantile(h, q);
}
