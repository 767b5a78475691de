#include "coordinator/result_parts.h"

static uint64_t written_bytes(const rb_stats_t *stats)
{
    uint64_t bytes = stats->op[RB_OP_WRITE].bytes;
    for (int part = RB_PART_RAMP; part < RB_PART_COUNT; part++)
        bytes += stats->outside[part][RB_OP_WRITE].bytes;
    return bytes;
}

/* When the I/O of a phase was over, by the coordinator's clock. */
static uint64_t over_ns(const rb_result_t *result, const rb_result_phase_t *phase)
{
    uint64_t last_ns = (uint64_t)(phase->to_last_seconds * (double)RB_NS_PER_S);
    return result->fold->phases[phase->index].t0_ns + RB_MAX(phase->end_ns, last_ns);
}

static void fill_before(rb_result_t *result)
{
    uint64_t written = 0, before_ns = 0;
    size_t prepare = 0;
    for (size_t i = 0; i < result->nphases; i++) {
        rb_result_phase_t *phase = &result->phases[i];
        uint64_t t0_ns = result->fold->phases[phase->index].t0_ns;
        for (; prepare < result->nprepares && result->prepares[prepare].index <= phase->index;
             prepare++) {
            written += written_bytes(&result->prepares[prepare].cluster);
            if (result->prepares[prepare].passes > 0)
                before_ns = over_ns(result, &result->prepares[prepare]);
        }
        phase->written_before_bytes = written;
        written += written_bytes(&phase->cluster);
        phase->has_idle = before_ns > 0 && t0_ns >= before_ns;
        phase->idle_before_ns = phase->has_idle ? t0_ns - before_ns : 0;
        before_ns = over_ns(result, phase);
    }
}

/* Which sweep of the plan; -1: the phase is no point. */
static int64_t sweep_of(const Rackbench__Phase *phase)
{
    return phase->point != NULL ? (int64_t)phase->point->phase : -1;
}

void rb_result_sweeps(rb_result_t *result)
{
    int64_t open = -1;
    fill_before(result);
    for (size_t i = 0; i < result->nphases; i++) {
        const Rackbench__Phase *phase = rb_fold_plan_phase(result->fold, result->phases[i].index);
        int64_t sweep = sweep_of(phase);
        if (sweep >= 0 && sweep != open)
            *RB_PUSH(result->sweeps, result->nsweeps) =
                (rb_result_sweep_t){.first = i, .of = phase->point->of};
        if (sweep >= 0) {
            result->sweeps[result->nsweeps - 1].count++;
            result->sweeps[result->nsweeps - 1].reached = phase->point->number;
        }
        open = sweep;
    }
}

static bool was_started(const rb_fold_t *fold, uint32_t plan_phase)
{
    for (size_t i = 0; i < fold->nphases; i++)
        if (fold->phases[i].started && fold->phases[i].plan_phase == plan_phase)
            return true;
    return false;
}

/* Points of the sweep that begins at phase `first`, or that phase alone; fills are none of them. */
static uint32_t count_points(const rb_fold_t *fold, uint32_t *first, uint32_t *ret_missing)
{
    const Rackbench__Plan *plan = fold->plan;
    int64_t sweep = sweep_of(plan->phases[*first]);
    uint32_t points = 0;
    for (; *first < plan->n_phases; (*first)++) {
        const Rackbench__Phase *phase = plan->phases[*first];
        if (phase->fill != NULL)
            continue;
        if (points > 0 && (sweep < 0 || sweep_of(phase) != sweep))
            break;
        points++;
        *ret_missing += !was_started(fold, *first);
    }
    return points;
}

/* A sweep once, with how many of its points are missing. */
void rb_result_not_run(rb_result_t *result)
{
    const Rackbench__Plan *plan = result->fold->plan;
    for (uint32_t next = 0; next < plan->n_phases;) {
        const Rackbench__Phase *phase = plan->phases[next];
        const char *name = phase->name != NULL ? phase->name : "";
        uint32_t missing = 0;
        if (phase->fill != NULL) { /* its phase was not run, either */
            next++;
            continue;
        }
        uint32_t points = count_points(result->fold, &next, &missing);
        if (missing > 0)
            *RB_PUSH(result->not_run, result->nnot_run) =
                missing == points ? rb_strdup(name)
                                  : rb_asprintf("%s (%u of %u points)", name, missing, points);
    }
}
