#include "coordinator/plan/resolve.h"

#include "coordinator/plan/check.h"
#include "coordinator/plan/value.h"
#include "proto/wire.h"

/* A default, as a plan would write it. */
struct fill {
    const char *key, *value;
};

static const struct fill plan_fill[] = {
    {"on_host_loss", "abort"}, {"interval", "auto"}, {"max_skew", "1ms"},
    {"strict_skew", "false"},  {"lease", "3s"},      {"randseed", "1"},
};
static const struct fill phase_fill[] = {{"destructive", "false"}};
static const struct fill precondition_fill[] = {{"passes", "2"}, {"iodepth", "64"}};
static const struct fill steady_fill[] = {
    {"metric", "iops"}, {"window", "5"}, {"max", "25"}, {"range", "20%"}, {"slope", "10%"},
};
static const struct fill file_target_fill[] = {{"files", "1"}};
static const struct fill job_fill[] = {
    {"rw", "read"},  {"iodepth", "1"},   {"numjobs", "1"},
    {"offset", "0"}, {"direct", "true"}, {"seq_layout", "region"},
};
static const struct fill kv_job_fill[] = {{"rw", "randrw"}, {"iodepth", "32"}};
static const struct fill one_size_fill[] = {{"bs", "4KiB"}};
static const struct fill search_job_fill[] = {{"latency_percentile", "99"},
                                              {"rate_scope", "cluster"}};
static const struct fill mixed_job_fill[] = {{"rwmixread", "50"}};

static void fill(ProtobufCMessage *msg, const struct fill *table, size_t n)
{
    rb_err_t err;
    for (size_t i = 0; i < n; i++) {
        rb_slot_t slot = {msg, rb_schema_field(msg->descriptor, table[i].key)};
        RB_ASSERT(slot.field);
        if (!rb_slot_is_set(slot))
            RB_ASSERT(rb_value_parse(slot, table[i].value, &err) == 0);
    }
}
#define FILL(msg, table) fill(&(msg)->base, table, RB_LEN(table))

void rb_plan_name_all(Rackbench__Plan *plan)
{
    for (size_t i = 0; i < plan->n_phases; i++) {
        Rackbench__Phase *phase = plan->phases[i];
        if (!phase->name)
            phase->name = rb_asprintf("phase%zu", i);
        for (size_t j = 0; j < phase->n_jobs; j++)
            if (!phase->jobs[j]->name)
                phase->jobs[j]->name = rb_asprintf("j%zu", j);
    }
}

/* The plan file's name without directory and suffix. */
static char *stem(const rb_places_t *places)
{
    const char *file = places ? rb_places_file(places) : "plan";
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    const char *dot = strrchr(base, '.');
    return rb_strndup(base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
}

/* Moves a copy of every default that the job lacks into the job. */
static void inherit(Rackbench__Job *job, const Rackbench__Job *defaults)
{
    size_t size = rackbench__job__get_packed_size(defaults);
    uint8_t *bytes = rb_calloc(size, 1);
    rackbench__job__pack(defaults, bytes);
    Rackbench__Job *copy = rackbench__job__unpack(NULL, size, bytes);
    RB_ASSERT(copy);
    free(bytes);
    for (unsigned i = 0; i < job->base.descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &job->base.descriptor->fields[i];
        if (!rb_slot_is_set((rb_slot_t){&job->base, field}))
            rb_slot_move(&job->base, &copy->base, field);
    }
    rackbench__job__free_unpacked(copy, NULL);
}

void rb_job_fill(const Rackbench__Plan *plan, Rackbench__Job *job)
{
    if (job->kv_cache != NULL)
        FILL(job, kv_job_fill);
    FILL(job, job_fill);
    if (!job->bssplit)
        FILL(job, one_size_fill);
    if (rb_rw_mixes(job->rw))
        FILL(job, mixed_job_fill);
    if (job->has_latency_target_ns)
        FILL(job, search_job_fill);
    if (!job->target && plan->n_targets == 1)
        job->target = rb_strdup(plan->targets[0]->name);
}

/* What the plan says for all phases goes into those that do not say it themselves. */
static void inherit_precondition(const Rackbench__Plan *plan, Rackbench__Phase *phase)
{
    if (phase->precondition == NULL && plan->precondition != NULL) {
        Rackbench__Phase like = RACKBENCH__PHASE__INIT;
        like.precondition = plan->precondition;
        Rackbench__Phase *copy = rb_phase_copy(&like);
        phase->precondition = RB_MOVE(copy->precondition);
        rb_phase_destroy(&copy);
        if (!phase->has_recondition && plan->has_recondition) {
            phase->has_recondition = true;
            phase->recondition = plan->recondition;
        }
    }
    if (phase->precondition != NULL)
        FILL(phase->precondition, precondition_fill);
}

static void resolve_phase(const Rackbench__Plan *plan, Rackbench__Phase *phase)
{
    FILL(phase, phase_fill);
    inherit_precondition(plan, phase);
    if (phase->steady_state != NULL)
        FILL(phase->steady_state, steady_fill);
    for (size_t i = 0; i < phase->n_jobs; i++) {
        if (phase->defaults)
            inherit(phase->jobs[i], phase->defaults);
        if (phase->n_sweep == 0) /* else each point, when its values are known */
            rb_job_fill(plan, phase->jobs[i]);
    }
    if (phase->defaults)
        rackbench__job__free_unpacked(phase->defaults, NULL);
    phase->defaults = NULL;
}

/* Who says which devices by what they are means all that are so. */
static void name_devices(Rackbench__Target *target)
{
    if (target->n_devices == 0 && target->n_model + target->n_serial + target->n_pci > 0)
        *RB_PUSH(target->devices, target->n_devices) = rb_strdup("all");
}

int rb_plan_resolve(Rackbench__Plan *plan, const rb_places_t *places, rb_err_t *err)
{
    rb_plan_name_all(plan);
    FILL(plan, plan_fill);
    if (!plan->name)
        plan->name = stem(places);
    for (size_t i = 0; i < plan->n_targets; i++) {
        name_devices(plan->targets[i]);
        if (plan->targets[i]->n_devices == 0)
            FILL(plan->targets[i], file_target_fill);
    }
    for (size_t i = 0; i < plan->n_phases; i++)
        resolve_phase(plan, plan->phases[i]);
    return rb_plan_check(plan, places, err);
}
