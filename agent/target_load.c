#include "agent/target_load.h"

static rb_load_t load_of_job(const Rackbench__Job *job)
{
    switch (job->rw) {
    case RACKBENCH__RW__MODE__read:
    case RACKBENCH__RW__MODE__randread:
        return RB_LOAD_READ;
    case RACKBENCH__RW__MODE__write:
    case RACKBENCH__RW__MODE__randwrite:
    case RACKBENCH__RW__MODE__rw:
    case RACKBENCH__RW__MODE__randrw:
    case RACKBENCH__RW__MODE__trim:
    case RACKBENCH__RW__MODE__randtrim:
    case _RACKBENCH__RW__MODE_IS_INT_SIZE:
        break;
    }
    return RB_LOAD_WRITTEN; /* what a newer coordinator may name counts as a write */
}

rb_load_t rb_load_in_phase(const Rackbench__Phase *phase, const char *target)
{
    rb_load_t load = RB_LOAD_UNUSED;
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (phase->jobs[i]->target != NULL && strcmp(phase->jobs[i]->target, target) == 0)
            load = RB_MAX(load, load_of_job(phase->jobs[i]));
    return load;
}

bool rb_sets_power(const Rackbench__Phase *phase, const char *target)
{
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (phase->jobs[i]->has_power_state && phase->jobs[i]->target != NULL &&
            strcmp(phase->jobs[i]->target, target) == 0)
            return true;
    return false;
}

rb_load_t rb_load_in_plan(const Rackbench__Plan *plan, const char *target)
{
    rb_load_t load = RB_LOAD_UNUSED;
    for (size_t i = 0; i < plan->n_phases; i++)
        load = RB_MAX(load, rb_load_in_phase(plan->phases[i], target));
    return load;
}

rb_drive_look_t rb_look_in_phase(const Rackbench__Phase *phase, const char *target)
{
    bool changes =
        rb_load_in_phase(phase, target) == RB_LOAD_WRITTEN || rb_sets_power(phase, target);
    return changes ? RB_DRIVE_SIGNATURES : RB_DRIVE_USES;
}

rb_drive_look_t rb_look_in_plan(const Rackbench__Plan *plan, const char *target)
{
    rb_drive_look_t look = RB_DRIVE_USES;
    for (size_t i = 0; i < plan->n_phases; i++)
        look = RB_MAX(look, rb_look_in_phase(plan->phases[i], target));
    return look;
}
