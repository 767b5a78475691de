#include "coordinator/report/text_parts.h"

/* A rate [per second], or over speed how fast the trace goes: "2.5x". */
static const char *fmt_rate(char *buf, size_t size, const rb_result_search_t *s, uint64_t rate)
{
    if (!s->over_speed)
        return rb_fmt_count(buf, size, rate);
    snprintf(buf, size, "%.3gx", (double)rate / 1e6);
    return buf;
}

static void put_head(const rb_text_t *text, const rb_result_search_t *s)
{
    char target[RB_FMT_SIZE], phase[RB_WORDS_SIZE], job[RB_WORDS_SIZE];
    RB_AUTO(rb_free_str)
    char *title = rb_asprintf(
        "search %.40s, job %.40s: the highest %s at which p%g of %s is at most %s",
        rb_words_clean(phase, sizeof(phase), s->phase), rb_words_clean(job, sizeof(job), s->job),
        s->over_speed ? "speed of the trace" : "rate", s->percentile_ppm / 1e4,
        s->over_speed ? "restore latency" : "response",
        rb_fmt_ns(target, sizeof(target), s->target_ns));
    RB_AUTO(rb_free_str) char *quantile = rb_asprintf("p%g", s->percentile_ppm / 1e4);
    fputc('\n', text->out);
    rb_text_wrapped(text->out, title, 0);
    fprintf(text->out, "  %4s %12s %12s %10s\n", "step", s->over_speed ? "speed" : "offered IOPS",
            s->over_speed ? "requests/s" : "achieved", quantile);
}

static void put_step(rb_text_t *text, const rb_result_search_t *s, size_t i)
{
    char offered[RB_FMT_SIZE] = "closed loop", achieved[RB_FMT_SIZE], ns[RB_FMT_SIZE];
    const rb_result_step_t *step = &s->steps[i];
    RB_AUTO(rb_free_str)
    char *quantile = step->row->ops == 0
                         ? rb_strdup("-")
                         : rb_asprintf("%s%s", step->row->uncertain ? "~" : "",
                                       rb_fmt_ns(ns, sizeof(ns), step->row->quantile_ns));
    if (step->row->rate_iops > 0)
        fmt_rate(offered, sizeof(offered), s, step->row->rate_iops);
    text->has_uncertain |= step->row->ops > 0 && step->row->uncertain;
    fprintf(text->out, "  %4zu %12s %12s %10s  %s%s", i + 1, offered,
            rb_fmt_rate_count(achieved, sizeof(achieved), step->achieved_iops), quantile,
            step->row->kept ? "kept" : "not kept", step->cut ? ", ended early" : "");
    const rb_result_phase_t *phase = &text->result->phases[step->phase];
    for (size_t k = 0; k < phase->nmarks; k++)
        fprintf(text->out, ", %s", phase->marks[k]);
    fputc('\n', text->out);
}

/* Of the open loops. */
static uint64_t lowest_rate(const rb_result_search_t *s)
{
    uint64_t lowest = 0;
    for (size_t i = 0; i < s->nsteps; i++) {
        uint64_t rate = s->steps[i].row->rate_iops;
        if (rate > 0 && (lowest == 0 || rate < lowest))
            lowest = rate;
    }
    return lowest;
}

/* The verdict rests on a few operations. */
static void put_doubt(const rb_text_t *text, const rb_result_search_t *s)
{
    char runtime[RB_FMT_SIZE];
    if (s->certain_ns > 0)
        fprintf(text->out,
                "  only %llu %s, fewer than 10 of them beyond p%g: lengthen runtime to %s\n",
                (unsigned long long)s->steps[s->best - 1].row->ops,
                s->over_speed ? "requests" : "operations", s->percentile_ppm / 1e4,
                rb_fmt_duration(runtime, sizeof(runtime), s->certain_ns));
}

static const char *remark_of(const rb_result_search_t *s)
{
    if (strcmp(s->verdict, "coarse") == 0)
        return s->over_speed ? "; the next speed that failed is more than 2 % above"
                             : "; the next rate that failed is more than 2 % above";
    if (strcmp(s->verdict, "ceiling") != 0)
        return "";
    return s->over_speed ? ": the fastest there is"
                         : ": all that the closed loop reached; a higher iodepth may show more";
}

static char *best_words(const rb_result_search_t *s)
{
    char rate[RB_FMT_SIZE], ns[RB_FMT_SIZE], requests[RB_FMT_SIZE];
    const rb_result_step_t *best = &s->steps[s->best - 1];
    RB_AUTO(rb_free_str)
    char *more =
        s->over_speed
            ? rb_asprintf(", %s requests/s, %.3g GB/s restored, headroom %.3g",
                          rb_fmt_rate_count(requests, sizeof(requests), best->achieved_iops),
                          best->restored_bytes_per_s / 1e9,
                          (double)best->row->rate_iops / 1e6 / s->planned_speed)
            : rb_strdup("");
    return rb_asprintf("verdict: %s %s (step %zu, %s%s)%s%s",
                       fmt_rate(rate, sizeof(rate), s, best->row->rate_iops),
                       s->over_speed ? "keeps it" : "IOPS keep it", s->best,
                       best->row->uncertain ? "~" : "",
                       rb_fmt_ns(ns, sizeof(ns), best->row->quantile_ns), more, remark_of(s));
}

static char *verdict_words(const rb_result_search_t *s)
{
    char rate[RB_FMT_SIZE];
    if (s->verdict[0] == '\0')
        return rb_strdup("the search was not brought to its end");
    if (strcmp(s->verdict, "not_reached") == 0)
        return rb_asprintf(
            "not reached even at the lowest %s tried: %s%s", s->over_speed ? "speed" : "rate",
            fmt_rate(rate, sizeof(rate), s, lowest_rate(s)), s->over_speed ? "" : " IOPS");
    if (s->best == 0)
        return rb_strdup(s->over_speed ? "a step restored no request: nothing is known"
                                       : "a step completed no operation: nothing is known");
    return best_words(s);
}

void rb_text_search(rb_text_t *text, const rb_result_search_t *search)
{
    RB_AUTO(rb_free_str) char *words = verdict_words(search);
    put_head(text, search);
    for (size_t i = 0; i < search->nsteps; i++)
        put_step(text, search, i);
    fputs("  ", text->out);
    rb_text_wrapped(text->out, words, 2);
    put_doubt(text, search);
}

/* The table tells all steps; of these only the best is shown in full, or one that is in no table.
 */
bool rb_text_shows_phase(const rb_result_t *result, size_t index)
{
    for (size_t i = 0; i < result->nsweeps; i++)
        if (index - result->sweeps[i].first < result->sweeps[i].count)
            return false;
    for (size_t i = 0; i < result->nsearches; i++) {
        const rb_result_search_t *s = &result->searches[i];
        for (size_t k = 0; k < s->nsteps; k++)
            if (s->steps[k].phase == index)
                return s->best == k + 1;
    }
    return true;
}
