#include "coordinator/analysis/latency_search.h"

#include <math.h>

#define PRECISION 1.02 /* worst / best */
#define KEEPS_UP  0.99 /* done / due */

const char *rb_search_word(rb_search_verdict_t verdict)
{
    static const char *const words[] = {"", "found", "ceiling", "not_reached", "coarse", "no_data"};
    return words[verdict];
}

void rb_latency_search_init(rb_latency_search_t *search, uint64_t target_ns,
                            uint32_t percentile_ppm)
{
    RB_ASSERT(target_ns > 0 && percentile_ppm > 0 && percentile_ppm < 1000000);
    *search = (rb_latency_search_t){
        .target_ns = target_ns, .percentile_ppm = percentile_ppm, .stride = 2};
}

void rb_latency_search_climb(rb_latency_search_t *search, uint64_t first_iops, uint64_t most_iops)
{
    RB_ASSERT(first_iops > 0 && first_iops <= most_iops);
    search->rate_iops = first_iops;
    search->most_iops = most_iops;
}

static bool kept(const rb_latency_search_t *s, const rb_search_figures_t *f)
{
    bool keeps_up = s->rate_iops == 0 || (double)f->ops >= KEEPS_UP * (double)f->offered_ops;
    return f->ops > 0 && f->quantile_ns <= s->target_ns && keeps_up;
}

/* Where to go from here: worst_iops is known. */
static void choose(rb_latency_search_t *s)
{
    bool close_enough = (double)s->worst_iops <= PRECISION * (double)s->best_iops;
    bool neighbours = s->worst_iops <= s->best_iops + 1; /* rates are whole numbers */
    if (s->best_iops > 0 && (close_enough || neighbours)) {
        s->verdict = close_enough ? RB_SEARCH_FOUND : RB_SEARCH_COARSE;
    } else if (s->best_iops == 0 && s->worst_iops == 1) {
        s->verdict = RB_SEARCH_NOT_REACHED;
    } else if (s->steps == RB_SEARCH_MAX_STEPS) {
        s->verdict = s->best_iops > 0 ? RB_SEARCH_COARSE : RB_SEARCH_NOT_REACHED;
    } else if (s->best_iops == 0) {
        s->rate_iops = RB_MAX(s->worst_iops / s->stride, 1u);
        s->stride *= RB_MIN(s->stride, 1u << 16);
    } else {
        double middle = sqrt((double)s->best_iops * (double)s->worst_iops);
        s->rate_iops = RB_MAX((uint64_t)middle, s->best_iops + 1);
    }
}

static void take_ceiling(rb_latency_search_t *s, const rb_search_figures_t *f, bool good)
{
    double iops = (double)f->ops * (double)RB_NS_PER_S / (double)RB_MAX(f->length_ns, 1u);
    s->worst_iops = RB_MAX((uint64_t)iops, 1u);
    s->ceiling_failed = !good;
    if (good)
        s->rate_iops = s->worst_iops;
    else
        choose(s);
}

/* No rate has failed yet. */
static void climb(rb_latency_search_t *s)
{
    s->best_iops = s->rate_iops;
    if (s->rate_iops == s->most_iops)
        s->verdict = RB_SEARCH_CEILING;
    else if (s->steps == RB_SEARCH_MAX_STEPS)
        s->verdict = RB_SEARCH_COARSE;
    else
        s->rate_iops = RB_MIN(2 * s->rate_iops, s->most_iops);
}

/* An open loop. */
static void take_rate(rb_latency_search_t *s, bool good)
{
    bool at_ceiling = !s->ceiling_failed && s->rate_iops == s->worst_iops;
    if (!good && !s->failed_once && s->steps < RB_SEARCH_MAX_STEPS) {
        s->failed_once = true;
        return;
    }
    s->failed_once = false;
    if (good && s->worst_iops == 0) {
        climb(s);
        return;
    }
    s->ceiling_failed = true;
    if (good)
        s->best_iops = s->rate_iops;
    else
        s->worst_iops = s->rate_iops;
    if (good && at_ceiling)
        s->verdict = RB_SEARCH_CEILING;
    else
        choose(s);
}

bool rb_latency_search_take(rb_latency_search_t *search, const rb_search_figures_t *figures)
{
    RB_ASSERT(search->verdict == RB_SEARCH_GOES_ON);
    bool good = kept(search, figures);
    search->steps++;
    if (figures->ops == 0 && figures->offered_ops == 0)
        search->verdict = RB_SEARCH_NO_DATA;
    else if (search->steps == 1 && search->most_iops == 0)
        take_ceiling(search, figures, good);
    else
        take_rate(search, good);
    return good;
}

bool rb_latency_search_hopeless(const rb_latency_search_t *search, uint64_t late_ops,
                                uint64_t due_ops)
{
    double allowed = (double)due_ops * (1e6 - search->percentile_ppm) / 1e6;
    return search->rate_iops > 0 && (double)late_ops > allowed;
}
