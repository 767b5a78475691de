/* budget.h - keeps a journal below its limit: how many windows the agents are to merge into a row.
 *
 * From what a window row of this run takes (an estimate until there are some), the windows that are
 * still to come by the plan and the room that is left. Spans are powers of two, so that an old
 * span's borders are those of a new one. A part of the limit is kept for what is not windows. Pure;
 * called once a beat.
 */
#pragma once

#include "common/base.h"

typedef struct {
    uint64_t max_bytes;  /* 0: no limit */
    uint64_t used_bytes; /* of the journal */
    double row_bytes;    /* of a window row of one host, at the present span */
    uint32_t span;       /* windows to a row */
} rb_budget_t;

void rb_budget_init(rb_budget_t *budget, uint64_t max_bytes);
/* Until there are rows: of what those of so many drives on so many hosts may take. */
void rb_budget_guess(rb_budget_t *budget, size_t drives, size_t hosts);

typedef enum { RB_BUDGET_WINDOW, RB_BUDGET_OTHER } rb_budget_kind_t;
void rb_budget_row(rb_budget_t *budget, rb_budget_kind_t kind, size_t size);

/* The span from now on. windows_left: of each host, by the plan. */
uint32_t rb_budget_span(rb_budget_t *budget, size_t hosts, uint64_t windows_left);
/* One more row of that size would be beyond the limit. */
bool rb_budget_is_spent(const rb_budget_t *budget, size_t size);
