#include "coordinator/report/text_parts.h"

static void put_latencies(rb_text_t *text, const rb_lat_t *lat)
{
    char buf[RB_FMT_SIZE + 2];
    if (lat->count == 0) {
        fputs("        -\n", text->out);
        return;
    }
    fprintf(text->out, " %8s", rb_fmt_ns(buf, RB_FMT_SIZE, (uint64_t)(lat->mean_ns + 0.5)));
    for (int i = 0; i < RB_QUANTILES; i++)
        if (text->quantiles & 1u << i)
            fprintf(text->out, " %8s", rb_text_quantile(text, buf, lat, i));
    fprintf(text->out, " %8s\n", rb_fmt_ns(buf, RB_FMT_SIZE, lat->max_ns));
}

static void put_head(const rb_text_t *text, const char *what)
{
    fprintf(text->out, "  %-15.15s %9s %9s %8s", what, "IOPS", rb_text_mega_unit(text), "mean");
    for (int i = 0; i < RB_QUANTILES; i++)
        if (text->quantiles & 1u << i)
            fprintf(text->out, " %8s", rb_quantiles[i].title);
    fprintf(text->out, " %8s\n", "max");
}

typedef enum { SERVICE_ALWAYS, SERVICE_IF_APART } service_t;

/* Is service another figure than response, by more than 5 % at p99? */
static bool is_apart(const rb_op_stats_t *op)
{
    double service = (double)op->service.quantile_ns[RB_P99];
    double response = (double)op->response.quantile_ns[RB_P99];
    return op->service.count > 0 && op->response.count > 0 &&
           (response > 1.05 * service || response < 0.95 * service);
}

static void put_all(rb_text_t *text, const rb_stats_t *stats)
{
    char iops[RB_FMT_SIZE];
    rb_text_rates_t all = rb_text_rates(stats);
    int kinds = 0;
    for (int op = RB_OP_READ; op <= RB_OP_TRIM; op++)
        kinds += stats->op[op].present;
    if (kinds > 1)
        fprintf(text->out, "  %-15s %9s %9.1f\n", "all",
                rb_fmt_rate_count(iops, sizeof(iops), all.iops),
                rb_text_mega(text, all.bytes_per_s));
}

static void put_stats(rb_text_t *text, const rb_stats_t *stats, service_t service)
{
    char iops[RB_FMT_SIZE], label[32];
    for (int i = 0; i < RB_OP_COUNT; i++) {
        const rb_op_stats_t *op = &stats->op[i];
        if (!op->present)
            continue;
        snprintf(label, sizeof(label), "%s response", rb_op_names[i]);
        fprintf(text->out, "  %-15s %9s %9.1f", label,
                rb_fmt_rate_count(iops, sizeof(iops), op->iops),
                rb_text_mega(text, op->bytes_per_s));
        put_latencies(text, &op->response);
        if (service == SERVICE_IF_APART && !is_apart(op))
            continue;
        fprintf(text->out, "  %*s service   %9s %9s", (int)strlen(rb_op_names[i]), "", "", "");
        put_latencies(text, &op->service);
    }
    put_all(text, stats);
}

static void put_named(rb_text_t *text, const char *kind, const rb_named_stats_t *list, size_t n)
{
    char name[RB_WORDS_SIZE];
    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++) {
        fprintf(text->out, "  %s %.80s\n", kind, rb_words_clean(name, sizeof(name), list[i].name));
        put_stats(text, &list[i].stats, SERVICE_IF_APART);
    }
}

/* An empty M has no table. */
static char *stopped_words(const rb_text_t *text, const rb_result_phase_t *p)
{
    const rb_fold_phase_t *fold = &text->result->fold->phases[p->index];
    bool by_itself = fold->over && !fold->truncated; /* all work was done */
    uint64_t ops = 0;
    for (int op = 0; op < RB_OP_COUNT; op++)
        for (int part = RB_PART_RAMP; part < RB_PART_COUNT; part++)
            ops += p->cluster.outside[part][op].ops;
    return rb_asprintf("%s %s: %llu %s, see outside in result.json",
                       by_itself ? "ended" : "stopped",
                       p->start_ns > 0 ? "in the ramp" : "before the first window",
                       (unsigned long long)ops, ops == 1 ? "operation" : "operations");
}

/* Of a phase that is bound by bytes or operations: up to the last completion of any worker. */
static char *to_last_words(const rb_text_t *text, const rb_result_phase_t *p)
{
    char ops[RB_FMT_SIZE], bytes[RB_FMT_SIZE];
    const rb_fold_phase_t *fold = &text->result->fold->phases[p->index];
    if (!p->has_to_last)
        return rb_strdup("");
    return rb_asprintf("; %s%s in %.3f s = %.1f %s (%s operations)",
                       fold->all_done_ns != UINT64_MAX ? "all " : "",
                       rb_fmt_bytes(bytes, sizeof(bytes), p->to_last.bytes), p->to_last_seconds,
                       rb_text_mega(text, (double)p->to_last.bytes / p->to_last_seconds),
                       rb_text_mega_unit(text), rb_fmt_count(ops, sizeof(ops), p->to_last.ops));
}

static void put_title(const rb_text_t *text, const rb_result_phase_t *p)
{
    char stamp[RB_STAMP_SIZE];
    rb_words_stamp(stamp, p->t0_wall_ns);
    RB_AUTO(rb_free_str)
    char *what = p->seconds > 0 ? rb_asprintf("measured %.3f s to %.3f s (%.3f s)",
                                              (double)p->start_ns / RB_NS_PER_S,
                                              (double)p->end_ns / RB_NS_PER_S, p->seconds)
                                : stopped_words(text, p);
    RB_AUTO(rb_free_str)
    char *to_last = to_last_words(text, p);
    RB_AUTO(rb_free_str)
    char *title =
        rb_asprintf("phase %.40s: from %s, %s%s", p->name, stamp + RB_STAMP_TIME, what, to_last);
    fputc('\n', text->out);
    rb_text_wrapped(text->out, title, 0);
    fprintf(text->out, "  %zu %s, %llu %s, %llu in flight%s\n", p->nhosts,
            p->nhosts == 1 ? "host" : "hosts", (unsigned long long)p->workers,
            p->workers == 1 ? "worker" : "workers", (unsigned long long)p->inflight,
            p->is_planned ? " (as planned)" : "");
    for (size_t i = 0; i < p->nmarks; i++)
        fprintf(text->out, "%s%s", i == 0 ? "  marks: " : " ", p->marks[i]);
    fputs(p->nmarks > 0 ? "\n" : "", text->out);
    if (p->common_share < 0.999 && p->seconds > 0)
        fprintf(text->out, "  all hosts were running for %.1f %% of it\n", p->common_share * 100);
}

static void put_what(const rb_text_t *text, const rb_result_phase_t *p)
{
    for (size_t i = 0; i < p->njobs; i++) {
        RB_AUTO(rb_free_str) char *words = rb_asprintf("%.40s: %s", p->jobs[i].name, p->what[i]);
        fputs("  ", text->out);
        rb_text_wrapped(text->out, words, 2);
    }
}

static void put_workers(const rb_text_t *text, const rb_result_phase_t *p)
{
    char a[RB_FMT_SIZE], b[RB_FMT_SIZE];
    const rb_stats_t *c = &p->cluster;
    const char *lead = "  ";
    if (c->has_turn) {
        fprintf(text->out, "%sworker turn p50 %s, p99 %s", lead,
                rb_fmt_ns(a, sizeof(a), c->turn_p50_ns), rb_fmt_ns(b, sizeof(b), c->turn_p99_ns));
        lead = "; ";
    }
    if (c->has_cpu) {
        fprintf(text->out, "%scpu share %.0f %%", lead, c->cpu_share * 100);
        lead = "; ";
    }
    if (p->has_little) {
        fprintf(text->out, "%sLittle's law X R / N = %.3f", lead, p->little);
        if (p->little_verdict != NULL && strcmp(p->little_verdict, "ok") != 0)
            fprintf(text->out, " (%s)", p->little_verdict);
        lead = "; ";
    }
    fputs(lead[0] == ';' ? "\n" : "", text->out);
}

static void put_facts(const rb_text_t *text, const rb_result_phase_t *p)
{
    char a[RB_FMT_SIZE], b[RB_FMT_SIZE];
    const rb_stats_t *c = &p->cluster;
    if (p->start_hosts > 1)
        fprintf(text->out, "  start skew %s +- %s", rb_fmt_ns(a, sizeof(a), p->skew_ns),
                rb_fmt_ns(b, sizeof(b), p->skew_bound_ns));
    else if (p->start_of > 1)
        fputs("  start skew not known", text->out);
    if (p->start_of > 1)
        fprintf(text->out, p->start_hosts < p->start_of ? " (%zu of %zu hosts told)\n" : "\n",
                p->start_hosts, p->start_of);
    if (p->has_end && p->start_hosts > 1)
        fprintf(text->out, "  end skew %s +- %s\n", rb_fmt_ns(a, sizeof(a), p->end_skew_ns),
                rb_fmt_ns(b, sizeof(b), p->end_bound_ns));
    put_workers(text, p);
    if (c->unfinished > 0)
        fprintf(text->out, "  in flight at the end: %llu, the oldest for %s\n",
                (unsigned long long)c->unfinished,
                rb_fmt_ns(a, sizeof(a), c->oldest_unfinished_ns));
    for (int i = 0; i < RB_OP_COUNT; i++)
        if (c->op[i].errors > 0)
            fprintf(text->out, "  errors: %llu of %s\n", (unsigned long long)c->op[i].errors,
                    rb_op_names[i]);
}

static bool is_open(const rb_text_t *text, const rb_result_phase_t *phase, size_t job)
{
    const Rackbench__Phase *run = rb_fold_plan_phase(text->result->fold, phase->index);
    return phase->jobs[job].stats.offered_ops > 0 || run->jobs[job]->rate_iops > 0 ||
           run->jobs[job]->rate_bytes > 0;
}

/* An open loop keeps its schedule; what it could not do in time shows here and in response. */
static void put_offered(const rb_text_t *text, const rb_result_phase_t *phase, size_t index)
{
    const rb_named_stats_t *job = &phase->jobs[index];
    double ops = 0; /* of the hosts whose offer is known: a lost one told none */
    for (size_t i = 0; i < phase->nhosts; i++)
        for (size_t k = 0; k < phase->hosts[i].njobs; k++)
            if (strcmp(phase->hosts[i].jobs[k].name, job->name) == 0 &&
                phase->hosts[i].jobs[k].stats.offered_ops > 0)
                ops += rb_text_rates(&phase->hosts[i].jobs[k].stats).iops * phase->hosts[i].seconds;
    char offered[RB_FMT_SIZE], achieved[RB_FMT_SIZE], name[RB_WORDS_SIZE];
    if (!is_open(text, phase, index) || job->stats.workers == 0)
        return;
    fprintf(text->out, "  job %.40s: offered %s IOPS, achieved %s IOPS\n",
            rb_words_clean(name, sizeof(name), job->name),
            rb_fmt_rate_count(offered, sizeof(offered), job->stats.offered_iops),
            rb_fmt_rate_count(achieved, sizeof(achieved), ops / phase->seconds));
}

/* Response counts from the due time, so that what we are late ourselves is in it: said where it is
 * more than a tenth of what half of the operations took. */
static void put_lateness(const rb_text_t *text, const rb_named_stats_t *job)
{
    enum { P50 = 0 }; /* in rb_quantiles */
    const rb_stats_t *s = &job->stats;
    uint64_t response_ns = UINT64_MAX;
    char p50[RB_FMT_SIZE], p99[RB_FMT_SIZE], name[RB_WORDS_SIZE];
    for (int op = RB_OP_READ; op <= RB_OP_TRIM; op++)
        if (s->op[op].response.count > 0)
            response_ns = RB_MIN(response_ns, s->op[op].response.quantile_ns[P50]);
    if (!s->has_lateness || response_ns == UINT64_MAX || s->lateness_p50_ns <= response_ns / 10)
        return;
    fprintf(
        text->out,
        "  job %.40s: submitted late by rackbench itself: p50 %s, p99 %s (%.0f %% of the response "
        "p50)\n",
        rb_words_clean(name, sizeof(name), job->name),
        rb_fmt_ns(p50, sizeof(p50), s->lateness_p50_ns),
        rb_fmt_ns(p99, sizeof(p99), s->lateness_p99_ns),
        100 * (double)s->lateness_p50_ns / (double)RB_MAX(response_ns, 1u));
}

static void put_table(rb_text_t *text, const rb_result_phase_t *phase)
{
    bool present = false;
    for (int op = 0; op < RB_OP_COUNT; op++)
        present |= phase->cluster.op[op].present;
    if (present) {
        put_head(text, "all hosts");
        put_stats(text, &phase->cluster, SERVICE_ALWAYS);
    } else {
        fputs("  no operation completed\n", text->out);
    }
    if (present) {
        put_named(text, "job", phase->jobs, phase->njobs);
        put_named(text, "group", phase->groups, phase->ngroups);
    }
    for (size_t i = 0; i < phase->njobs; i++)
        put_offered(text, phase, i);
    for (size_t i = 0; i < phase->njobs; i++)
        put_lateness(text, &phase->jobs[i]);
}

void rb_text_phase(rb_text_t *text, const rb_result_phase_t *phase)
{
    put_title(text, phase);
    put_what(text, phase);
    rb_text_steady(text, phase);
    if (phase->seconds > 0)
        put_table(text, phase);
    rb_text_kv(text, phase);
    put_facts(text, phase);
    rb_text_cpu(text, phase);
    if (phase->seconds > 0)
        rb_text_hosts(text, phase);
    rb_text_stragglers(text, phase);
    rb_text_witness(text, phase);
    rb_text_health(text, phase);
    rb_text_watts(text, phase);
}
