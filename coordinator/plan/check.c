#include "coordinator/plan/check.h"

#include "coordinator/plan/expand.h"
#include "coordinator/plan/limits.h"
#include "proto/wire.h"

#define ASK(s, rules) rb_rules_ask(s, rules, RB_LEN(rules))

static rb_slot_t list_of(const ProtobufCMessage *msg, const char *key)
{
    const ProtobufCFieldDescriptor *field = rb_schema_field(msg->descriptor, key);
    RB_ASSERT(field);
    return (rb_slot_t){(ProtobufCMessage *)(uintptr_t)msg, field};
}

/* ---- target ---- */

static int target_is_one_kind(const rb_scope_t *s)
{
    const Rackbench__Target *t = s->target;
    if (t->n_devices && t->directory)
        return rb_rule_fail(s, "devices", "target '%s' has both directory and devices; keep one",
                            t->name);
    if (t->n_devices && (t->has_files || t->has_size_bytes))
        return rb_rule_fail(s, t->has_files ? "files" : "size_bytes",
                            "target '%s': files and size are for files, and this target is "
                            "devices; leave them out (a job's size limits its region)",
                            t->name);
    return 0;
}

static int target_has_size(const rb_scope_t *s)
{
    if (s->target->n_devices || s->target->has_size_bytes)
        return 0;
    return rb_rule_fail(s, NULL,
                        "target '%s' needs the size of its files; add size: 1GiB (or devices: "
                        "[...] for drives)",
                        s->target->name);
}

static int target_directory_is_absolute(const rb_scope_t *s)
{
    const char *directory = s->target->directory;
    if (!directory || *directory == '/')
        return 0;
    return rb_rule_fail(s, "directory",
                        "directory: '%.64s' is relative; a path from / is right, on every host",
                        directory);
}

static int target_devices(const rb_scope_t *s)
{
    const Rackbench__Target *t = s->target;
    for (size_t i = 0; i < t->n_devices; i++)
        if (*t->devices[i] == '\0')
            return rb_rule_fail(s, "devices", "devices: an empty path; leave it out");
    return 0;
}

static rb_rule_t *const target_rules[] = {target_is_one_kind, target_has_size,
                                          target_directory_is_absolute, target_devices};

/* ---- phase ---- */

static int phase_has_jobs(const rb_scope_t *s)
{
    if (s->phase->n_jobs == 0)
        return rb_rule_fail(s, NULL, "phase '%s' has no jobs; add jobs: [{rw: randread}]",
                            s->phase->name);
    return rb_names_ask(s, list_of(&s->phase->base, "jobs"), "job");
}

static bool by_count(const Rackbench__Job *job)
{
    return job->has_io_size_bytes || job->has_number_ios || job->has_loops || !job->has_runtime_ns;
}

/* The common interval of a phase ends with the first worker that is done: beside a job that goes on
 * by time, that would throw most of its work away. */
static int phase_bounds_agree(const rb_scope_t *s)
{
    const Rackbench__Job *first = s->phase->jobs[0];
    for (size_t i = 1; i < s->phase->n_jobs; i++) {
        const Rackbench__Job *job = s->phase->jobs[i];
        if (by_count(job) == by_count(first))
            continue;
        RB_AUTO(rb_free_str) char *key = rb_asprintf("jobs.%zu", i);
        return rb_rule_fail(
            s, key,
            "job '%s' of phase '%s' ends by io_size, number_ios or loops and job '%s' by "
            "time; bound both alike, or put them in separate phases",
            by_count(job) ? job->name : first->name, s->phase->name,
            by_count(job) ? first->name : job->name);
    }
    return 0;
}

/* All jobs of a phase share one measured interval. */
static int phase_jobs_agree(const rb_scope_t *s)
{
    const Rackbench__Job *first = s->phase->jobs[0];
    for (size_t i = 1; i < s->phase->n_jobs; i++) {
        const Rackbench__Job *job = s->phase->jobs[i];
        const char *differs = NULL;
        if (job->runtime_ns != first->runtime_ns)
            differs = "runtime";
        else if (job->ramp_time_ns != first->ramp_time_ns)
            differs = "ramp_time";
        if (!differs)
            continue;
        RB_AUTO(rb_free_str) char *key = rb_asprintf("jobs.%zu.%s_ns", i, differs);
        return rb_rule_fail(s, key,
                            "jobs '%s' and '%s' of phase '%s' differ in %s; give both the same, or "
                            "put them in separate phases",
                            first->name, job->name, s->phase->name, differs);
    }
    return 0;
}

static bool goes_on_after_errors(const Rackbench__Phase *phase)
{
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (phase->jobs[i]->continue_on_error != RACKBENCH__CONTINUE_ON_ERROR__KIND__none)
            return true;
    return false;
}

static int phase_stop_when(const rb_scope_t *s)
{
    enum { HOTTEST_C = 150 };
    const Rackbench__StopWhen *stop = s->phase->stop_when;
    if (stop == NULL)
        return 0;
    bool right_c =
        !stop->has_temperature || (stop->temperature > 0 && stop->temperature <= HOTTEST_C);
    bool right_errors = !stop->has_errors || stop->errors > 0;
    if (!right_c || !right_errors || (!stop->has_temperature && !stop->has_errors))
        return rb_rule_fail(s, "stop_when",
                            "stop_when needs a temperature from 1 to %d degrees Celsius, or a "
                            "number of errors from 1 on, as in stop_when: {temperature: 75, "
                            "errors: 10}",
                            HOTTEST_C);
    if (stop->errors <= 1 || goes_on_after_errors(s->phase))
        return 0;
    return rb_rule_fail(s, "stop_when",
                        "stop_when: the first error ends phase '%s', so %u are never reached; add "
                        "continue_on_error: all to its jobs, or say errors: 1",
                        s->phase->name, stop->errors);
}

static rb_rule_t *const phase_rules[] = {phase_has_jobs,    phase_jobs_agree, phase_bounds_agree,
                                         rb_check_searches, phase_stop_when,  rb_check_filled,
                                         rb_check_rounds};

/* ---- plan ---- */

static int plan_names(const rb_scope_t *s)
{
    if (rb_name_ask(s, "name", "plan", s->plan->name) != 0 ||
        rb_names_ask(s, list_of(&s->plan->base, "targets"), "target") != 0)
        return -1;
    return rb_names_ask(s, list_of(&s->plan->base, "phases"), "phase");
}

static int plan_counts(const rb_scope_t *s)
{
    if (s->plan->n_phases == 0)
        return rb_rule_fail(s, "phases", "the plan has no phases; add phases: [{jobs: [...]}]");
    return 0;
}

static int plan_host_loss(const rb_scope_t *s)
{
    if (!s->plan->has_min_hosts || s->plan->on_host_loss == RACKBENCH__PLAN__ON_HOST_LOSS__continue)
        return 0;
    return rb_rule_fail(s, "min_hosts",
                        "min_hosts needs on_host_loss: continue (with abort, no host may be lost)");
}

static rb_rule_t *const plan_rules[] = {plan_counts, plan_names, plan_host_loss,
                                        rb_check_step_count};

/* ---- the walk ---- */

static int check_target(const rb_scope_t *plan, size_t index)
{
    rb_scope_t s = *plan;
    s.target = s.plan->targets[index];
    snprintf(s.path, sizeof(s.path), "targets.%zu", index);
    return rb_limits_ask(&s, &s.target->base) != 0 ? -1 : ASK(&s, target_rules);
}

/* index: of the phase as it was written; places go by it. */
static int check_phase(const rb_scope_t *plan, const Rackbench__Phase *phase, size_t index)
{
    rb_scope_t s = *plan;
    s.phase = phase;
    snprintf(s.path, sizeof(s.path), "phases.%zu", index);
    if (rb_limits_ask(&s, &s.phase->base) != 0 || ASK(&s, phase_rules) != 0)
        return -1;
    for (size_t i = 0; i < s.phase->n_jobs; i++) {
        rb_scope_t inner = s;
        inner.job = s.phase->jobs[i];
        inner.target = inner.job->target ? rb_target_find(s.plan, inner.job->target) : NULL;
        snprintf(inner.path, sizeof(inner.path), "phases.%zu.jobs.%zu", index, i);
        if (rb_check_job(&inner) != 0)
            return -1;
    }
    return 0;
}

/* It travels in one message, and stands in one row of the journal. */
enum { MAX_UNFOLDED_BYTES = 8 << 20 };

static rb_rule_t *const unfolding_rules[] = {rb_check_sweep, rb_check_precondition,
                                             rb_check_steady};

/* What makes phases of the phase. */
static int check_unfolding(const rb_scope_t *plan)
{
    size_t bytes = 0;
    for (size_t i = 0; i < plan->plan->n_phases; i++) {
        rb_scope_t s = *plan;
        s.phase = s.plan->phases[i];
        snprintf(s.path, sizeof(s.path), "phases.%zu", i);
        if (ASK(&s, unfolding_rules) != 0)
            return -1;
        bytes += rb_sweep_points(s.phase) * rackbench__phase__get_packed_size(s.phase);
        if (bytes > MAX_UNFOLDED_BYTES)
            return rb_rule_fail(&s, s.phase->n_sweep > 0 ? "sweep" : NULL,
                                "the plan has over %d MiB with all points of its sweeps; split it",
                                MAX_UNFOLDED_BYTES >> 20);
    }
    return 0;
}

/* Each point as the phase that it will be. */
static int check_points(const rb_scope_t *plan)
{
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *run = rb_plan_expand(plan->plan);
    rb_scope_t s = *plan;
    size_t next = 0;
    s.plan = run;
    for (size_t i = 0; i < plan->plan->n_phases; i++)
        for (size_t k = rb_sweep_points(plan->plan->phases[i]); k > 0; next++) {
            if (check_phase(&s, run->phases[next], i) != 0)
                return -1;
            k -= run->phases[next]->fill == NULL; /* those stand before it */
        }
    if (run->n_phases > RB_MAX_PHASES)
        return rb_rule_fail(plan, "phases",
                            "%zu phases with points and fills; at most %d are right", run->n_phases,
                            RB_MAX_PHASES);
    return 0;
}

int rb_plan_check(const Rackbench__Plan *plan, const rb_places_t *places, rb_err_t *err)
{
    rb_scope_t s = {.plan = plan, .places = places, .err = err};
    if (rb_limits_ask(&s, &plan->base) != 0 || check_unfolding(&s) != 0 || ASK(&s, plan_rules) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_targets; i++)
        if (check_target(&s, i) != 0)
            return -1;
    return check_points(&s);
}
