#include "agent/health_rows.h"

typedef struct {
    rb_row_emit_fn *emit;
    void *ctx;
    int32_t phase;
    int64_t at_ns;
} sink_t;

static void emit_event(void *ctx, const char *kind, const char *text)
{
    const sink_t *sink = ctx;
    rb_row_t row = {.kind = RB_ROW_EVENT};
    row.event = (rb_row_event_t){sink->phase, sink->at_ns, (char *)(uintptr_t)kind,
                                 (char *)(uintptr_t)text};
    sink->emit(sink->ctx, &row);
}

static rb_health_known_t *find_known(rb_health_rows_t *rows, const char *path)
{
    for (size_t i = 0; i < rows->nknown; i++)
        if (strcmp(rows->known[i].last.path, path) == 0)
            return &rows->known[i];
    return NULL;
}

/* Judges the drive, and keeps it as the last reading. */
static void judge(rb_health_rows_t *rows, rb_health_drive_t *drive, sink_t *sink)
{
    rb_health_known_t *known = find_known(rows, drive->path);
    rb_health_memory_t fresh = {0};
    rb_health_judge(known != NULL ? &known->memory : &fresh, known != NULL ? &known->last : NULL,
                    drive, emit_event, sink);
    if (known == NULL)
        known = RB_PUSH(rows->known, rows->nknown);
    rb_health_drive_clear(&known->last);
    known->last = *drive;
    *drive = (rb_health_drive_t){0};
}

static void check_limit(rb_health_rows_t *rows, const rb_health_drive_t *drive)
{
    int64_t now_c =
        RB_MAX(drive->figure[RB_HEALTH_TEMPERATURE], drive->figure[RB_HEALTH_SENSOR_MAX]);
    if (rows->stop_c > 0 && rows->fault.code == RB_OK && now_c >= (int64_t)rows->stop_c)
        rb_err_set(&rows->fault, RB_ERR_IO,
                   "%.160s (S/N %.40s) is at %d C, and stop_when ends the phase at %u C",
                   drive->path, drive->serial[0] != '\0' ? drive->serial : "none", (int)now_c,
                   rows->stop_c);
}

void rb_health_rows_emit(rb_health_rows_t *rows, rb_row_t *row, rb_row_emit_fn *emit, void *ctx)
{
    rb_row_health_t *health = &row->health;
    emit(ctx, row);
    sink_t sink = {emit, ctx, (int32_t)health->phase, health->at_ns};
    for (size_t i = 0; i < health->ndrives; i++) {
        if (health->when != RB_HEALTH_END)
            check_limit(rows, &health->drives[i]);
        judge(rows, &health->drives[i], &sink);
    }
}

void rb_health_rows_clear(rb_health_rows_t *rows)
{
    for (size_t i = 0; i < rows->nknown; i++)
        rb_health_drive_clear(&rows->known[i].last);
    free(rows->known);
    *rows = (rb_health_rows_t){0};
}
