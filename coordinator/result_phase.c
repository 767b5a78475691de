#include "coordinator/result_parts.h"
#include "proto/select.h"

/* Lost, or not heard to the end as the coordinator was killed. */
static bool is_away(const rb_fold_phase_t *p, const rb_member_t *m)
{
    return m->lost || (m->nworkers == 0 && !p->over);
}

/* Until when the host's workers all had work [ns since T0]; UINT64_MAX: to the end of M. */
static uint64_t running_until_ns(const rb_fold_t *fold, uint32_t phase, const rb_member_t *m)
{
    uint64_t until = UINT64_MAX;
    for (size_t i = 0; i < m->nworkers; i++)
        if (m->workers[i].finished)
            until = RB_MIN(until, (uint64_t)RB_MAX(m->workers[i].done_at_ns, 0));
    if (is_away(&fold->phases[phase], m))
        until = RB_MIN(until, rb_member_until_ns(fold, m));
    return until;
}

double rb_result_host_seconds(const rb_fold_t *fold, const rb_result_phase_t *phase,
                              const rb_member_t *m)
{
    if (!is_away(&fold->phases[phase->index], m))
        return phase->seconds;
    uint64_t until = RB_MIN(phase->end_ns, rb_member_until_ns(fold, m));
    return until > phase->start_ns ? (double)(until - phase->start_ns) / RB_NS_PER_S : 0;
}

static void fill_to_last(const rb_fold_phase_t *p, rb_result_phase_t *phase)
{
    int64_t last_ns = 0;
    for (size_t i = 0; i < p->nmembers; i++) {
        const rb_member_t *m = &p->members[i];
        for (size_t k = 0; k < m->nworkers; k++)
            last_ns = RB_MAX(last_ns, m->workers[k].done_at_ns);
        for (size_t k = 0; k < m->ntotals; k++) {
            const rb_total_t *t = &m->totals[k];
            phase->to_last.ops += t->ops;
            phase->to_last.bytes += t->bytes;
            for (int part = RB_PART_RAMP; part < RB_PART_COUNT; part++) {
                phase->to_last.ops += t->outside[part].ops;
                phase->to_last.bytes += t->outside[part].bytes;
            }
        }
    }
    phase->to_last_seconds = (double)last_ns / RB_NS_PER_S;
    phase->has_to_last = last_ns > 0; /* before any WORKER row nobody knows */
}

uint32_t rb_result_interval(const rb_fold_t *fold, rb_result_phase_t *phase)
{
    const rb_fold_phase_t *p = &fold->phases[phase->index];
    uint32_t first_host = 0;
    phase->start_ns = rb_fold_start_ns(fold, phase->index);
    phase->end_ns = RB_MAX(phase->start_ns, rb_fold_end_ns(fold, phase->index));
    uint64_t from = phase->start_ns, until = phase->end_ns;
    for (uint32_t host = 1; host <= p->nmembers; host++) {
        const rb_member_t *m = &p->members[host - 1];
        rb_start_t start;
        if (!m->takes_part)
            continue;
        if (rb_member_start(m, &start) == 0 && start.last_lateness_ns > 0)
            from = RB_MAX(from, (uint64_t)start.last_lateness_ns);
        uint64_t host_until = running_until_ns(fold, phase->index, m);
        if (host_until < until) {
            until = host_until;
            first_host = host;
        }
    }
    double length_ns = (double)(phase->end_ns - phase->start_ns);
    phase->seconds = length_ns / RB_NS_PER_S;
    phase->common_share = until > from ? (double)(until - from) / length_ns : 0;
    phase->by_count =
        p->by_count && (p->common_over || rb_fold_runtime_ns(fold, phase->index) == 0);
    if (phase->by_count)
        fill_to_last(p, phase);
    return first_host;
}

static void mark(rb_result_phase_t *phase, const char *word)
{
    RB_ASSERT(phase->nmarks < RB_MAX_PHASE_MARKS);
    phase->marks[phase->nmarks++] = word;
}

bool rb_phase_has_mark(const rb_result_phase_t *phase, const char *word)
{
    for (size_t i = 0; i < phase->nmarks; i++)
        if (strcmp(phase->marks[i], word) == 0)
            return true;
    return false;
}

static bool is_client_bound(const rb_result_phase_t *phase)
{
    for (size_t i = 0; i < phase->nhosts; i++)
        if (phase->hosts[i].limits != 0)
            return true;
    return false;
}

static bool has_event(const rb_fold_t *fold, uint32_t phase, const char *kind)
{
    for (size_t i = 0; i < fold->nevents; i++)
        if (fold->events[i].phase == (int32_t)phase && strcmp(fold->events[i].kind, kind) == 0)
            return true;
    return false;
}

static bool has_lost(const rb_fold_phase_t *p)
{
    for (size_t i = 0; i < p->nmembers; i++)
        if (p->members[i].lost)
            return true;
    return false;
}

/* A host of which no worker reported: lost, or the coordinator was killed. */
static bool has_silent(const rb_fold_phase_t *p)
{
    for (size_t i = 0; i < p->nmembers; i++)
        if (p->members[i].takes_part && p->members[i].nworkers == 0)
            return true;
    return false;
}

bool rb_result_job_is_on(const rb_row_host_t *host, const Rackbench__Job *job)
{
    Rackbench__Label *labels = rb_calloc(host->nlabels + 1, sizeof(*labels));
    Rackbench__Label **list = rb_calloc(host->nlabels + 1, sizeof(*list));
    for (size_t i = 0; i < host->nlabels; i++) {
        size_t length = strcspn(host->labels[i], "=");
        const char *value = host->labels[i] + length;
        list[i] = &labels[i];
        labels[i].name = rb_strndup(host->labels[i], length);
        labels[i].value = value[0] == '=' ? (char *)value + 1 : (char *)value;
    }
    bool is_on = rb_job_on_host(job, host->nlabels, list);
    for (size_t i = 0; i < host->nlabels; i++)
        free(labels[i].name);
    free(labels);
    free(list);
    return is_on;
}

/* What the plan asks of a host: numjobs workers for each drive of a job's target. */
static void add_planned(const rb_fold_t *fold, uint32_t host, rb_result_phase_t *phase)
{
    const Rackbench__Phase *planned = rb_fold_plan_phase(fold, phase->index);
    const rb_member_t *m = &fold->phases[phase->index].members[host - 1];
    for (size_t j = 0; j < planned->n_jobs; j++) {
        const Rackbench__Job *job = planned->jobs[j];
        uint64_t workers = 0;
        for (size_t d = 0; d < m->ndrives; d++) {
            const char *target = fold->plan->targets[m->drives[d].target]->name;
            if (job->target == NULL || strcmp(job->target, target) == 0)
                workers += RB_MAX(job->numjobs, 1);
        }
        if (workers == 0 || !rb_result_job_is_on(&fold->hosts[host - 1].row.host, job))
            continue;
        phase->workers += workers;
        phase->inflight += workers * RB_MAX(job->iodepth, 1);
    }
}

static void fill_load(const rb_fold_t *fold, rb_result_phase_t *phase)
{
    const rb_fold_phase_t *p = &fold->phases[phase->index];
    const Rackbench__Phase *planned = rb_fold_plan_phase(fold, phase->index);
    for (size_t i = 0; i < p->nmembers; i++)
        for (size_t k = 0; k < p->members[i].nworkers; k++) {
            phase->workers++;
            phase->inflight += RB_MAX(planned->jobs[p->members[i].workers[k].job]->iodepth, 1);
        }
    phase->is_planned = phase->workers == 0;
    for (uint32_t host = 1; phase->is_planned && host <= p->nmembers; host++)
        if (p->members[host - 1].takes_part)
            add_planned(fold, host, phase);
}

void rb_result_judge(const rb_fold_t *fold, rb_result_phase_t *phase)
{
    const rb_fold_phase_t *p = &fold->phases[phase->index];
    const Rackbench__Phase *planned = rb_fold_plan_phase(fold, phase->index);
    bool lost = has_lost(p), all_busy = true;
    fill_load(fold, phase);
    if (is_client_bound(phase))
        mark(phase, "client_bound");
    if (has_event(fold, phase->index, "iowq"))
        mark(phase, "iowq");
    if (has_event(fold, phase->index, "batched_reap"))
        mark(phase, "batched_reap");
    if (p->truncated || !p->over)
        mark(phase, "truncated");
    if (lost)
        mark(phase, "host_lost");
    if (phase->steady != NULL && !phase->steady->reached)
        mark(phase, "not_steady");
    for (size_t i = 0; i < planned->n_jobs; i++) {
        bool open = planned->jobs[i]->rate_iops > 0 || planned->jobs[i]->rate_bytes > 0 ||
                    planned->jobs[i]->kv_cache != NULL;
        phase->closed_loop |= !open;
        all_busy &=
            !open && planned->jobs[i]->thinktime_ns == 0 && planned->jobs[i]->start_delay_ns == 0;
    }
    /* Such a host's slots are not known to have been busy: the law would say nothing. */
    if (all_busy && !lost && !has_silent(p))
        rb_result_little(phase);
}
