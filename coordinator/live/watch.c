#include "coordinator/live/watch.h"

#include "coordinator/analysis/latency_search.h"
#include "coordinator/plan/search.h"
#include "proto/select.h"

#define SILENT_NS (2 * RB_NS_PER_S)

typedef struct {
    uint32_t number;              /* of the step in the run */
    uint32_t plan_phase, step;    /* of the plan; beyond its phases at the end */
    const rb_fold_phase_t *phase; /* NULL: the journal has nothing of it yet */
} current_t;

/* After this one: the next step of its search, or the next phase. */
static void follow(const rb_fold_t *fold, const rb_fold_phase_t *last, current_t *ret)
{
    const rb_row_t *row = &last->search_row;
    bool verdict = row->kind == RB_ROW_SEARCH && row->search.verdict[0] != '\0';
    bool again = rb_fold_is_step(fold, ret->number - 1) && !verdict;
    ret->plan_phase = again ? last->plan_phase : last->plan_phase + 1;
    ret->step = again ? last->step + 1 : 1;
}

/* What is under way or, between two steps, comes next. */
static current_t current(const rb_fold_t *fold)
{
    current_t ret = {.step = 1};
    while (ret.number < fold->nphases && fold->phases[ret.number].over)
        ret.number++;
    if (ret.number < fold->nphases) {
        ret.phase = &fold->phases[ret.number];
        ret.plan_phase = ret.phase->plan_phase;
        ret.step = ret.phase->step;
    } else if (ret.number > 0) {
        follow(fold, &fold->phases[ret.number - 1], &ret);
    }
    return ret;
}

static uint64_t since(uint64_t then_ns, uint64_t now_ns)
{
    return now_ns > then_ns ? now_ns - then_ns : 0;
}

static const char *why_lost(const rb_fold_t *fold, uint32_t host)
{
    for (size_t i = fold->nevents; i > 0; i--) {
        const rb_fold_event_t *e = &fold->events[i - 1];
        if (e->host == host && strcmp(e->kind, "host_lost") == 0)
            return e->text;
    }
    return NULL;
}

/* A window is due when it is over; what a host has to say after its last one comes with no clock.
 */
static uint64_t behind_ns(const rb_fold_t *fold, uint32_t host, uint64_t wall_ns)
{
    const current_t now = current(fold);
    const rb_fold_phase_t *phase = now.phase;
    if (phase == NULL || !phase->started || host > phase->nmembers)
        return 0;
    const rb_member_t *member = &phase->members[host - 1];
    uint64_t elapsed_ns = since(phase->t0_wall_ns, wall_ns);
    uint64_t runtime_ns = rb_fold_runtime_ns(fold, now.number);
    if (runtime_ns > 0)
        elapsed_ns = RB_MIN(elapsed_ns, rb_fold_ramp_ns(fold, now.number) + runtime_ns);
    if (!member->takes_part || member->next == UINT64_MAX || member->nworkers > 0)
        return 0;
    /* The next row is as long as the last one; of the first one nothing is known. */
    const rb_series_t *series = &member->series;
    bool is_auto = fold->plan->interval_ns == 0;
    if (series->nwindows == 0 && is_auto)
        return 0;
    uint64_t span = series->nwindows > 0 ? series->windows[series->nwindows - 1].span : 1;
    return since((member->next + RB_MAX(span, 1u)) * rb_fold_interval_ns(fold), elapsed_ns);
}

rb_watch_host_t rb_watch_host(const rb_fold_t *fold, uint32_t host, uint64_t wall_ns)
{
    rb_watch_host_t ret = {.why = why_lost(fold, host)};
    if (ret.why != NULL) {
        ret.kind = RB_WATCH_LOST;
        return ret;
    }
    ret.behind_ns = behind_ns(fold, host, wall_ns);
    if (ret.behind_ns > SILENT_NS)
        ret.kind = RB_WATCH_SILENT;
    return ret;
}

static void count_hosts(const rb_fold_t *fold, uint64_t wall_ns, rb_live_state_t *ret)
{
    for (uint32_t host = 1; host <= fold->nhosts; host++) {
        if (fold->hosts[host - 1].row.kind != RB_ROW_HOST)
            continue;
        ret->hosts++;
        ret->hosts_ready += rb_watch_host(fold, host, wall_ns).kind == RB_WATCH_ANSWERING;
    }
}

static void fill_step(const rb_fold_t *fold, const current_t *now, rb_live_state_t *ret)
{
    const Rackbench__Phase *phase = rb_fold_plan_phase(fold, now->number);
    if (now->phase == NULL || !rb_fold_is_step(fold, now->number))
        return;
    const Rackbench__Job *job = phase->jobs[rb_search_job(phase)];
    ret->step = now->step;
    ret->rate_iops = job->has_rate_iops ? job->rate_iops : 0;
}

static void fill_phase(const rb_fold_t *fold, uint64_t wall_ns, rb_live_state_t *ret)
{
    const current_t now = current(fold);
    ret->word = "ending";
    if (fold->plan == NULL || now.plan_phase >= fold->plan->n_phases)
        return;
    const Rackbench__Phase *plan = fold->plan->phases[now.plan_phase];
    ret->word = "preparing";
    ret->phase = plan->name;
    ret->phase_index = now.number;
    ret->phase_number = now.plan_phase + 1;
    ret->phases = (uint32_t)fold->plan->n_phases;
    fill_step(fold, &now, ret);
    rb_live_name_point(ret, plan);
    if (now.phase == NULL || !now.phase->started)
        return;
    ret->elapsed_ns = since(now.phase->t0_wall_ns, wall_ns);
    if (rb_phase_runtime_ns(plan) > 0)
        ret->total_ns = rb_phase_ramp_ns(plan) + rb_phase_runtime_ns(plan);
    ret->word = ret->total_ns > 0 && ret->elapsed_ns > ret->total_ns ? "draining" : "running";
}

void rb_watch_state(const rb_fold_t *fold, uint64_t wall_ns, rb_live_state_t *ret)
{
    *ret = (rb_live_state_t){.word = "connecting", .fold = fold};
    count_hosts(fold, wall_ns, ret);
    if (fold->end_row.kind == RB_ROW_RUN_END)
        ret->word = fold->end_row.run_end.status;
    else if (ret->hosts > 0)
        fill_phase(fold, wall_ns, ret);
}

rb_watch_left_t rb_watch_left(const rb_fold_t *fold, uint64_t wall_ns)
{
    const current_t now = current(fold);
    rb_watch_left_t ret = {0};
    if (fold->plan == NULL)
        return ret;
    for (uint32_t i = now.plan_phase; i < fold->plan->n_phases; i++) {
        const Rackbench__Phase *phase = fold->plan->phases[i];
        uint64_t length_ns = rb_phase_ramp_ns(phase) + rb_phase_runtime_ns(phase);
        bool searches = rb_search_job(phase) >= 0, under_way = i == now.plan_phase;
        uint32_t done = under_way ? RB_MIN(now.step - 1, (uint32_t)RB_SEARCH_MAX_STEPS - 1) : 0;
        uint32_t steps = searches ? RB_SEARCH_MAX_STEPS - done : 1;
        ret.open_end |= rb_phase_runtime_ns(phase) == 0;
        ret.at_most |= searches || phase->steady_state != NULL;
        ret.ns += steps * length_ns;
        if (under_way && now.phase != NULL && now.phase->started)
            ret.ns -= RB_MIN(length_ns, since(now.phase->t0_wall_ns, wall_ns));
    }
    return ret;
}

uint64_t rb_watch_event_wall_ns(const rb_fold_t *fold, const rb_fold_event_t *event)
{
    for (size_t i = 0; i < fold->nphases; i++) {
        const rb_fold_phase_t *phase = &fold->phases[i];
        if (!phase->started || (!event->absolute && (int32_t)i != event->phase))
            continue;
        int64_t since_t0_ns = event->absolute ? event->at_ns - (int64_t)phase->t0_ns : event->at_ns;
        return phase->t0_wall_ns + (uint64_t)since_t0_ns;
    }
    return 0;
}
