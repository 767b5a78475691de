#include "coordinator/budget.h"

#include "proto/sample.h"

/* Two histograms of some 300 pairs of three bytes each. */
#define GUESS_BYTES   2000.0
#define RECORD_BYTES  12   /* of the journal, before each row */
#define KEPT_PART     0.15 /* of the limit, for rows that are no windows and for full resolution */
#define AVERAGED_ROWS 64.0
#define LOWER_BY      4 /* a span falls only where one so much smaller would do */

void rb_budget_init(rb_budget_t *budget, uint64_t max_bytes)
{
    *budget = (rb_budget_t){.max_bytes = max_bytes, .span = 1};
}

void rb_budget_guess(rb_budget_t *budget, size_t drives, size_t hosts)
{
    if (budget->row_bytes == 0)
        budget->row_bytes = GUESS_BYTES * (double)drives / (double)RB_MAX(hosts, 1u);
}

void rb_budget_row(rb_budget_t *budget, rb_budget_kind_t kind, size_t size)
{
    double bytes = (double)(size + RECORD_BYTES);
    budget->used_bytes += size + RECORD_BYTES;
    if (kind == RB_BUDGET_WINDOW)
        budget->row_bytes += (bytes - budget->row_bytes) / AVERAGED_ROWS;
}

/* Smallest power of two that leaves no more rows than there is room for. */
static uint32_t needed(const rb_budget_t *b, size_t hosts, uint64_t windows_left)
{
    double room = (1 - KEPT_PART) * (double)b->max_bytes - (double)b->used_bytes;
    double full = (double)hosts * (double)windows_left * b->row_bytes;
    uint32_t span = 1;
    if (room <= 0)
        return RB_MAX_SPAN;
    while (span < RB_MAX_SPAN && full / span > room)
        span *= 2;
    return span;
}

uint32_t rb_budget_span(rb_budget_t *budget, size_t hosts, uint64_t windows_left)
{
    if (budget->max_bytes == 0)
        return 1;
    uint32_t span = needed(budget, hosts, windows_left);
    if (span > budget->span || span * LOWER_BY <= budget->span)
        budget->span = span;
    return budget->span;
}

bool rb_budget_is_spent(const rb_budget_t *budget, size_t size)
{
    return budget->max_bytes != 0 && budget->used_bytes + size + RECORD_BYTES > budget->max_bytes;
}
