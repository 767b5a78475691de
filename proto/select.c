#include "proto/select.h"
#include "proto/wire.h"

#include "proto/wire.h"

static bool has_label(const Rackbench__Label *want, size_t nlabels, Rackbench__Label *const *labels)
{
    for (size_t i = 0; i < nlabels; i++)
        if (strcmp(labels[i]->name, want->name) == 0 && strcmp(labels[i]->value, want->value) == 0)
            return true;
    return false;
}

bool rb_job_on_host(const Rackbench__Job *job, size_t nlabels, Rackbench__Label *const *labels)
{
    for (size_t i = 0; i < job->n_on; i++)
        if (!has_label(job->on[i], nlabels, labels))
            return false;
    return true;
}

bool rb_phase_on_host(const Rackbench__Phase *phase, size_t nlabels,
                      Rackbench__Label *const *labels)
{
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (rb_job_on_host(phase->jobs[i], nlabels, labels))
            return true;
    return false;
}

void rb_phase_keep_on_host(Rackbench__Phase *phase, size_t nlabels, Rackbench__Label *const *labels)
{
    size_t kept = 0;
    for (size_t k = 0; k < phase->n_jobs; k++) {
        if (rb_job_on_host(phase->jobs[k], nlabels, labels))
            phase->jobs[kept++] = phase->jobs[k];
        else
            rackbench__job__free_unpacked(phase->jobs[k], NULL);
    }
    phase->n_jobs = kept;
}

Rackbench__Plan *rb_plan_on_host(const Rackbench__Plan *plan, size_t nlabels,
                                 Rackbench__Label *const *labels)
{
    Rackbench__Plan *here = rb_plan_copy(plan);
    for (size_t i = 0; i < here->n_phases; i++)
        rb_phase_keep_on_host(here->phases[i], nlabels, labels);
    return here;
}

uint64_t rb_phase_ramp_ns(const Rackbench__Phase *phase)
{
    return phase->n_jobs > 0 ? phase->jobs[0]->ramp_time_ns : 0;
}

uint64_t rb_phase_runtime_ns(const Rackbench__Phase *phase)
{
    return phase->n_jobs > 0 ? phase->jobs[0]->runtime_ns : 0;
}

uint32_t rb_phase_stop_c(const Rackbench__Phase *phase)
{
    return phase->stop_when != NULL ? phase->stop_when->temperature : 0;
}

uint32_t rb_phase_stop_errors(const Rackbench__Phase *phase)
{
    return phase->stop_when != NULL ? phase->stop_when->errors : 0;
}
