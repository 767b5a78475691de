#include "coordinator/merge_parts.h"

#include <inttypes.h>

static bool is_by_count(const Rackbench__Phase *phase)
{
    for (size_t i = 0; i < phase->n_jobs; i++) {
        const Rackbench__Job *job = phase->jobs[i];
        if (job->runtime_ns == 0 || job->io_size_bytes > 0 || job->number_ios > 0 || job->loops > 0)
            return true;
    }
    return false;
}

/* By its number it is the plan's phase, until a STEP row says otherwise. */
static rb_fold_phase_t *slot(rb_fold_t *fold, uint32_t phase)
{
    while (fold->nphases <= phase) {
        uint32_t index = (uint32_t)fold->nphases;
        rb_fold_phase_t *p = RB_PUSH(fold->phases, fold->nphases);
        p->plan_phase = index;
        p->step = 1;
        p->te_at_ns = INT64_MAX;
        p->all_done_ns = UINT64_MAX;
        p->by_count = index < fold->plan->n_phases && is_by_count(fold->plan->phases[index]);
    }
    return &fold->phases[phase];
}

rb_fold_phase_t *rb_fold_phase(rb_fold_t *fold, uint32_t phase, rb_err_t *err)
{
    if (rb_fold_plan_phase(fold, phase) == NULL) {
        rb_err_set(err, RB_ERR_NET, "phase %u is not in the plan", phase);
        return NULL;
    }
    return slot(fold, phase);
}

/* Steps are numbered one after the other, and told before anything of them. */
int rb_fold_step(rb_fold_t *fold, rb_row_step_t *row, rb_err_t *err)
{
    RB_AUTO(rb_phase_destroy) Rackbench__Phase *override = NULL;
    if (row->plan_phase >= fold->plan->n_phases)
        return rb_err_set(err, RB_ERR_NET, "step %u is of phase %u, which is not in the plan",
                          row->phase, row->plan_phase);
    if (row->phase != fold->nphases)
        return rb_err_set(err, RB_ERR_INTERNAL, "step %u is told when %zu are known", row->phase,
                          fold->nphases);
    if (row->override.size > 0) {
        override = rb_phase_unpack(row->override.data, row->override.size, err);
        if (override == NULL)
            return rb_err_wrap(err, "step %u", row->phase);
    }
    rb_fold_phase_t *p = slot(fold, row->phase);
    p->plan_phase = row->plan_phase;
    p->step = row->step;
    p->override = RB_MOVE(override);
    p->by_count = is_by_count(rb_fold_plan_phase(fold, row->phase));
    return 0;
}

rb_member_t *rb_fold_member(rb_fold_phase_t *phase, uint32_t host)
{
    while (phase->nmembers < host)
        (void)RB_PUSH(phase->members, phase->nmembers);
    return &phase->members[host - 1];
}

void rb_totals_clear(rb_total_t *totals, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rb_hist_sparse_clear(&totals[i].service);
        rb_hist_sparse_clear(&totals[i].response);
    }
    free(totals);
}

static void clear_worker(rb_row_worker_t *w)
{
    rb_hist_sparse_clear(&w->turn);
    rb_hist_sparse_clear(&w->lateness);
}

static void clear_member(rb_member_t *m)
{
    rb_totals_clear(m->totals, m->ntotals);
    rb_totals_clear(m->layouts, m->nlayouts);
    rb_fold_rounds_clear(m);
    for (size_t i = 0; i < m->nworkers; i++)
        clear_worker(&m->workers[i]);
    for (size_t i = 0; i < m->ndrives; i++)
        free(m->drives[i].path);
    free(m->workers);
    free(m->kernels);
    free(m->drives);
    free(m->cpu.cpus);
    free(m->placement.places);
    free(m->kv);
    rb_fold_health_clear(&m->health);
    rb_series_clear(&m->series);
}

void rb_fold_phase_clear(rb_fold_phase_t *phase)
{
    for (size_t i = 0; i < phase->nmembers; i++)
        clear_member(&phase->members[i]);
    for (size_t i = 0; i < phase->npending; i++)
        rb_pending_clear(&phase->pending[i]);
    rb_phase_destroy(&phase->override);
    rb_row_clear(&phase->search_row);
    rb_fold_kv_clear(&phase->kv);
    free(phase->reason);
    free(phase->members);
    free(phase->pending);
    rb_series_clear(&phase->series);
}

static rb_drive_ref_t *find_drive(const rb_member_t *m, uint32_t target, uint32_t drive)
{
    for (size_t i = 0; i < m->ndrives; i++)
        if (m->drives[i].target == target && m->drives[i].drive == drive)
            return &m->drives[i];
    return NULL;
}

void rb_member_name_drive(rb_member_t *m, const rb_fold_t *fold, uint32_t target, uint32_t drive)
{
    if (find_drive(m, target, drive) != NULL)
        return;
    rb_drive_ref_t *d = RB_PUSH(m->drives, m->ndrives);
    *d = (rb_drive_ref_t){.target = target,
                          .drive = drive,
                          .path = rb_asprintf("%s.%u", fold->plan->targets[target]->name, drive)};
}

int rb_fold_phase_start(rb_fold_t *fold, const rb_row_phase_start_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL)
        return -1;
    if (phase->started)
        return rb_err_set(err, RB_ERR_INTERNAL, "phase %u starts twice", row->phase);
    phase->started = true;
    phase->t0_ns = row->t0_ns;
    phase->t0_wall_ns = row->t0_wall_ns;
    for (size_t i = 0; i < row->nhosts; i++) {
        if (rb_fold_host_name(fold, row->hosts[i]) == NULL)
            return rb_err_set(err, RB_ERR_NET,
                              "phase %u starts on host %u, which no HOST row names", row->phase,
                              row->hosts[i]);
        rb_member_t *m = rb_fold_member(phase, row->hosts[i]);
        phase->nbehind += !m->takes_part;
        m->takes_part = true;
        m->bound_ns = row->bounds_ns[i];
    }
    return 0;
}

/* Behind the last completion of all workers; UINT64_MAX where one has not done all its work. */
static uint64_t all_done_ns(const rb_fold_phase_t *p)
{
    int64_t last_ns = -1;
    for (size_t i = 0; i < p->nmembers; i++)
        for (size_t k = 0; k < p->members[i].nworkers; k++) {
            const rb_row_worker_t *w = &p->members[i].workers[k];
            last_ns = w->finished ? RB_MAX(last_ns, w->done_at_ns) : INT64_MAX;
        }
    bool all = p->by_count && last_ns >= 0 && last_ns < INT64_MAX;
    return all ? (uint64_t)last_ns + 1 : UINT64_MAX;
}

int rb_fold_phase_end(rb_fold_t *fold, rb_row_phase_end_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL)
        return -1;
    phase->over = true;
    phase->te_at_ns = row->te_at_ns;
    phase->truncated = row->truncated;
    free(phase->reason);
    phase->reason = row->reason != NULL && row->reason[0] != '\0' ? RB_MOVE(row->reason) : NULL;
    phase->all_done_ns = all_done_ns(phase);
    for (size_t i = 0; i < row->nlost; i++) {
        if (rb_fold_host_name(fold, row->lost[i]) == NULL)
            return rb_err_set(err, RB_ERR_NET, "phase %u lost host %u, which no HOST row names",
                              row->phase, row->lost[i]);
        rb_fold_member(phase, row->lost[i])->lost = true;
    }
    for (size_t i = 0; i < phase->nmembers; i++)
        phase->members[i].next = UINT64_MAX;
    if (rb_fold_progress(fold, phase) < 0 || rb_fold_rounds_settle(fold, row->phase) < 0)
        return rb_err_set(err, RB_ERR_NET, "a histogram does not add up");
    return 0;
}

static int take_window(rb_fold_t *fold, uint32_t host, rb_row_window_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL)
        return -1;
    if (!phase->started || !rb_fold_member(phase, host)->takes_part)
        return rb_err_set(err, RB_ERR_INTERNAL,
                          "window of phase %u before its start or of a host it was not started on",
                          row->phase);
    if (row->index > RB_MAX_WINDOWS || row->span == 0 || row->span > RB_MAX_WINDOWS)
        return rb_err_set(err, RB_ERR_NET, "window %" PRIu64 " of span %u is outside 0..%d",
                          row->index, row->span, RB_MAX_WINDOWS);
    /* A host that was lost stopped by its own lease, perhaps after the others: that is not in M. */
    uint64_t at_ns = row->index * rb_fold_interval_ns(fold);
    if (phase->over && row->part == RB_PART_MAIN && (int64_t)at_ns >= phase->te_at_ns)
        row->part = RB_PART_DRAINED;
    if (phase->over && row->part == RB_PART_MAIN)
        row->part = rb_fold_round_part(fold, row);
    for (size_t i = 0; i < row->ncells; i++)
        if (rb_fold_check_place(fold, row->phase, row->cells[i].job, row->cells[i].target, err) < 0)
            return -1;
    if (rb_fold_window(fold, phase, host, row) < 0)
        return rb_err_set(err, RB_ERR_NET, "a histogram of window %" PRIu64 " does not add up",
                          row->index);
    return 0;
}

static int take_worker(rb_fold_t *fold, uint32_t host, rb_row_worker_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL || rb_fold_check_place(fold, row->phase, row->job, row->target, err) < 0)
        return -1;
    rb_member_t *m = rb_fold_member(phase, host);
    rb_member_name_drive(m, fold, row->target, row->drive);
    rb_row_worker_t *w = RB_PUSH(m->workers, m->nworkers);
    *w = *row;
    row->turn = (rb_hist_sparse_t){0};
    row->lateness = (rb_hist_sparse_t){0};
    if (phase->over) /* of a host that was lost and came back */
        phase->all_done_ns = all_done_ns(phase);
    if (rb_fold_advance(fold, phase, host, UINT64_MAX) < 0)
        return rb_err_set(err, RB_ERR_NET, "a histogram does not add up");
    return 0;
}

static int take_kernel(rb_fold_t *fold, uint32_t host, const rb_row_kernel_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL || rb_fold_check_place(fold, row->phase, 0, row->target, err) < 0)
        return -1;
    rb_member_t *m = rb_fold_member(phase, host);
    rb_member_name_drive(m, fold, row->target, row->drive);
    *RB_PUSH(m->kernels, m->nkernels) = *row;
    return 0;
}

static int take_drives(rb_fold_t *fold, uint32_t host, rb_row_drives_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL)
        return -1;
    rb_member_t *m = rb_fold_member(phase, host);
    for (size_t i = 0; i < row->ndrives; i++) {
        rb_drive_ref_t *from = &row->drives[i];
        if (rb_fold_check_place(fold, row->phase, 0, from->target, err) < 0)
            return -1;
        rb_drive_ref_t *to = find_drive(m, from->target, from->drive);
        if (to == NULL)
            to = RB_PUSH(m->drives, m->ndrives);
        free(to->path);
        *to = *from;
        from->path = NULL;
    }
    return 0;
}

static int take_layout(rb_fold_t *fold, uint32_t host, rb_row_layout_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL || rb_fold_check_place(fold, row->phase, 0, row->target, err) < 0)
        return -1;
    rb_member_t *m = rb_fold_member(phase, host);
    if (row->reused) {
        m->reused++;
        return 0;
    }
    rb_member_name_drive(m, fold, row->target, row->drive);
    rb_total_t *t = RB_PUSH(m->layouts, m->nlayouts);
    *t = (rb_total_t){.target = row->target,
                      .drive = row->drive,
                      .op = RB_OP_WRITE,
                      .ops = row->ops,
                      .bytes = row->bytes,
                      .service = row->service};
    row->service = (rb_hist_sparse_t){0};
    m->layout_ns = RB_MAX(m->layout_ns, row->took_ns);
    return 0;
}

static int take_cpu(rb_fold_t *fold, uint32_t host, rb_row_cpu_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL)
        return -1;
    rb_member_t *m = rb_fold_member(phase, host);
    free(m->cpu.cpus);
    m->cpu = *row;
    *row = (rb_row_cpu_t){0};
    return 0;
}

static int take_placement(rb_fold_t *fold, uint32_t host, rb_row_placement_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL)
        return -1;
    for (size_t i = 0; i < row->nplaces; i++)
        if (rb_fold_check_place(fold, row->phase, row->places[i].job, row->places[i].target, err) <
            0)
            return -1;
    rb_member_t *m = rb_fold_member(phase, host);
    for (size_t i = 0; i < row->nplaces; i++)
        rb_member_name_drive(m, fold, row->places[i].target, row->places[i].drive);
    free(m->placement.places);
    m->placement = *row;
    *row = (rb_row_placement_t){0};
    return 0;
}

static int take_health(rb_fold_t *fold, uint32_t host, rb_row_health_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL)
        return -1;
    for (size_t i = 0; i < row->ndrives; i++)
        for (size_t k = 0; k < row->drives[i].nplaces; k++)
            if (rb_fold_check_place(fold, row->phase, 0, row->drives[i].places[k].target, err) < 0)
                return -1;
    return rb_fold_health_add(&rb_fold_member(phase, host)->health, row, err);
}

static int take_event(rb_fold_t *fold, uint32_t host, rb_row_event_t *row)
{
    rb_fold_event_t *e = RB_PUSH(fold->events, fold->nevents);
    *e = (rb_fold_event_t){.host = host,
                           .phase = row->phase,
                           .at_ns = row->at_ns,
                           .kind = RB_MOVE(row->kind),
                           .text = RB_MOVE(row->text)};
    return 0;
}

int rb_fold_agent_row(rb_fold_t *fold, uint32_t host, rb_row_t *row, rb_err_t *err)
{
    switch (row->kind) {
    case RB_ROW_WINDOW:
        return take_window(fold, host, &row->window, err);
    case RB_ROW_WORKER:
        return take_worker(fold, host, &row->worker, err);
    case RB_ROW_KERNEL:
        return take_kernel(fold, host, &row->kernel, err);
    case RB_ROW_EVENT:
        return take_event(fold, host, &row->event);
    case RB_ROW_DRIVES:
        return take_drives(fold, host, &row->drives, err);
    case RB_ROW_LAYOUT:
        return take_layout(fold, host, &row->layout, err);
    case RB_ROW_CPU:
        return take_cpu(fold, host, &row->cpu, err);
    case RB_ROW_PLACEMENT:
        return take_placement(fold, host, &row->placement, err);
    case RB_ROW_HEALTH:
        return take_health(fold, host, &row->health, err);
    case RB_ROW_KV_PARTS:
        return rb_fold_kv_parts(fold, host, &row->kv_parts, err);
    case RB_ROW_KV_DRIVE:
        return rb_fold_kv_drive(fold, host, &row->kv_drive, err);
    case RB_ROW_RUN:
    case RB_ROW_HOST:
    case RB_ROW_CLOCK:
    case RB_ROW_PHASE_START:
    case RB_ROW_PHASE_END:
    case RB_ROW_NOTE:
    case RB_ROW_RUN_END:
    case RB_ROW_STEP:
    case RB_ROW_SEARCH:
    case RB_ROW_REACH:
    case RB_ROW_WATTS:
        break;
    }
    return rb_err_set(err, RB_ERR_NET, "an agent sent a row of kind %d, the coordinator's own",
                      (int)row->kind);
}
