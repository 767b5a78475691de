#include "coordinator/report/size_report.h"

int rb_report_size(FILE *out, const rb_size_t *size, rb_format_t format, rb_err_t *err)
{
    switch (format) {
    case RB_FORMAT_TEXT:
        rb_report_size_text(out, size);
        return 0;
    case RB_FORMAT_JSON:
        rb_report_size_json(out, size);
        return 0;
    case RB_FORMAT_CSV:
    case RB_FORMAT_FIO_JSON:
    case RB_FORMAT_FIO_JSON_PLUS:
        return rb_err_set(err, RB_ERR_INPUT, "--format: size has text and json");
    }
    rb_assert_failed("format is one of its values", __FILE__, __LINE__);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void print_model(FILE *out, const rb_size_t *s)
{
    char token[RB_FMT_SIZE], layer[RB_FMT_SIZE], block[RB_FMT_SIZE], io[RB_FMT_SIZE];
    const rb_kv_geometry_t *g = &s->geometry;
    fprintf(out, "model      %s, %s: a token %s; a block of %u tokens %s, %s of a layer\n",
            s->opts.model.model.name, rb_kv_dtype_word(s->opts.model.dtype),
            rb_fmt_bytes(token, sizeof(token), g->token_bytes), g->tokens_per_block,
            rb_fmt_bytes(block, sizeof(block), g->block_bytes),
            rb_fmt_bytes(layer, sizeof(layer), g->layer_bytes));
    fprintf(out, "I/O        shape %s: %u of %s for a block on a drive",
            rb_kv_shape_word(s->opts.model.shape), g->piece_ios,
            rb_fmt_bytes(io, sizeof(io), g->piece_io_bytes));
    fprintf(out, g->padding > 1 ? ", padding %.1f %%\n" : "\n", 100 * (g->padding - 1));
}

static void print_trace(FILE *out, const rb_size_t *s)
{
    const rb_trace_stats_t *t = &s->stats;
    fprintf(out, "trace      %llu requests in %.0f s, %llu references to %llu distinct blocks\n",
            (unsigned long long)t->requests, t->seconds, (unsigned long long)t->references,
            (unsigned long long)t->distinct);
    if (t->infinite_hits == 0)
        fputs("           no block comes twice: no prefix is hit\n", out);
}

static void print_hits(FILE *out, const char *name, double blocks, double tokens)
{
    fprintf(out, "  %-22s %7.4f %7.4f\n", name, blocks, tokens);
}

static void print_account(FILE *out, const char *name, const rb_kv_account_t *a)
{
    print_hits(out, name, ratio(a->gpu_hits + a->dram_hits + a->drive_hits, a->references),
               ratio(a->hit_tokens, a->input_tokens));
}

static void print_ratios(FILE *out, const rb_size_t *s)
{
    const rb_kv_account_t *a = &s->account;
    fputs("hit ratio                 blocks  tokens\n", out);
    print_account(out, "this tier, cold", a);
    if (s->filled.requests > 0)
        print_account(out, "this tier, filled", &s->filled);
    print_hits(out, "infinite", ratio(s->stats.infinite_hits, s->stats.references),
               ratio(s->stats.infinite_tokens, s->stats.input_tokens));
    if (a->gpu_hits + a->dram_hits > 0)
        fprintf(out, "  of the blocks hit, %.1f %% in gpu, %.1f %% in dram, %.1f %% on drives\n",
                100 * ratio(a->gpu_hits, a->gpu_hits + a->dram_hits + a->drive_hits),
                100 * ratio(a->dram_hits, a->gpu_hits + a->dram_hits + a->drive_hits),
                100 * ratio(a->drive_hits, a->gpu_hits + a->dram_hits + a->drive_hits));
    fputs("by capacity of one pool   blocks            hit ratio\n", out);
    for (size_t i = 0; i < s->nrows; i++) {
        char bytes[RB_FMT_SIZE];
        fprintf(out, "  %30llu %12s %7.4f\n", (unsigned long long)s->rows[i].blocks,
                rb_fmt_bytes(bytes, sizeof(bytes), s->rows[i].bytes), s->rows[i].hit_ratio);
    }
}

static void print_rates(FILE *out, const rb_size_t *s)
{
    unsigned drives = s->opts.nodes * s->opts.drives;
    fprintf(out, "needed     %.2f GB/s of reads, %.2f GB/s of writes; worst minute %.2f and %.2f\n",
            s->read_bytes_per_s / 1e9, s->write_bytes_per_s / 1e9, s->peak_read_bytes_per_s / 1e9,
            s->peak_write_bytes_per_s / 1e9);
    if (drives > 1)
        fprintf(out, "  a drive  %.3f GB/s of reads, %.3f GB/s of writes (%u nodes, %u drives)\n",
                s->read_bytes_per_s / drives / 1e9, s->write_bytes_per_s / drives / 1e9,
                s->opts.nodes, drives);
    for (size_t h = 0; s->nhosts > 1 && h < s->nhosts; h++)
        fprintf(out, "  node %-4zu %.3f GB/s of reads (%.1f %% of all), %.3f GB/s of writes\n", h,
                (double)s->hosts[h].read_bytes / s->seconds / 1e9, 100 * s->hosts[h].read_share,
                (double)s->hosts[h].written_bytes / s->seconds / 1e9);
    fprintf(out, "           %.0f tokens/s are recomputed\n", s->new_tokens_per_s);
}

static void print_wear(FILE *out, const rb_size_t *s)
{
    if (s->nwear == 0)
        fputs("endurance  drives have no capacity: give --capacity or --rated\n", out);
    for (size_t i = 0; i < s->nwear; i++) {
        const rb_size_wear_t *w = &s->wear[i];
        fprintf(out, "endurance  %-8s x%u: %.2f TB a day and drive, %.3f DWPD; ", w->name,
                w->copies, w->wear.drive_bytes_per_day / 1e12, w->wear.dwpd);
        if (w->wear.class_dwpd > 0)
            fprintf(out, "%g DWPD class for %g years%s\n", w->wear.class_dwpd, s->opts.years,
                    w->asked_for ? " (as placed)" : "");
        else
            fprintf(out, "no class lasts %g years\n", s->opts.years);
    }
}

void rb_report_size_text(FILE *out, const rb_size_t *s)
{
    print_model(out, s);
    print_trace(out, s);
    print_ratios(out, s);
    print_rates(out, s);
    print_wear(out, s);
}
