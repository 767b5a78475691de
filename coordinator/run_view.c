#include "coordinator/run_priv.h"

void rb_run_view(const rb_run_t *run, uint64_t now_ns, rb_run_view_t *ret)
{
    *ret = (rb_run_view_t){.stage = run->stage,
                           .phase = run->phase,
                           .plan_phase = run->plan_phase,
                           .stopping = run->te_ns != 0};
    if (run->search_job >= 0) {
        ret->step = run->step;
        if (run->search.most_iops == 0) /* else it is a speed */
            ret->rate_iops = run->search.rate_iops;
    }
    if (run->stage == RB_STAGE_RUN)
        ret->t0_ns = run->t0_ns;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const rb_run_host_t *host = &run->hosts[i];
        ret->hosts += rb_run_counts(run, host) || host->link == LINK_LOST;
        ret->answering += rb_run_counts(run, host) && host->heard_ns + 2 * RB_NS_PER_S > now_ns;
        ret->reached += rb_run_counts(run, host) && rb_run_reached(run, host);
        ret->done_bytes += host->done_bytes;
        ret->total_bytes += host->total_bytes;
    }
}

const rb_latency_search_t *rb_run_search(const rb_run_t *run, uint32_t *ret_job)
{
    if (run->stage != RB_STAGE_RUN || run->search_job < 0)
        return NULL;
    *ret_job = (uint32_t)run->search_job;
    return &run->search;
}

bool rb_run_done(const rb_run_t *run)
{
    return run->stage == RB_STAGE_DONE;
}

const rb_run_outcome_t *rb_run_outcome(const rb_run_t *run)
{
    return &run->outcome;
}

const char *rb_run_silence(const rb_run_t *run, uint32_t host)
{
    return run->hosts[host - 1].why;
}

const Rackbench__Inventory *rb_run_inventory(const rb_run_t *run, uint32_t host)
{
    return run->hosts[host - 1].inventory;
}

const Rackbench__Loaded *rb_run_loaded(const rb_run_t *run, uint32_t host)
{
    return run->hosts[host - 1].loaded ? run->hosts[host - 1].loaded->loaded : NULL;
}

const Rackbench__Cleaned *rb_run_cleaned(const rb_run_t *run, uint32_t host)
{
    return run->hosts[host - 1].cleaned ? run->hosts[host - 1].cleaned->cleaned : NULL;
}

rb_run_stopped_t rb_run_stopped(const rb_run_t *run, uint32_t host)
{
    const rb_run_host_t *h = &run->hosts[host - 1];
    return (rb_run_stopped_t){h->owner, h->owner_wall_ns, h->link == LINK_UP};
}

bool rb_run_clock(const rb_run_t *run, uint32_t host, uint64_t now_ns, rb_clock_estimate_t *ret)
{
    return rb_clocksync_estimate(&run->hosts[host - 1].clock, now_ns, ret);
}
