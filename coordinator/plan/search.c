#include "coordinator/plan/search.h"

#include "common/units.h"
#include "coordinator/analysis/latency_search.h"

#include <math.h>

#define BEYOND 10.0 /* operations */

int rb_search_job(const Rackbench__Phase *phase)
{
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (phase->jobs[i]->latency_target_ns > 0)
            return (int)i;
    return -1;
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
