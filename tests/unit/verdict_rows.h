/* verdict_rows.h - journals of what drives did in a second, for the tests of verdicts. */
#pragma once

#include "tests/unit/result_rows.h"

enum { MAX_FED_DRIVES = 16 };

/* What drive d of a host did: n operations of so many bytes, each of that time. */
typedef struct {
    uint32_t drive;
    rb_op_t op;
    size_t n;
    uint64_t bytes, ns;
    size_t nlate; /* of the n, that took ten times as long */
} fed_drive_t;

/* The plan's phase `index` becomes a point of one sweep of two. */
static inline void feed_point_key(feed_t *feed, uint32_t index, const char *key, const char *value)
{
    Rackbench__Phase *phase = feed->fold->plan->phases[index];
    if (phase->point == NULL) {
        phase->point = rb_calloc(1, sizeof(*phase->point));
        rackbench__point__init(phase->point);
        phase->point->has_number = phase->point->has_of = true;
        phase->point->number = index + 1;
        phase->point->of = 2;
    }
    Rackbench__Label *label = rb_calloc(1, sizeof(*label));
    rackbench__label__init(label);
    label->name = rb_strdup(key);
    label->value = rb_strdup(value);
    *RB_PUSH(phase->point->values, phase->point->n_values) = label;
}

static inline void feed_paths(feed_t *feed, uint32_t phase, uint32_t host, uint32_t n)
{
    rb_drive_ref_t drives[MAX_FED_DRIVES];
    char paths[MAX_FED_DRIVES][32];
    for (uint32_t d = 0; d < n; d++) {
        snprintf(paths[d], sizeof(paths[d]), "/dev/nvme%un1", d);
        drives[d] = (rb_drive_ref_t){.drive = d, .path = paths[d], .size_bytes = RB_GIB};
    }
    feed_row(feed, host, (rb_row_t){.kind = RB_ROW_DRIVES, .drives = {phase, n, drives}});
}

/* All of it in the first second of M, in one row. */
static inline void feed_drives(feed_t *feed, uint32_t phase, uint32_t host,
                               const fed_drive_t *drives, size_t n)
{
    rb_cell_t cells[MAX_FED_DRIVES];
    for (size_t d = 0; d < n; d++) {
        uint64_t *values = rb_calloc(drives[d].n + 1, sizeof(*values));
        for (size_t i = 0; i < drives[d].n; i++)
            values[i] = drives[d].ns * (i < drives[d].nlate ? 10 : 1);
        cells[d] = (rb_cell_t){.drive = drives[d].drive,
                               .op = drives[d].op,
                               .ops = drives[d].n,
                               .bytes = drives[d].n * drives[d].bytes,
                               .service = sparse_of(values, drives[d].n),
                               .response = sparse_of(values, drives[d].n)};
        free(values);
    }
    rb_row_t row = {.kind = RB_ROW_WINDOW};
    row.window = (rb_row_window_t){
        .phase = phase, .part = RB_PART_MAIN, .span = 1, .all_running = true, .ncells = n};
    row.window.cells = cells;
    feed_row(feed, host, row);
    for (size_t d = 0; d < n; d++) {
        rb_hist_sparse_clear(&cells[d].service);
        rb_hist_sparse_clear(&cells[d].response);
    }
}

static inline void feed_over(feed_t *feed, uint32_t phase, bool truncated)
{
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_PHASE_END,
                        .phase_end = {.phase = phase,
                                      .te_at_ns = truncated ? (int64_t)(S / 2) : INT64_MAX,
                                      .truncated = truncated}});
}
