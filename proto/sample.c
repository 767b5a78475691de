#include "proto/sample_cursor.h"

const char *const rb_op_names[RB_OP_COUNT] = {"read", "write", "trim", "sync"};
const char *const rb_part_names[RB_PART_COUNT] = {"setup", "ramp", "main", "drained"};

const char *const rb_place_names[RB_PLACE_COUNT] = {"any", "near", "auto", "list", "split"};

const char *const rb_power_scopes[RB_SCOPE_COUNT] = {"package", "drive", "chassis", "pdu"};

const rb_row_shape_t *rb_row_shape(uint64_t kind)
{
    static const rb_row_shape_t shapes[] = {
        [RB_ROW_WINDOW] = {"window", 6, 0},
        [RB_ROW_WORKER] = {"worker", 16, 2},
        [RB_ROW_KERNEL] = {"kernel", 4, 0},
        [RB_ROW_EVENT] = {"event", 4, 0},
        [RB_ROW_DRIVES] = {"drives", 2, 0},
        [RB_ROW_LAYOUT] = {"layout", 8, 0},
        [RB_ROW_CPU] = {"cpu", 4, 0},
        [RB_ROW_PLACEMENT] = {"placement", 2, 0},
        [RB_ROW_HEALTH] = {"health", 7, 0},
        [RB_ROW_KV_PARTS] = {"kv parts", 5, 0},
        [RB_ROW_KV_DRIVE] = {"kv drive", 16, 0},
        [RB_ROW_RUN] = {"run", 6, 0},
        [RB_ROW_HOST] = {"host", 4, 0},
        [RB_ROW_CLOCK] = {"clock", 6, 0},
        [RB_ROW_PHASE_START] = {"phase start", 5, 0},
        [RB_ROW_PHASE_END] = {"phase end", 4, 1},
        [RB_ROW_NOTE] = {"note", 5, 0},
        [RB_ROW_RUN_END] = {"run end", 4, 0},
        [RB_ROW_STEP] = {"step", 4, 0},
        [RB_ROW_SEARCH] = {"search", 10, 0},
        [RB_ROW_REACH] = {"reach", 6, 0},
        [RB_ROW_WATTS] = {"watts", 1, 0},
    };
    return kind < RB_LEN(shapes) && shapes[kind].name != NULL ? &shapes[kind] : NULL;
}

static void free_strings(char **strings, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(strings[i]);
    free(strings);
}

static void clear_window(rb_row_window_t *w)
{
    for (size_t i = 0; i < w->ncells; i++) {
        rb_hist_sparse_clear(&w->cells[i].service);
        rb_hist_sparse_clear(&w->cells[i].response);
    }
    free(w->cells);
}

static void clear_drives(rb_row_drives_t *d)
{
    for (size_t i = 0; i < d->ndrives; i++)
        free(d->drives[i].path);
    free(d->drives);
}

static void clear_health(rb_row_health_t *h)
{
    for (size_t i = 0; i < h->ndrives; i++)
        rb_health_drive_clear(&h->drives[i]);
    free(h->drives);
}

static void clear_run(rb_row_run_t *r)
{
    free(r->id);
    free(r->name);
    free(r->version);
    rb_bytes_clear(&r->plan);
    free_strings(r->marks, r->nmarks);
}

static void clear_host(rb_row_host_t *h)
{
    free(h->name);
    rb_bytes_clear(&h->inventory);
    free_strings(h->labels, h->nlabels);
}

static void clear_reach(rb_row_reach_t *r)
{
    free(r->name);
    free(r->address);
    free(r->key);
    free(r->listen);
    free_strings(r->labels, r->nlabels);
}

static void clear_coordinators(rb_row_t *row)
{
    switch ((int)row->kind) {
    case RB_ROW_RUN:
        clear_run(&row->run);
        break;
    case RB_ROW_HOST:
        clear_host(&row->host);
        break;
    case RB_ROW_PHASE_START:
        free(row->phase_start.hosts);
        free(row->phase_start.bounds_ns);
        break;
    case RB_ROW_PHASE_END:
        free(row->phase_end.lost);
        free(row->phase_end.reason);
        break;
    case RB_ROW_NOTE:
        free(row->note.kind);
        free(row->note.text);
        break;
    case RB_ROW_RUN_END:
        free(row->run_end.status);
        free(row->run_end.text);
        break;
    case RB_ROW_STEP:
        rb_bytes_clear(&row->step.override);
        break;
    case RB_ROW_SEARCH:
        free(row->search.verdict);
        break;
    case RB_ROW_REACH:
        clear_reach(&row->reach);
        break;
    case RB_ROW_WATTS:
        free(row->watts.readings);
        break;
    }
}

static void clear_agents(rb_row_t *row)
{
    switch ((int)row->kind) {
    case RB_ROW_WINDOW:
        clear_window(&row->window);
        break;
    case RB_ROW_WORKER:
        rb_hist_sparse_clear(&row->worker.turn);
        rb_hist_sparse_clear(&row->worker.lateness);
        break;
    case RB_ROW_EVENT:
        free(row->event.kind);
        free(row->event.text);
        break;
    case RB_ROW_DRIVES:
        clear_drives(&row->drives);
        break;
    case RB_ROW_LAYOUT:
        rb_hist_sparse_clear(&row->layout.service);
        break;
    case RB_ROW_CPU:
        free(row->cpu.cpus);
        break;
    case RB_ROW_PLACEMENT:
        free(row->placement.places);
        break;
    case RB_ROW_HEALTH:
        clear_health(&row->health);
        break;
    case RB_ROW_KV_PARTS:
        free(row->kv_parts.parts);
        break;
    }
}

void rb_row_clear(rb_row_t *row)
{
    if (row->kind < RB_ROW_RUN)
        clear_agents(row);
    else
        clear_coordinators(row);
    *row = (rb_row_t){0};
}
