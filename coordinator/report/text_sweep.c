#include "coordinator/report/text_parts.h"

/* As wide as the key and its longest value. */
static int width_of(const rb_text_t *text, const rb_result_sweep_t *sweep, size_t key)
{
    size_t width = strlen(text->result->phases[sweep->first].point[key].key.text);
    for (size_t i = 0; i < sweep->count; i++) {
        const rb_result_phase_t *p = &text->result->phases[sweep->first + i];
        if (key < p->npoint)
            width = RB_MAX(width, strlen(p->point[key].text));
    }
    return (int)RB_MIN(width, 20u);
}

static void put_head(const rb_text_t *text, const rb_result_sweep_t *sweep)
{
    const rb_result_phase_t *p = &text->result->phases[sweep->first];
    char name[RB_WORDS_SIZE], stamp[RB_STAMP_SIZE];
    rb_words_stamp(stamp, p->t0_wall_ns);
    fprintf(text->out, "\nsweep %.40s: %zu of %zu point%s, from %s\n",
            rb_words_clean(name, sizeof(name), p->name), sweep->reached, sweep->of,
            sweep->of == 1 ? "" : "s", stamp + RB_STAMP_TIME);
    fputc(' ', text->out);
    for (size_t i = 0; i < p->npoint; i++)
        fprintf(text->out, " %*s", width_of(text, sweep, i), p->point[i].key.text);
    fprintf(text->out, "  %-5s %9s %9s %8s %8s\n", "", "IOPS", rb_text_mega_unit(text), "mean",
            "p99");
}

static void put_op(rb_text_t *text, const rb_result_phase_t *p, int kind)
{
    char iops[RB_FMT_SIZE], mean[RB_FMT_SIZE] = "-", p99[RB_FMT_SIZE + 2];
    const rb_op_stats_t *op = &p->cluster.op[kind];
    if (op->response.count > 0)
        rb_fmt_ns(mean, sizeof(mean), (uint64_t)(op->response.mean_ns + 0.5));
    fprintf(text->out, "  %-5s %9s %9.1f %8s %8s", rb_op_names[kind],
            rb_fmt_rate_count(iops, sizeof(iops), op->iops), rb_text_mega(text, op->bytes_per_s),
            mean, rb_text_quantile(text, p99, &op->response, RB_P99));
}

static void put_marks(const rb_text_t *text, const rb_result_phase_t *p)
{
    uint64_t errors = 0;
    for (int op = 0; op < RB_OP_COUNT; op++)
        errors += p->cluster.op[op].errors;
    for (size_t i = 0; i < p->nmarks; i++)
        fprintf(text->out, "%s%s", i == 0 ? "  " : " ", p->marks[i]);
    if (errors > 0)
        fprintf(text->out, "  %llu errors", (unsigned long long)errors);
    fputc('\n', text->out);
}

static void put_values(const rb_text_t *text, const rb_result_sweep_t *sweep,
                       const rb_result_phase_t *p)
{
    char value[RB_WORDS_SIZE];
    fputc(' ', text->out);
    for (size_t i = 0; i < p->npoint; i++)
        fprintf(text->out, " %*s", width_of(text, sweep, i),
                rb_words_clean(value, sizeof(value), p->point[i].text));
}

static void put_point(rb_text_t *text, const rb_result_sweep_t *sweep, const rb_result_phase_t *p)
{
    bool any = false;
    for (int op = RB_OP_READ; op <= RB_OP_TRIM; op++) {
        if (!p->cluster.op[op].present)
            continue;
        fputs(any ? "\n" : "", text->out);
        put_values(text, sweep, p);
        put_op(text, p, op);
        any = true;
    }
    if (!any) {
        put_values(text, sweep, p);
        fputs("  no operation completed", text->out);
    }
    put_marks(text, p);
}

void rb_text_sweep(rb_text_t *text, const rb_result_sweep_t *sweep)
{
    const rb_result_phase_t *first = &text->result->phases[sweep->first];
    uint64_t idle_ns = 0;
    char idle[RB_FMT_SIZE];
    put_head(text, sweep);
    for (size_t i = 0; i < sweep->count; i++) {
        put_point(text, sweep, first + i);
        if (i > 0)
            idle_ns = RB_MAX(idle_ns, first[i].idle_before_ns);
    }
    if (sweep->count > 1)
        fprintf(text->out, "  idle between points: at most %s\n",
                rb_fmt_ns(idle, sizeof(idle), idle_ns));
    rb_text_curves(text, sweep);
    rb_text_sweep_stragglers(text, sweep);
}
