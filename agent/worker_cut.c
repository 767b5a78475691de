#include "agent/worker_cut.h"

#include "common/clock.h"

static uint64_t local_ns(const rb_worker_t *w, uint64_t ns)
{
    return rb_crew_to_local_ns(ns, w->o.crew->drift_ppb);
}

static rb_part_t part_at(const rb_worker_t *w, uint64_t at_ns)
{
    if (at_ns >= w->te_ns)
        return RB_PART_DRAINED;
    return at_ns >= w->ramp_end_ns ? RB_PART_MAIN : RB_PART_RAMP;
}

static void set_next_cut(rb_worker_t *w)
{
    w->cut_ns = w->border_ns;
    if (w->part == RB_PART_RAMP)
        w->cut_ns = RB_MIN(w->cut_ns, w->ramp_end_ns);
    if (w->part != RB_PART_DRAINED)
        w->cut_ns = RB_MIN(w->cut_ns, w->te_ns);
}

static void open_window(rb_worker_t *w)
{
    rb_window_t *win = rb_windows_current(&w->windows);
    w->win = win;
    win->part = w->part;
    win->index = w->index;
    win->span = 1;
    win->running = true;
}

void rb_worker_schedule(rb_worker_t *w)
{
    w->t0_ns = w->now_ns = w->o.crew->t0_ns;
    w->ramp_end_ns = w->t0_ns + local_ns(w, w->ramp_ns);
    w->te_ns = UINT64_MAX;
    if (w->runtime_ns > 0)
        w->te_ns = w->t0_ns + local_ns(w, w->ramp_ns + w->runtime_ns);
    w->index = 0;
    w->border_ns = w->t0_ns + local_ns(w, w->o.interval_ns);
    w->part = part_at(w, w->t0_ns);
    set_next_cut(w);
    open_window(w);
}

void rb_worker_main_begins(rb_worker_t *w, uint64_t at_ns)
{
    w->main_start_ns = at_ns;
    w->cpu_start_ns = rb_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void main_ends(rb_worker_t *w, uint64_t at_ns)
{
    rb_worker_account_t *a = &w->account;
    a->cpu_ns = rb_clock_ns(CLOCK_THREAD_CPUTIME_ID) - w->cpu_start_ns;
    a->wall_ns = at_ns - w->main_start_ns;
    if (!w->open_loop)
        return;
    uint64_t due = RB_MIN(rb_pace_due_before(&w->pace, at_ns), w->limit_ops);
    uint64_t ramp_due = RB_MIN(rb_pace_due_before(&w->pace, w->ramp_end_ns), w->limit_ops);
    a->offered_ops = due - ramp_due;
}

/* No submission from here on; what is in flight is unfinished. */
static void measuring_ends(rb_worker_t *w, uint64_t at_ns, uint64_t now_ns)
{
    rb_worker_account_t *a = &w->account;
    if (w->submitting) {
        a->end_ns = at_ns;
        a->stopped_ns = now_ns;
    }
    w->submitting = false;
    a->unfinished = w->inflight;
    for (uint32_t i = 0; i < w->iodepth; i++) {
        const rb_slot_t *s = &w->slots[i];
        if (s->submit_ns != 0 && s->due_ns < at_ns)
            a->oldest_unfinished_ns = RB_MAX(a->oldest_unfinished_ns, at_ns - s->due_ns);
    }
}

static void change_part(rb_worker_t *w, rb_part_t part, uint64_t at_ns, uint64_t now_ns)
{
    if (w->part == RB_PART_MAIN)
        main_ends(w, at_ns);
    if (part == RB_PART_MAIN)
        rb_worker_main_begins(w, at_ns);
    if (part == RB_PART_DRAINED)
        measuring_ends(w, at_ns, now_ns);
    w->part = part;
}

static void close_window(rb_worker_t *w, uint64_t now_ns)
{
    rb_window_t *win = w->win;
    for (uint32_t i = 0; i < w->iodepth; i++) {
        const rb_slot_t *s = &w->slots[i];
        if (s->submit_ns == 0)
            continue;
        rb_op_stat_t *stat = win->ops[s->op];
        stat->inflight++;
        if (s->due_ns < now_ns)
            stat->oldest_inflight_ns = RB_MAX(stat->oldest_inflight_ns, now_ns - s->due_ns);
    }
    rb_windows_publish(&w->windows);
    rb_crew_notify(w->o.crew);
}

void rb_worker_cut(rb_worker_t *w, uint64_t now_ns)
{
    if (rb_hung_look(&w->hung, w->slots, now_ns) > 0)
        rb_crew_notify(w->o.crew);
    while (now_ns >= w->cut_ns) {
        uint64_t at_ns = w->cut_ns;
        rb_part_t part = part_at(w, at_ns);
        if (at_ns == w->border_ns) {
            w->index++;
            w->border_ns = w->t0_ns + local_ns(w, (w->index + 1) * w->o.interval_ns);
        }
        bool closes = part != w->part || rb_windows_room(&w->windows, w->part);
        if (closes) {
            w->win->running = w->part != RB_PART_DRAINED;
            close_window(w, now_ns);
        } else {
            w->win->span++;
        }
        if (part != w->part)
            change_part(w, part, at_ns, now_ns);
        if (closes)
            open_window(w);
        set_next_cut(w);
    }
}

void rb_worker_end_at(rb_worker_t *w, uint64_t te_ns)
{
    if (w->part == RB_PART_DRAINED)
        return;
    w->te_ns = te_ns;
    set_next_cut(w);
}

void rb_worker_last_cut(rb_worker_t *w, uint64_t now_ns)
{
    if (w->part == RB_PART_MAIN)
        main_ends(w, now_ns);
    w->win->running = false;
    close_window(w, now_ns);
}
