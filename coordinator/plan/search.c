#include "coordinator/plan/search.h"

#include "common/units.h"
#include "proto/kv_setup.h"

#include <math.h>

#define BEYOND 10.0 /* operations */

bool rb_search_over_speed(const Rackbench__Job *job)
{
    return job->kv_cache != NULL && job->kv_cache->find_max != NULL;
}

bool rb_search_is(const Rackbench__Job *job)
{
    return job->latency_target_ns > 0 || rb_search_over_speed(job);
}

int rb_search_job(const Rackbench__Phase *phase)
{
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (rb_search_is(phase->jobs[i]))
            return (int)i;
    return -1;
}

/* The objective's percentile [ppm] and target; the first that is set. */
static uint32_t objective(const Rackbench__KvSlo *slo, uint64_t *ret_target_ns)
{
    const struct {
        uint64_t target_ns;
        uint32_t ppm;
    } rows[] = {{slo->restore_p50_ns, 500000},
                {slo->restore_p90_ns, 900000},
                {slo->restore_p95_ns, 950000},
                {slo->restore_p99_ns, 990000},
                {slo->restore_p99_9_ns, 999000}};
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        *ret_target_ns = rows[i].target_ns;
        if (rows[i].target_ns > 0)
            return rows[i].ppm;
    }
    return RB_SEARCH_PERCENTILE_PPM;
}

uint64_t rb_search_target_ns(const Rackbench__Job *job)
{
    uint64_t target_ns = job->latency_target_ns;
    if (rb_search_over_speed(job) && job->kv_cache->find_max->slo != NULL)
        objective(job->kv_cache->find_max->slo, &target_ns);
    return target_ns;
}

/* The plan's own speed; what a damaged journal says instead counts as 1. */
static uint64_t speed_ppm(const Rackbench__Job *job)
{
    rb_kv_setup_t setup;
    rb_err_t err;
    if (rb_kv_setup(job->kv_cache, &setup, &err) != 0)
        return 1000000;
    uint64_t ppm = setup.plan.speed_ppm;
    rb_kv_setup_clear(&setup);
    return ppm;
}

void rb_search_begin(const Rackbench__Job *job, rb_latency_search_t *ret)
{
    rb_latency_search_init(ret, rb_search_target_ns(job), rb_search_percentile_ppm(job));
    if (rb_search_over_speed(job))
        rb_latency_search_climb(ret, speed_ppm(job), RB_MAX_KV_SPEED * 1000000ull);
}

void rb_search_apply(Rackbench__Job *job, uint64_t rate)
{
    if (rate == 0)
        return;
    if (rb_search_over_speed(job)) {
        free(job->kv_cache->speed);
        job->kv_cache->speed = rb_asprintf("%.6f", (double)rate / 1e6);
        return;
    }
    job->has_rate_iops = true;
    job->rate_iops = rate;
}

int rb_search_percentile(const char *text, uint32_t *ret_ppm, rb_err_t *err)
{
    uint64_t ppm = 0;
    rb_err_t why;
    RB_AUTO(rb_free_str) char *number = rb_asprintf("%s%s", text, strchr(text, '%') ? "" : "%");
    size_t digits = strspn(text, "0123456789.");
    bool bare = text[digits] == '\0' || strcmp(text + digits, "%") == 0;
    if (!bare || rb_parse_ppm(number, &ppm, &why) != 0 || ppm == 0 || ppm >= 1000000)
        return rb_err_set(
            err, RB_ERR_INPUT,
            "'%.64s' is no percentile; 99, 99.9 or 99.9%% is right, above 0 and below "
            "100 with at most 4 digits after the point",
            text);
    *ret_ppm = (uint32_t)ppm;
    return 0;
}

uint32_t rb_search_percentile_ppm(const Rackbench__Job *job)
{
    uint32_t ppm;
    rb_err_t err;
    uint64_t target_ns;
    if (rb_search_over_speed(job) && job->kv_cache->find_max->slo != NULL)
        return objective(job->kv_cache->find_max->slo, &target_ns);
    const char *text = job->latency_percentile != NULL ? job->latency_percentile : "";
    return rb_search_percentile(text, &ppm, &err) == 0 ? ppm : RB_SEARCH_PERCENTILE_PPM;
}

static double operations(uint32_t percentile_ppm)
{
    return BEYOND * 1e6 / (1e6 - percentile_ppm);
}

double rb_search_certain_iops(uint32_t percentile_ppm, uint64_t runtime_ns)
{
    return operations(percentile_ppm) * (double)RB_NS_PER_S / (double)runtime_ns;
}

uint64_t rb_search_certain_ns(uint32_t percentile_ppm, double iops)
{
    double seconds = ceil(operations(percentile_ppm) / iops);
    return (uint64_t)fmin(seconds, (double)(UINT64_MAX / 2 / RB_NS_PER_S)) * RB_NS_PER_S;
}
