#include "agent/sampler.h"

struct rb_sampler {
    uint32_t phase;
    rb_worker_t *const *workers; /* borrowed */
    size_t nworkers;
    rb_cell_t *cells;              /* [nworkers x RB_OP_COUNT], room for any row */
    rb_hist_t *service, *response; /* of the cell being merged; else empty */
    bool some_ended;               /* a worker was done with its work in a window already emitted */
};

rb_sampler_t *rb_sampler_new(uint32_t phase, rb_worker_t *const *workers, size_t nworkers)
{
    rb_sampler_t *s = rb_calloc(1, sizeof(*s));
    s->phase = phase;
    s->workers = workers;
    s->nworkers = nworkers;
    s->cells = rb_calloc(nworkers * RB_OP_COUNT, sizeof(*s->cells));
    s->service = rb_hist_new();
    s->response = rb_hist_new();
    return s;
}

void rb_sampler_destroy(rb_sampler_t **sampler)
{
    rb_sampler_t *s = *sampler;
    if (s == NULL)
        return;
    rb_hist_destroy(&s->service);
    rb_hist_destroy(&s->response);
    free(s->cells);
    free(s);
    *sampler = NULL;
}

static bool before(const rb_window_t *a, const rb_window_t *b)
{
    if (a->index != b->index)
        return a->index < b->index;
    return a->part != b->part ? a->part < b->part : a->span < b->span;
}

/* The oldest window, as row without cells. false: there is none, or a worker may still publish an
 * older one. */
static bool find_oldest(const rb_sampler_t *s, rb_window_t *ret_oldest)
{
    bool found = false;
    for (size_t i = 0; i < s->nworkers; i++) {
        /* In this order: a worker publishes its last window before it ends. */
        bool ended = atomic_load(&s->workers[i]->ended);
        const rb_window_t *win = rb_windows_peek(&s->workers[i]->windows);
        if (win == NULL && !ended)
            return false;
        if (win == NULL || (found && !before(win, ret_oldest)))
            continue;
        *ret_oldest = *win;
        found = true;
    }
    return found;
}

static bool fits(const rb_worker_t *w, const rb_window_t *key)
{
    const rb_window_t *win = rb_windows_peek(&w->windows);
    return win != NULL && win->index == key->index && win->part == key->part &&
           win->span == key->span;
}

static bool same_cell(const rb_worker_t *a, const rb_worker_t *b)
{
    return a->o.job_index == b->o.job_index && a->o.subject == b->o.subject;
}

/* One cell of workers [first, end). false: none of them has a window that fits, or uses the op. */
static bool merge_cell(rb_sampler_t *s, size_t first, size_t end, const rb_window_t *key,
                       rb_cell_t *cell)
{
    bool any = false;
    for (size_t i = first; i < end; i++) {
        const rb_worker_t *w = s->workers[i];
        const rb_op_stat_t *stat =
            fits(w, key) ? rb_windows_peek(&w->windows)->ops[cell->op] : NULL;
        if (stat == NULL)
            continue;
        any = true;
        cell->ops += stat->ops;
        cell->bytes += stat->bytes;
        cell->errors += stat->errors;
        cell->inflight += stat->inflight;
        cell->oldest_inflight_ns = RB_MAX(cell->oldest_inflight_ns, stat->oldest_inflight_ns);
        rb_hist_merge(s->service, &stat->service);
        rb_hist_merge(s->response, &stat->response);
    }
    rb_hist_to_sparse(s->service, &cell->service);
    rb_hist_to_sparse(s->response, &cell->response);
    rb_hist_clear(s->service);
    rb_hist_clear(s->response);
    return any;
}

static void clear_cell(rb_cell_t *cell)
{
    rb_hist_sparse_clear(&cell->service);
    rb_hist_sparse_clear(&cell->response);
}

static size_t merge_group(rb_sampler_t *s, size_t first, size_t end, const rb_window_t *key,
                          rb_cell_t *cells)
{
    size_t n = 0;
    const rb_worker_opts_t *o = &s->workers[first]->o;
    for (rb_op_t op = 0; op < RB_OP_COUNT; op++) {
        cells[n] = (rb_cell_t){.job = o->job_index,
                               .target = o->subject->at.target,
                               .drive = o->subject->at.drive,
                               .op = op};
        if (merge_cell(s, first, end, key, &cells[n]))
            n++;
        else
            clear_cell(&cells[n]);
    }
    return n;
}

static size_t merge_all(rb_sampler_t *s, const rb_window_t *key)
{
    size_t n = 0;
    for (size_t first = 0, end; first < s->nworkers; first = end) {
        end = first + 1;
        while (end < s->nworkers && same_cell(s->workers[first], s->workers[end]))
            end++;
        n += merge_group(s, first, end, key, &s->cells[n]);
    }
    return n;
}

static void consume_all(rb_sampler_t *s, const rb_window_t *key)
{
    for (size_t i = 0; i < s->nworkers; i++) {
        rb_worker_t *w = s->workers[i];
        if (!fits(w, key))
            continue;
        s->some_ended |= !rb_windows_peek(&w->windows)->running;
        rb_windows_consume(&w->windows);
    }
}

void rb_sampler_rows(rb_sampler_t *s, rb_row_emit_fn *emit, void *ctx)
{
    rb_window_t key = {0};
    while (find_oldest(s, &key)) {
        rb_row_t row = {.kind = RB_ROW_WINDOW};
        row.window.phase = s->phase;
        row.window.part = key.part;
        row.window.index = key.index;
        row.window.span = key.span;
        row.window.ncells = merge_all(s, &key);
        row.window.cells = s->cells;
        consume_all(s, &key);
        row.window.all_running = !s->some_ended;
        emit(ctx, &row);
        for (size_t i = 0; i < row.window.ncells; i++)
            clear_cell(&s->cells[i]);
    }
}
