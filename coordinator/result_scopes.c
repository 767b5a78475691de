#include "coordinator/result_parts.h"

static bool has_any(const rb_scope_t *scope, const rb_member_t *m)
{
    const rb_total_t *totals = scope->layout ? m->layouts : m->totals;
    size_t ntotals = scope->layout ? m->nlayouts : m->ntotals;
    for (size_t i = 0; i < ntotals; i++)
        if (rb_scope_has_place(scope, totals[i].job, totals[i].target, totals[i].drive))
            return true;
    for (size_t i = 0; i < m->nworkers && !scope->layout; i++) {
        const rb_row_worker_t *w = &m->workers[i];
        if (rb_scope_has_place(scope, w->job, w->target, w->drive))
            return true;
    }
    return false;
}

static void add_jobs(rb_summer_t *summer, rb_scope_t scope, const rb_member_t *only, size_t *count,
                     rb_named_stats_t **jobs)
{
    const Rackbench__Phase *phase = rb_fold_plan_phase(scope.fold, scope.phase);
    for (size_t j = 0; j < phase->n_jobs && !scope.layout; j++) {
        scope.job = (int64_t)j;
        if (only != NULL && !has_any(&scope, only))
            continue;
        rb_named_stats_t *s = RB_PUSH(*jobs, *count);
        s->name = phase->jobs[j]->name != NULL ? phase->jobs[j]->name : "";
        rb_summer_stats(summer, &scope, &s->stats);
    }
}

static void add_targets(rb_summer_t *summer, rb_scope_t scope, const rb_member_t *m,
                        rb_result_host_t *host)
{
    const Rackbench__Plan *plan = scope.fold->plan;
    for (size_t t = 0; t < plan->n_targets; t++) {
        scope.target = (int64_t)t;
        scope.drive = -1;
        if (!has_any(&scope, m))
            continue;
        rb_result_target_t *target = RB_PUSH(host->targets, host->ntargets);
        target->name = plan->targets[t]->name;
        rb_summer_stats(summer, &scope, &target->total);
        for (size_t d = 0; d < m->ndrives; d++) {
            scope.drive = m->drives[d].drive;
            if (m->drives[d].target != t || !has_any(&scope, m))
                continue;
            rb_named_stats_t *drive = RB_PUSH(target->drives, target->ndrives);
            drive->name = m->drives[d].path;
            rb_summer_stats(summer, &scope, &drive->stats);
        }
    }
}

static uint64_t sectors_of(const rb_member_t *m, const rb_row_kernel_t *k, rb_op_t op)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < m->ntotals; i++) {
        const rb_total_t *t = &m->totals[i];
        if (t->target != k->target || t->drive != k->drive || t->op != op)
            continue;
        bytes += t->bytes;
        for (int part = 0; part < RB_PART_COUNT; part++)
            bytes += t->outside[part].bytes;
    }
    return bytes / 512;
}

static void add_kernels(const rb_member_t *m, rb_result_host_t *host)
{
    for (size_t i = 0; i < m->nkernels; i++) {
        rb_result_kernel_t *k = RB_PUSH(host->kernels, host->nkernels);
        for (size_t d = 0; d < m->ndrives; d++)
            if (m->drives[d].target == m->kernels[i].target &&
                m->drives[d].drive == m->kernels[i].drive)
                k->path = m->drives[d].path;
        for (rb_op_t op = 0; op < RB_LEN(k->op); op++) {
            k->op[op] = m->kernels[i].op[op];
            k->our_sectors[op] = sectors_of(m, &m->kernels[i], op);
        }
    }
}

static const char *loss_of(const rb_fold_t *fold, uint32_t host)
{
    for (size_t i = 0; i < fold->nevents; i++)
        if (fold->events[i].host == host && strcmp(fold->events[i].kind, "host_lost") == 0)
            return fold->events[i].text;
    return "";
}

static void add_host(rb_summer_t *summer, rb_scope_t scope, const rb_member_t *m,
                     rb_result_phase_t *phase)
{
    rb_result_host_t *host = RB_PUSH(phase->hosts, phase->nhosts);
    host->name = rb_fold_host_name(scope.fold, (uint32_t)scope.host);
    host->lost = m->lost;
    host->lost_after_ns = rb_member_until_ns(scope.fold, m);
    host->seconds = scope.layout ? scope.seconds : rb_result_host_seconds(scope.fold, phase, m);
    scope.seconds = host->seconds;
    host->lost_why = loss_of(scope.fold, (uint32_t)scope.host);
    host->series = &m->series;
    host->has_start = rb_member_start(m, &host->start) == 0;
    rb_summer_stats(summer, &scope, &host->total);
    if (!scope.layout)
        rb_result_cpu(scope.fold, scope.phase, m, host);
    add_jobs(summer, scope, m, &host->njobs, &host->jobs);
    add_targets(summer, scope, m, host);
    host->number = (uint32_t)scope.host;
    host->health = &m->health;
    if (scope.layout)
        return;
    add_kernels(m, host);
    host->drives = rb_result_health(scope.fold, scope.phase, host->number, &host->ndrives);
}

static bool is_known_group(const rb_result_phase_t *phase, const char *label)
{
    for (size_t i = 0; i < phase->ngroups; i++)
        if (strcmp(phase->groups[i].name, label) == 0)
            return true;
    return false;
}

static void add_groups(rb_summer_t *summer, rb_scope_t scope, uint32_t host,
                       rb_result_phase_t *phase)
{
    const rb_row_host_t *row = &scope.fold->hosts[host - 1].row.host;
    for (size_t i = 0; i < row->nlabels; i++) {
        if (is_known_group(phase, row->labels[i]))
            continue;
        rb_named_stats_t *group = RB_PUSH(phase->groups, phase->ngroups);
        group->name = scope.label = row->labels[i];
        rb_summer_stats(summer, &scope, &group->stats);
    }
}

void rb_result_scopes(rb_summer_t *summer, const rb_scope_t *scope, rb_result_phase_t *phase)
{
    const rb_fold_phase_t *p = &scope->fold->phases[scope->phase];
    rb_summer_stats(summer, scope, &phase->cluster);
    add_jobs(summer, *scope, NULL, &phase->njobs, &phase->jobs);
    for (uint32_t host = 1; host <= p->nmembers; host++) {
        const rb_member_t *m = &p->members[host - 1];
        if (scope->layout ? m->nlayouts == 0 : !m->takes_part)
            continue;
        rb_scope_t one = *scope;
        one.host = host;
        add_host(summer, one, m, phase);
        add_groups(summer, *scope, host, phase);
    }
}
