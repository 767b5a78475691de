#include "coordinator/report/text_parts.h"

#include <errno.h>

#define DEFAULT_QUANTILES 0x3bu /* p50 p90 p99 p99.9 p99.99 */

enum { MAX_EVENTS_SHOWN = 30, MAX_NAMES_SHOWN = 30, MAX_COLUMNS = 100, INDENT = 14 };

double rb_text_mega(const rb_text_t *text, double bytes)
{
    return bytes / rb_units_mega_bytes(text->units);
}

rb_text_rates_t rb_text_rates(const rb_stats_t *stats)
{
    rb_text_rates_t rates = {0};
    for (int op = RB_OP_READ; op <= RB_OP_TRIM; op++) {
        rates.iops += stats->op[op].iops;
        rates.bytes_per_s += stats->op[op].bytes_per_s;
    }
    return rates;
}

const char *rb_text_mega_unit(const rb_text_t *text)
{
    return rb_units_mega_per_s(text->units);
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

/* "4 hosts", or "4 of 5 hosts" where one never came. */
static const char *hosts_of(char buf[RB_FMT_SIZE], const rb_fold_t *fold)
{
    size_t all = 0, came = 0;
    for (size_t i = 0; i < fold->nhosts; i++) {
        const rb_fold_host_t *host = &fold->hosts[i];
        all += host->row.kind == RB_ROW_HOST;
        came += host->inventory != NULL || host->seq > 0;
    }
    if (came == all)
        snprintf(buf, RB_FMT_SIZE, "%zu %s", all, all == 1 ? "host" : "hosts");
    else
        snprintf(buf, RB_FMT_SIZE, "%zu of %zu hosts", came, all);
    return buf;
}

static void put_run(const rb_text_t *text)
{
    const rb_result_t *r = text->result;
    char name[RB_WORDS_SIZE], id[RB_WORDS_SIZE], word[RB_WORDS_SIZE];
    const char *lead = ", marks: ";
    char hosts[RB_FMT_SIZE];
    fprintf(text->out, "%s (%s): %s", rb_words_clean(name, sizeof(name), r->name),
            rb_words_clean(id, sizeof(id), r->id), hosts_of(hosts, r->fold));
    if (r->seconds > 0)
        fprintf(text->out, ", %.1f s", r->seconds);
    fprintf(text->out, ", %s", rb_words_clean(word, sizeof(word), r->status));
    for (size_t i = 0; i < r->nmarks; i++) {
        if (strcmp(r->marks[i], r->status) == 0)
            continue; /* "truncated" is both */
        fprintf(text->out, "%s%s", lead, rb_words_clean(word, sizeof(word), r->marks[i]));
        lead = " ";
    }
    fputc('\n', text->out);
    const rb_row_run_end_t *end = &r->fold->end_row.run_end;
    if (r->fold->end_row.kind != RB_ROW_RUN_END || end->text[0] == '\0')
        return;
    fputs("  ", text->out);
    rb_text_wrapped(text->out, end->text, 2);
}

static void put_prepare(rb_text_t *text, const rb_result_phase_t *p)
{
    char bytes[RB_FMT_SIZE], name[RB_WORDS_SIZE];
    const rb_op_stats_t *w = &p->cluster.op[RB_OP_WRITE];
    fprintf(text->out, "\nlaid out for %.40s: %u %s, %s in %.1f s (%.1f %s)",
            rb_words_clean(name, sizeof(name), p->name), p->laid_out,
            p->laid_out == 1 ? "file" : "files", rb_fmt_bytes(bytes, sizeof(bytes), w->bytes),
            p->seconds, rb_text_mega(text, w->bytes_per_s), rb_text_mega_unit(text));
    if (p->reused > 0)
        fprintf(text->out, "; %u reused", p->reused);
    fputc('\n', text->out);
}

static void put_fill(rb_text_t *text, const rb_result_phase_t *p)
{
    char bytes[RB_FMT_SIZE], name[RB_WORDS_SIZE], p99[RB_FMT_SIZE + 2];
    const rb_op_stats_t *op = &p->cluster.op[p->discards ? RB_OP_TRIM : RB_OP_WRITE];
    double rate = p->to_last_seconds > 0 ? (double)p->to_last.bytes / p->to_last_seconds : 0;
    RB_AUTO(rb_free_str)
    char *words = rb_asprintf(
        "%s for %.40s: %u pass%s, %s in %.1f s (%.1f %s, p99 %s)",
        p->discards ? "discarded" : "filled", rb_words_clean(name, sizeof(name), p->name),
        p->passes, p->passes == 1 ? "" : "es", rb_fmt_bytes(bytes, sizeof(bytes), p->to_last.bytes),
        p->to_last_seconds, rb_text_mega(text, rate), rb_text_mega_unit(text),
        rb_text_quantile(text, p99, &op->response, RB_P99));
    fprintf(text->out, "\n%s", words);
    for (size_t i = 0; i < p->nmarks; i++)
        fprintf(text->out, "%s%s", i == 0 ? "; marks: " : " ", p->marks[i]);
    fputc('\n', text->out);
}

void rb_text_wrapped(FILE *out, const char *text, size_t at)
{
    size_t size = strlen(text) + 1;
    RB_AUTO(rb_free_str) char *copy = rb_calloc(1, size);
    const char *words = rb_words_clean(copy, size, text);
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

/* "a, b and 7 more". */
static char *joined(char *const *names, size_t n)
{
    char *list = rb_strdup("");
    for (size_t i = 0; i < n && i < MAX_NAMES_SHOWN; i++) {
        char *longer = rb_asprintf("%s%s%.40s", list, i > 0 ? ", " : "", names[i]);
        free(list);
        list = longer;
    }
    if (n <= MAX_NAMES_SHOWN)
        return list;
    char *longer = rb_asprintf("%s and %zu more", list, n - MAX_NAMES_SHOWN);
    free(list);
    return longer;
}

static void put_not_run(const rb_text_t *text)
{
    const rb_result_t *r = text->result;
    if (r->nnot_run == 0 || strcmp(r->status, "done") == 0)
        return;
    RB_AUTO(rb_free_str) char *names = joined(r->not_run, r->nnot_run);
    fputs("\nnot run: ", text->out);
    rb_text_wrapped(text->out, names, strlen("not run: "));
}

static void put_events(const rb_text_t *text)
{
    const rb_result_t *r = text->result;
    char host[RB_WORDS_SIZE], kind[RB_WORDS_SIZE];
    if (r->nevents == 0)
        return;
    fputs("\nevents (seconds since the first start)\n", text->out);
    for (size_t i = 0; i < r->nevents && i < MAX_EVENTS_SHOWN; i++) {
        const rb_result_event_t *e = &r->events[i];
        rb_words_clean(host, sizeof(host), e->host != NULL ? e->host : "");
        int at = fprintf(text->out, "  %+10.3f  %s%s%s: ", (double)e->at_ns / RB_NS_PER_S, host,
                         e->host != NULL ? " " : "", rb_words_clean(kind, sizeof(kind), e->kind));
        rb_text_wrapped(text->out, e->text, (size_t)RB_MAX(at, 0));
    }
    if (r->nevents > MAX_EVENTS_SHOWN)
        fprintf(text->out, "  and %zu more: see result.json\n", r->nevents - MAX_EVENTS_SHOWN);
}

/* Is it shown in full, or the first of a sweep's table? */
static bool is_told(const rb_result_t *r, size_t phase)
{
    for (size_t i = 0; i < r->nsweeps; i++)
        if (r->sweeps[i].first == phase)
            return true;
    return rb_text_shows_phase(r, phase);
}

static void put_closed(const rb_text_t *text)
{
    const rb_result_t *r = text->result;
    char **closed = rb_calloc(r->nphases + 1, sizeof(*closed));
    size_t n = 0, shown = 0;
    for (size_t i = 0; i < r->nphases; i++) {
        bool is_shown = is_told(r, i);
        shown += is_shown;
        if (is_shown && r->phases[i].closed_loop)
            closed[n++] = (char *)(uintptr_t)r->phases[i].name;
    }
    RB_AUTO(rb_free_str) char *names = joined(closed, n);
    RB_AUTO(rb_free_str)
    char *words =
        n == shown
            ? rb_strdup("closed loop: response not free of coordinated omission")
            : rb_asprintf("closed loop (%s): response not free of coordinated omission", names);
    free(closed);
    if (n > 0)
        rb_text_wrapped(text->out, words, 0);
}

static void put_legend(const rb_text_t *text)
{
    bool has_closed = false;
    for (size_t i = 0; i < text->result->nphases; i++)
        has_closed |= text->result->phases[i].closed_loop && is_told(text->result, i);
    if (text->has_uncertain || text->has_censored || has_closed)
        fputc('\n', text->out);
    if (text->has_uncertain)
        fputs("~ uncertain: fewer than 10 operations beyond it\n", text->out);
    if (text->has_censored)
        fputs("> censored: operations in flight at the end could raise it\n", text->out);
    put_closed(text);
}

/* The table of a search stands before its best step, that of a sweep for all its points. */
static void put_phases(rb_text_t *text)
{
    const rb_result_t *r = text->result;
    for (size_t i = 0; i < r->nphases; i++) {
        for (size_t s = 0; s < r->nsearches; s++)
            if (r->searches[s].steps[0].phase == i)
                rb_text_search(text, &r->searches[s]);
        for (size_t s = 0; s < r->nsweeps; s++)
            if (r->sweeps[s].first == i)
                rb_text_sweep(text, &r->sweeps[s]);
        if (rb_text_shows_phase(r, i))
            rb_text_phase(text, &r->phases[i]);
    }
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
    rb_text_drives(&text);
    for (size_t i = 0; i < result->nprepares; i++)
        (result->prepares[i].passes > 0 ? put_fill : put_prepare)(&text, &result->prepares[i]);
    put_phases(&text);
    put_not_run(&text);
    put_events(&text);
    put_legend(&text);
    if (fflush(out) != 0 || ferror(out))
        return rb_err_errno(err, errno != 0 ? errno : EIO, "writing the result as text");
    return 0;
}
