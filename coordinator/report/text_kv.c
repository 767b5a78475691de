#include "coordinator/report/text_parts.h"

static void put_quantiles(const rb_text_t *text, const rb_hist_t *h)
{
    static const double quantiles[] = {0.5, 0.95, 0.99, 0.999};
    char ns[RB_FMT_SIZE], cell[RB_FMT_SIZE + 2];
    for (size_t i = 0; i < RB_LEN(quantiles); i++) {
        bool uncertain = (double)h->count * (1 - quantiles[i]) < 10;
        snprintf(cell, sizeof(cell), "%s%s", uncertain ? "~" : "",
                 rb_fmt_ns(ns, sizeof(ns), rb_hist_quantile(h, quantiles[i])));
        fprintf(text->out, " %9s", cell);
    }
    fprintf(text->out, " %9s\n", rb_fmt_ns(ns, sizeof(ns), h->max));
}

static void put_group(const rb_text_t *text, const rb_result_kv_group_t *g)
{
    if (g->requests == 0)
        return;
    fprintf(text->out, "    %-20s %8llu", g->name, (unsigned long long)g->requests);
    put_quantiles(text, g->restore);
}

static void put_requests(rb_text_t *text, const rb_result_kv_t *kv)
{
    fprintf(text->out, "  %-22s %8s %9s %9s %9s %9s %9s\n", "restore of requests", "requests",
            "p50", "p95", "p99", "p99.9", "max");
    put_group(text, &kv->all);
    if (kv->all.requests > 0) {
        fprintf(text->out, "    %-20s %8llu", "first layer", (unsigned long long)kv->all.requests);
        put_quantiles(text, kv->all.first_layer);
        text->has_uncertain |= kv->all.requests < 10000;
    }
    for (size_t i = 0; i < kv->nclasses && kv->nclasses > 1; i++)
        put_group(text, &kv->classes[i]);
    for (size_t i = 0; i < kv->nspreads && kv->nspreads > 1; i++)
        put_group(text, &kv->spreads[i]);
    if (kv->counts.slower > 0)
        fprintf(text->out, "    %llu of them slower than computing their tokens again\n",
                (unsigned long long)kv->counts.slower);
    if (kv->counts.failed > 0)
        fprintf(text->out, "    %llu requests with a block that was wrong or could not be read\n",
                (unsigned long long)kv->counts.failed);
    uint64_t open = kv->counts.open + kv->counts.given_up;
    if (open > 0)
        fprintf(text->out, "    %llu more were not complete at the end\n",
                (unsigned long long)open);
}

static void put_hits(const rb_text_t *text, const rb_row_kv_drive_t *sum)
{
    const rb_kv_hits_t *h = &sum->planned;
    fprintf(text->out, "  hit ratio %.4f of blocks, %.4f of tokens", rb_kv_hit_ratio(h),
            rb_kv_token_ratio(h));
    if (sum->filled.references > 0)
        fprintf(text->out, "; once filled %.4f", rb_kv_hit_ratio(&sum->filled));
    fprintf(text->out, "; infinite cache %.4f\n",
            (double)sum->infinite_hits / (double)RB_MAX(h->references, 1u));
}

static void put_tier(const rb_text_t *text, const rb_result_kv_t *kv)
{
    char evicted[RB_FMT_SIZE];
    fprintf(text->out, "  restored %.1f, written %.1f %s; evicted %s",
            rb_text_mega(text, kv->restored_bytes_per_s),
            rb_text_mega(text, kv->written_bytes_per_s), rb_text_mega_unit(text),
            rb_fmt_bytes(evicted, sizeof(evicted), kv->sum.evicted_blocks * kv->sum.slot_bytes));
    fprintf(text->out, "; %llu restores waited for a write; network not modelled\n",
            (unsigned long long)kv->sum.waited_for_write);
    if (kv->sum.not_begun > 0)
        fprintf(text->out, "  %llu blocks of the trace were not done when the phase ended\n",
                (unsigned long long)kv->sum.not_begun);
}

static void put_last_hosts(const rb_text_t *text, const rb_result_kv_t *kv)
{
    uint64_t all = 0;
    char ns[RB_FMT_SIZE], name[RB_WORDS_SIZE];
    const rb_result_kv_host_t *most = NULL;
    for (size_t i = 0; i < kv->nhosts; i++) {
        all += kv->hosts[i].last;
        if (most == NULL || kv->hosts[i].last > most->last)
            most = &kv->hosts[i];
    }
    if (all == 0)
        return;
    fprintf(text->out,
            "  of %llu requests that several hosts served %.1f %% waited for %s last, by %s on "
            "average\n",
            (unsigned long long)all, 100 * (double)most->last / (double)all,
            rb_words_clean(name, sizeof(name), most->host),
            rb_fmt_ns(ns, sizeof(ns), (uint64_t)(most->late_s * 1e9)));
}

static void put_wear(const rb_text_t *text, const rb_result_kv_t *kv)
{
    char rated[RB_FMT_SIZE], day[RB_FMT_SIZE];
    if (!kv->has_endurance)
        return;
    fprintf(text->out, "  wear%s: %s a day and drive = %.2f DWPD of %s; %.0f years need ",
            kv->scale > 1 ? " at full scale" : "",
            rb_fmt_bytes(day, sizeof(day), (uint64_t)kv->wear.drive_bytes_per_day), kv->wear.dwpd,
            rb_fmt_bytes(rated, sizeof(rated), (uint64_t)kv->wear_in.rated_bytes),
            kv->wear_in.years);
    if (kv->wear.class_dwpd > 0)
        fprintf(text->out, "a %g DWPD class\n", kv->wear.class_dwpd);
    else
        fprintf(text->out, "%.1f DWPD, which no class has\n", kv->wear.dwpd_needed);
}

void rb_text_kv(rb_text_t *text, const rb_result_phase_t *phase)
{
    const rb_result_kv_t *kv = &phase->kv;
    if (!kv->present)
        return;
    if (kv->scale > 1)
        fprintf(text->out, "  SCALED: blocks and capacity are 1/%u of real ones\n", kv->scale);
    put_requests(text, kv);
    put_hits(text, &kv->sum);
    put_tier(text, kv);
    put_last_hosts(text, kv);
    put_wear(text, kv);
}
