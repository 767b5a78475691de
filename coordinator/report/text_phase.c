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

static void put_stats(rb_text_t *text, const rb_stats_t *stats, bool with_service)
{
    char iops[RB_FMT_SIZE], label[32];
    for (int i = 0; i < RB_OP_COUNT; i++) {
        const rb_op_stats_t *op = &stats->op[i];
        if (!op->present)
            continue;
        snprintf(label, sizeof(label), "%s response", rb_op_names[i]);
        fprintf(text->out, "  %-15s %9s %9.1f", label,
                rb_fmt_count(iops, sizeof(iops), (uint64_t)(op->iops + 0.5)),
                rb_text_mega(text, op->bytes_per_s));
        put_latencies(text, &op->response);
        if (!with_service)
            continue;
        fprintf(text->out, "  %*s service   %9s %9s", (int)strlen(rb_op_names[i]), "", "", "");
        put_latencies(text, &op->service);
    }
}

static void put_named(rb_text_t *text, const char *kind, const rb_named_stats_t *list, size_t n)
{
    if (n < 2)
        return;
    for (size_t i = 0; i < n; i++) {
        fprintf(text->out, "  %s %.80s\n", kind, list[i].name);
        put_stats(text, &list[i].stats, false);
    }
}

static void put_title(const rb_text_t *text, const rb_result_phase_t *p)
{
    fprintf(text->out, "\nphase %.40s: measured %.3f s to %.3f s (%.3f s)", p->name,
            (double)p->start_ns / RB_NS_PER_S, (double)p->end_ns / RB_NS_PER_S, p->seconds);
    for (size_t i = 0; i < p->nmarks; i++)
        fprintf(text->out, "%s%s", i == 0 ? "\n  marks: " : " ", p->marks[i]);
    fputc('\n', text->out);
    if (p->common_share < 0.999)
        fprintf(text->out, "  all hosts were running for %.1f %% of it\n", p->common_share * 100);
}

static void put_facts(const rb_text_t *text, const rb_result_phase_t *p)
{
    char a[RB_FMT_SIZE], b[RB_FMT_SIZE];
    const rb_stats_t *c = &p->cluster;
    if (p->has_start)
        fprintf(text->out, "  start skew %s +- %s\n", rb_fmt_ns(a, sizeof(a), p->skew_ns),
                rb_fmt_ns(b, sizeof(b), p->skew_bound_ns));
    fprintf(text->out, "  worker turn p50 %s, p99 %s; cpu share %.0f %%",
            rb_fmt_ns(a, sizeof(a), c->turn_p50_ns), rb_fmt_ns(b, sizeof(b), c->turn_p99_ns),
            c->cpu_share * 100);
    if (p->has_little)
        fprintf(text->out, "; Little's law X R / N = %.3f", p->little);
    fputc('\n', text->out);
    if (c->unfinished > 0)
        fprintf(text->out, "  in flight at the end: %llu, the oldest for %s\n",
                (unsigned long long)c->unfinished,
                rb_fmt_ns(a, sizeof(a), c->oldest_unfinished_ns));
    for (int i = 0; i < RB_OP_COUNT; i++)
        if (c->op[i].errors > 0)
            fprintf(text->out, "  errors: %llu of %s\n", (unsigned long long)c->op[i].errors,
                    rb_op_names[i]);
}

/* An open loop keeps its schedule; what it could not do in time shows here and in response. */
static void put_offered(const rb_text_t *text, const rb_named_stats_t *job)
{
    char offered[RB_FMT_SIZE], achieved[RB_FMT_SIZE];
    double iops = 0;
    if (job->stats.offered_ops == 0)
        return;
    for (int i = 0; i < RB_OP_COUNT; i++)
        iops += job->stats.op[i].iops;
    fprintf(text->out, "  job %.40s: offered %s IOPS, achieved %s IOPS\n", job->name,
            rb_fmt_count(offered, sizeof(offered), (uint64_t)(job->stats.offered_iops + 0.5)),
            rb_fmt_count(achieved, sizeof(achieved), (uint64_t)(iops + 0.5)));
}

static void put_to_last(const rb_text_t *text, const rb_result_phase_t *p)
{
    char ops[RB_FMT_SIZE], bytes[RB_FMT_SIZE];
    double rate = p->to_last_seconds > 0 ? (double)p->to_last.bytes / p->to_last_seconds : 0;
    if (!p->by_count)
        return;
    fprintf(text->out, "  to the last completion: %.3f s, %s operations, %s (%.1f %s)\n",
            p->to_last_seconds, rb_fmt_count(ops, sizeof(ops), p->to_last.ops),
            rb_fmt_bytes(bytes, sizeof(bytes), p->to_last.bytes), rb_text_mega(text, rate),
            rb_text_mega_unit(text));
}

void rb_text_phase(rb_text_t *text, const rb_result_phase_t *phase)
{
    text->has_closed_loop |= phase->closed_loop;
    put_title(text, phase);
    put_head(text, "all hosts");
    put_stats(text, &phase->cluster, true);
    put_to_last(text, phase);
    put_named(text, "job", phase->jobs, phase->njobs);
    put_named(text, "group", phase->groups, phase->ngroups);
    for (size_t i = 0; i < phase->njobs; i++)
        put_offered(text, &phase->jobs[i]);
    put_facts(text, phase);
    rb_text_hosts(text, phase);
    rb_text_witness(text, phase);
}
