#include "agent/engine_priv.h"

#include <signal.h>
#include <unistd.h>

#include "agent/backend/sync.h"
#include "agent/backend/uring.h"
#include "agent/backend/uring_cmd.h"
#include "agent/buffer.h"
#include "agent/engine_verify.h"
#include "agent/worker_kv.h"
#include "common/clock.h"
#include "common/units.h"

/* FNV-1a: hosts of one plan draw different offsets. */
static uint64_t hash(const char *text)
{
    uint64_t h = 14695981039346656037ull;
    for (; *text != '\0'; text++)
        h = (h ^ (uint8_t)*text) * 1099511628211ull;
    return h;
}

static void copy_subjects(rb_engine_t *e, const rb_engine_opts_t *opts)
{
    e->nsubjects = opts->nsubjects;
    e->subjects = rb_calloc(e->nsubjects, sizeof(*e->subjects));
    for (size_t i = 0; i < e->nsubjects; i++)
        rb_worker_subject_init(&e->subjects[i], &opts->subjects[i]);
}

static bool of_target(const rb_engine_t *e, const rb_worker_subject_t *s, const char *target)
{
    return s->at.target < e->plan->n_targets &&
           strcmp(e->plan->targets[s->at.target]->name, target) == 0;
}

static int add_worker(rb_engine_t *e, const rb_worker_opts_t *o, rb_err_t *err)
{
    if (e->nworkers == RB_MAX_WORKERS)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': more than %d workers on this host; lower numjobs",
                          o->job->name, RB_MAX_WORKERS);
    rb_worker_t *w = rb_worker_new(o, err);
    if (w == NULL)
        return -1;
    *RB_PUSH(e->workers, e->nworkers) = w;
    return 0;
}

static const rb_backend_t *backend_of(const Rackbench__Job *job)
{
    switch (job->ioengine) {
    case RACKBENCH__IOENGINE__KIND__io_uring:
        return &rb_backend_uring;
    case RACKBENCH__IOENGINE__KIND__sync:
        return &rb_backend_sync;
    case RACKBENCH__IOENGINE__KIND__io_uring_cmd:
        return &rb_backend_uring_cmd;
    case _RACKBENCH__IOENGINE__KIND_IS_INT_SIZE:
        break;
    }
    rb_assert_failed("ioengine is one of its kinds", __FILE__, __LINE__);
}

static int use_subject(rb_engine_t *e, rb_worker_subject_t *s, const Rackbench__Job *job,
                       rb_err_t *err)
{
    uint32_t ops = rb_block_ops(job);
    s->used = true;
    s->written |= (ops & RB_WORKER_CHANGES) != 0;
    s->passthrough |= job->ioengine == RACKBENCH__IOENGINE__KIND__io_uring_cmd;
    e->ncells += (size_t)__builtin_popcount(ops);
    if (e->ncells > RB_MAX_CELLS)
        return rb_err_set(err, RB_ERR_INPUT,
                          "phase '%s': more than %d rows a window (jobs x drives x kinds of "
                          "operation) on this host; split its jobs over several phases",
                          e->phase->name, RB_MAX_CELLS);
    return 0;
}

typedef struct {
    uint32_t numjobs, ndrives; /* of the job on this host */
    uint32_t ordinal;          /* of the worker's drive among them */
} share_t;

/* Which part of the job's rate the worker has, by rate_scope. */
static void share_rate(const rb_engine_opts_t *opts, rb_worker_opts_t *o, share_t here)
{
    uint64_t on_host = (uint64_t)here.ordinal * here.numjobs + o->number;
    o->rate_share = 1;
    o->rate_index = 0;
    switch (o->job->rate_scope) {
    case RACKBENCH__RATE_SCOPE__KIND__worker:
        break;
    case RACKBENCH__RATE_SCOPE__KIND__drive:
        o->rate_share = here.numjobs;
        o->rate_index = o->number;
        break;
    case RACKBENCH__RATE_SCOPE__KIND__cluster:
        if (opts->cluster_workers != NULL) {
            o->rate_share = opts->cluster_workers[o->job_index];
            o->rate_index = opts->first_worker[o->job_index] + on_host;
            break;
        }
        __attribute__((fallthrough));
    case RACKBENCH__RATE_SCOPE__KIND__host:
        o->rate_share = (uint64_t)here.ndrives * here.numjobs;
        o->rate_index = on_host;
        break;
    case _RACKBENCH__RATE_SCOPE__KIND_IS_INT_SIZE:
        break;
    }
}

static int add_job(rb_engine_t *e, uint32_t j, const rb_engine_opts_t *opts, rb_err_t *err)
{
    const Rackbench__Job *job = e->phase->jobs[j];
    uint32_t numjobs = job->has_numjobs ? job->numjobs : 1;
    uint32_t ndrives = 0, ordinal = 0;
    for (size_t i = 0; i < e->nsubjects; i++)
        ndrives += of_target(e, &e->subjects[i], job->target);
    rb_engine_verify_share(e, j, opts);
    if (ndrives > 0 && rb_engine_kv_share(e, job, opts, err) < 0)
        return -1;
    for (size_t i = 0; i < e->nsubjects; i++) {
        rb_worker_subject_t *s = &e->subjects[i];
        if (!of_target(e, s, job->target))
            continue;
        if (use_subject(e, s, job, err) < 0)
            return -1;
        rb_worker_opts_t o = {.crew = &e->crew,
                              .subject = s,
                              .job = job,
                              .cursor = &e->cursors[j * e->nsubjects + i],
                              .backend = backend_of(job),
                              .job_index = j,
                              .passes = e->phase->fill != NULL ? e->phase->fill->passes : 0,
                              .run = rb_verify_run(opts->run_id),
                              .interval_ns =
                                  e->plan->interval_ns > 0 ? e->plan->interval_ns : RB_NS_PER_S,
                              .seed = e->plan->randseed ^ hash(opts->host) ^
                                      ((uint64_t)e->phase_index << 48) ^ ((uint64_t)j << 32) ^ i};
        for (; o.number < numjobs; o.number++) {
            share_rate(opts, &o, (share_t){numjobs, ndrives, ordinal});
            rb_engine_verify_worker(e, i, ordinal, &o);
            o.kv = job->kv_cache != NULL ? e->kv : NULL;
            o.kv_ordinal = ordinal;
            if (add_worker(e, &o, err) < 0)
                return -1;
        }
        ordinal++;
    }
    return 0;
}

static int start_all(rb_engine_t *e, rb_err_t *err)
{
    /* Signals are the main thread's. */
    sigset_t all, old;
    int rc = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (size_t i = 0; i < e->nworkers && rc == 0; i++)
        rc = rb_worker_start(e->workers[i], err);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return rc;
}

rb_engine_t *rb_engine_new(const rb_engine_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(rb_engine_destroy) rb_engine_t *e = rb_calloc(1, sizeof(*e));
    RB_ASSERT(opts->override != NULL || opts->phase < opts->plan->n_phases);
    e->plan = opts->plan;
    e->phase_index = opts->phase;
    e->phase = opts->override != NULL ? opts->override : opts->plan->phases[opts->phase];
    rb_crew_init(&e->crew);
    copy_subjects(e, opts);
    e->cursors = rb_calloc(e->phase->n_jobs * e->nsubjects, sizeof(*e->cursors));
    rb_engine_verify_init(e);
    for (uint32_t j = 0; j < e->phase->n_jobs; j++)
        if (opts->jobs_here[j] && add_job(e, j, opts, err) < 0)
            return NULL;
    rb_engine_verify_unwatch(e);
    for (size_t i = 0; i < e->nsubjects; i++)
        if (e->subjects[i].used && e->subjects[i].at.needs_layout)
            e->total_bytes += e->subjects[i].at.size_bytes;
    for (size_t i = 0; i < e->nworkers; i++)
        e->total_bytes += rb_worker_kv_fill_bytes(e->workers[i]);
    if (rb_engine_check_memory(e, err) < 0 || rb_engine_place(e, err) < 0)
        return NULL;
    e->cpu_stats = rb_calloc(2, sizeof(*e->cpu_stats));
    e->sampler = rb_sampler_new(opts->phase, e->workers, e->nworkers);
    e->thin = rb_thin_new();
    if (start_all(e, err) < 0)
        return NULL;
    rb_crew_notify(&e->crew);
    return RB_MOVE(e);
}

static void join_all(rb_engine_t *e)
{
    for (size_t i = 0; i < e->nworkers; i++)
        rb_worker_join(e->workers[i]);
    for (size_t i = 0; i < e->nsubjects; i++)
        rb_worker_subject_release(&e->subjects[i]);
}

void rb_engine_destroy(rb_engine_t **engine)
{
    rb_engine_t *e = *engine;
    if (e == NULL)
        return;
    rb_crew_stop(&e->crew, rb_clock_now_ns());
    rb_crew_give_up(&e->crew);
    join_all(e);
    rb_sampler_destroy(&e->sampler);
    rb_thin_destroy(&e->thin);
    for (size_t i = 0; i < e->nworkers; i++)
        rb_worker_destroy(&e->workers[i]);
    for (size_t i = 0; i < e->nsubjects; i++)
        rb_worker_subject_clear(&e->subjects[i]);
    rb_engine_verify_clear(e);
    rb_kv_share_destroy(&e->kv);
    free(e->workers);
    free(e->subjects);
    free(e->cursors);
    free(e->cpu_stats);
    rb_crew_clear(&e->crew);
    free(e);
    *engine = NULL;
}

void rb_engine_set_span(rb_engine_t *engine, uint32_t span)
{
    rb_thin_set_span(engine->thin, span);
}

int rb_engine_fd(const rb_engine_t *engine)
{
    return engine->crew.event_fd;
}

const rb_err_t *rb_engine_fault(const rb_engine_t *engine)
{
    return &engine->fault;
}

void rb_engine_progress(const rb_engine_t *engine, uint64_t *ret_done_bytes,
                        uint64_t *ret_total_bytes)
{
    *ret_done_bytes = atomic_load(&engine->crew.layout_done_bytes);
    *ret_total_bytes = engine->total_bytes;
}

typedef enum { SNAPSHOT_BEFORE, SNAPSHOT_AFTER } snapshot_t;

/* Both times of the same device: the path may lead to another one by now. */
static int count_from(rb_worker_subject_t *s, rb_err_t *err)
{
    s->counted_rdev = s->at.pinned_dev;
    return s->at.pinned_ino != 0 ? 0 : rb_kernel_stat_device(s->at.path, &s->counted_rdev, err);
}

static int snapshot(rb_engine_t *e, snapshot_t when, rb_err_t *err)
{
    for (size_t i = 0; i < e->nsubjects; i++) {
        rb_worker_subject_t *s = &e->subjects[i];
        rb_kernel_stat_t *stat = when == SNAPSHOT_BEFORE ? &s->before : &s->after;
        if (!rb_worker_subject_counted(s))
            continue;
        if ((when == SNAPSHOT_BEFORE && count_from(s, err) < 0) ||
            rb_kernel_stat_read(s->counted_rdev, s->at.path, stat, err) < 0)
            return -1;
    }
    return 0;
}

static void poll_preparing(rb_engine_t *e)
{
    e->fault = rb_crew_fault(&e->crew);
    if (e->fault.code != RB_OK) {
        e->state = RB_ENGINE_FAILED;
    } else if (atomic_load(&e->crew.prepared) == e->nworkers) {
        /* The last thing before READY: from here on, only the workload touches the drives. */
        bool ok = snapshot(e, SNAPSHOT_BEFORE, &e->fault) == 0;
        e->state = ok ? RB_ENGINE_READY : RB_ENGINE_FAILED;
        rb_crew_notify(&e->crew);
    }
}

/* The earliest error that ended a worker is the phase's fault: those after it may follow from it.
 */
static void find_fault(rb_engine_t *e)
{
    const rb_worker_t *first = NULL;
    for (size_t i = 0; i < e->nworkers; i++) {
        const rb_worker_t *w = e->workers[i];
        const rb_worker_errors_t *errors = &w->account.errors;
        if (errors->failed &&
            (first == NULL || errors->fatal.at_ns < first->account.errors.fatal.at_ns))
            first = w;
    }
    if (first != NULL)
        rb_engine_io_error(first, &first->account.errors.fatal, &e->fault);
}

static void poll_armed(rb_engine_t *e)
{
    rb_engine_cpu_poll(e);
    if (atomic_load(&e->crew.ended) < e->nworkers)
        return;
    join_all(e);
    snapshot(e, SNAPSHOT_AFTER, &e->fault);
    find_fault(e);
    rb_engine_verify_close(e);
    e->state = RB_ENGINE_DRAINED;
}

rb_engine_state_t rb_engine_poll(rb_engine_t *engine)
{
    uint64_t count;
    ssize_t n = read(engine->crew.event_fd, &count, sizeof(count));
    (void)n;
    switch (engine->state) {
    case RB_ENGINE_PREPARING:
        poll_preparing(engine);
        break;
    case RB_ENGINE_ARMED:
        poll_armed(engine);
        break;
    case RB_ENGINE_READY:
    case RB_ENGINE_FAILED:
    case RB_ENGINE_DRAINED:
        break;
    }
    return engine->state;
}

void rb_engine_arm(rb_engine_t *engine, uint64_t t0_ns, int64_t drift_ppb)
{
    RB_ASSERT(engine->state == RB_ENGINE_READY);
    engine->state = RB_ENGINE_ARMED;
    engine->line = rb_timeline_new(t0_ns, drift_ppb);
    rb_crew_arm(&engine->crew, t0_ns, drift_ppb);
    rb_crew_notify(&engine->crew);
}

void rb_engine_tell(rb_engine_t *engine, uint64_t at_ns, uint64_t local_ns, int64_t drift_ppb)
{
    if (engine->state == RB_ENGINE_ARMED &&
        rb_timeline_tell(&engine->line, at_ns, local_ns, drift_ppb))
        rb_crew_tell(&engine->crew, &engine->line);
}

void rb_engine_stop(rb_engine_t *engine, uint64_t te_ns)
{
    uint64_t now_ns = rb_clock_now_ns();
    switch (engine->state) {
    case RB_ENGINE_PREPARING:
    case RB_ENGINE_READY:
        rb_err_set(&engine->fault, RB_ERR_INTERRUPTED, "stopped before the start");
        engine->state = RB_ENGINE_FAILED;
        rb_crew_give_up(&engine->crew);
        break;
    case RB_ENGINE_ARMED:
        rb_crew_stop(&engine->crew, RB_MAX(te_ns, now_ns));
        break;
    case RB_ENGINE_FAILED:
    case RB_ENGINE_DRAINED:
        break;
    }
}

void rb_engine_fail(rb_engine_t *engine, const rb_err_t *reason)
{
    if (reason->code == RB_OK || engine->state != RB_ENGINE_ARMED || engine->fault.code != RB_OK)
        return;
    engine->fault = *reason;
    rb_engine_stop(engine, 0);
}
