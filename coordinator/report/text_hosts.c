#include "coordinator/report/text_parts.h"

enum {
    MAX_HOSTS_SHOWN = 16, /* all of them up to here, else ... */
    WORST_SHOWN = 5,      /* ... so many of the slowest */
    P99 = 3               /* in rb_quantiles */
};

typedef struct {
    const rb_result_host_t *host;
    double iops, bytes_per_s;
} line_t;

static line_t line_of(const rb_result_host_t *host)
{
    line_t line = {.host = host};
    for (int op = 0; op < RB_OP_COUNT; op++) {
        line.iops += host->total.op[op].iops;
        line.bytes_per_s += host->total.op[op].bytes_per_s;
    }
    return line;
}

static int by_iops(const void *a, const void *b)
{
    const line_t *x = a, *y = b;
    return (x->iops > y->iops) - (x->iops < y->iops);
}

static void put_line(rb_text_t *text, const rb_result_phase_t *phase, const line_t *line)
{
    char iops[RB_FMT_SIZE], p99[RB_FMT_SIZE + 2];
    double all = 0;
    for (int op = 0; op < RB_OP_COUNT; op++)
        all += phase->cluster.op[op].iops;
    fprintf(text->out, "  %-30.30s %9s %9.1f %7.1f %%", line->host->name,
            rb_fmt_count(iops, sizeof(iops), (uint64_t)(line->iops + 0.5)),
            rb_text_mega(text, line->bytes_per_s), all > 0 ? line->iops / all * 100 : 0);
    for (int op = 0; op < RB_OP_COUNT; op++)
        if (phase->cluster.op[op].present)
            fprintf(text->out, " %10s",
                    rb_text_quantile(text, p99, &line->host->total.op[op].response, P99));
    fprintf(text->out, "%s\n", line->host->lost ? "  lost" : "");
}

static void put_head(const rb_text_t *text, const rb_result_phase_t *phase)
{
    fprintf(text->out, "  %-30s %9s %9s %9s", "host", "IOPS", rb_text_mega_unit(text), "share");
    for (int op = 0; op < RB_OP_COUNT; op++)
        if (phase->cluster.op[op].present)
            fprintf(text->out, "  %5s p99", rb_op_names[op]);
    fputc('\n', text->out);
}

static void put_spread(const rb_text_t *text, const line_t *lines, size_t n)
{
    char a[RB_FMT_SIZE], b[RB_FMT_SIZE], c[RB_FMT_SIZE];
    const rb_result_host_t *worst = lines[0].host;
    uint64_t worst_ns = 0;
    for (size_t i = 0; i < n; i++)
        for (int op = 0; op < RB_OP_COUNT; op++) {
            uint64_t p99_ns = lines[i].host->total.op[op].response.quantile_ns[P99];
            if (p99_ns > worst_ns) {
                worst_ns = p99_ns;
                worst = lines[i].host;
            }
        }
    fprintf(text->out, "  and %zu more; IOPS of a host: least %s, median %s, most %s\n",
            n - WORST_SHOWN, rb_fmt_count(a, sizeof(a), (uint64_t)(lines[0].iops + 0.5)),
            rb_fmt_count(b, sizeof(b), (uint64_t)(lines[n / 2].iops + 0.5)),
            rb_fmt_count(c, sizeof(c), (uint64_t)(lines[n - 1].iops + 0.5)));
    fprintf(text->out, "  highest p99: %s at %.60s\n", rb_fmt_ns(a, sizeof(a), worst_ns),
            worst->name);
}

void rb_text_hosts(rb_text_t *text, const rb_result_phase_t *phase)
{
    if (phase->nhosts < 2)
        return;
    line_t *lines = rb_calloc(phase->nhosts, sizeof(*lines));
    bool all = phase->nhosts <= MAX_HOSTS_SHOWN;
    for (size_t i = 0; i < phase->nhosts; i++)
        lines[i] = line_of(&phase->hosts[i]);
    if (!all)
        qsort(lines, phase->nhosts, sizeof(*lines), by_iops);
    put_head(text, phase);
    for (size_t i = 0; i < (all ? phase->nhosts : WORST_SHOWN); i++)
        put_line(text, phase, &lines[i]);
    if (!all)
        put_spread(text, lines, phase->nhosts);
    free(lines);
}

void rb_text_witness(rb_text_t *text, const rb_result_phase_t *phase)
{
    static const char *const names[] = {"read", "written", "discarded"};
    for (size_t op = 0; op < RB_LEN(names); op++) {
        uint64_t ours = 0, kernel = 0;
        size_t ndrives = 0, ndiffer = 0;
        for (size_t h = 0; h < phase->nhosts; h++)
            for (size_t k = 0; k < phase->hosts[h].nkernels; k++) {
                const rb_result_kernel_t *w = &phase->hosts[h].kernels[k];
                ours += w->our_sectors[op];
                kernel += w->op[op].sectors;
                ndrives += w->our_sectors[op] > 0 || w->op[op].sectors > 0;
                ndiffer += w->our_sectors[op] != w->op[op].sectors;
            }
        if (ndrives == 0)
            continue;
        fprintf(text->out,
                "  kernel: %llu sectors %s, ours %llu, drives %zu: ", (unsigned long long)kernel,
                names[op], (unsigned long long)ours, ndrives);
        if (ndiffer == 0)
            fputs("equal\n", text->out);
        else
            fprintf(text->out, "%zu differ, %+lld in all\n", ndiffer, (long long)(kernel - ours));
    }
}
