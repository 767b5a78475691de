/* thin.h - fewer window rows than windows, when the coordinator asks for it: those of one span are
 * merged, except around what went wrong.
 *
 * A span is a whole number of windows, counted from T0, so the rows of all hosts have the same
 * borders. The last RB_THIN_HELD windows wait here one by one; errors in a window, an event of the
 * engine or a p99 of response four times what it was lets them go as they are, and RB_THIN_AFTER
 * more behind them. Then it does not happen again for so many rows that full resolution at most
 * doubles their number. Windows merge, none vanishes. Main thread; pure. With span 1 a row goes
 * straight through.
 */
#pragma once

#include "agent/engine.h"

enum { RB_THIN_HELD = 64, RB_THIN_AFTER = 30 };

typedef struct rb_thin rb_thin_t;
rb_thin_t *rb_thin_new(void);
void rb_thin_destroy(rb_thin_t **thin);

/* From here on. At least 1; a larger one ends the full resolution behind an event. */
void rb_thin_set_span(rb_thin_t *thin, uint32_t span);
/* A window row of one window or more, in order. It stays the caller's. */
void rb_thin_window(rb_thin_t *thin, rb_row_t *row, rb_row_emit_fn *emit, void *ctx);
/* The engine saw something: what is held goes out as it is. */
void rb_thin_event(rb_thin_t *thin, rb_row_emit_fn *emit, void *ctx);
/* The phase is over: what is held goes out merged. */
void rb_thin_end(rb_thin_t *thin, rb_row_emit_fn *emit, void *ctx);
