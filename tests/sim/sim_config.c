#include "tests/sim/sim.h"

#define DAY_S       86400ull
#define LONG_NAP_NS (60 * RB_NS_PER_S) /* in the long course the coordinator does little */

static uint64_t magnitude(uint64_t value)
{
    return 63u - (uint64_t)__builtin_clzll(value | 1);
}

uint64_t sim_any_scale(rb_rng_t *rng, uint64_t low, uint64_t high)
{
    uint64_t bits = sim_between(rng, magnitude(low), magnitude(high));
    uint64_t value = (1ull << bits) | rb_rng_below(rng, 1ull << bits);
    return RB_MIN(RB_MAX(value, low), high);
}

static sim_clock_t any_clock(rb_rng_t *rng)
{
    int64_t hours_ns = (int64_t)sim_any_scale(rng, 1, 4ull * 3600 * RB_NS_PER_S);
    int64_t drift_ppb = (int64_t)sim_any_scale(rng, 1, 100000);
    return (sim_clock_t){sim_chance(rng, 50) ? hours_ns : -hours_ns,
                         sim_chance(rng, 50) ? drift_ppb : -drift_ppb};
}

static int32_t any_phase(rb_rng_t *rng, uint32_t percent)
{
    return sim_chance(rng, percent) ? (int32_t)rb_rng_below(rng, SIM_MAX_PHASES) : -1;
}

static void init_machine(rb_rng_t *rng, sim_host_config_t *m, bool faulty)
{
    *m = (sim_host_config_t){.prepare_fails = -1, .io_fails = -1, .stuck = -1};
    m->base_ns[0] = sim_any_scale(rng, 20 * RB_NS_PER_US, 30 * RB_NS_PER_MS);
    m->base_ns[1] = sim_chance(rng, 70) ? m->base_ns[0]
                                        : sim_any_scale(rng, 20 * RB_NS_PER_US, 30 * RB_NS_PER_MS);
    m->tail_ns = sim_any_scale(rng, RB_NS_PER_MS, SIM_MAX_DELAY_NS);
    m->clock = any_clock(rng);
    m->appears_ns = sim_chance(rng, 80) ? 0 : rb_rng_below(rng, 3 * RB_NS_PER_S);
    m->joins = sim_chance(rng, 30);
    if (!faulty)
        return;
    if (sim_chance(rng, 3))
        m->appears_ns = UINT64_MAX;
    m->refuses = sim_chance(rng, 2);
    m->load_fails = sim_chance(rng, 2);
    m->prepare_fails = any_phase(rng, 3);
    m->io_fails = any_phase(rng, 5);
    m->stuck = any_phase(rng, 3);
}

static void init_hosts(rb_rng_t *rng, sim_config_t *c, bool faulty)
{
    static char even[] = "even", odd[] = "odd", parity[] = "parity";
    for (size_t i = 0; i < c->run.nhosts; i++) {
        snprintf(c->names[i], sizeof(c->names[i]), "h%zu", i + 1);
        rackbench__label__init(&c->labels[i]);
        c->labels[i].name = parity;
        c->labels[i].value = i % 2 == 0 ? even : odd;
        c->label_of[i] = &c->labels[i];
        c->hosts[i] = (rb_run_host_opts_t){
            .name = c->names[i], .address = c->names[i], .nlabels = 1, .labels = &c->label_of[i]};
        /* In large courses as many are faulty as in small ones, or none would get far. */
        bool few = c->run.nhosts <= SIM_FEW_HOSTS;
        bool may_be = faulty && (few || rb_rng_below(rng, c->run.nhosts) < SIM_FEW_HOSTS / 2);
        init_machine(rng, &c->machines[i], may_be);
    }
    c->run.hosts = c->hosts;
    rackbench__label__init(&c->on);
    c->on.name = parity;
    c->on.value = even;
    c->on_of[0] = &c->on;
}

static void init_phase(rb_rng_t *rng, sim_config_t *c, size_t i)
{
    static char name[] = "p", job_name[] = "j0", target[] = "t";
    Rackbench__Phase *phase = &c->phases[i];
    Rackbench__Job *job = &c->jobs[i];
    rackbench__phase__init(phase);
    rackbench__job__init(job);
    phase->name = name;
    phase->n_jobs = 1;
    phase->jobs = &c->job_of[i];
    c->job_of[i] = job;
    c->phase_of[i] = phase;
    job->name = job_name;
    job->target = target;
    job->has_ramp_time_ns = true;
    job->ramp_time_ns = sim_chance(rng, 50) ? 0 : rb_rng_below(rng, RB_NS_PER_S);
    uint64_t most_ns = sim_chance(rng, 15) ? SIM_MAX_LENGTH_NS : 4 * RB_NS_PER_S;
    if (sim_chance(rng, 60)) {
        job->has_runtime_ns = true;
        job->runtime_ns = sim_between(rng, 100 * RB_NS_PER_MS, most_ns);
    } else {
        job->has_number_ios = true;
        job->number_ios = most_ns / RB_NS_PER_US; /* at most a microsecond each */
    }
    if (sim_chance(rng, 25)) {
        job->n_on = 1;
        job->on = c->on_of;
    }
}

/* Short steps: there are up to RB_SEARCH_MAX_STEPS of them. */
static void init_search(rb_rng_t *rng, Rackbench__Job *job)
{
    static char percentile[] = "99";
    if (!job->has_runtime_ns || !sim_chance(rng, 10))
        return;
    job->has_latency_target_ns = true;
    job->latency_target_ns = sim_any_scale(rng, RB_NS_PER_US, RB_NS_PER_S);
    job->latency_percentile = percentile;
    job->runtime_ns = sim_between(rng, 100 * RB_NS_PER_MS, RB_NS_PER_S);
}

/* From numbers of their own: a course without them is what it was before there were any. */
static void init_searches(rb_rng_t *rng, sim_config_t *c)
{
    for (size_t i = 0; i < c->plan.n_phases; i++)
        init_search(rng, &c->jobs[i]);
    c->capacity_iops = sim_any_scale(rng, 1, 10000000);
    if (sim_chance(rng, 15))
        c->verdict_ns = rb_rng_below(rng, 20 * RB_NS_PER_S);
}

static uint32_t steps_of(const sim_config_t *c, size_t phase)
{
    return c->jobs[phase].has_latency_target_ns ? RB_SEARCH_MAX_STEPS : 1;
}

static void init_plan(rb_rng_t *rng, sim_config_t *c)
{
    static char target[] = "t", directory[] = "/data";
    Rackbench__Plan *plan = &c->plan;
    rackbench__plan__init(plan);
    rackbench__target__init(&c->target);
    c->target.name = target;
    c->target.directory = directory;
    c->targets[0] = &c->target;
    plan->n_targets = 1;
    plan->targets = c->targets;
    plan->n_phases = sim_between(rng, 1, SIM_MAX_PHASES);
    plan->phases = c->phase_of;
    for (size_t i = 0; i < plan->n_phases; i++)
        init_phase(rng, c, i);
    plan->has_on_host_loss = plan->has_min_hosts = plan->has_lease_ns = plan->has_interval_ns =
        true;
    plan->on_host_loss = sim_chance(rng, 50) ? RACKBENCH__PLAN__ON_HOST_LOSS__abort
                                             : RACKBENCH__PLAN__ON_HOST_LOSS__continue;
    plan->min_hosts = sim_chance(rng, 50) ? 0 : (uint32_t)sim_between(rng, 1, c->run.nhosts);
    plan->lease_ns = sim_between(rng, 1500 * RB_NS_PER_MS, 4 * RB_NS_PER_S);
    plan->interval_ns = sim_between(rng, 100 * RB_NS_PER_MS, RB_NS_PER_S);
}

/* Few breaks fall just there. By a generator of their own, as the wall clocks. */
static void init_losses(sim_config_t *c, uint64_t seed)
{
    rb_rng_t rng;
    rb_rng_seed(&rng, seed, 5, 0);
    for (size_t i = 0; i < c->run.nhosts; i++)
        if (sim_chance(&rng, 30))
            c->machines[i].failed_lost_ns = sim_any_scale(&rng, 10 * RB_NS_PER_MS, RB_NS_PER_S / 2);
}

/* How long the plan itself takes, roughly: faults happen within. */
static uint64_t planned_ns(const sim_config_t *c)
{
    uint64_t ns = 3 * RB_NS_PER_S;
    for (size_t i = 0; i < c->plan.n_phases; i++)
        ns += (1 + steps_of(c, i) / 2) *
              (RB_NS_PER_S + c->jobs[i].ramp_time_ns +
               (c->jobs[i].has_runtime_ns ? c->jobs[i].runtime_ns
                                          : c->jobs[i].number_ios * RB_NS_PER_US / 2));
    return ns;
}

static void init_faults(rb_rng_t *rng, sim_config_t *c)
{
    static const uint32_t weights[SIM_FAULT_KINDS] = {[SIM_BREAK] = 40,
                                                      [SIM_KILL_AGENT] = 15,
                                                      [SIM_GONE] = 5,
                                                      [SIM_PAUSE_AGENT] = 15,
                                                      [SIM_PAUSE_COORDINATOR] = 15,
                                                      [SIM_KILL_COORDINATOR] = 15,
                                                      [SIM_POWER_FAILS] = 8,
                                                      [SIM_INTERRUPT] = 10,
                                                      [SIM_INTRUDE] = 40,
                                                      [SIM_EVICT] = 15,
                                                      [SIM_GARBAGE] = 1,
                                                      [SIM_SYNC_FAILS] = 1};
    c->nfaults = sim_between(rng, 1, SIM_MAX_FAULTS);
    for (size_t i = 0; i < c->nfaults; i++) {
        sim_fault_t *f = &c->faults[i];
        uint64_t pick = rb_rng_below(rng, 180);
        for (f->kind = 0; pick >= weights[f->kind]; f->kind++)
            pick -= weights[f->kind];
        f->at_ns = rb_rng_below(rng, planned_ns(c));
        f->host = (uint32_t)sim_between(rng, 1, c->run.nhosts);
        f->length_ns = sim_any_scale(rng, 10 * RB_NS_PER_MS, SIM_MAX_AWAY_NS);
        if (f->kind == SIM_KILL_AGENT && sim_chance(rng, 40))
            f->length_ns = 0;
        if (f->kind == SIM_KILL_COORDINATOR && sim_chance(rng, 20))
            f->length_ns = 0;
        bool away = f->kind == SIM_BREAK || f->kind == SIM_PAUSE_AGENT;
        if (away && f->length_ns > c->plan.lease_ns && i + 1 < c->nfaults && sim_chance(rng, 25)) {
            /* ... or sees it when a host comes back that is lost to the first */
            c->faults[++i] = (sim_fault_t){.kind = SIM_INTRUDE,
                                           .at_ns = f->at_ns + f->length_ns + c->plan.lease_ns +
                                                    rb_rng_below(rng, 2 * RB_NS_PER_S),
                                           .host = f->host};
            continue;
        }
        bool orphans = f->kind == SIM_BREAK || f->kind == SIM_PAUSE_COORDINATOR ||
                       f->kind == SIM_KILL_COORDINATOR;
        if (orphans && i + 1 < c->nfaults && sim_chance(rng, 45)) /* another run sees its chance */
            c->faults[++i] = (sim_fault_t){.kind = SIM_INTRUDE,
                                           .at_ns = f->at_ns + c->plan.lease_ns +
                                                    rb_rng_below(rng, RB_NS_PER_S / 2),
                                           .host = f->host};
    }
    if (sim_chance(rng, 6))
        c->journal_rows = sim_any_scale(rng, 1, 300);
}

/* While no coordinator is there to see it, an agent is started again. By a generator of its own. */
static void init_unseen(sim_config_t *c, uint64_t seed)
{
    rb_rng_t rng;
    rb_rng_seed(&rng, seed, 9, 0);
    for (size_t i = 0; i < c->nfaults && c->nfaults < SIM_MAX_FAULTS; i++) {
        const sim_fault_t *f = &c->faults[i];
        bool away = f->kind == SIM_KILL_COORDINATOR || f->kind == SIM_POWER_FAILS;
        if (away && f->length_ns > 0 && sim_chance(&rng, 20))
            c->faults[c->nfaults++] =
                (sim_fault_t){.kind = SIM_KILL_AGENT,
                              .at_ns = f->at_ns + rb_rng_below(&rng, f->length_ns),
                              .length_ns = sim_any_scale(&rng, RB_NS_PER_MS, RB_NS_PER_S / 2),
                              .host = f->host};
    }
}

/* I6. What a stage waits for comes within its own time; a message that a fault took is sent again
 * after a beat; whoever does not come back is given up after the connect timeout, the lease or the
 * drain limit; a process that was away does nothing meanwhile. */
static uint64_t longest_ns(const sim_config_t *c)
{
    uint64_t trip_ns = 0;
    for (size_t i = 0; i < c->run.nhosts; i++) {
        const sim_host_config_t *m = &c->machines[i];
        trip_ns = RB_MAX(trip_ns, 7 * (m->base_ns[0] + m->base_ns[1]) + 100 * RB_NS_PER_MS);
    }
    uint64_t burst_ns = RB_BURST_PROBES * trip_ns + 2 * SIM_MAX_DELAY_NS;
    uint64_t lease_ns = RB_MAX(c->plan.lease_ns, 3 * RB_NS_PER_S);
    uint64_t ns = c->run.connect_timeout_ns + burst_ns + SIM_MAX_ANSWER_NS + 4 * RB_BEAT_NS;
    for (size_t i = 0; i < c->plan.n_phases; i++)
        ns +=
            steps_of(c, i) *
            (SIM_MAX_PREPARE_NS + burst_ns + 3 * RB_NS_PER_S + c->jobs[i].ramp_time_ns +
             RB_MAX(c->jobs[i].runtime_ns, SIM_MAX_LENGTH_NS) + SIM_MAX_DRAIN_NS + 4 * RB_BEAT_NS);
    for (size_t i = 0; i < c->run.nhosts; i++) {
        if (c->machines[i].stuck >= 0)
            ns += RB_DRAIN_LIMIT_NS + RB_BEAT_NS;
        if (c->machines[i].failed_lost_ns != 0)
            ns += c->machines[i].failed_lost_ns + 3 * RB_BEAT_NS;
    }
    ns += RB_MAX(c->run.connect_timeout_ns, lease_ns + 2 * RB_NS_PER_S); /* COLLECT */
    return ns + c->nfaults * (lease_ns + SIM_MAX_AWAY_NS + 3 * RB_BEAT_NS);
}

static sim_wall_t any_wall(rb_rng_t *rng, bool may_lie)
{
    sim_wall_t wall = {.synchronised = sim_chance(rng, 60), .lies = may_lie && sim_chance(rng, 15)};
    wall.maxerror_ns = sim_any_scale(rng, RB_NS_PER_US, RB_NS_PER_S);
    wall.off_ns = (int64_t)rb_rng_below(rng, wall.maxerror_ns);
    if (wall.lies || !wall.synchronised)
        wall.off_ns = (int64_t)sim_any_scale(rng, 10 * RB_NS_PER_S, 4ull * 3600 * RB_NS_PER_S);
    wall.off_ns *= sim_chance(rng, 50) ? 1 : -1;
    return wall;
}

/* By a generator of their own: what else a seed chooses does not depend on them. */
static void init_walls(sim_config_t *c, uint64_t seed)
{
    rb_rng_t rng;
    rb_rng_seed(&rng, seed, 4, 0);
    c->wall = any_wall(&rng, false);
    for (size_t i = 0; i < c->run.nhosts; i++)
        c->machines[i].wall = any_wall(&rng, true);
}

/* A whole rack in few courses: it takes as long as many small ones. */
static size_t any_hosts(rb_rng_t *rng, uint64_t seed)
{
    rb_rng_t racks;
    rb_rng_seed(&racks, seed, 6, 0);
    size_t few = sim_between(rng, 1, SIM_FEW_HOSTS);
    return sim_chance(&racks, 2) ? sim_between(&racks, SIM_FEW_HOSTS + 1, SIM_MAX_HOSTS) : few;
}

/* `interval: auto`, with room for so much that windows merge, and full resolution never fills the
 * journal. */
static void init_auto(sim_config_t *c, uint64_t seed)
{
    rb_rng_t rng;
    rb_rng_seed(&rng, seed, 7, 0);
    c->ndrives = 1;
    if (c->run.goal != RB_RUN_BENCHMARK || !sim_chance(&rng, 35))
        return;
    c->plan.interval_ns = 0;
    Rackbench__Job *job = &c->jobs[c->plan.n_phases - 1];
    bool is_tight = job->has_runtime_ns && !job->has_latency_target_ns && sim_chance(&rng, 15);
    if (is_tight) /* without merging it would not do */
        job->runtime_ns = sim_between(&rng, 30, SIM_MAX_AUTO_NS / RB_NS_PER_S) * RB_NS_PER_S;
    c->pairs = (uint32_t)(is_tight ? sim_between(&rng, 200, 400) : sim_any_scale(&rng, 15, 150));
    uint64_t row_bytes = 50 + 8ull * c->pairs, steps = 0;
    for (size_t i = 0; i < c->plan.n_phases; i++)
        steps += steps_of(c, i);
    uint64_t least_bytes = 20000 + 1000 * steps + (8 + 2 * steps) * row_bytes;
    c->run.journal_max_bytes =
        c->run.nhosts *
        (least_bytes + sim_any_scale(&rng, 3 * row_bytes, (is_tight ? 20 : 3000) * row_bytes));
    for (size_t i = 0; i < c->run.nhosts; i++)
        if (sim_chance(&rng, 60))
            c->machines[i].troubles = (sim_troubles_t){rb_rng_below(&rng, SIM_TROUBLES),
                                                       rb_rng_below(&rng, 20), UINT64_MAX, 0, 0};
}

void sim_config_init(sim_config_t *config, uint64_t seed)
{
    rb_rng_t rng, searches;
    rb_rng_seed(&rng, seed, 1, 0);
    rb_rng_seed(&searches, seed, 3, 0);
    sim_config_t *c = config;
    *c = (sim_config_t){.journal_rows = UINT64_MAX};
    static const rb_run_goal_t rare[] = {RB_RUN_CHECK, RB_RUN_INVENTORY, RB_RUN_CLEAN};
    bool faulty = sim_chance(&rng, 65);
    c->run.goal = sim_chance(&rng, 90) ? RB_RUN_BENCHMARK : rare[rb_rng_below(&rng, RB_LEN(rare))];
    c->run.id = "r1";
    c->run.name = "sim";
    c->run.started_wall_ns = 1700000000 * RB_NS_PER_S;
    c->run.nhosts = any_hosts(&rng, seed);
    c->run.connect_timeout_ns = sim_between(&rng, 4 * RB_NS_PER_S, 6 * RB_NS_PER_S);
    init_hosts(&rng, c, faulty);
    init_plan(&rng, c);
    init_searches(&searches, c);
    init_auto(c, seed);
    c->run.plan = c->run.goal == RB_RUN_INVENTORY ? NULL : &c->plan;
    c->clock = any_clock(&rng);
    init_walls(c, seed);
    if (faulty) {
        init_faults(&rng, c);
        init_unseen(c, seed);
        init_losses(c, seed);
    }
    c->longest_run_ns = longest_ns(c);
}

/* Of each host: every 8 hours something else goes wrong, and one is bad for a day. */
static void init_long_machine(rb_rng_t *rng, sim_config_t *c, size_t i)
{
    sim_troubles_t *t = &c->machines[i].troubles;
    *t = (sim_troubles_t){i, 1000 + 100 * i, 8 * 3600, 0, 0};
    if (i == 3)
        t->bad_until = (t->bad_from = 5 * DAY_S) + DAY_S;
    c->machines[i].base_ns[0] = c->machines[i].base_ns[1] =
        sim_between(rng, 20 * RB_NS_PER_US, RB_NS_PER_MS);
    c->machines[i].appears_ns = 0;
}

void sim_config_long(sim_config_t *config, uint64_t scale)
{
    rb_rng_t rng;
    sim_config_t *c = config;
    rb_rng_seed(&rng, 14, 8, 0);
    *c = (sim_config_t){.journal_rows = UINT64_MAX, .is_long = true, .nap_ns = LONG_NAP_NS};
    c->run.goal = RB_RUN_BENCHMARK;
    c->run.id = "r1";
    c->run.name = "sim";
    c->run.started_wall_ns = 1700000000 * RB_NS_PER_S;
    c->run.nhosts = 16;
    c->run.connect_timeout_ns = 5 * LONG_NAP_NS;
    c->run.journal_max_bytes = 10000000000 / scale;
    init_hosts(&rng, c, false);
    init_plan(&rng, c);
    c->plan.n_phases = 1;
    c->plan.interval_ns = 0;
    c->plan.lease_ns = 5 * LONG_NAP_NS;
    rackbench__job__init(&c->jobs[0]);
    c->jobs[0].name = c->jobs[0].target = c->target.name;
    c->jobs[0].has_runtime_ns = true;
    c->jobs[0].runtime_ns = 14 * DAY_S * RB_NS_PER_S;
    c->ndrives = SIM_MAX_DRIVES;
    c->pairs = (uint32_t)RB_MAX(300 / scale, 15u);
    for (size_t i = 0; i < c->run.nhosts; i++)
        init_long_machine(&rng, c, i);
    c->run.plan = &c->plan;
    c->clock = any_clock(&rng);
    c->longest_run_ns = longest_ns(c) + 10 * LONG_NAP_NS;
}
