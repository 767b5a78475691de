/* merge_parts.h - what the files of the fold share; nobody else includes this. Main thread. */
#pragma once

#include "coordinator/merge.h"

/* into += from, both sparse. -1 where `from` is no histogram (pairs out of order, wrong sums). */
int rb_sparse_add(rb_hist_sparse_t *into, const rb_hist_sparse_t *from, rb_hist_t *scratch);

/* Adds a RAMP or MAIN row. Rows that overlap what is there merge with it: a span is never split. */
void rb_series_add(rb_series_t *series, const rb_row_window_t *row, rb_hist_t *scratch);
/* Gives percentiles to the windows that end before `complete` and drops their histograms. */
void rb_series_finish(rb_series_t *series, uint64_t complete, rb_hist_t *scratch);
void rb_series_clear(rb_series_t *series);

/* Rows of a phase. A row's contents may be moved out of it. */
int rb_fold_step(rb_fold_t *fold, rb_row_step_t *row, rb_err_t *err);
int rb_fold_phase_start(rb_fold_t *fold, const rb_row_phase_start_t *row, rb_err_t *err);
int rb_fold_phase_end(rb_fold_t *fold, rb_row_phase_end_t *row, rb_err_t *err);
int rb_fold_agent_row(rb_fold_t *fold, uint32_t host, rb_row_t *row, rb_err_t *err);
void rb_fold_phase_clear(rb_fold_phase_t *phase);
/* The phase's slot; NULL and RB_ERR_NET where the plan has no such phase. */
rb_fold_phase_t *rb_fold_phase(rb_fold_t *fold, uint32_t phase, rb_err_t *err);
rb_member_t *rb_fold_member(rb_fold_phase_t *phase, uint32_t host);

/* What a row of MAIN did, to its round, where the phase has rounds. */
int rb_fold_round_add(const rb_fold_t *fold, rb_member_t *member, const rb_row_window_t *row);
/* The phase is over: M is the rounds that say so, and what lies around them is outside. */
int rb_fold_rounds_settle(rb_fold_t *fold, uint32_t phase);
void rb_fold_rounds_clear(rb_member_t *member);
/* Whether a row that comes late lies before, in or behind these rounds. */
rb_part_t rb_fold_round_part(const rb_fold_t *fold, const rb_row_window_t *row);
void rb_totals_clear(rb_total_t *totals, size_t n);
/* Adds a row's cells to those of their place; made where there are none. */
int rb_totals_add(const rb_fold_t *fold, rb_total_t **totals, size_t *n, const rb_row_window_t *row,
                  rb_part_t part);
/* RB_ERR_NET: the phase has no such job, the plan no such target. */
int rb_fold_check_place(const rb_fold_t *fold, uint32_t phase, uint32_t job, uint32_t target,
                        rb_err_t *err);

/* KV PARTS and KV DRIVE rows. */
int rb_fold_kv_parts(rb_fold_t *fold, uint32_t host, const rb_row_kv_parts_t *row, rb_err_t *err);
int rb_fold_kv_drive(rb_fold_t *fold, uint32_t host, const rb_row_kv_drive_t *row, rb_err_t *err);

/* WINDOW rows. -1: a histogram in it is broken. */
int rb_fold_window(rb_fold_t *fold, rb_fold_phase_t *phase, uint32_t host, rb_row_window_t *row);
/* The host is through to window `next` (UINT64_MAX: no more will come). */
int rb_fold_advance(rb_fold_t *fold, rb_fold_phase_t *phase, uint32_t host, uint64_t next);
/* After any change of next: what all hosts have delivered becomes final. */
int rb_fold_progress(rb_fold_t *fold, rb_fold_phase_t *phase);
/* The member's drive entry, made up as TARGET.N where no DRIVES row named it. */
void rb_member_name_drive(rb_member_t *member, const rb_fold_t *fold, uint32_t target,
                          uint32_t drive);
void rb_pending_clear(rb_pending_t *pending);
