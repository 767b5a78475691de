/* What a sweep shows, and the drives that are not like their peers. */
#include "coordinator/report/text_parts.h"

enum { MAX_CLIFFS_SHOWN = 4, MAX_STRAGGLERS_SHOWN = 8 };

static const char *at_words(char buf[RB_FMT_SIZE], const rb_sweep_point_t *p)
{
    snprintf(buf, RB_FMT_SIZE, "iodepth %u, numjobs %u", p->iodepth, p->numjobs);
    return buf;
}

static const char *ns_words(char buf[RB_FMT_SIZE], double ns)
{
    return rb_fmt_ns(buf, RB_FMT_SIZE, (uint64_t)(ns + 0.5));
}

static void put_rate(const rb_text_t *text, const rb_result_curve_t *c, const char *label, size_t i)
{
    char at[RB_FMT_SIZE], mean[RB_FMT_SIZE], p99[RB_FMT_SIZE], iops[RB_FMT_SIZE];
    const rb_sweep_point_t *p = &c->points[i];
    const rb_stats_t *stats = &text->result->phases[c->phases[i]].cluster;
    fprintf(text->out, "    %-8s %.1f %s, %s IOPS at %s: mean %s, p99 %s\n", label,
            rb_text_mega(text, p->rate), rb_text_mega_unit(text),
            rb_fmt_rate_count(iops, sizeof(iops), stats->op[c->op].iops), at_words(at, p),
            ns_words(mean, p->mean_ns), ns_words(p99, p->p99_ns));
}

static void put_latencies(const rb_text_t *text, const rb_result_curve_t *c)
{
    char ns[RB_FMT_SIZE], p99[RB_FMT_SIZE], at[RB_FMT_SIZE], at_p99[RB_FMT_SIZE];
    const rb_sweep_verdict_t *v = &c->verdict;
    if (v->qd1 != RB_NO_POINT)
        put_rate(text, c, "QD1", v->qd1);
    if (v->worst_mean == RB_NO_POINT || v->worst_p99 == RB_NO_POINT)
        return;
    fprintf(text->out, "    %-8s mean %s at %s; p99 %s at %s\n", "worst",
            ns_words(ns, c->points[v->worst_mean].mean_ns), at_words(at, &c->points[v->worst_mean]),
            ns_words(p99, c->points[v->worst_p99].p99_ns),
            at_words(at_p99, &c->points[v->worst_p99]));
}

static uint32_t on_axis(const rb_sweep_point_t *p, rb_sweep_axis_t axis)
{
    return axis == RB_AXIS_IODEPTH ? p->iodepth : p->numjobs;
}

static void put_cliff(const rb_text_t *text, const rb_result_curve_t *c, const rb_cliff_t *cliff)
{
    const rb_sweep_point_t *best = &c->points[cliff->best], *onset = &c->points[cliff->onset];
    const rb_sweep_point_t *lowest = &c->points[cliff->lowest];
    rb_sweep_axis_t other = cliff->axis == RB_AXIS_IODEPTH ? RB_AXIS_NUMJOBS : RB_AXIS_IODEPTH;
    fprintf(text->out, "    %-8s %s %u -> %u at %s %u: %.1f -> %.1f %s", "cliff",
            rb_axis_names[cliff->axis], on_axis(best, cliff->axis), on_axis(onset, cliff->axis),
            rb_axis_names[other], on_axis(best, other), rb_text_mega(text, best->rate),
            rb_text_mega(text, onset->rate), rb_text_mega_unit(text));
    if (cliff->lowest != cliff->onset)
        fprintf(text->out, ", lowest %.1f at %u", rb_text_mega(text, lowest->rate),
                on_axis(lowest, cliff->axis));
    fprintf(text->out, " (-%.0f %%)", 100 * cliff->depth);
    if (cliff->recovery != RB_NO_POINT)
        fprintf(text->out, "; back at %u\n", on_axis(&c->points[cliff->recovery], cliff->axis));
    else
        fputs("; no recovery\n", text->out);
}

/* Below 0.95 the host took its time between two operations, and the drive could do more. */
static void put_little(const rb_text_t *text, const rb_result_curve_t *c)
{
    double low = 0, high = 0;
    size_t known = 0, host_bound = 0;
    for (size_t i = 0; i < c->npoints; i++) {
        if (c->little[i] <= 0)
            continue;
        low = known == 0 ? c->little[i] : RB_MIN(low, c->little[i]);
        high = RB_MAX(high, c->little[i]);
        host_bound += c->little[i] < 0.95;
        known++;
    }
    if (known > 0)
        fprintf(
            text->out,
            "    %-8s X R / N from %.3f to %.3f; below 0.95 (host_bound) at %zu of %zu points\n",
            "Little", low, high, host_bound, known);
}

static void put_even(const rb_text_t *text, const rb_result_curve_t *c)
{
    const rb_consistency_t *even = &c->even[c->verdict.peak];
    if (even->n == 0)
        return;
    fprintf(text->out,
            "    %-8s at the peak: coefficient of variation %.1f %%, %.1f %% of %zu s under 90 %% "
            "of the\n             median, slowest 0.1 %% at %.0f %% of the mean\n",
            "even", 100 * even->cv, 100 * even->weak, even->n, 100 * even->low);
}

/* The drives' own peaks, from the lowest to the highest. */
static void put_drives(const rb_text_t *text, const rb_result_sweep_t *sweep,
                       const rb_result_curve_t *cluster)
{
    const rb_result_curve_t *low = NULL, *high = NULL;
    for (size_t i = 0; i < sweep->ncurves; i++) {
        const rb_result_curve_t *c = &sweep->curves[i];
        if (c->drive == NULL || c->op != cluster->op || strcmp(c->where, cluster->where) != 0 ||
            c->verdict.peak == RB_NO_POINT)
            continue;
        double rate = c->points[c->verdict.peak].rate;
        low = low == NULL || rate < low->points[low->verdict.peak].rate ? c : low;
        high = high == NULL || rate > high->points[high->verdict.peak].rate ? c : high;
    }
    char drive[2][RB_WORDS_SIZE], host[2][RB_WORDS_SIZE];
    if (low == high)
        return;
    fprintf(text->out, "    %-8s peaks from %.1f %s (%s on %s) to %.1f %s (%s on %s)\n", "drives",
            rb_text_mega(text, low->points[low->verdict.peak].rate), rb_text_mega_unit(text),
            rb_words_clean(drive[0], RB_WORDS_SIZE, low->drive),
            rb_words_clean(host[0], RB_WORDS_SIZE, low->host),
            rb_text_mega(text, high->points[high->verdict.peak].rate), rb_text_mega_unit(text),
            rb_words_clean(drive[1], RB_WORDS_SIZE, high->drive),
            rb_words_clean(host[1], RB_WORDS_SIZE, high->host));
}

static void put_curve(const rb_text_t *text, const rb_result_sweep_t *sweep,
                      const rb_result_curve_t *c)
{
    const rb_sweep_verdict_t *v = &c->verdict;
    char where[RB_WORDS_SIZE];
    size_t barred = 0;
    for (size_t i = 0; i < c->npoints; i++)
        barred += c->points[i].client_bound;
    fprintf(text->out, "  what it shows: %s%s%s\n", rb_op_names[c->op], c->where[0] ? ", " : "",
            rb_words_clean(where, sizeof(where), c->where));
    if (barred > 0)
        fprintf(text->out, "    barred   %zu of %zu points: client_bound\n", barred, c->npoints);
    if (v->peak == RB_NO_POINT)
        return;
    put_rate(text, c, "peak", v->peak);
    put_rate(text, c, "knee", v->knee);
    put_latencies(text, c);
    for (size_t i = 0; i < v->ncliffs && i < MAX_CLIFFS_SHOWN; i++)
        put_cliff(text, c, &v->cliffs[i]);
    if (v->ncliffs > MAX_CLIFFS_SHOWN)
        fprintf(text->out, "             and %zu cliffs more: see result.json\n",
                v->ncliffs - MAX_CLIFFS_SHOWN);
    put_even(text, c);
    put_little(text, c);
    put_drives(text, sweep, c);
}

/* One point alone shows nothing. */
void rb_text_curves(const rb_text_t *text, const rb_result_sweep_t *sweep)
{
    for (size_t i = 0; i < sweep->ncurves; i++)
        if (sweep->curves[i].host == NULL && sweep->curves[i].npoints > 1)
            put_curve(text, sweep, &sweep->curves[i]);
}

static char *straggler_words(const rb_text_t *text, const rb_result_straggler_t *s)
{
    const rb_straggler_t *v = &s->verdict;
    char mean[RB_FMT_SIZE], median[RB_FMT_SIZE], beyond[RB_FMT_SIZE];
    double rate = s->figures.by[RB_BY_THROUGHPUT];
    RB_AUTO(rb_free_str) char *slow = rb_strdup(""), *late = rb_strdup(""), *tail = rb_strdup("");
    if (v->bits & 1u << RB_BY_THROUGHPUT) {
        free(slow);
        slow = rb_asprintf(" %.1f %s, %.1f %% below the median of %zu (z %.1f);",
                           rb_text_mega(text, rate), rb_text_mega_unit(text),
                           100 * (1 - rate / v->median[RB_BY_THROUGHPUT]), s->npeers,
                           v->z[RB_BY_THROUGHPUT]);
    }
    if (v->bits & 1u << RB_BY_LATENCY) {
        free(late);
        late = rb_asprintf(" mean %s against %s (z %.1f);",
                           ns_words(mean, s->figures.by[RB_BY_LATENCY]),
                           ns_words(median, v->median[RB_BY_LATENCY]), v->z[RB_BY_LATENCY]);
    }
    if (v->tail_share > 0) {
        free(tail);
        tail = rb_asprintf(" holds %.0f %% of the operations over p99.9 (%s)", 100 * v->tail_share,
                           ns_words(beyond, (double)s->beyond_ns));
    }
    char *words = rb_asprintf("straggler: %s on %s, %s:%s%s%s", s->drive, s->host,
                              rb_op_names[s->op], slow, late, tail);
    size_t length = strlen(words);
    if (words[length - 1] == ';')
        words[length - 1] = '\0';
    return words;
}

void rb_text_stragglers(const rb_text_t *text, const rb_result_phase_t *phase)
{
    for (size_t i = 0; i < phase->nstragglers && i < MAX_STRAGGLERS_SHOWN; i++) {
        RB_AUTO(rb_free_str) char *words = straggler_words(text, &phase->stragglers[i]);
        fputs("  ", text->out);
        rb_text_wrapped(text->out, words, 2);
    }
    if (phase->nstragglers > MAX_STRAGGLERS_SHOWN)
        fprintf(text->out, "  and %zu stragglers more: see result.json\n",
                phase->nstragglers - MAX_STRAGGLERS_SHOWN);
}

static bool is_same(const rb_result_straggler_t *a, const rb_result_straggler_t *b)
{
    return a->op == b->op && strcmp(a->host, b->host) == 0 && strcmp(a->drive, b->drive) == 0;
}

/* The straggler of a phase that is the same drive; NULL: it is none there. */
static const rb_result_straggler_t *same_in(const rb_result_phase_t *phase,
                                            const rb_result_straggler_t *s)
{
    for (size_t i = 0; i < phase->nstragglers; i++)
        if (is_same(&phase->stragglers[i], s))
            return &phase->stragglers[i];
    return NULL;
}

/* Told once, at the first of its points. */
void rb_text_sweep_stragglers(const rb_text_t *text, const rb_result_sweep_t *sweep)
{
    const rb_result_phase_t *points = &text->result->phases[sweep->first];
    size_t told = 0;
    for (size_t i = 0; i < sweep->count; i++)
        for (size_t k = 0; k < points[i].nstragglers; k++) {
            const rb_result_straggler_t *s = &points[i].stragglers[k];
            size_t first = 0, times = 0;
            while (same_in(&points[first], s) == NULL)
                first++;
            for (size_t p = 0; p < sweep->count; p++)
                times += same_in(&points[p], s) != NULL;
            if (first < i || told++ >= MAX_STRAGGLERS_SHOWN)
                continue;
            RB_AUTO(rb_free_str) char *words = straggler_words(text, s);
            RB_AUTO(rb_free_str)
            char *all = rb_asprintf("%s; at %zu of %zu points, first at number %zu", words, times,
                                    sweep->count, i + 1);
            fputs("  ", text->out);
            rb_text_wrapped(text->out, all, 2);
        }
}
