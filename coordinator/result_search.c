#include "coordinator/plan/schema.h"
#include "coordinator/plan/search.h"
#include "coordinator/plan/value.h"
#include "coordinator/result_parts.h"

/* ---- the point of a step: what the sweep says, or the numbers that are not the plan's ---- */

static void add_number(rb_result_phase_t *phase, const ProtobufCFieldDescriptor *field,
                       uint64_t number)
{
    rb_key_t key = rb_schema_key(field);
    for (size_t i = 0; i < phase->npoint; i++)
        if (strcmp(phase->point[i].key.text, key.text) == 0)
            return;
    *RB_PUSH(phase->point, phase->npoint) =
        (rb_point_t){.key = key, .is_number = true, .number = number};
}

static void add_job_point(rb_result_phase_t *phase, Rackbench__Job *planned, Rackbench__Job *run)
{
    const ProtobufCMessageDescriptor *type = planned->base.descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        rb_slot_t was = {&planned->base, field}, is = {&run->base, field};
        if (!rb_schema_is_number(field) || !rb_slot_is_set(is))
            continue;
        if (!rb_slot_is_set(was) || rb_slot_number(was) != rb_slot_number(is))
            add_number(phase, field, rb_slot_number(is));
    }
}

static void add_value(rb_result_phase_t *phase, const Rackbench__Label *value)
{
    Rackbench__Job job = RACKBENCH__JOB__INIT;
    rb_err_t err;
    rb_slot_t slot = {&job.base, rb_schema_field(job.base.descriptor, value->name)};
    rb_point_t *point = RB_PUSH(phase->point, phase->npoint);
    snprintf(point->key.text, sizeof(point->key.text), "%s", value->name);
    point->text = value->value;
    point->is_number = slot.field != NULL && rb_schema_is_number(slot.field) &&
                       rb_value_parse(slot, value->value, &err) == 0;
    if (point->is_number)
        point->number = rb_slot_number(slot);
}

void rb_result_point(const rb_fold_t *fold, rb_result_phase_t *phase)
{
    const rb_fold_phase_t *p = &fold->phases[phase->index];
    const Rackbench__Point *point = rb_fold_plan_phase(fold, phase->index)->point;
    for (size_t i = 0; point != NULL && i < point->n_values; i++)
        add_value(phase, point->values[i]);
    if (p->override == NULL || point != NULL)
        return;
    const Rackbench__Phase *planned = fold->plan->phases[p->plan_phase];
    for (size_t i = 0; i < p->override->n_jobs && i < planned->n_jobs; i++)
        add_job_point(phase, planned->jobs[i], p->override->jobs[i]);
}

/* ---- searches ---- */

static rb_result_search_t *search_of(rb_result_t *result, uint32_t plan_phase)
{
    for (size_t i = 0; i < result->nsearches; i++)
        if (result->searches[i].plan_phase == plan_phase)
            return &result->searches[i];
    const Rackbench__Phase *phase = result->fold->plan->phases[plan_phase];
    rb_result_search_t *s = RB_PUSH(result->searches, result->nsearches);
    s->plan_phase = plan_phase;
    s->phase = phase->name != NULL ? phase->name : "";
    s->verdict = "";
    return s;
}

static void add_step(rb_result_t *result, size_t index)
{
    const rb_result_phase_t *phase = &result->phases[index];
    const rb_fold_phase_t *p = &result->fold->phases[phase->index];
    const rb_row_search_t *row = &p->search_row.search;
    if (p->search_row.kind != RB_ROW_SEARCH)
        return;
    const Rackbench__Job *job = rb_fold_plan_phase(result->fold, phase->index)->jobs[row->job];
    rb_result_search_t *s = search_of(result, p->plan_phase);
    double seconds = (double)row->length_ns / RB_NS_PER_S;
    s->job = job->name != NULL ? job->name : "";
    s->target_ns = rb_search_target_ns(job);
    s->over_speed = rb_search_over_speed(job);
    s->percentile_ppm = rb_search_percentile_ppm(job);
    s->verdict = row->verdict;
    *RB_PUSH(s->steps, s->nsteps) = (rb_result_step_t){
        .phase = index,
        .row = row,
        .offered_iops = seconds > 0 ? (double)row->offered_ops / seconds : 0,
        .achieved_iops = seconds > 0 ? (double)row->ops / seconds : 0,
        .restored_bytes_per_s = p->kv.join != NULL && seconds > 0
                                    ? (double)rb_join_all(p->kv.join)->bytes / seconds
                                    : 0,
        .cut = p->reason != NULL,
    };
    if (s->over_speed && s->nsteps == 1) /* it begins at the plan's */
        s->planned_speed = (double)row->rate_iops / 1e6;
    if (row->kept && row->rate_iops > 0) /* rates that are kept only rise */
        s->best = s->nsteps;
}

static void fill_certain(rb_result_search_t *s)
{
    if (s->best == 0)
        return;
    const rb_result_step_t *best = &s->steps[s->best - 1];
    if (best->row->uncertain && best->achieved_iops > 0)
        s->certain_ns = rb_search_certain_ns(s->percentile_ppm, best->achieved_iops);
}

void rb_result_searches(rb_result_t *result)
{
    for (size_t i = 0; i < result->nphases; i++)
        add_step(result, i);
    for (size_t i = 0; i < result->nsearches; i++)
        fill_certain(&result->searches[i]);
}

void rb_result_search_clear(rb_result_search_t *search)
{
    free(search->steps);
}
