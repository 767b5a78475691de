#include "coordinator/plan/precondition.h"

#include "coordinator/plan/check_rules.h"
#include "coordinator/plan/resolve.h"
#include "proto/wire.h"

#define DISCARD_BS (64 * RB_MIB)

static rb_fill_state_t state_of(const Rackbench__Job *job)
{
    return (rb_fill_state_t){.bs_bytes = job->bs_bytes, .random = !rb_rw_is_sequential(job->rw)};
}

static bool is_same(rb_fill_state_t a, rb_fill_state_t b)
{
    return a.bs_bytes == b.bs_bytes && a.random == b.random;
}

static size_t target_index(const Rackbench__Plan *plan, const Rackbench__Job *job)
{
    size_t i = 0;
    while (i < plan->n_targets &&
           (job->target == NULL || strcmp(plan->targets[i]->name, job->target) != 0))
        i++;
    return i;
}

/* A fill of the job's target on the job's hosts; the state is what it leaves behind. */
static Rackbench__Job *fill_job(const Rackbench__Plan *plan, const Rackbench__Job *like,
                                Rackbench__Rw__Mode rw, uint64_t bs_bytes, uint32_t iodepth)
{
    Rackbench__Job *job = rb_calloc(1, sizeof(*job));
    rackbench__job__init(job);
    job->name = rb_strdup("fill");
    job->target = like->target != NULL ? rb_strdup(like->target) : NULL;
    job->has_rw = job->has_bs_bytes = job->has_iodepth = true;
    job->rw = rw;
    job->bs_bytes = bs_bytes;
    job->iodepth = iodepth;
    for (size_t i = 0; i < like->n_on; i++) {
        Rackbench__Label *on = rb_calloc(1, sizeof(*on));
        rackbench__label__init(on);
        on->name = rb_strdup(like->on[i]->name);
        on->value = rb_strdup(like->on[i]->value);
        *RB_PUSH(job->on, job->n_on) = on;
    }
    rb_job_fill(plan, job);
    return job;
}

static bool is_first_on_target(const Rackbench__Phase *phase, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (phase->jobs[i]->target != NULL && phase->jobs[index]->target != NULL &&
            strcmp(phase->jobs[i]->target, phase->jobs[index]->target) == 0)
            return false;
    return true;
}

/* One job for each target of the phase. */
static void add_fill(Rackbench__Plan *run, const Rackbench__Phase *phase, const Rackbench__Job *as,
                     uint32_t passes)
{
    Rackbench__Phase like = RACKBENCH__PHASE__INIT;
    like.stop_when = phase->stop_when; /* a drive gets as hot in a fill */
    Rackbench__Phase *fill = rb_phase_copy(&like);
    fill->name = rb_strdup(phase->name);
    fill->has_destructive = true;
    fill->destructive = phase->destructive;
    fill->fill = rb_calloc(1, sizeof(*fill->fill));
    rackbench__fill__init(fill->fill);
    fill->fill->has_passes = true;
    fill->fill->passes = passes;
    for (size_t i = 0; i < phase->n_jobs; i++) {
        if (!is_first_on_target(phase, i))
            continue;
        Rackbench__Job *job = fill_job(run, phase->jobs[i], as->rw, as->bs_bytes, as->iodepth);
        RB_AUTO(rb_free_str) char *name = job->name;
        job->name = fill->n_jobs == 0 ? rb_strdup(name) : rb_asprintf("%s%zu", name, fill->n_jobs);
        *RB_PUSH(fill->jobs, fill->n_jobs) = job;
    }
    *RB_PUSH(run->phases, run->n_phases) = fill;
}

/* What its writes leave of the state that the targets were in. */
static void note_writes(const Rackbench__Plan *plan, rb_fill_state_t *states,
                        const Rackbench__Phase *phase)
{
    for (size_t i = 0; i < phase->n_jobs; i++) {
        const Rackbench__Job *job = phase->jobs[i];
        size_t target = target_index(plan, job);
        bool changes = rb_job_writes(job) || rb_rw_trims(job->rw) || job->rwmixtrim > 0;
        if (target < plan->n_targets && changes && !is_same(states[target], state_of(job)))
            states[target] = (rb_fill_state_t){0};
    }
}

static bool is_filled(const Rackbench__Plan *plan, const rb_fill_state_t *states,
                      const Rackbench__Phase *phase, rb_fill_state_t want)
{
    for (size_t i = 0; i < phase->n_jobs; i++) {
        size_t target = target_index(plan, phase->jobs[i]);
        if (target < plan->n_targets && !is_same(states[target], want))
            return false;
    }
    return true;
}

/* The fill as a job; of a sequential phase it is sequential. */
static Rackbench__Job wanted(const Rackbench__Phase *phase)
{
    const Rackbench__Precondition *p = phase->precondition;
    const Rackbench__Job *first = phase->jobs[0];
    Rackbench__Job as = RACKBENCH__JOB__INIT;
    bool sequential = rb_rw_is_sequential(first->rw);
    as.rw = p->has_rw    ? p->rw
            : sequential ? RACKBENCH__RW__MODE__write
                         : RACKBENCH__RW__MODE__randwrite;
    as.bs_bytes = p->has_bs_bytes ? p->bs_bytes : first->bs_bytes;
    as.iodepth = p->iodepth;
    return as;
}

void rb_precondition(Rackbench__Plan *run, rb_fill_state_t *states, const Rackbench__Phase *phase)
{
    const Rackbench__Precondition *p = phase->precondition;
    if (p != NULL && p->passes > 0 && phase->n_jobs > 0) {
        Rackbench__Job as = wanted(phase);
        bool always = phase->recondition == RACKBENCH__RECONDITION__KIND__always;
        if (always || !is_filled(run, states, phase, state_of(&as))) {
            Rackbench__Job discard = RACKBENCH__JOB__INIT;
            discard.rw = RACKBENCH__RW__MODE__trim;
            discard.bs_bytes = DISCARD_BS;
            discard.iodepth = 1;
            if (p->discard)
                add_fill(run, phase, &discard, 1);
            add_fill(run, phase, &as, p->passes);
        }
        for (size_t i = 0; i < phase->n_jobs; i++)
            if (target_index(run, phase->jobs[i]) < run->n_targets)
                states[target_index(run, phase->jobs[i])] = state_of(&as);
    }
    note_writes(run, states, phase);
}

uint64_t rb_fill_file_bytes(const Rackbench__Plan *plan, const Rackbench__Phase *fill)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < fill->n_jobs; i++) {
        const Rackbench__Target *target = rb_target_find(plan, fill->jobs[i]->target);
        if (target == NULL || target->n_devices > 0)
            return 0;
        bytes += fill->fill->passes * target->files * target->size_bytes;
    }
    return bytes;
}
