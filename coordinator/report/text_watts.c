#include "coordinator/report/text_parts.h"

enum { MAX_LINES = 8, WORD = 64 };

static void put_line(const rb_text_t *text, const rb_result_phase_t *phase,
                     const rb_result_watts_t *w)
{
    char host[WORD];
    fprintf(text->out, "  power: %s of %s: %.1f W", rb_power_scopes[w->scope],
            w->host != NULL ? rb_words_clean(host, sizeof(host), w->host) : "all hosts", w->watts);
    if (w->nsummed > 0)
        fprintf(text->out, " (sum of %zu)", w->nsummed);
    if (w->seconds > 0)
        fprintf(text->out, ", %.1f J", w->joules);
    fprintf(text->out, " (%zu %s, %.0f %% of the time)", w->nreadings,
            w->nreadings == 1 ? "reading" : "readings", 100 * w->seconds / phase->seconds);
    if (w->has_rates)
        fprintf(text->out, ": %.1f IOPS/W, %.2f %s per W", w->iops_per_watt,
                rb_text_mega(text, w->bytes_per_s_per_watt), rb_text_mega_unit(text));
    fputc('\n', text->out);
}

/* All together before the hosts. */
void rb_text_watts(const rb_text_t *text, const rb_result_phase_t *phase)
{
    size_t shown = 0;
    for (int alone = 0; alone < 2; alone++)
        for (size_t i = 0; i < phase->nwatts; i++)
            if ((phase->watts[i].host != NULL) == (alone == 1) && shown++ < MAX_LINES)
                put_line(text, phase, &phase->watts[i]);
    if (shown > MAX_LINES)
        fprintf(text->out, "  and %zu more readings of power: see result.json\n",
                shown - MAX_LINES);
}
