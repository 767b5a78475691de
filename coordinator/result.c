#include "coordinator/result_parts.h"

static void destroy_phase(rb_result_phase_t *phase)
{
    for (size_t h = 0; h < phase->nhosts; h++) {
        rb_result_host_t *host = &phase->hosts[h];
        for (size_t t = 0; t < host->ntargets; t++)
            free(host->targets[t].drives);
        free(host->targets);
        free(host->jobs);
        free(host->kernels);
        free(host->places);
        rb_result_health_free(host->drives, host->ndrives);
    }
    for (size_t i = 0; phase->what != NULL && i < phase->njobs; i++)
        free(phase->what[i]);
    free(phase->what);
    free(phase->hosts);
    free(phase->jobs);
    free(phase->groups);
    free(phase->series_hosts);
    free(phase->point);
    free(phase->watts);
    free(phase->stragglers);
    rb_steady_destroy(&phase->steady);
    rb_result_kv_clear(&phase->kv);
}

void rb_result_destroy(rb_result_t **result)
{
    rb_result_t *r = *result;
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->nprepares; i++)
        destroy_phase(&r->prepares[i]);
    for (size_t i = 0; i < r->nphases; i++) {
        destroy_phase(&r->phases[i]);
        free(r->texts[i]);
    }
    for (size_t i = 0; i < r->nsearches; i++)
        rb_result_search_clear(&r->searches[i]);
    for (size_t i = 0; i < r->nsweeps; i++)
        rb_result_curves_free(&r->sweeps[i]);
    for (size_t i = 0; i < r->nnot_run; i++)
        free(r->not_run[i]);
    free(r->searches);
    free(r->sweeps);
    free(r->prepares);
    free(r->phases);
    free(r->events);
    free(r->texts);
    free(r->marks);
    free(r->not_run);
    free(r);
    *result = NULL;
}

/* Coordinator's clock at T0 of the first phase that started; before one did, at the first note. */
static int64_t base_ns(const rb_fold_t *fold)
{
    for (size_t i = 0; i < fold->nphases; i++)
        if (fold->phases[i].started)
            return (int64_t)fold->phases[i].t0_ns;
    for (size_t i = 0; i < fold->nevents; i++)
        if (fold->events[i].absolute)
            return fold->events[i].at_ns;
    return 0;
}

static const char *phase_name(const rb_fold_t *fold, int32_t phase)
{
    const Rackbench__Phase *p = phase < 0 ? NULL : rb_fold_plan_phase(fold, (uint32_t)phase);
    return p == NULL ? NULL : p->name != NULL ? p->name : "";
}

/* An event of a phase that never started has no common time: it stands at 0. */
static int64_t event_at_ns(const rb_fold_t *fold, const rb_fold_event_t *e)
{
    if (e->absolute)
        return e->at_ns - base_ns(fold);
    bool started =
        e->phase >= 0 && (size_t)e->phase < fold->nphases && fold->phases[e->phase].started;
    return started ? (int64_t)fold->phases[e->phase].t0_ns - base_ns(fold) + e->at_ns : 0;
}

static void add_events(rb_result_t *result)
{
    const rb_fold_t *fold = result->fold;
    for (size_t i = 0; i < fold->nevents; i++) {
        const rb_fold_event_t *e = &fold->events[i];
        *RB_PUSH(result->events, result->nevents) =
            (rb_result_event_t){.at_ns = event_at_ns(fold, e),
                                .host = rb_fold_host_name(fold, e->host),
                                .phase = phase_name(fold, e->phase),
                                .kind = e->kind,
                                .text = e->text};
    }
}

static int by_time(const void *a, const void *b)
{
    const rb_result_event_t *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Rows of different hosts come in any order, and what was made here comes last. */
static void sort_events(rb_result_t *result)
{
    for (size_t i = 0; i < result->nevents; i++)
        result->events[i].order = i;
    if (result->nevents > 0)
        qsort(result->events, result->nevents, sizeof(*result->events), by_time);
}

/* The lost part of M stands beside the figures and is an event. */
static void add_share_event(rb_result_t *result, size_t index, uint32_t first_host)
{
    const rb_result_phase_t *phase = &result->phases[index];
    const rb_fold_phase_t *p = &result->fold->phases[phase->index];
    const char *host = rb_fold_host_name(result->fold, first_host);
    if (phase->common_share >= 0.999 || phase->seconds <= 0)
        return;
    result->texts[index] =
        rb_asprintf("all hosts were running for %.1f %% of the measured interval%s%s",
                    phase->common_share * 100, host == NULL ? "" : "; first to stop was ",
                    host == NULL ? "" : host);
    *RB_PUSH(result->events, result->nevents) = (rb_result_event_t){
        .at_ns = (int64_t)p->t0_ns - base_ns(result->fold) + (int64_t)phase->end_ns,
        .host = host,
        .phase = phase->name,
        .kind = "common_share",
        .text = result->texts[index]};
}

static const rb_window_t *window_at(const rb_series_t *series, const rb_window_t *w)
{
    size_t low = 0, high = series->nwindows;
    while (low < high) {
        size_t mid = (low + high) / 2;
        const rb_window_t *m = &series->windows[mid];
        bool before = m->ramp == w->ramp ? m->index + m->span <= w->index : m->ramp;
        if (before)
            low = mid + 1;
        else
            high = mid;
    }
    RB_ASSERT(low < series->nwindows);
    return &series->windows[low];
}

/* A cluster window holds whole windows of hosts; each host counts once. */
static void count_series_hosts(rb_result_phase_t *phase)
{
    phase->series_hosts = rb_calloc(phase->series->nwindows + 1, sizeof(uint32_t));
    for (size_t h = 0; h < phase->nhosts; h++) {
        const rb_window_t *last = NULL;
        const rb_series_t *series = phase->hosts[h].series;
        for (size_t i = 0; i < series->nwindows; i++) {
            const rb_window_t *w = window_at(phase->series, &series->windows[i]);
            if (w != last)
                phase->series_hosts[w - phase->series->windows]++;
            last = w;
        }
    }
}

static rb_scope_t whole_phase(const rb_fold_t *fold, uint32_t index)
{
    return (rb_scope_t){
        .fold = fold, .phase = index, .host = -1, .job = -1, .target = -1, .drive = -1};
}

static void count_starts(const rb_fold_phase_t *p, rb_result_phase_t *phase)
{
    for (size_t i = 0; i < p->nmembers; i++) {
        rb_start_t start;
        phase->start_of += p->members[i].takes_part;
        phase->start_hosts +=
            p->members[i].takes_part && rb_member_start(&p->members[i], &start) == 0;
    }
}

static void fill_phase(const rb_result_t *result, rb_summer_t *summer, uint32_t index,
                       rb_result_phase_t *phase)
{
    phase->name = phase_name(result->fold, (int32_t)index);
    phase->index = index;
    phase->series = &result->fold->phases[index].series;
    phase->t0_wall_ns = result->fold->phases[index].t0_wall_ns;
    phase->first_to_stop = rb_result_interval(result->fold, phase);
    rb_scope_t scope = whole_phase(result->fold, index);
    scope.seconds = phase->seconds;
    rb_result_scopes(summer, &scope, phase);
    phase->steady = rb_fold_steady(result->fold, index);
    rb_result_judge(result->fold, phase);
    count_starts(&result->fold->phases[index], phase);
    phase->has_start =
        rb_fold_skew(&result->fold->phases[index], &phase->skew_ns, &phase->skew_bound_ns);
    phase->has_end =
        rb_fold_end_skew(&result->fold->phases[index], &phase->end_skew_ns, &phase->end_bound_ns);
    phase->end_reason = result->fold->phases[index].reason;
    phase->step = rb_fold_is_step(result->fold, index) ? result->fold->phases[index].step : 0;
    rb_result_watts(result->fold, phase);
    rb_result_what(result->fold, phase);
    rb_result_point(result->fold, phase);
    rb_result_kv(&(rb_result_kv_opts_t){result->fold, index, phase->seconds}, &phase->kv);
    count_series_hosts(phase);
}

/* Of a fill each drive goes at its own pace: that not all were running is no event. */
static void add_phase(rb_result_t *result, rb_summer_t *summer, uint32_t index)
{
    const Rackbench__Phase *run = rb_fold_plan_phase(result->fold, index);
    if (run->fill != NULL) {
        rb_result_phase_t *fill = RB_PUSH(result->prepares, result->nprepares);
        fill_phase(result, summer, index, fill);
        fill->passes = RB_MAX(run->fill->passes, 1u);
        fill->discards = run->n_jobs > 0 && run->jobs[0]->rw == RACKBENCH__RW__MODE__trim;
        return;
    }
    rb_result_phase_t *phase = RB_PUSH(result->phases, result->nphases);
    fill_phase(result, summer, index, phase);
    rb_result_stragglers(result->fold, phase);
    add_share_event(result, result->nphases - 1, phase->first_to_stop);
}

static void add_prepare(rb_result_t *result, rb_summer_t *summer, uint32_t index)
{
    const rb_fold_phase_t *p = &result->fold->phases[index];
    uint64_t length_ns = 0;
    uint32_t laid_out = 0, reused = 0;
    for (size_t i = 0; i < p->nmembers; i++) {
        laid_out += (uint32_t)p->members[i].nlayouts;
        reused += p->members[i].reused;
        length_ns = RB_MAX(length_ns, p->members[i].layout_ns);
    }
    if (laid_out == 0)
        return;
    rb_result_phase_t *prepare = RB_PUSH(result->prepares, result->nprepares);
    prepare->name = phase_name(result->fold, (int32_t)index);
    prepare->index = index;
    prepare->laid_out = laid_out;
    prepare->reused = reused;
    prepare->seconds = (double)length_ns / RB_NS_PER_S;
    rb_scope_t scope = whole_phase(result->fold, index);
    scope.layout = true;
    scope.seconds = prepare->seconds;
    rb_result_scopes(summer, &scope, prepare);
}

/* The run began by the wall clock and ended by the coordinator's; a T0 tells both. */
static double run_seconds(const rb_fold_t *fold, const rb_result_t *result)
{
    int64_t begin = 0, end = 0;
    for (size_t i = fold->nphases; i-- > 0;) {
        const rb_fold_phase_t *p = &fold->phases[i];
        if (p->started)
            begin = (int64_t)(fold->run_row.run.started_wall_ns - p->t0_wall_ns + p->t0_ns);
    }
    for (size_t i = 0; i < result->nphases; i++)
        end = (int64_t)(fold->phases[result->phases[i].index].t0_ns + result->phases[i].end_ns);
    if (fold->end_row.kind == RB_ROW_RUN_END)
        end = (int64_t)fold->end_row.run_end.at_ns;
    return result->nphases > 0 && end > begin ? (double)(end - begin) / RB_NS_PER_S : 0;
}

static void fill_run(rb_result_t *result)
{
    const rb_fold_t *fold = result->fold;
    const rb_row_run_t *run = &fold->run_row.run;
    result->id = run->id;
    result->name = run->name;
    result->version = run->version;
    result->started_wall_ns = run->started_wall_ns;
    bool ended = fold->end_row.kind == RB_ROW_RUN_END;
    result->status = ended ? fold->end_row.run_end.status : "truncated";
    for (size_t i = 0; i < run->nmarks; i++)
        *RB_PUSH(result->marks, result->nmarks) = run->marks[i];
    if (strcmp(result->status, "truncated") == 0)
        *RB_PUSH(result->marks, result->nmarks) = "truncated";
    result->seconds = run_seconds(fold, result);
    rb_result_not_run(result);
}

rb_result_t *rb_result_new(const rb_fold_t *fold, rb_err_t *err)
{
    if (fold->run_row.kind != RB_ROW_RUN) {
        rb_err_set(err, RB_ERR_INPUT, "the journal is empty: it does not begin with a RUN row");
        return NULL;
    }
    RB_AUTO(rb_result_destroy) rb_result_t *result = rb_calloc(1, sizeof(*result));
    RB_AUTO(rb_summer_destroy) rb_summer_t *summer = rb_summer_new();
    result->fold = fold;
    result->texts = rb_calloc(fold->nphases + 1, sizeof(*result->texts));
    add_events(result);
    for (uint32_t i = 0; i < fold->nphases; i++) {
        add_prepare(result, summer, i);
        if (fold->phases[i].started)
            add_phase(result, summer, i);
    }
    rb_result_searches(result);
    rb_result_sweeps(result);
    for (size_t i = 0; i < result->nsweeps; i++)
        rb_result_curves(result, &result->sweeps[i]);
    sort_events(result);
    fill_run(result);
    return RB_MOVE(result);
}

rb_part_t rb_result_window_part(const rb_result_t *result, const rb_result_phase_t *phase,
                                const rb_window_t *window)
{
    bool has_rounds = result->fold->phases[phase->index].steady_last > 0;
    if (window->ramp)
        return RB_PART_RAMP;
    if (window->index * rb_fold_interval_ns(result->fold) < phase->start_ns && has_rounds)
        return RB_PART_RAMP;
    bool after = (phase->by_count || has_rounds) &&
                 window->index * rb_fold_interval_ns(result->fold) >= phase->end_ns;
    return after ? RB_PART_DRAINED : RB_PART_MAIN;
}

void rb_result_merge_lat(const rb_result_t *result, const rb_result_phase_t *phase,
                         const rb_lat_scope_t *scope, rb_hist_t *into)
{
    const rb_fold_phase_t *p = &result->fold->phases[phase->index];
    for (size_t h = 0; h < p->nmembers; h++) {
        const rb_member_t *m = &p->members[h];
        for (size_t i = 0; i < m->ntotals; i++) {
            const rb_total_t *t = &m->totals[i];
            if ((scope->host >= 0 && scope->host != (int64_t)h + 1) ||
                (scope->job >= 0 && scope->job != t->job) || t->op != scope->op)
                continue;
            rb_hist_merge_sparse(into, scope->kind == RB_LAT_SERVICE ? &t->service : &t->response);
        }
    }
}
