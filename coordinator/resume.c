#include "coordinator/resume.h"

#include "coordinator/plan/search.h"

#define EARLY_NS RB_NS_PER_MS /* ends as planned are not earlier than that */

bool rb_resume_ended_early(const rb_row_worker_t *worker, uint64_t ramp_ns, uint64_t runtime_ns)
{
    bool in_time =
        runtime_ns != 0 && worker->end_at_ns + (int64_t)EARLY_NS >= (int64_t)(ramp_ns + runtime_ns);
    return !worker->finished && !in_time;
}

/* Notes of the coordinator about a host, in order: the last word counts. */
static void read_notes(const rb_fold_t *fold, rb_resume_t *r)
{
    for (size_t i = 0; i < fold->nevents; i++) {
        const rb_fold_event_t *e = &fold->events[i];
        if (!e->absolute || e->host == 0 || e->host > r->nhosts)
            continue;
        rb_resume_host_t *host = &r->hosts[e->host - 1];
        if (strcmp(e->kind, "host_lost") == 0) {
            host->lost = true;
            host->why = e->text;
        }
        host->stranger |= strcmp(e->kind, "rows_in") == 0 || strcmp(e->kind, "rows_lost") == 0;
    }
}

static void read_member(const rb_fold_t *fold, uint32_t phase, const rb_member_t *m,
                        rb_resume_host_t *host)
{
    host->takes_part = m->takes_part;
    for (size_t i = 0; i < m->nworkers; i++) {
        host->end_at_ns = RB_MAX(host->end_at_ns, m->workers[i].end_at_ns);
        host->ended_early |= rb_resume_ended_early(&m->workers[i], rb_fold_ramp_ns(fold, phase),
                                                   rb_fold_runtime_ns(fold, phase));
    }
}

/* The search goes again through the figures that it was told. */
static void read_search(const rb_fold_t *fold, const rb_fold_phase_t *p, rb_resume_t *r)
{
    const Rackbench__Phase *phase = fold->plan->phases[p->plan_phase];
    const rb_row_search_t *row = &p->search_row.search;
    int job = rb_search_job(phase);
    r->told = p->search_row.kind == RB_ROW_SEARCH;
    if (job < 0)
        return;
    if (p->step == 1)
        rb_search_begin(phase->jobs[job], &r->search);
    if (!r->told || r->search.target_ns == 0 || r->search.verdict != RB_SEARCH_GOES_ON)
        return;
    rb_latency_search_take(&r->search, &(rb_search_figures_t){.offered_ops = row->offered_ops,
                                                              .ops = row->ops,
                                                              .length_ns = row->length_ns,
                                                              .quantile_ns = row->quantile_ns,
                                                              .uncertain = row->uncertain});
}

static void read_phases(const rb_fold_t *fold, rb_resume_t *r)
{
    for (uint32_t i = 0; i < fold->nphases; i++) {
        const rb_fold_phase_t *p = &fold->phases[i];
        if (p->override != NULL)
            r->nsteps = i + 1;
        if (!p->started || p->plan_phase >= fold->plan->n_phases)
            continue;
        read_search(fold, p, r);
        r->next_phase = i + 1;
        r->plan_phase = p->plan_phase;
        r->step = p->step;
        r->cut_step = p->over && p->truncated;
        r->was_cut |= p->over && p->truncated;
        r->has_start = true;
        r->wall_offset_ns = (int64_t)(p->t0_wall_ns - p->t0_ns);
        r->under_way = !p->over;
        r->phase = i;
        r->t0_ns = p->t0_ns;
    }
    const rb_fold_phase_t *p = r->under_way ? &fold->phases[r->phase] : NULL;
    for (size_t i = 0; p != NULL && i < p->nmembers && i < r->nhosts; i++)
        read_member(fold, r->phase, &p->members[i], &r->hosts[i]);
}

rb_resume_t *rb_resume_new(const rb_fold_t *fold, size_t nhosts)
{
    rb_resume_t *r = rb_calloc(1, sizeof(*r));
    r->nhosts = nhosts;
    r->hosts = rb_calloc(nhosts, sizeof(*r->hosts));
    r->next_row = fold->seq + 1;
    r->started_wall_ns = fold->run_row.run.started_wall_ns;
    r->complete = fold->end_row.kind == RB_ROW_RUN_END ? &fold->end_row.run_end : NULL;
    for (size_t i = 0; i < nhosts; i++) {
        bool named = rb_fold_host_name(fold, (uint32_t)i + 1) != NULL;
        r->hosts[i].known = named && fold->hosts[i].row.host.inventory.size > 0;
        r->hosts[i].next_row = named ? fold->hosts[i].seq + 1 : 1;
        r->hosts[i].end_at_ns = INT64_MIN;
    }
    read_notes(fold, r);
    read_phases(fold, r);
    return r;
}

void rb_resume_destroy(rb_resume_t **resume)
{
    if (*resume != NULL)
        free((*resume)->hosts);
    free(*resume);
    *resume = NULL;
}

bool rb_resume_rows_missing(const rb_resume_t *resume)
{
    for (size_t i = 0; i < resume->nhosts; i++) {
        const rb_resume_host_t *host = &resume->hosts[i];
        if (host->known && host->lost && !host->stranger)
            return true;
    }
    return false;
}
