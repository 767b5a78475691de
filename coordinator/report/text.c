#include "coordinator/report/text_parts.h"

#include <errno.h>

#define DEFAULT_QUANTILES 0x3bu /* p50 p90 p99 p99.9 p99.99 */

enum { MAX_EVENTS_SHOWN = 30, MAX_COLUMNS = 100, INDENT = 14 };

double rb_text_mega(const rb_text_t *text, double bytes)
{
    return bytes / (text->units == RB_UNITS_BINARY ? (double)RB_MIB : 1e6);
}

const char *rb_text_mega_unit(const rb_text_t *text)
{
    return text->units == RB_UNITS_BINARY ? "MiB/s" : "MB/s";
}

const char *rb_text_quantile(rb_text_t *text, char *buf, const rb_lat_t *lat, int i)
{
    char value[RB_FMT_SIZE];
    if (lat->count == 0)
        return "-";
    /* One mark of width: what censors a quantile matters more than what makes it uncertain. */
    const char *mark = lat->censored[i] ? ">" : lat->uncertain[i] ? "~" : "";
    text->has_censored |= mark[0] == '>';
    text->has_uncertain |= mark[0] == '~';
    snprintf(buf, RB_FMT_SIZE + 2, "%s%s", mark,
             rb_fmt_ns(value, sizeof(value), lat->quantile_ns[i]));
    return buf;
}

static void put_run(const rb_text_t *text)
{
    const rb_result_t *r = text->result;
    size_t nhosts = 0;
    for (size_t i = 0; i < r->fold->nhosts; i++)
        nhosts += r->fold->hosts[i].row.kind == RB_ROW_HOST;
    fprintf(text->out, "%s (%s): %zu %s, %.1f s, %s", r->name, r->id, nhosts,
            nhosts == 1 ? "host" : "hosts", r->seconds, r->status);
    for (size_t i = 0; i < r->nmarks; i++)
        fprintf(text->out, "%s%s", i == 0 ? ", marks: " : " ", r->marks[i]);
    fputc('\n', text->out);
    const rb_row_run_end_t *end = &r->fold->end_row.run_end;
    if (r->fold->end_row.kind == RB_ROW_RUN_END && end->text[0] != '\0')
        fprintf(text->out, "  %s\n", end->text);
}

static void put_prepare(const rb_text_t *text, const rb_result_phase_t *p)
{
    char bytes[RB_FMT_SIZE];
    const rb_op_stats_t *w = &p->cluster.op[RB_OP_WRITE];
    fprintf(text->out, "\nlaid out for %s: %u files, %s in %.1f s (%.1f %s)", p->name, p->laid_out,
            rb_fmt_bytes(bytes, sizeof(bytes), w->bytes), p->seconds,
            rb_text_mega(text, w->bytes_per_s), rb_text_mega_unit(text));
    if (p->reused > 0)
        fprintf(text->out, "; %u reused", p->reused);
    fputc('\n', text->out);
}

/* Words from column `at` on, in lines of at most MAX_COLUMNS, continued at column INDENT. */
static void put_wrapped(FILE *out, const char *words, size_t at)
{
    while (*words != '\0') {
        size_t length = 1 + strcspn(words + 1, " "); /* a word with the blank before it */
        if (at + length > MAX_COLUMNS && at > INDENT && words[0] == ' ') {
            fprintf(out, "\n%*s", INDENT, "");
            at = INDENT;
            words++;
            length--;
        }
        fwrite(words, 1, length, out);
        words += length;
        at += length;
    }
    fputc('\n', out);
}

static void put_events(const rb_text_t *text)
{
    const rb_result_t *r = text->result;
    if (r->nevents == 0)
        return;
    fputs("\nevents (seconds since the first start)\n", text->out);
    for (size_t i = 0; i < r->nevents && i < MAX_EVENTS_SHOWN; i++) {
        const rb_result_event_t *e = &r->events[i];
        int at = fprintf(text->out, "  %+10.3f  %s%s%s: ", (double)e->at_ns / RB_NS_PER_S,
                         e->host != NULL ? e->host : "", e->host != NULL ? " " : "", e->kind);
        put_wrapped(text->out, e->text, (size_t)RB_MAX(at, 0));
    }
    if (r->nevents > MAX_EVENTS_SHOWN)
        fprintf(text->out, "  and %zu more: see result.json\n", r->nevents - MAX_EVENTS_SHOWN);
}

static void put_legend(const rb_text_t *text)
{
    if (text->has_uncertain || text->has_censored || text->has_closed_loop)
        fputc('\n', text->out);
    if (text->has_uncertain)
        fputs("~ uncertain: fewer than 10 operations beyond it\n", text->out);
    if (text->has_censored)
        fputs("> censored: operations in flight at the end could raise it\n", text->out);
    if (text->has_closed_loop)
        fputs("closed loop: response not free of coordinated omission\n", text->out);
}

int rb_report_text(FILE *out, const rb_result_t *result, const rb_report_opts_t *opts,
                   rb_err_t *err)
{
    rb_text_t text = {.out = out,
                      .result = result,
                      .units = opts->units,
                      .quantiles = opts->quantiles ? opts->quantiles : DEFAULT_QUANTILES};
    errno = 0;
    put_run(&text);
    for (size_t i = 0; i < result->nprepares; i++)
        put_prepare(&text, &result->prepares[i]);
    for (size_t i = 0; i < result->nphases; i++)
        rb_text_phase(&text, &result->phases[i]);
    put_events(&text);
    put_legend(&text);
    if (fflush(out) != 0 || ferror(out))
        return rb_err_errno(err, errno != 0 ? errno : EIO, "writing the result as text");
    return 0;
}
