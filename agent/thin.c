#include "agent/thin.h"

#define JUMP 4.0
enum { JUMP_SAMPLES = 100, AVERAGED = 8 };

struct rb_thin {
    uint32_t span;
    size_t nheld;
    rb_row_t held[RB_THIN_HELD]; /* window rows, owned; the first may be of several windows */
    uint64_t open, quiet;        /* windows that still go through as they are; that may not again */
    double p99_ns;               /* of response, averaged over the last windows; 0: none yet */
    rb_hist_t *scratch;
};

rb_thin_t *rb_thin_new(void)
{
    rb_thin_t *t = rb_calloc(1, sizeof(*t));
    t->span = 1;
    t->scratch = rb_hist_new();
    return t;
}

void rb_thin_destroy(rb_thin_t **thin)
{
    rb_thin_t *t = *thin;
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->nheld; i++)
        rb_row_clear(&t->held[i]);
    rb_hist_destroy(&t->scratch);
    free(t);
    *thin = NULL;
}

void rb_thin_set_span(rb_thin_t *thin, uint32_t span)
{
    RB_ASSERT(span > 0);
    if (span > thin->span) /* there is less room than was thought */
        thin->open = 0;
    thin->span = span;
}

/* ---- copies and sums ---- */

static void copy_hist(rb_hist_sparse_t *to, const rb_hist_sparse_t *from)
{
    *to = *from;
    to->pairs = rb_calloc(from->npairs, sizeof(*to->pairs));
    if (from->npairs > 0)
        memcpy(to->pairs, from->pairs, from->npairs * sizeof(*to->pairs));
}

static rb_cell_t copy_cell(const rb_cell_t *from)
{
    rb_cell_t cell = *from;
    copy_hist(&cell.service, &from->service);
    copy_hist(&cell.response, &from->response);
    return cell;
}

static rb_row_t copy_row(const rb_row_t *from)
{
    rb_row_t row = *from;
    row.window.cells = rb_calloc(from->window.ncells, sizeof(rb_cell_t));
    for (size_t i = 0; i < from->window.ncells; i++)
        row.window.cells[i] = copy_cell(&from->window.cells[i]);
    return row;
}

static void add_hist(rb_thin_t *t, rb_hist_sparse_t *to, const rb_hist_sparse_t *from)
{
    if (from->count == 0)
        return;
    rb_hist_clear(t->scratch);
    rb_hist_merge_sparse(t->scratch, to);
    rb_hist_merge_sparse(t->scratch, from);
    rb_hist_sparse_clear(to);
    rb_hist_to_sparse(t->scratch, to);
}

static void add_cell(rb_thin_t *t, rb_cell_t *to, const rb_cell_t *from, bool later)
{
    to->ops += from->ops;
    to->bytes += from->bytes;
    to->errors += from->errors;
    if (later)
        to->inflight = to->oldest_inflight_ns = 0;
    to->inflight += from->inflight;
    to->oldest_inflight_ns = RB_MAX(to->oldest_inflight_ns, from->oldest_inflight_ns);
    add_hist(t, &to->service, &from->service);
    add_hist(t, &to->response, &from->response);
}

static rb_cell_t *find_cell(rb_row_window_t *w, const rb_cell_t *like)
{
    for (size_t i = 0; i < w->ncells; i++) {
        rb_cell_t *c = &w->cells[i];
        if (c->job == like->job && c->target == like->target && c->drive == like->drive &&
            c->op == like->op)
            return c;
    }
    return NULL;
}

static uint64_t end_of(const rb_row_window_t *w)
{
    return w->index + w->span;
}

/* Gauges are those of the later end; workers of one cell may have rows of their own. */
static void add_row(rb_thin_t *t, rb_row_window_t *to, const rb_row_window_t *from)
{
    bool later = end_of(from) > end_of(to);
    for (size_t i = 0; i < from->ncells; i++) {
        rb_cell_t *cell = find_cell(to, &from->cells[i]);
        if (cell != NULL) {
            add_cell(t, cell, &from->cells[i], later);
            continue;
        }
        to->cells = rb_realloc(to->cells, (to->ncells + 1) * sizeof(rb_cell_t));
        to->cells[to->ncells++] = copy_cell(&from->cells[i]);
    }
    to->all_running &= from->all_running;
    to->span = (uint32_t)(RB_MAX(end_of(to), end_of(from)) - to->index);
}

/* ---- what is held ---- */

static void let_go(rb_thin_t *t, rb_row_emit_fn *emit, void *ctx)
{
    for (size_t i = 0; i < t->nheld; i++) {
        emit(ctx, &t->held[i]);
        rb_row_clear(&t->held[i]);
    }
    t->nheld = 0;
}

static void merge_first(rb_thin_t *t)
{
    add_row(t, &t->held[0].window, &t->held[1].window);
    rb_row_clear(&t->held[1]);
    t->nheld--;
    memmove(&t->held[1], &t->held[2], (t->nheld - 1) * sizeof(rb_row_t));
}

static void let_go_merged(rb_thin_t *t, rb_row_emit_fn *emit, void *ctx)
{
    while (t->nheld > 1)
        merge_first(t);
    let_go(t, emit, ctx);
}

static void hold(rb_thin_t *t, const rb_row_t *row)
{
    if (t->nheld == RB_THIN_HELD)
        merge_first(t);
    t->held[t->nheld++] = copy_row(row);
}

/* ---- what went wrong ---- */

static bool p99_jumps(rb_thin_t *t, const rb_row_window_t *w)
{
    rb_hist_clear(t->scratch);
    for (size_t i = 0; i < w->ncells; i++)
        rb_hist_merge_sparse(t->scratch, &w->cells[i].response);
    if (t->scratch->count < JUMP_SAMPLES)
        return false;
    double p99_ns = (double)rb_hist_quantile(t->scratch, 0.99);
    bool jumps = t->p99_ns > 0 && p99_ns > JUMP * t->p99_ns;
    t->p99_ns += t->p99_ns > 0 ? (p99_ns - t->p99_ns) / AVERAGED : p99_ns;
    return jumps;
}

static bool went_wrong(rb_thin_t *t, const rb_row_window_t *w)
{
    bool wrong = p99_jumps(t, w);
    for (size_t i = 0; i < w->ncells; i++)
        wrong |= w->cells[i].errors > 0;
    return wrong;
}

void rb_thin_event(rb_thin_t *thin, rb_row_emit_fn *emit, void *ctx)
{
    if (thin->span <= 1 || thin->quiet > 0)
        return;
    let_go(thin, emit, ctx);
    thin->open = RB_THIN_AFTER;
    thin->quiet = (uint64_t)(RB_THIN_HELD + RB_THIN_AFTER) * thin->span;
}

static bool same_span(const rb_thin_t *t, const rb_row_window_t *a, const rb_row_window_t *b)
{
    return a->phase == b->phase && a->part == b->part && a->index / t->span == b->index / t->span;
}

void rb_thin_window(rb_thin_t *thin, rb_row_t *row, rb_row_emit_fn *emit, void *ctx)
{
    rb_thin_t *t = thin;
    if (t->span <= 1) {
        let_go_merged(t, emit, ctx);
        emit(ctx, row);
        return;
    }
    if (t->nheld > 0 && !same_span(t, &t->held[0].window, &row->window))
        let_go_merged(t, emit, ctx);
    t->quiet -= RB_MIN(t->quiet, row->window.span);
    if (went_wrong(t, &row->window))
        rb_thin_event(t, emit, ctx);
    if (t->open > 0) {
        t->open--;
        let_go(t, emit, ctx);
        emit(ctx, row);
        return;
    }
    hold(t, row);
    if (end_of(&row->window) % t->span == 0)
        let_go_merged(t, emit, ctx);
}

void rb_thin_end(rb_thin_t *thin, rb_row_emit_fn *emit, void *ctx)
{
    let_go_merged(thin, emit, ctx);
}
