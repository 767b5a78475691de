#include "coordinator/plan/expand.h"

#include "coordinator/plan/precondition.h"
#include "coordinator/plan/resolve.h"
#include "coordinator/plan/value.h"
#include "proto/wire.h"

size_t rb_sweep_points(const Rackbench__Phase *phase)
{
    size_t points = 1;
    if (phase->n_sweep > 0 && phase->sweep_mode == RACKBENCH__SWEEP_MODE__KIND__zip)
        return RB_MIN(phase->sweep[0]->n_value, (size_t)RB_MAX_PHASES + 1);
    for (size_t i = 0; i < phase->n_sweep && points <= RB_MAX_PHASES; i++)
        points *= RB_MIN(phase->sweep[i]->n_value, (size_t)RB_MAX_PHASES + 1);
    return RB_MIN(points, (size_t)RB_MAX_PHASES + 1);
}

const ProtobufCFieldDescriptor *rb_sweep_field(const Rackbench__Sweep *sweep)
{
    const ProtobufCFieldDescriptor *field =
        rb_schema_field(&rackbench__job__descriptor, sweep->name);
    bool is_key =
        field != NULL && field->type != PROTOBUF_C_TYPE_MESSAGE && strcmp(field->name, "name") != 0;
    return is_key ? field : NULL;
}

/* Which value of key `index` the point takes. */
static const char *value_at(const Rackbench__Phase *phase, size_t index, size_t point)
{
    const Rackbench__Sweep *sweep = phase->sweep[index];
    bool cross = phase->sweep_mode == RACKBENCH__SWEEP_MODE__KIND__cross;
    for (size_t i = index + 1; cross && i < phase->n_sweep; i++)
        point /= phase->sweep[i]->n_value;
    return sweep->value[point % sweep->n_value];
}

static void set_key(Rackbench__Phase *phase, const Rackbench__Sweep *sweep, const char *value)
{
    rb_err_t err;
    for (size_t i = 0; i < phase->n_jobs; i++) {
        rb_slot_t slot = {&phase->jobs[i]->base, rb_sweep_field(sweep)};
        rb_slot_clear(slot);
        RB_ASSERT(rb_value_parse(slot, value, &err) == 0);
    }
    Rackbench__Label *label = rb_calloc(1, sizeof(*label));
    rackbench__label__init(label);
    label->name = rb_strdup(rb_schema_key(rb_sweep_field(sweep)).text);
    label->value = rb_strdup(value);
    *RB_PUSH(phase->point->values, phase->point->n_values) = label;
}

/* The runtime that the plan gives is that of a round. */
static void set_rounds(Rackbench__Phase *phase)
{
    Rackbench__SteadyState *steady = phase->steady_state;
    if (steady == NULL || phase->n_jobs == 0)
        return;
    steady->has_round_ns = true;
    steady->round_ns = phase->jobs[0]->runtime_ns;
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (__builtin_mul_overflow(phase->jobs[i]->runtime_ns, steady->max,
                                   &phase->jobs[i]->runtime_ns))
            phase->jobs[i]->runtime_ns = UINT64_MAX; /* a rule says so */
}

static Rackbench__Phase *point_of(const Rackbench__Plan *plan, uint32_t index, size_t point)
{
    const Rackbench__Phase *phase = plan->phases[index];
    Rackbench__Phase *copy = rb_phase_copy(phase);
    if (phase->n_sweep == 0)
        return copy;
    copy->point = rb_calloc(1, sizeof(*copy->point));
    rackbench__point__init(copy->point);
    copy->point->has_number = copy->point->has_of = true;
    copy->point->number = (uint32_t)point + 1;
    copy->point->of = (uint32_t)rb_sweep_points(phase);
    copy->point->has_phase = true;
    copy->point->phase = index;
    for (size_t i = 0; i < phase->n_sweep; i++)
        set_key(copy, phase->sweep[i], value_at(phase, i, point));
    rb_slot_clear((rb_slot_t){&copy->base, rb_schema_field(copy->base.descriptor, "sweep")});
    rb_slot_clear((rb_slot_t){&copy->base, rb_schema_field(copy->base.descriptor, "sweep_mode")});
    for (size_t i = 0; i < copy->n_jobs; i++)
        rb_job_fill(plan, copy->jobs[i]);
    return copy;
}

Rackbench__Plan *rb_plan_expand(const Rackbench__Plan *plan)
{
    Rackbench__Plan *run = rb_plan_copy(plan);
    rb_slot_clear((rb_slot_t){&run->base, rb_schema_field(run->base.descriptor, "phases")});
    rb_fill_state_t *states = rb_calloc(plan->n_targets + 1, sizeof(*states));
    for (uint32_t i = 0; i < plan->n_phases; i++)
        for (size_t k = 0; k < rb_sweep_points(plan->phases[i]); k++) {
            Rackbench__Phase *phase = point_of(plan, i, k);
            rb_precondition(run, states, phase);
            set_rounds(phase);
            *RB_PUSH(run->phases, run->n_phases) = phase;
        }
    free(states);
    return run;
}

char *rb_point_text(const Rackbench__Phase *phase)
{
    char *text = rb_strdup("");
    for (size_t i = 0; phase->point != NULL && i < phase->point->n_values; i++) {
        const Rackbench__Label *v = phase->point->values[i];
        char *longer = rb_asprintf("%s%s%s %s", text, i > 0 ? ", " : "", v->name, v->value);
        free(text);
        text = longer;
    }
    return text;
}
