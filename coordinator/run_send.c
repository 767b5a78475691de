#include "coordinator/run_priv.h"

#define SEND(run, host, CASE, field, body)                                                         \
    do {                                                                                           \
        Rackbench__ToAgent msg_ = RACKBENCH__TO_AGENT__INIT;                                       \
        msg_.body_case = RACKBENCH__TO_AGENT__BODY_##CASE;                                         \
        msg_.field = (body);                                                                       \
        (run)->sink.send((run)->sink.ctx, rb_run_host_index((run), (host)), &msg_);                \
    } while (0)

/* A message field of the plan's type: protobuf-c has no const, and only reads it. */
static Rackbench__Plan *plan_of(const rb_run_t *run)
{
    return (Rackbench__Plan *)(uintptr_t)run->opts.plan;
}

static void send_hello(rb_run_t *run, rb_run_host_t *host)
{
    Rackbench__Hello hello = RACKBENCH__HELLO__INIT;
    hello.run_id = (char *)(uintptr_t)run->opts.id;
    hello.host = (char *)(uintptr_t)host->opts->name;
    hello.lease_ns = run->opts.plan != NULL ? run->opts.plan->lease_ns : 3 * RB_NS_PER_S;
    hello.coordinator_version = (char *)(uintptr_t)RB_VERSION;
    hello.n_labels = host->opts->nlabels;
    hello.labels = (Rackbench__Label **)(uintptr_t)host->opts->labels;
    SEND(run, host, HELLO, hello, &hello);
}

/* The common instant in the agent's own clock. */
static uint64_t local_ns(const rb_run_host_t *host, uint64_t at_ns, int64_t *ret_drift_ppb)
{
    rb_clock_estimate_t estimate = {0};
    rb_clocksync_estimate(&host->clock, at_ns, &estimate);
    if (ret_drift_ppb != NULL)
        *ret_drift_ppb = estimate.drift_ppb;
    return at_ns + (uint64_t)estimate.offset_ns;
}

/* While I/O goes on, each Beat tells where the common clock stands. */
static bool tells_clock(const rb_run_t *run, const rb_run_host_t *host, uint64_t now_ns)
{
    return run->stage == RB_STAGE_RUN && host->takes_part && host->want == WANT_DRAINED &&
           now_ns > run->t0_ns;
}

void rb_run_send_beat(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns)
{
    Rackbench__Beat beat = RACKBENCH__BEAT__INIT;
    Rackbench__Discipline discipline = RACKBENCH__DISCIPLINE__INIT;
    if (tells_clock(run, host, now_ns)) {
        discipline.phase = run->phase;
        discipline.at_ns = now_ns - run->t0_ns;
        discipline.local_ns = local_ns(host, now_ns, &discipline.drift_ppb);
        beat.discipline = &discipline;
    }
    beat.seq = ++host->beat;
    beat.t1_ns = now_ns;
    beat.acked_row = host->safe_row;
    beat.has_span = run->budget.span > 1;
    beat.span = run->budget.span;
    SEND(run, host, BEAT, beat, &beat);
}

void rb_run_send_collect(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns)
{
    Rackbench__Collect collect = RACKBENCH__COLLECT__INIT;
    collect.seq = ++host->beat;
    collect.t1_ns = now_ns;
    collect.acked_row = host->safe_row;
    SEND(run, host, COLLECT, collect, &collect);
}

static void send_arm(rb_run_t *run, rb_run_host_t *host)
{
    Rackbench__Arm arm = RACKBENCH__ARM__INIT;
    arm.phase = run->phase;
    arm.has_drift_ppb = true;
    arm.t0_ns = local_ns(host, run->t0_ns, &arm.drift_ppb);
    SEND(run, host, ARM, arm, &arm);
}

void rb_run_send_stop(rb_run_t *run, rb_run_host_t *host)
{
    Rackbench__Stop stop = RACKBENCH__STOP__INIT;
    stop.phase = run->phase;
    stop.te_ns = local_ns(host, run->te_ns, NULL);
    SEND(run, host, STOP, stop, &stop);
}

void rb_run_send_bye(rb_run_t *run, rb_run_host_t *host)
{
    Rackbench__Bye bye = RACKBENCH__BYE__INIT;
    bye.reason = (char *)(uintptr_t)run->outcome.status;
    SEND(run, host, BYE, bye, &bye);
}

static void send_evict(rb_run_t *run, rb_run_host_t *host)
{
    Rackbench__Evict evict = RACKBENCH__EVICT__INIT;
    evict.reason = (char *)(uintptr_t)run->opts.name;
    SEND(run, host, EVICT, evict, &evict);
}

/* Workers of a job on a host: one per drive or file of its target and numjobs. */
static uint32_t workers_of(const rb_run_t *run, const rb_run_host_t *host,
                           const Rackbench__Job *job)
{
    const Rackbench__Loaded *loaded = host->loaded != NULL ? host->loaded->loaded : NULL;
    uint32_t drives = 0;
    if (host->link != LINK_UP || !rb_job_on_host(job, host->opts->nlabels, host->opts->labels))
        return 0;
    for (size_t i = 0; loaded != NULL && i < loaded->n_subjects; i++) {
        uint32_t target = loaded->subjects[i]->target;
        drives += target < run->opts.plan->n_targets &&
                  strcmp(run->opts.plan->targets[target]->name, job->target) == 0;
    }
    return drives * job->numjobs;
}

static void send_prepare(rb_run_t *run, rb_run_host_t *host)
{
    Rackbench__Prepare prepare = RACKBENCH__PREPARE__INIT;
    const Rackbench__Phase *phase = rb_run_phase(run);
    uint32_t all[RB_MAX_JOBS] = {0}, first[RB_MAX_JOBS] = {0};
    for (size_t k = 0; k < phase->n_jobs && k < RB_MAX_JOBS; k++)
        for (size_t i = 0; i < run->opts.nhosts; i++) {
            uint32_t n = workers_of(run, &run->hosts[i], phase->jobs[k]);
            all[k] += n;
            first[k] += &run->hosts[i] < host ? n : 0;
        }
    prepare.phase = run->phase;
    prepare.n_cluster_workers = prepare.n_first_worker = RB_MIN(phase->n_jobs, (size_t)RB_MAX_JOBS);
    prepare.cluster_workers = all;
    prepare.first_worker = first;
    prepare.override = run->override;
    rb_run_kv_fill(run, host, &prepare);
    SEND(run, host, PREPARE, prepare, &prepare);
    rb_run_kv_clear(&prepare);
}

void rb_run_command(rb_run_t *run, rb_run_host_t *host, rb_run_want_t want)
{
    Rackbench__Load load = RACKBENCH__LOAD__INIT;
    Rackbench__Clean clean = RACKBENCH__CLEAN__INIT;
    host->want = want;
    host->want_beat = host->beat;
    switch (want) {
    case WANT_WELCOME:
        send_hello(run, host);
        break;
    case WANT_LOADED:
        load.plan = plan_of(run);
        SEND(run, host, LOAD, load, &load);
        break;
    case WANT_READY:
        send_prepare(run, host);
        break;
    case WANT_ARMED:
        send_arm(run, host);
        break;
    case WANT_DRAINED:
        rb_run_send_stop(run, host);
        break;
    case WANT_CLEANED:
        clean.plan = plan_of(run);
        SEND(run, host, CLEAN, clean, &clean);
        break;
    case WANT_FREE:
        send_evict(run, host);
        break;
    case WANT_NOTHING:
        break;
    }
}

void rb_run_greet(rb_run_t *run, rb_run_host_t *host, uint64_t now_ns)
{
    rb_run_command(run, host, run->opts.goal == RB_RUN_STOP ? WANT_FREE : WANT_WELCOME);
    if (run->opts.goal == RB_RUN_STOP) /* whoever is idle says so */
        rb_run_send_beat(run, host, now_ns);
}
