/* merge_health.h - what the drives and the processor of one host said of themselves in a phase.
 *
 * A part of coordinator/merge: folded from HEALTH rows, of which the first and the last reading of
 * a drive, its extremes and the instants are kept. Main thread; pure.
 */
#pragma once

#include "proto/sample.h"

/* Instants that are kept, a day's; of those beyond only the figures count. */
enum { RB_MAX_FOLD_READINGS = 16384 };

/* PCIe: mega-transfers per second and lane, lanes; 0: not known. */
typedef struct {
    uint32_t mts, width, max_mts, max_width;
} rb_fold_link_t;

typedef struct {
    rb_health_drive_t first, last;
    int64_t temperature_max; /* RB_HEALTH_UNKNOWN: not known */
    int64_t warnings;        /* RB_WARNING_..., of any reading */
    rb_fold_link_t link;     /* the slowest that was read, and what the drive could */
} rb_fold_drive_t;

typedef struct {
    rb_health_when_t when;
    int64_t at_ns;
    uint64_t took_ns;
    bool throttled; /* a drive slowed itself down since the reading before */
} rb_fold_reading_t;

typedef struct {
    size_t ndrives, nreadings;
    rb_fold_drive_t *drives;     /* [ndrives] */
    rb_fold_reading_t *readings; /* [nreadings] in the order of time */
    uint64_t nmhz;               /* readings that have a frequency */
    int64_t mhz_min, mhz_max, mhz_sum;
    int64_t energy_uj, energy_ns; /* up to the last reading that has it, and since when */
} rb_fold_health_t;

/* Moves out of the row what it keeps. RB_ERR_NET: its time goes back. */
int rb_fold_health_add(rb_fold_health_t *health, rb_row_health_t *row, rb_err_t *err);
void rb_fold_health_clear(rb_fold_health_t *health);

/* By how much a counter rose; RB_HEALTH_UNKNOWN where either is, or it fell. */
int64_t rb_health_delta(const rb_health_drive_t *from, const rb_health_drive_t *to,
                        rb_health_figure_t figure);
