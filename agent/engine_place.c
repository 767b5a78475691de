#include <inttypes.h>
#include <sched.h>

#include "agent/drive_node.h"
#include "agent/engine_priv.h"

static rb_place_how_t how_of(const Rackbench__Job *job)
{
    if (job->cpus_allowed == NULL)
        return RB_PLACE_NEAR;
    if (strcmp(job->cpus_allowed, "auto") == 0)
        return RB_PLACE_AUTO;
    if (strcmp(job->cpus_allowed, "any") == 0)
        return RB_PLACE_ANY;
    return job->cpus_allowed_policy == RACKBENCH__CPUS_ALLOWED_POLICY__KIND__split ? RB_PLACE_SPLIT
                                                                                   : RB_PLACE_LIST;
}

/* lists [n_jobs of the phase]. */
static int read_lists(const rb_engine_t *e, rb_cpu_list_t *lists, rb_err_t *err)
{
    for (size_t j = 0; j < e->phase->n_jobs; j++) {
        const Rackbench__Job *job = e->phase->jobs[j];
        rb_place_how_t how = how_of(job);
        if ((how == RB_PLACE_LIST || how == RB_PLACE_SPLIT) &&
            rb_cpu_list_parse(job->cpus_allowed, &lists[j], err) < 0)
            return rb_err_wrap(err, "job '%s': cpus_allowed", job->name);
    }
    return 0;
}

static int32_t node_of(const rb_worker_t *w)
{
    return rb_drive_node(w->o.subject->at.path);
}

/* Workers of one job and drive stand side by side: each drive is looked up once a job. */
static void fill_wants(const rb_engine_t *e, const rb_cpu_list_t *lists, rb_place_want_t *wants)
{
    uint32_t ordinal = 0;
    for (size_t i = 0; i < e->nworkers; i++) {
        const rb_worker_t *w = e->workers[i], *last = i > 0 ? e->workers[i - 1] : NULL;
        bool same_job = last != NULL && last->o.job_index == w->o.job_index;
        bool same_drive = same_job && last->o.subject == w->o.subject;
        ordinal = same_job ? ordinal + 1 : 0;
        wants[i] = (rb_place_want_t){.how = how_of(w->o.job),
                                     .list = &lists[w->o.job_index],
                                     .ordinal = ordinal,
                                     .number = w->o.number,
                                     .node = same_drive ? wants[i - 1].node : node_of(w)};
    }
}

static int choose(rb_engine_t *e, const rb_place_want_t *wants, rb_place_t *places, rb_err_t *err)
{
    rb_topology_t topology;
    size_t at = 0;
    if (rb_topology_here(&topology, err) < 0)
        return -1;
    rb_placement_opts_t opts = {
        .topology = &topology, .main_cpu = sched_getcpu(), .wants = wants, .n = e->nworkers};
    if (rb_placement_choose(&opts, places, &at, err) == 0)
        return 0;
    const Rackbench__Job *job = e->workers[at]->o.job;
    return rb_err_wrap(err, "job '%s': cpus_allowed: %s", job->name, job->cpus_allowed);
}

int rb_engine_place(rb_engine_t *e, rb_err_t *err)
{
    rb_cpu_list_t *lists = rb_calloc(e->phase->n_jobs + 1, sizeof(*lists));
    rb_place_want_t *wants = rb_calloc(e->nworkers + 1, sizeof(*wants));
    rb_place_t *places = rb_calloc(e->nworkers + 1, sizeof(*places));
    int rc = read_lists(e, lists, err);
    if (rc == 0) {
        fill_wants(e, lists, wants);
        rc = choose(e, wants, places, err);
    }
    for (size_t i = 0; rc == 0 && i < e->nworkers; i++)
        e->workers[i]->place = places[i];
    free(lists);
    free(wants);
    free(places);
    return rc;
}

static void emit_row(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx)
{
    rb_row_t row = {.kind = RB_ROW_PLACEMENT};
    rb_worker_place_t *places = rb_calloc(e->nworkers + 1, sizeof(*places));
    for (size_t i = 0; i < e->nworkers; i++) {
        const rb_worker_t *w = e->workers[i];
        places[i] = (rb_worker_place_t){.job = w->o.job_index,
                                        .target = w->o.subject->at.target,
                                        .drive = w->o.subject->at.drive,
                                        .worker = w->o.number,
                                        .how = w->place.how,
                                        .ncpus = w->place.ncpus,
                                        .cpu = w->place.cpu,
                                        .node = w->place.node,
                                        .drive_node = w->place.drive_node};
    }
    row.placement = (rb_row_placement_t){e->phase_index, e->nworkers, places};
    emit(ctx, &row);
    free(places);
}

typedef struct {
    size_t autos, unbound, remote; /* workers that asked for auto; of these without, far away */
    uint32_t ncpus;
} outcome_t;

static outcome_t outcome_of(const rb_engine_t *e)
{
    outcome_t o = {0};
    for (size_t i = 0; i < e->nworkers; i++) {
        const rb_place_t *p = &e->workers[i]->place;
        if (how_of(e->workers[i]->o.job) != RB_PLACE_AUTO)
            continue;
        o.autos++;
        o.unbound += p->how == RB_PLACE_ANY;
        o.remote += p->how == RB_PLACE_AUTO && p->drive_node >= 0 && p->node != p->drive_node;
        o.ncpus = p->ncpus;
    }
    return o;
}

void rb_engine_place_rows(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx)
{
    char text[RB_MAX_TEXT], kind[] = "placement";
    outcome_t o = outcome_of(e);
    emit_row(e, emit, ctx);
    if (o.unbound > 0)
        snprintf(text, sizeof(text),
                 "cpus_allowed: auto: %zu workers are more than the %" PRIu32
                 " CPUs that this agent may use: they share them, none is bound",
                 o.autos, o.ncpus);
    else if (o.remote > 0)
        snprintf(text, sizeof(text),
                 "cpus_allowed: auto: %zu of %zu workers are not on their drive's NUMA node, whose "
                 "CPUs are all taken or not allowed",
                 o.remote, o.autos);
    if (o.unbound + o.remote == 0)
        return;
    rb_row_t row = {.kind = RB_ROW_EVENT};
    row.event = (rb_row_event_t){(int32_t)e->phase_index, 0, kind, text};
    emit(ctx, &row);
}
