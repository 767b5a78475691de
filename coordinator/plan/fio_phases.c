#include "coordinator/plan/fio_phases.h"

#include "coordinator/plan/resolve.h"

/* ---- which phase ---- */

/* Does waiting for all jobs of a phase mean the same as waiting for this one? */
static bool is_alone(const rb_fio_t *f, const rb_fio_job_t *until, const char *name, size_t phase)
{
    for (const rb_fio_job_t *job = f->jobs; job < until; job++)
        if (job->phase == phase && strcmp(job->head->key, name) != 0)
            return false;
    return true;
}

static int wait_for(rb_fio_t *f, rb_fio_job_t *job, size_t *phase)
{
    const rb_fio_line_t *line = rb_fio_get(job, "wait_for");
    const rb_fio_job_t *other = f->jobs;
    if (!line || strcmp(line->value, "none") == 0)
        return 0;
    while (other < job && strcmp(other->head->key, line->value) != 0)
        other++;
    if (other == job)
        return rb_fio_fail(f, line, "no job of that name stands before it");
    if (other->phase < *phase)
        return 0;
    if (!is_alone(f, job, line->value, *phase) &&
        rb_fio_lacks(f, line, "jobs wait for all that run before them: stonewall") != 0)
        return -1;
    (*phase)++;
    return 0;
}

static int number_phases(rb_fio_t *f)
{
    size_t phase = 0;
    for (size_t i = 0; i < f->njobs; i++) {
        bool wall = false;
        if (rb_fio_get_flag(f, &f->jobs[i], "stonewall", &wall) != 0)
            return -1;
        if (wall && i > 0)
            phase++;
        else if (wait_for(f, &f->jobs[i], &phase) != 0)
            return -1;
        f->jobs[i].phase = phase;
    }
    return 0;
}

/* ---- delays ---- */

static bool is_timed(const rb_fio_job_t *job, size_t phase)
{
    return job->phase == phase && job->job->has_runtime_ns;
}

/* Jobs that are bound by time end together, so what they all wait for comes before M. */
static int count_delays(rb_fio_t *f, size_t phase)
{
    const rb_fio_job_t *first = NULL;
    for (rb_fio_job_t *job = f->jobs; job < f->jobs + f->njobs; job++) {
        if (!is_timed(job, phase))
            continue;
        first = first ? first : job;
        if (job->job->start_delay_ns != first->job->start_delay_ns)
            return rb_fio_lacks(f, job->head,
                                "startdelay beside runtime: jobs of a phase end "
                                "together; give all of them the same");
    }
    for (rb_fio_job_t *job = f->jobs; job < f->jobs + f->njobs; job++)
        if (is_timed(job, phase) && job->job->start_delay_ns > 0)
            rb_fio_set(job, "ramp_time", job->job->ramp_time_ns + job->job->start_delay_ns,
                       rb_fio_get(job, "startdelay"));
    return 0;
}

/* ---- into the plan ---- */

static Rackbench__Phase *push_phase(rb_fio_t *f)
{
    Rackbench__Phase *phase = rb_calloc(1, sizeof(*phase));
    rackbench__phase__init(phase);
    *RB_PUSH(f->out->plan->phases, f->out->plan->n_phases) = phase;
    return phase;
}

static bool has_job(const Rackbench__Phase *phase, const char *name)
{
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (strcmp(phase->jobs[i]->name, name) == 0)
            return true;
    return false;
}

static void add_place(rb_fio_t *f, const char *path, const rb_fio_line_t *line)
{
    RB_AUTO(rb_free_str) char *place = rb_asprintf("%s:%u", line->file, line->line);
    rb_places_add_origin(f->out->places, path, place);
}

static void push_job(rb_fio_t *f, rb_fio_job_t *from, Rackbench__Job *job)
{
    Rackbench__Plan *plan = f->out->plan;
    Rackbench__Phase *phase = plan->phases[plan->n_phases - 1];
    RB_AUTO(rb_free_str) char *first = rb_strdup(job->name);
    for (unsigned i = 2; has_job(phase, job->name); i++) {
        free(job->name);
        job->name = rb_asprintf("%s-%u", first, i);
    }
    RB_AUTO(rb_free_str)
    char *path = rb_asprintf("phases.%zu.jobs.%zu", plan->n_phases - 1, phase->n_jobs);
    *RB_PUSH(phase->jobs, phase->n_jobs) = job;
    add_place(f, path, from->head);
    for (size_t i = 0; i < from->nsources; i++) {
        RB_AUTO(rb_free_str)
        char *key = rb_asprintf("%s.%s", path, from->sources[i].field->name);
        add_place(f, key, from->sources[i].line);
    }
    if (from->is_device && rb_rw_writes(job->rw) && !phase->has_destructive) {
        phase->has_destructive = phase->destructive = true;
        rb_fio_note(f, from->head,
                    "it writes to devices: destructive: true; the agent has to be "
                    "started with --allow-device as well");
    }
}

/* A phase of one job has its name, if no other phase has. */
static void name_phase(Rackbench__Plan *plan)
{
    Rackbench__Phase *phase = plan->phases[plan->n_phases - 1];
    if (phase->n_jobs != 1)
        return;
    for (size_t i = 0; i + 1 < plan->n_phases; i++)
        if (plan->phases[i]->name && strcmp(plan->phases[i]->name, phase->jobs[0]->name) == 0)
            return;
    phase->name = rb_strdup(phase->jobs[0]->name);
}

static void push_all(rb_fio_t *f, size_t phase)
{
    bool checks = false;
    push_phase(f);
    for (size_t i = 0; i < f->njobs; i++) {
        if (f->jobs[i].phase != phase)
            continue;
        push_job(f, &f->jobs[i], RB_MOVE(f->jobs[i].job));
        checks |= f->jobs[i].read_back != NULL;
    }
    name_phase(f->out->plan);
    if (!checks)
        return;
    push_phase(f);
    for (size_t i = 0; i < f->njobs; i++)
        if (f->jobs[i].phase == phase && f->jobs[i].read_back)
            push_job(f, &f->jobs[i], RB_MOVE(f->jobs[i].read_back));
    name_phase(f->out->plan);
}

int rb_fio_phases(rb_fio_t *f)
{
    if (number_phases(f) != 0)
        return -1;
    for (size_t phase = 0; phase <= f->jobs[f->njobs - 1].phase; phase++) {
        if (count_delays(f, phase) != 0)
            return -1;
        push_all(f, phase);
    }
    return 0;
}
