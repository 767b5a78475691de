/* Whose limit was it: measurement.md 4. */
#include "coordinator/result_parts.h"

const char *const rb_limit_names[RB_LIMITS] = {"worker", "softirq", "cpus"};

#define SATURATED 0.9

static double share(uint32_t ppm)
{
    return ppm / 1e6;
}

static void add_cpu(const rb_cpu_share_t *c, rb_result_cpu_t *cpu)
{
    double busy = share(c->busy_ppm), softirq = share(c->softirq_ppm), steal = share(c->steal_ppm);
    cpu->busy += busy;
    cpu->steal += steal;
    if (cpu->ncpus == 0 || busy > cpu->busy_max) {
        cpu->busy_max = busy;
        cpu->busy_max_cpu = c->cpu;
    }
    if (cpu->ncpus == 0 || softirq > cpu->softirq_max) {
        cpu->softirq_max = softirq;
        cpu->softirq_max_cpu = c->cpu;
    }
    if (c->of_workers && (cpu->worker_cpus == 0 || busy + steal < cpu->worker_busy_min))
        cpu->worker_busy_min = busy + steal;
    cpu->worker_cpus += c->of_workers;
    cpu->ncpus++;
}

/* The agent's look and the workers' accounts are of nearly the same interval: shares are compared,
 * not times. */
static double workers_share(const rb_member_t *m)
{
    double sum = 0;
    for (size_t i = 0; i < m->nworkers; i++)
        if (m->workers[i].wall_ns > 0)
            sum += (double)m->workers[i].cpu_ns / (double)m->workers[i].wall_ns;
    return sum;
}

static void fill_cpu(const rb_member_t *m, rb_result_cpu_t *cpu)
{
    const rb_row_cpu_t *row = &m->cpu;
    for (size_t i = 0; i < row->ncpus; i++)
        add_cpu(&row->cpus[i], cpu);
    if (cpu->ncpus == 0 || row->wall_ns == 0)
        return;
    cpu->busy /= (double)cpu->ncpus;
    cpu->steal /= (double)cpu->ncpus;
    cpu->seconds = (double)row->wall_ns / RB_NS_PER_S;
    cpu->agent = (double)row->agent_ns / (double)row->wall_ns;
    cpu->others = RB_MAX(cpu->agent - workers_share(m), 0.0);
}

static unsigned limits_of(const rb_member_t *m, const rb_result_cpu_t *cpu)
{
    unsigned limits = 0;
    for (size_t i = 0; i < m->nworkers; i++) {
        const rb_row_worker_t *w = &m->workers[i];
        if (w->wall_ns > 0 && (double)w->cpu_ns > SATURATED * (double)w->wall_ns)
            limits |= RB_LIMIT_WORKER;
    }
    if (cpu->softirq_max > SATURATED)
        limits |= RB_LIMIT_SOFTIRQ;
    if (cpu->worker_busy_min > SATURATED)
        limits |= RB_LIMIT_CPUS;
    return limits;
}

static bool is_alike(const rb_worker_place_t *a, const rb_worker_place_t *b)
{
    return a->job == b->job && a->target == b->target && a->drive == b->drive && a->how == b->how &&
           a->ncpus == b->ncpus && a->node == b->node;
}

static const char *drive_of(const rb_member_t *m, const rb_worker_place_t *place)
{
    for (size_t d = 0; d < m->ndrives; d++)
        if (m->drives[d].target == place->target && m->drives[d].drive == place->drive)
            return m->drives[d].path;
    return "";
}

static void add_places(const rb_fold_t *fold, uint32_t phase, const rb_member_t *m,
                       rb_result_host_t *host)
{
    const Rackbench__Phase *planned = rb_fold_plan_phase(fold, phase);
    const rb_row_placement_t *row = &m->placement;
    for (size_t i = 0; i < row->nplaces; i++) {
        const rb_worker_place_t *place = &row->places[i];
        if (i == 0 || !is_alike(place - 1, place)) {
            const char *job = planned->jobs[place->job]->name;
            *RB_PUSH(host->places, host->nplaces) = (rb_result_place_t){
                .job = job != NULL ? job : "", .drive = drive_of(m, place), .workers = place};
        }
        host->places[host->nplaces - 1].nworkers++;
    }
}

void rb_result_cpu(const rb_fold_t *fold, uint32_t phase, const rb_member_t *m,
                   rb_result_host_t *host)
{
    fill_cpu(m, &host->cpu);
    host->limits = limits_of(m, &host->cpu);
    add_places(fold, phase, m, host);
}

/* An operation that failed has no service time, and held its slot all the same. */
static const char *little_verdict(const rb_result_phase_t *phase)
{
    uint64_t errors = 0, longest_ns = 0;
    for (int op = 0; op < RB_OP_COUNT; op++) {
        errors += phase->cluster.op[op].errors;
        longest_ns = RB_MAX(longest_ns, phase->cluster.op[op].service.max_ns);
    }
    if (errors > 0)
        return NULL;
    if (phase->little > 1.01 + (double)longest_ns / RB_NS_PER_S / phase->seconds)
        return "measuring_fault";
    return phase->little < 0.95 ? "host_bound" : "ok";
}

/* Little's law: X R / N = (sum of service times / |M|) / slots. */
void rb_result_little(rb_result_phase_t *phase)
{
    double busy_s = 0;
    for (int op = 0; op < RB_OP_COUNT; op++) {
        const rb_lat_t *s = &phase->cluster.op[op].service;
        busy_s += s->mean_ns * (double)s->count / RB_NS_PER_S;
    }
    if (phase->inflight == 0 || phase->seconds <= 0)
        return;
    phase->has_little = true;
    phase->little = busy_s / phase->seconds / (double)phase->inflight;
    phase->little_verdict = little_verdict(phase);
}
