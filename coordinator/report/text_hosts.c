#include "coordinator/report/text_parts.h"

#include <inttypes.h>

enum {
    MAX_HOSTS_SHOWN = 16, /* all of them up to here, else ... */
    WORST_SHOWN = 5,      /* ... so many of the slowest */
    P99 = 3               /* in rb_quantiles */
};

typedef struct {
    const rb_result_host_t *host;
    bool is_known; /* false: nothing came of it, which is not a rate of 0 */
    rb_text_rates_t rates;
} line_t;

static line_t line_of(const rb_result_host_t *host)
{
    line_t line = {
        .host = host, .is_known = host->total.workers > 0, .rates = rb_text_rates(&host->total)};
    for (int op = 0; op < RB_OP_COUNT; op++)
        line.is_known |= host->total.op[op].present;
    return line;
}

static int by_iops(const void *a, const void *b)
{
    const line_t *x = a, *y = b;
    if (x->is_known != y->is_known)
        return x->is_known ? 1 : -1;
    return (x->rates.iops > y->rates.iops) - (x->rates.iops < y->rates.iops);
}

static void put_line(rb_text_t *text, const rb_result_phase_t *phase, const line_t *line)
{
    char iops[RB_FMT_SIZE], p99[RB_FMT_SIZE + 2], name[RB_WORDS_SIZE];
    double all = rb_text_rates(&phase->cluster).iops * phase->seconds;
    fprintf(text->out, "  %-30.30s", rb_words_clean(name, sizeof(name), line->host->name));
    if (line->is_known)
        fprintf(text->out, " %9s %9.1f %7.1f %%",
                rb_fmt_rate_count(iops, sizeof(iops), line->rates.iops),
                rb_text_mega(text, line->rates.bytes_per_s),
                all > 0 ? line->rates.iops * line->host->seconds / all * 100 : 0);
    else
        fprintf(text->out, " %9s %9s %9s", "-", "-", "-");
    for (int op = 0; op < RB_OP_COUNT; op++)
        if (phase->cluster.op[op].present)
            fprintf(text->out, " %10s",
                    rb_text_quantile(text, p99, &line->host->total.op[op].response, P99));
    if (line->host->lost || (line->is_known && line->host->seconds < phase->seconds))
        fprintf(text->out, "  %s %.1f s", line->host->lost ? "lost after" : "heard to",
                (double)line->host->lost_after_ns / 1e9);
    fputc('\n', text->out);
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
    char a[RB_FMT_SIZE], b[RB_FMT_SIZE], c[RB_FMT_SIZE], name[RB_WORDS_SIZE];
    const rb_result_host_t *worst = lines[0].host;
    uint64_t worst_ns = 0;
    size_t first = 0; /* that is known */
    for (size_t i = 0; i < n; i++)
        for (int op = 0; op < RB_OP_COUNT; op++) {
            uint64_t p99_ns = lines[i].host->total.op[op].response.quantile_ns[P99];
            if (p99_ns > worst_ns) {
                worst_ns = p99_ns;
                worst = lines[i].host;
            }
        }
    while (first < n - 1 && !lines[first].is_known)
        first++;
    fprintf(text->out, "  and %zu more; IOPS of a host: least %s, median %s, most %s\n",
            n - WORST_SHOWN, rb_fmt_rate_count(a, sizeof(a), lines[first].rates.iops),
            rb_fmt_rate_count(b, sizeof(b), lines[first + (n - first) / 2].rates.iops),
            rb_fmt_rate_count(c, sizeof(c), lines[n - 1].rates.iops));
    fprintf(text->out, "  highest p99: %s at %.60s\n", rb_fmt_ns(a, sizeof(a), worst_ns),
            rb_words_clean(name, sizeof(name), worst->name));
}

static bool any_shorter(const rb_result_phase_t *phase)
{
    for (size_t i = 0; i < phase->nhosts; i++)
        if (phase->hosts[i].seconds < phase->seconds)
            return true;
    return false;
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
    if (any_shorter(phase))
        fputs("  a host that was not there to the end: its rates are over the time that it was\n",
              text->out);
    free(lines);
}

/* A page cache reads ahead and writes when it likes: its sectors are not those asked for. */
static bool is_buffered(const rb_text_t *text, const rb_result_phase_t *phase)
{
    const Rackbench__Phase *planned = rb_fold_plan_phase(text->result->fold, phase->index);
    for (size_t i = 0; i < planned->n_jobs; i++)
        if (planned->jobs[i]->has_direct && !planned->jobs[i]->direct)
            return true;
    return false;
}

typedef struct {
    uint64_t ours, kernel;
    size_t ndrives, ndiffer, nmore; /* nmore: the kernel counted more than we did */
} witness_t;

static witness_t witness_of(const rb_result_phase_t *phase, size_t op)
{
    witness_t w = {0};
    for (size_t h = 0; h < phase->nhosts; h++)
        for (size_t k = 0; k < phase->hosts[h].nkernels; k++) {
            const rb_result_kernel_t *drive = &phase->hosts[h].kernels[k];
            uint64_t ours = drive->our_sectors[op], kernel = drive->op[op].sectors;
            w.ours += ours;
            w.kernel += kernel;
            w.ndrives += ours > 0 || kernel > 0;
            w.ndiffer += ours != kernel;
            w.nmore += kernel > ours;
        }
    return w;
}

void rb_text_witness(rb_text_t *text, const rb_result_phase_t *phase)
{
    static const char *const names[] = {"read", "written", "discarded"};
    for (size_t op = 0; op < RB_LEN(names); op++) {
        witness_t w = witness_of(phase, op);
        if (w.ndrives == 0)
            continue;
        fprintf(text->out,
                "  kernel: %" PRIu64 " sectors %s, ours %" PRIu64 ", drives %zu: ", w.kernel,
                names[op], w.ours, w.ndrives);
        if (w.ndiffer == 0) {
            fputs("equal\n", text->out);
            continue;
        }
        fprintf(text->out, "%zu differ, %+" PRId64 " in all\n", w.ndiffer,
                (int64_t)(w.kernel - w.ours));
        if (phase->cluster.op[op].errors > 0)
            fprintf(text->out, "          %" PRIu64 " %ss that failed are not in ours\n",
                    phase->cluster.op[op].errors, rb_op_names[op]);
        if (is_buffered(text, phase))
            fputs("          as the page cache may: not all jobs are direct\n", text->out);
        else if (w.nmore > 0 && phase->cluster.op[op].errors == 0)
            fputs("          someone else used the drive (udev, another agent)\n", text->out);
    }
}
