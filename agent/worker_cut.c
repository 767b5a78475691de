#include "agent/worker_cut.h"

#include "common/clock.h"

#define LOOK_NS RB_NS_PER_S

/* A time since T0 on the common clock; not before what has passed. */
static uint64_t ahead_ns(const rb_worker_t *w, uint64_t at_ns, uint64_t passed_ns)
{
    return RB_MAX(rb_timeline_local_ns(&w->line, at_ns), passed_ns);
}

static rb_part_t part_at(const rb_worker_t *w, uint64_t at_ns)
{
    if (at_ns >= w->te_ns)
        return RB_PART_DRAINED;
    return at_ns >= w->ramp_end_ns ? RB_PART_MAIN : RB_PART_RAMP;
}

static void set_next_cut(rb_worker_t *w)
{
    w->cut_ns = RB_MIN(w->border_ns, w->look_ns);
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

static uint64_t planned_te_ns(const rb_worker_t *w, uint64_t passed_ns)
{
    return w->runtime_ns > 0 ? ahead_ns(w, w->ramp_ns + w->runtime_ns, passed_ns) : UINT64_MAX;
}

void rb_worker_schedule(rb_worker_t *w)
{
    w->line = w->o.crew->armed_at;
    w->t0_ns = w->now_ns = w->line.t0_ns;
    w->look_ns = w->t0_ns + LOOK_NS;
    w->ramp_end_ns = ahead_ns(w, w->ramp_ns, w->t0_ns);
    w->te_ns = planned_te_ns(w, w->t0_ns);
    w->index = 0;
    w->border_ns = ahead_ns(w, w->o.interval_ns, w->t0_ns);
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
    if (!w->open_loop || w->kv != NULL)
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

/* Where does the common clock stand? */
static void look(rb_worker_t *w, uint64_t at_ns)
{
    w->look_ns = at_ns + LOOK_NS;
    if (!rb_crew_look(w->o.crew, &w->line))
        return;
    w->border_ns = ahead_ns(w, (w->index + 1) * w->o.interval_ns, at_ns);
    if (w->part == RB_PART_RAMP)
        w->ramp_end_ns = ahead_ns(w, w->ramp_ns, at_ns);
    if (w->part != RB_PART_DRAINED)
        w->te_ns = RB_MAX(RB_MIN(planned_te_ns(w, at_ns), atomic_load(&w->o.crew->stop_ns)), at_ns);
}

/* A border of windows or a change of part. */
static void cut_window(rb_worker_t *w, rb_part_t part, uint64_t at_ns, uint64_t now_ns)
{
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
}

void rb_worker_cut(rb_worker_t *w, uint64_t now_ns)
{
    if (rb_hung_look(&w->hung, w->slots, now_ns) > 0)
        rb_crew_notify(w->o.crew);
    while (now_ns >= w->cut_ns) {
        uint64_t at_ns = w->cut_ns;
        if (at_ns >= w->look_ns)
            look(w, at_ns);
        rb_part_t part = part_at(w, at_ns);
        bool border = at_ns == w->border_ns;
        if (border) {
            w->index++;
            w->border_ns = ahead_ns(w, (w->index + 1) * w->o.interval_ns, at_ns);
        }
        if (border || part != w->part)
            cut_window(w, part, at_ns, now_ns);
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
