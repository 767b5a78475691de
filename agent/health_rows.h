/* health_rows.h - readings as rows: a HEALTH row each, behind it EVENT rows of what the drives say
 * against the reading before. A part of agent/health; main thread; no I/O.
 */
#pragma once

#include "agent/engine.h"
#include "agent/health_judge.h"

typedef struct {
    rb_health_drive_t last;
    rb_health_memory_t memory;
} rb_health_known_t;

/* Zeroed at the start. */
typedef struct {
    size_t nknown;
    rb_health_known_t *known; /* [nknown] drives of this run, as they were read last */
    uint32_t stop_c;          /* temperature at which the phase is to end; 0: none */
    rb_err_t fault;           /* it was reached: RB_ERR_IO; the caller clears it */
} rb_health_rows_t;

/* `row` is of kind HEALTH; the drives are moved out of it. */
void rb_health_rows_emit(rb_health_rows_t *rows, rb_row_t *row, rb_row_emit_fn *emit, void *ctx);
void rb_health_rows_clear(rb_health_rows_t *rows);
