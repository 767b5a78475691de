#include "agent/phase_start.h"

#include "proto/select.h"

rb_engine_t *rb_phase_start(const rb_phase_start_t *start, rb_err_t *err)
{
    const Rackbench__Phase *p = start->phase;
    const Rackbench__Prepare *prepare = start->prepare;
    RB_AUTO(rb_phase_destroy) Rackbench__Phase *here_only = rb_phase_copy(p);
    const rb_subject_t *subjects;
    size_t n;
    bool here[RB_MAX_JOBS] = {false};
    if (p->n_jobs > RB_MAX_JOBS) {
        rb_err_set(err, RB_ERR_INPUT, "the phase has more than %d jobs", RB_MAX_JOBS);
        return NULL;
    }
    for (size_t i = 0; i < p->n_jobs && i < RB_MAX_JOBS; i++)
        here[i] = rb_job_on_host(p->jobs[i], start->nlabels, start->labels);
    rb_phase_keep_on_host(here_only, start->nlabels, start->labels);
    if (rb_targets_phase(start->targets, here_only, &subjects, &n, err) != 0 ||
        rb_power_set(start->power, &(rb_power_wish_t){start->plan, here_only, subjects, n}, err) !=
            0)
        return NULL;
    rb_health_watch(start->health,
                    &(rb_health_watch_t){prepare->phase, subjects, n, rb_phase_stop_c(p)});
    rb_engine_opts_t opts = {.plan = start->plan,
                             .phase = prepare->phase,
                             .override = p,
                             .run_id = start->run_id,
                             .host = start->host,
                             .subjects = subjects,
                             .nsubjects = n,
                             .jobs_here = here};
    opts.logs = rb_targets_logs(start->targets, &opts.nlogs);
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
