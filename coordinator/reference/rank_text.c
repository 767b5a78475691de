#include "coordinator/reference/rank_parts.h"

static bool is_rate(rb_rank_kind_t kind)
{
    return kind == RB_RANK_RATE || kind == RB_RANK_PEAK;
}

static const char *value_words(char buf[RB_FMT_SIZE], bool rate, double value, rb_units_t units)
{
    if (!rate)
        return rb_fmt_ns(buf, RB_FMT_SIZE, (uint64_t)(value + 0.5));
    snprintf(buf, RB_FMT_SIZE, "%.1f %s", value / (units == RB_UNITS_BINARY ? (double)RB_MIB : 1e6),
             units == RB_UNITS_BINARY ? "MiB/s" : "MB/s");
    return buf;
}

static void put_row(FILE *out, const rb_rank_row_t *r, rb_units_t units)
{
    char value[RB_FMT_SIZE], other[RB_FMT_SIZE];
    fprintf(out, "  %-14s %3u/%-3u %-13s %12s  %zu of %zu", r->test, r->iodepth, r->numjobs,
            rb_rank_names[r->kind], value_words(value, is_rate(r->kind), r->value, units), r->rank,
            r->of);
    if (r->ahead != NULL)
        fprintf(out, "; %.1f %% to %s (%s)", rb_rank_gap(r, r->ahead_value), r->ahead->model,
                value_words(other, is_rate(r->kind), r->ahead_value, units));
    else if (r->behind != NULL)
        fprintf(out, "; %.1f %% ahead of %s (%s)", rb_rank_gap(r, r->behind_value),
                r->behind->model, value_words(other, is_rate(r->kind), r->behind_value, units));
    fputc('\n', out);
}

static void put_rating(FILE *out, const rb_rating_t *r, rb_units_t units)
{
    char value[RB_FMT_SIZE];
    fprintf(out, "  rated %s %g %s: ", r->test, r->spec->value, r->spec->unit);
    if (!r->in_grid) {
        fprintf(out, "%s\n",
                r->is_latency ? "iodepth 1, numjobs 1 is not among the points" : "not measured");
        return;
    }
    fprintf(out, "%.1f %% (%s at iodepth %u, numjobs %u%s)%s\n", 100 * r->value / r->rated,
            value_words(value, !r->is_latency, r->value, units), r->iodepth, r->numjobs,
            r->at_edge && !r->is_latency ? ", the edge of the grid" : "",
            r->is_latency ? "" : "; the rating names no point");
}

static void put_drive(FILE *out, const rb_ranked_t *d, rb_units_t units)
{
    char words[RB_WORDS_SIZE], host[RB_WORDS_SIZE], model[RB_WORDS_SIZE];
    fprintf(out, "%s on %s: %s", rb_words_clean(words, sizeof(words), d->drive),
            rb_words_clean(host, sizeof(host), d->host),
            d->model[0] != '\0' ? rb_words_clean(model, sizeof(model), d->model) : "no model");
    if (d->known != NULL)
        fprintf(out, " = %s %s %g TB of the tables\n", d->known->vendor, d->known->model,
                d->known->capacity_tb);
    else
        fputs(", not in the tables: no rating to hold it against\n", out);
    for (size_t i = 0; i < d->nrows; i++)
        put_row(out, &d->rows[i], units);
    for (size_t i = 0; i < d->nratings; i++)
        put_rating(out, &d->ratings[i], units);
    for (size_t i = 0; i < d->nreasons; i++)
        fprintf(out, "  not comparable: %s\n", d->reasons[i]);
}

void rb_rank_text(FILE *out, const rb_ranking_t *ranking, rb_units_t units)
{
    for (size_t i = 0; i < ranking->ndrives; i++)
        put_drive(out, &ranking->drives[i], units);
    if (ranking->ndrives == 0)
        fputs("nothing was measured: there is nothing to rank\n", out);
    fputs("published figures: five reviews of enterprise SSDs; their throughput is in MiB/s, "
          "ratings in MB/s\n",
          out);
}

void rb_specs_text(FILE *out, const rb_reference_drive_t *a, const rb_reference_drive_t *b)
{
    fprintf(out, "%s %s -> %s %s\n", a->vendor, a->model, b->vendor, b->model);
    for (size_t i = 0; i < a->nspecs; i++) {
        const rb_reference_spec_t *x = &a->specs[i], *y = rb_reference_spec(b, x->name);
        if (y == NULL || strcmp(x->unit, y->unit) != 0 || x->value <= 0)
            continue;
        double ratio = y->value / x->value;
        char change[RB_FMT_SIZE];
        if (ratio >= 2)
            snprintf(change, sizeof(change), "%.2f x", ratio);
        else
            snprintf(change, sizeof(change), "%+.0f %%", 100 * (ratio - 1));
        fprintf(out, "  %-28s %g -> %g %s  %s\n", x->name, x->value, y->value, x->unit, change);
    }
}
