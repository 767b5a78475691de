#include "agent/phase_start.h"

#include "proto/select.h"

rb_engine_t *rb_phase_start(const rb_phase_start_t *start, rb_err_t *err)
{
    const Rackbench__Phase *p = start->phase;
    const rb_errand_t *here = start->here;
    const Rackbench__Prepare *prepare = start->prepare;
    bool jobs_here[RB_MAX_JOBS] = {false};
    if (p->n_jobs > RB_MAX_JOBS)
        rb_err_set(err, RB_ERR_INPUT, "the phase has more than %d jobs", RB_MAX_JOBS);
    else
        *err = here->fault;
    if (err->code != RB_OK)
        return NULL;
    for (size_t i = 0; i < p->n_jobs; i++)
        jobs_here[i] = rb_job_on_host(p->jobs[i], start->nlabels, start->labels);
    rb_health_watch(start->health, &(rb_health_watch_t){start->number, here->subjects,
                                                        here->nsubjects, rb_phase_stop_c(p)});
    rb_engine_opts_t opts = {.plan = start->plan,
                             .phase = start->number,
                             .override = p,
                             .run_id = start->run_id,
                             .host = start->host,
                             .subjects = here->subjects,
                             .nsubjects = here->nsubjects,
                             .jobs_here = jobs_here};
    opts.logs = rb_targets_logs(here->targets, &opts.nlogs);
    opts.kv = (rb_kv_share_opts_t){.nhosts = prepare->n_kv_hosts,
                                   .hosts = prepare->kv_hosts,
                                   .host = prepare->kv_host,
                                   .trace = prepare->kv_trace.data,
                                   .trace_bytes = prepare->kv_trace.len};
    if (prepare->n_cluster_workers == p->n_jobs && prepare->n_first_worker == p->n_jobs) {
        opts.cluster_workers = prepare->cluster_workers;
        opts.first_worker = prepare->first_worker;
    }
    return rb_engine_new(&opts, err);
}
