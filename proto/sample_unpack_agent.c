#include "proto/sample_unpack.h"

static void take_cell(rb_cursor_t *c, rb_cell_t *cell)
{
    size_t more = rb_cursor_enter(c, "cell", 11);
    cell->job = take_job(c);
    cell->target = take_target(c);
    cell->drive = take_drive(c);
    cell->op = (rb_op_t)rb_cursor_u32(c, "op", RB_OP_COUNT - 1);
    cell->ops = take_u64(c, "ops");
    cell->bytes = take_u64(c, "bytes");
    cell->errors = take_u64(c, "errors");
    cell->inflight = take_u64(c, "inflight");
    cell->oldest_inflight_ns = take_u64(c, "oldest_inflight_ns");
    rb_cursor_hist(c, "service", &cell->service);
    rb_cursor_hist(c, "response", &cell->response);
    rb_cursor_leave(c, more);
}

void rb_take_window(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_window_t *w = &row->window;
    w->phase = take_phase(c);
    w->part = (rb_part_t)rb_cursor_u32(c, "part", RB_PART_COUNT - 1);
    w->index = take_u64(c, "index");
    w->span = (uint32_t)rb_cursor_i64(c, "span", 1, UINT32_MAX);
    w->all_running = rb_cursor_bool(c, "all_running");
    w->ncells = rb_cursor_array(c, "cells", RB_MAX_CELLS, 12);
    w->cells = rb_calloc(w->ncells, sizeof(*w->cells));
    for (size_t i = 0; i < w->ncells && !c->failed; i++) {
        take_cell(c, &w->cells[i]);
        if (c->failed)
            rb_err_wrap(c->err, "cell %zu", i);
    }
}

void rb_take_worker(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_worker_t *w = &row->worker;
    w->phase = take_phase(c);
    w->job = take_job(c);
    w->target = take_target(c);
    w->drive = take_drive(c);
    w->worker = rb_cursor_u32(c, "worker", RB_MAX_WORKERS - 1);
    w->first_due_at_ns = take_i64(c, "first_due_at_ns");
    w->first_submit_at_ns = take_i64(c, "first_submit_at_ns");
    w->done_at_ns = take_i64(c, "done_at_ns");
    w->end_at_ns = take_i64(c, "end_at_ns");
    w->finished = rb_cursor_bool(c, "finished");
    w->unfinished = take_u64(c, "unfinished");
    w->oldest_unfinished_ns = take_u64(c, "oldest_unfinished_ns");
    w->cpu_ns = take_u64(c, "cpu_ns");
    w->wall_ns = take_u64(c, "wall_ns");
    w->offered_ops = take_u64(c, "offered_ops");
    rb_cursor_hist(c, "turn", &w->turn);
    w->lateness = (rb_hist_sparse_t){.min = UINT64_MAX};
    if (rb_cursor_more(c))
        rb_cursor_hist(c, "lateness", &w->lateness);
    w->stopped_at_ns = rb_cursor_more(c) ? take_i64(c, "stopped_at_ns") : w->end_at_ns;
}

void rb_take_kernel(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_kernel_t *k = &row->kernel;
    k->phase = take_phase(c);
    k->target = take_target(c);
    k->drive = take_drive(c);
    size_t more = rb_cursor_enter(c, "op", RB_LEN(k->op));
    for (size_t i = 0; i < RB_LEN(k->op); i++) {
        size_t more_of_op = rb_cursor_enter(c, "op", 2);
        k->op[i].ios = take_u64(c, "ios");
        k->op[i].sectors = take_u64(c, "sectors");
        rb_cursor_leave(c, more_of_op);
    }
    rb_cursor_leave(c, more);
}

void rb_take_event(rb_cursor_t *c, rb_row_t *row)
{
    row->event.phase = take_phase_or_none(c);
    row->event.at_ns = take_i64(c, "at_ns");
    row->event.kind = rb_cursor_str(c, "kind", RB_MAX_NAME);
    row->event.text = rb_cursor_str(c, "text", RB_MAX_ROW_TEXT);
}

void rb_take_drives(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_drives_t *d = &row->drives;
    d->phase = take_phase(c);
    d->ndrives = rb_cursor_array(c, "drives", RB_MAX_ROW_DRIVES, 5);
    d->drives = rb_calloc(d->ndrives, sizeof(*d->drives));
    for (size_t i = 0; i < d->ndrives && !c->failed; i++) {
        size_t more = rb_cursor_enter(c, "drives", 4);
        d->drives[i].target = take_target(c);
        d->drives[i].drive = take_drive(c);
        d->drives[i].path = rb_cursor_str(c, "path", RB_MAX_ROW_TEXT);
        d->drives[i].size_bytes = take_u64(c, "size_bytes");
        rb_cursor_leave(c, more);
        if (c->failed)
            rb_err_wrap(c->err, "drive %zu", i);
    }
}

void rb_take_layout(rb_cursor_t *c, rb_row_t *row)
{
    rb_row_layout_t *l = &row->layout;
    l->phase = take_phase(c);
    l->target = take_target(c);
    l->drive = take_drive(c);
    l->reused = rb_cursor_bool(c, "reused");
    l->ops = take_u64(c, "ops");
    l->bytes = take_u64(c, "bytes");
    l->took_ns = take_u64(c, "took_ns");
    rb_cursor_hist(c, "service", &l->service);
}

void rb_take_placement(rb_cursor_t *c, rb_row_t *row)
{
    enum { MAX_NODE = 4095 };
    rb_row_placement_t *r = &row->placement;
    r->phase = take_phase(c);
    r->nplaces = rb_cursor_array(c, "places", RB_MAX_WORKERS, 10);
    r->places = rb_calloc(r->nplaces, sizeof(*r->places));
    for (size_t i = 0; i < r->nplaces && !c->failed; i++) {
        rb_worker_place_t *p = &r->places[i];
        size_t more = rb_cursor_enter(c, "places", 9);
        p->job = take_job(c);
        p->target = take_target(c);
        p->drive = take_drive(c);
        p->worker = rb_cursor_u32(c, "worker", RB_MAX_WORKERS - 1);
        p->how = (rb_place_how_t)rb_cursor_u32(c, "how", RB_PLACE_COUNT - 1);
        p->ncpus = rb_cursor_u32(c, "ncpus", RB_MAX_CPUS);
        p->cpu = (int32_t)rb_cursor_i64(c, "cpu", -1, RB_MAX_CPUS - 1);
        p->node = (int32_t)rb_cursor_i64(c, "node", -1, MAX_NODE);
        p->drive_node = (int32_t)rb_cursor_i64(c, "drive_node", -1, MAX_NODE);
        rb_cursor_leave(c, more);
    }
}

void rb_take_cpu(rb_cursor_t *c, rb_row_t *row)
{
    enum { WHOLE_PPM = 1000000 };
    rb_row_cpu_t *r = &row->cpu;
    r->phase = take_phase(c);
    r->wall_ns = take_u64(c, "wall_ns");
    r->agent_ns = take_u64(c, "agent_ns");
    r->ncpus = rb_cursor_array(c, "cpus", RB_MAX_CPUS, 6);
    r->cpus = rb_calloc(r->ncpus, sizeof(*r->cpus));
    for (size_t i = 0; i < r->ncpus && !c->failed; i++) {
        size_t more = rb_cursor_enter(c, "cpus", 5);
        r->cpus[i].cpu = rb_cursor_u32(c, "cpu", RB_MAX_CPUS - 1);
        r->cpus[i].of_workers = rb_cursor_bool(c, "of_workers");
        r->cpus[i].busy_ppm = rb_cursor_u32(c, "busy_ppm", WHOLE_PPM);
        r->cpus[i].softirq_ppm = rb_cursor_u32(c, "softirq_ppm", WHOLE_PPM);
        r->cpus[i].steal_ppm = rb_cursor_u32(c, "steal_ppm", WHOLE_PPM);
        rb_cursor_leave(c, more);
    }
}
