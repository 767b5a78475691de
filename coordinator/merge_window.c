#include "coordinator/merge_parts.h"

void rb_pending_clear(rb_pending_t *pending)
{
    rb_row_t row = {.kind = RB_ROW_WINDOW, .window = pending->window};
    rb_row_clear(&row);
    *pending = (rb_pending_t){0};
}

/* Cells come in the same order in every window, so the i-th cell mostly is the i-th total. */
static rb_total_t *total_for(rb_total_t **totals, size_t *n, const rb_cell_t *cell, size_t hint)
{
    for (size_t i = 0; i < *n; i++) {
        rb_total_t *t = &(*totals)[(hint + i) % *n];
        if (t->job == cell->job && t->target == cell->target && t->drive == cell->drive &&
            t->op == cell->op)
            return t;
    }
    rb_total_t *t = RB_PUSH(*totals, *n);
    *t = (rb_total_t){
        .job = cell->job, .target = cell->target, .drive = cell->drive, .op = cell->op};
    return t;
}

int rb_totals_add(const rb_fold_t *fold, rb_total_t **totals, size_t *n, const rb_row_window_t *row,
                  rb_part_t part)
{
    for (size_t i = 0; i < row->ncells; i++) {
        const rb_cell_t *cell = &row->cells[i];
        rb_total_t *t = total_for(totals, n, cell, i);
        if (part != RB_PART_MAIN) {
            t->outside[part].ops += cell->ops;
            t->outside[part].bytes += cell->bytes;
            continue;
        }
        t->ops += cell->ops;
        t->bytes += cell->bytes;
        t->errors += cell->errors;
        if (rb_sparse_add(&t->service, &cell->service, fold->scratch) < 0 ||
            rb_sparse_add(&t->response, &cell->response, fold->scratch) < 0)
            return -1;
    }
    return 0;
}

static int add_totals(const rb_fold_t *fold, rb_member_t *m, const rb_row_window_t *row,
                      rb_part_t part)
{
    size_t before = m->ntotals;
    int rc = rb_totals_add(fold, &m->totals, &m->ntotals, row, part);
    for (size_t i = before; i < m->ntotals; i++)
        rb_member_name_drive(m, fold, m->totals[i].target, m->totals[i].drive);
    return rc;
}

/* End of the earliest pending windows: the first border that no pending row crosses. */
static uint64_t first_group_end(const rb_fold_phase_t *phase)
{
    uint64_t from = UINT64_MAX;
    for (size_t i = 0; i < phase->npending; i++)
        from = RB_MIN(from, phase->pending[i].window.index);
    uint64_t end = from + 1, before;
    do {
        before = end;
        for (size_t i = 0; i < phase->npending; i++) {
            const rb_row_window_t *w = &phase->pending[i].window;
            if (w->index < end)
                end = RB_MAX(end, w->index + w->span);
        }
    } while (end != before);
    return end;
}

/* Every host that was not lost has rows in the group, and all of them were running to its end. */
static bool all_were_running(const rb_fold_phase_t *phase, uint64_t end)
{
    size_t expected = 0, found = 0;
    for (size_t h = 0; h < phase->nmembers; h++) {
        const rb_member_t *m = &phase->members[h];
        bool present = false;
        if (!m->takes_part || m->lost)
            continue;
        expected++;
        for (size_t i = 0; i < phase->npending; i++) {
            const rb_pending_t *p = &phase->pending[i];
            if (p->host != h + 1 || p->window.index >= end)
                continue;
            if (!p->window.all_running)
                return false;
            present = true;
        }
        found += present;
    }
    return found == expected;
}

static int take_group(rb_fold_t *fold, rb_fold_phase_t *phase, uint64_t end, rb_part_t part)
{
    size_t kept = 0;
    int rc = 0;
    for (size_t i = 0; i < phase->npending; i++) {
        rb_pending_t *p = &phase->pending[i];
        if (p->window.index >= end) {
            phase->pending[kept++] = *p;
            continue;
        }
        rc |= add_totals(fold, rb_fold_member(phase, p->host), &p->window, part);
        rb_pending_clear(p);
    }
    phase->npending = kept;
    return rc;
}

/* Moves the common end on while every host was running. A first window in which one finished is
 * still taken: without it there would be no result (common_share then tells). */
static int settle(rb_fold_t *fold, rb_fold_phase_t *phase)
{
    while (phase->npending > 0) {
        uint64_t end = first_group_end(phase);
        /* A row of a merged window may follow the rows of its parts: the newest one waits. */
        if (!phase->common_over && end >= phase->complete)
            return 0;
        bool running = !phase->common_over && all_were_running(phase, end);
        bool common = running || (!phase->common_over && !phase->common_any);
        if (take_group(fold, phase, end, common ? RB_PART_MAIN : RB_PART_DRAINED) < 0)
            return -1;
        if (common)
            phase->common_end = end;
        phase->common_any |= common;
        phase->common_over |= !running;
    }
    return 0;
}

int rb_fold_progress(rb_fold_t *fold, rb_fold_phase_t *phase)
{
    phase->complete = UINT64_MAX;
    phase->nbehind = 0;
    for (size_t i = 0; i < phase->nmembers; i++)
        if (phase->members[i].takes_part)
            phase->complete = RB_MIN(phase->complete, phase->members[i].next);
    for (size_t i = 0; i < phase->nmembers; i++) {
        rb_member_t *m = &phase->members[i];
        phase->nbehind += m->takes_part && m->next == phase->complete;
        rb_series_finish(&m->series, phase->complete, fold->scratch);
    }
    rb_series_finish(&phase->series, phase->complete, fold->scratch);
    return settle(fold, phase);
}

int rb_fold_advance(rb_fold_t *fold, rb_fold_phase_t *phase, uint32_t host, uint64_t next)
{
    rb_member_t *m = rb_fold_member(phase, host);
    if (phase->over) /* late rows of a host that was lost: nothing else will settle them */
        return settle(fold, phase);
    if (!m->takes_part || next <= m->next)
        return 0;
    /* Only the last of the hosts that are behind costs a look at all of them. */
    bool was_behind = m->next == phase->complete;
    m->next = next;
    if (was_behind && --phase->nbehind == 0)
        return rb_fold_progress(fold, phase);
    return 0;
}

int rb_fold_check_place(const rb_fold_t *fold, uint32_t phase, uint32_t job, uint32_t target,
                        rb_err_t *err)
{
    const Rackbench__Phase *p = rb_fold_plan_phase(fold, phase);
    if (p != NULL && job >= p->n_jobs)
        return rb_err_set(err, RB_ERR_NET, "job %u is not among the %zu of phase %u", job,
                          p->n_jobs, phase);
    if (target >= fold->plan->n_targets)
        return rb_err_set(err, RB_ERR_NET, "target %u is not among the %zu of the plan", target,
                          fold->plan->n_targets);
    return 0;
}

int rb_fold_window(rb_fold_t *fold, rb_fold_phase_t *phase, uint32_t host, rb_row_window_t *row)
{
    rb_member_t *m = rb_fold_member(phase, host);
    uint64_t next = row->index + row->span;
    if (row->part == RB_PART_RAMP)
        next = RB_MIN(next, rb_fold_ramp_ns(fold, row->phase) / rb_fold_interval_ns(fold));
    if (row->part == RB_PART_RAMP || row->part == RB_PART_MAIN) {
        rb_series_add(&m->series, row, fold->scratch);
        rb_series_add(&phase->series, row, fold->scratch);
        m->delivered = RB_MAX(m->delivered, next);
    }
    bool counts = row->part == RB_PART_MAIN && phase->by_count;
    if (row->part == RB_PART_MAIN && !phase->over && rb_fold_round_add(fold, m, row) < 0)
        return -1;
    if (!counts || (phase->common_any && next <= phase->common_end)) {
        if (add_totals(fold, m, row, row->part) < 0)
            return -1;
    } else {
        rb_pending_t *p = RB_PUSH(phase->pending, phase->npending);
        *p = (rb_pending_t){.host = host, .window = *row};
        row->ncells = 0;
        row->cells = NULL;
    }
    return rb_fold_advance(fold, phase, host, m->delivered);
}
