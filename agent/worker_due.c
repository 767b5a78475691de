#include "agent/worker_due.h"

#include "agent/worker_kv.h"

#include <inttypes.h>

int rb_worker_check_due(const Rackbench__Job *job, rb_err_t *err)
{
    if (RB_MAX(job->rate_bytes, job->rate_iops) > RB_PACE_MAX_RATE)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': a rate of %" PRIu64 "; less than 2^62 is right", job->name,
                          RB_MAX(job->rate_bytes, job->rate_iops));
    if (job->thinktime_ns > RB_THINK_MAX_NS)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': thinktime %" PRIu64 " ns; at most a day is right", job->name,
                          job->thinktime_ns);
    return 0;
}

static void begin_pace(rb_worker_t *w)
{
    if (w->kv != NULL) {
        rb_worker_kv_begin(w);
        return;
    }
    const Rackbench__Job *job = w->o.job;
    bool poisson = job->rate_process == RACKBENCH__RATE_PROCESS__KIND__poisson;
    rb_pace_opts_t opts = {.rate = job->rate_bytes > 0 ? job->rate_bytes : job->rate_iops,
                           .cost = job->rate_bytes > 0 ? w->block.bs_bytes : 1,
                           .share = RB_MAX(w->o.rate_share, 1u),
                           .index = w->o.rate_index % RB_MAX(w->o.rate_share, 1u),
                           .process = poisson ? RB_PACE_POISSON : RB_PACE_LINEAR,
                           .seed = w->o.seed ^ ((uint64_t)w->o.number << 24)};
    rb_pace_init(&w->pace, &opts, w->t0_ns + job->start_delay_ns);
    w->account.first_due_ns = w->pace.due_ns;
}

void rb_worker_begin(rb_worker_t *w)
{
    uint64_t first_ns = w->t0_ns + w->o.job->start_delay_ns;
    for (uint32_t i = 0; i < w->iodepth; i++)
        w->slots[i].due_ns = first_ns;
    w->account.first_due_ns = first_ns;
    if (w->open_loop) {
        begin_pace(w);
    } else if (first_ns > w->t0_ns) {
        rb_think_hold(&w->think, w->free, w->nfree);
        w->nfree = 0;
    }
}

uint32_t rb_worker_take_due(rb_worker_t *w, uint64_t now_ns, uint32_t n)
{
    if (w->kv != NULL)
        return rb_worker_kv_take(w, now_ns, n);
    uint32_t taken = rb_pace_take(&w->pace, now_ns, w->due, n);
    w->waited_ns = w->starved_ns;
    if (taken == w->nfree)
        w->starved_ns = RB_MIN(w->starved_ns, now_ns);
    else if (taken < n) /* all that is due, and slots are left */
        w->starved_ns = UINT64_MAX;
    return taken;
}

void rb_worker_think(rb_worker_t *w, uint32_t n, uint64_t now_ns)
{
    uint32_t before = w->nfree - n;
    w->nfree = before + rb_think_pause(&w->think, w->slots, w->free + before, n, now_ns);
    w->nfree += rb_think_wake(&w->think, w->slots, w->free + w->nfree, now_ns);
}

void rb_worker_stamp_due(rb_worker_t *w, const uint32_t *taken, uint64_t now_ns)
{
    for (uint32_t i = 0; i < w->queued; i++) {
        rb_slot_t *slot = &w->slots[taken[i]];
        if (w->open_loop)
            slot->due_ns = w->due[i];
        if (w->part == RB_PART_MAIN && slot->due_ns < w->waited_ns)
            rb_hist_record(w->lateness, now_ns - slot->due_ns);
    }
    if (w->queued > 0 && w->account.first_submit_ns == 0)
        w->account.first_submit_ns = now_ns;
}

uint64_t rb_worker_wake_ns(const rb_worker_t *w)
{
    uint64_t due_ns = UINT64_MAX;
    if (!w->open_loop)
        due_ns = rb_think_due_ns(&w->think, w->slots);
    else if (w->nfree > 0)
        due_ns = w->kv != NULL ? rb_worker_kv_due_ns(w) : w->pace.due_ns;
    return due_ns == UINT64_MAX ? due_ns : due_ns - RB_MIN(due_ns, w->o.job->due_spin_ns);
}
