/* What was run, and on what. */
#include "coordinator/job_words.h"
#include "coordinator/result_parts.h"

typedef struct {
    size_t n, nmodels; /* drives or files; models that are not the same as the one before */
    const char *path;  /* of the last */
    const char *model;
} drives_t;

static const char *model_of(const Rackbench__Inventory *inventory, const char *path)
{
    for (size_t i = 0; inventory != NULL && i < inventory->n_drives; i++)
        if (strcmp(inventory->drives[i]->path, path) == 0)
            return inventory->drives[i]->model;
    return NULL;
}

static void add_drives(const rb_fold_t *fold, const Rackbench__Job *job, const rb_member_t *m,
                       const Rackbench__Inventory *inventory, drives_t *ret)
{
    for (size_t d = 0; d < m->ndrives; d++) {
        const char *target = fold->plan->targets[m->drives[d].target]->name;
        if (job->target != NULL && strcmp(job->target, target) != 0)
            continue;
        const char *model = model_of(inventory, m->drives[d].path);
        model = model != NULL ? model : "model not known";
        ret->nmodels += ret->n++ == 0 || strcmp(ret->model, model) != 0;
        ret->model = model;
        ret->path = m->drives[d].path;
    }
}

static bool is_of_devices(const rb_fold_t *fold, const Rackbench__Job *job)
{
    for (size_t i = 0; i < fold->plan->n_targets; i++)
        if (job->target == NULL || strcmp(job->target, fold->plan->targets[i]->name) == 0)
            return fold->plan->targets[i]->n_devices > 0;
    return false;
}

/* "d (/dev/nvme0n1, X100)", "d (8 drives, X100)", "d (8 drives of several models)". */
static char *drives_words(const char *target, const drives_t *drives)
{
    if (drives->nmodels > 1)
        return rb_asprintf("%s (%zu drives of several models)", target, drives->n);
    if (drives->n == 1)
        return rb_asprintf("%s (%s, %s)", target, drives->path, drives->model);
    return rb_asprintf("%s (%zu drives, %s)", target, drives->n, drives->model);
}

static char *place_words(const rb_fold_t *fold, const Rackbench__Job *job, const rb_fold_phase_t *p)
{
    drives_t drives = {0};
    const char *target = job->target != NULL         ? job->target
                         : fold->plan->n_targets > 0 ? fold->plan->targets[0]->name
                                                     : "?";
    for (uint32_t host = 1; host <= p->nmembers; host++)
        if (p->members[host - 1].takes_part &&
            rb_result_job_is_on(&fold->hosts[host - 1].row.host, job))
            add_drives(fold, job, &p->members[host - 1], fold->hosts[host - 1].inventory, &drives);
    if (drives.n == 0)
        return rb_strdup(target);
    if (is_of_devices(fold, job))
        return drives_words(target, &drives);
    if (drives.n == 1)
        return rb_asprintf("%s (%s)", target, drives.path);
    return rb_asprintf("%s (%zu files)", target, drives.n);
}

void rb_result_what(const rb_fold_t *fold, rb_result_phase_t *phase)
{
    const Rackbench__Phase *run = rb_fold_plan_phase(fold, phase->index);
    phase->what = rb_calloc(phase->njobs + 1, sizeof(*phase->what));
    for (size_t i = 0; i < phase->njobs; i++) {
        RB_AUTO(rb_free_str)
        char *place = place_words(fold, run->jobs[i], &fold->phases[phase->index]);
        phase->what[i] = rb_job_words(run->jobs[i], place);
    }
}
