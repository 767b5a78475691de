#include "coordinator/report/text_parts.h"

enum { MAX_DRIVES_SHOWN = 5 };

static void put_drive(const rb_text_t *text, const rb_steady_drive_t *d)
{
    char host[RB_WORDS_SIZE], path[RB_WORDS_SIZE];
    rb_words_clean(host, sizeof(host), rb_fold_host_name(text->result->fold, d->host));
    rb_words_clean(path, sizeof(path), d->path);
    if (d->fit.mean > 0)
        fprintf(text->out, "    %.40s %.60s: range %.1f %%, excursion %.1f %% of the mean\n", host,
                path, d->fit.range * 100, d->fit.excursion * 100);
    else
        fprintf(text->out, "    %.40s %.60s: not known\n", host, path);
}

void rb_text_steady(const rb_text_t *text, const rb_result_phase_t *p)
{
    const rb_steady_t *s = p->steady;
    char round[RB_FMT_SIZE], metric[RB_WORDS_SIZE];
    size_t latched = 0, held = 0, shown = 0;
    double range = 0, excursion = 0;
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->ndrives; i++) {
        latched += s->drives[i].latched > 0;
        held += s->drives[i].fit.holds;
        range = RB_MAX(range, s->drives[i].fit.range);
        excursion = RB_MAX(excursion, s->drives[i].fit.excursion);
    }
    RB_AUTO(rb_free_str)
    char *words = rb_asprintf(
        "steady state of %s: %s; %zu of %zu drive%s by round %u of at most %u "
        "(%s each); figures are "
        "of rounds %u to %u, in which %zu hold it (range at most %.1f %%, "
        "excursion of the line at most %.1f %% of the mean)",
        rb_words_clean(metric, sizeof(metric), s->as->metric),
        s->reached ? "reached" : "not reached", latched, s->ndrives, s->ndrives == 1 ? "" : "s",
        s->last, s->as->max, rb_fmt_duration(round, sizeof(round), s->as->round_ns), s->first,
        s->last, held, range * 100, excursion * 100);
    fputs("  ", text->out);
    rb_text_wrapped(text->out, words, 2);
    for (size_t i = 0; i < s->ndrives && shown < MAX_DRIVES_SHOWN; i++)
        if (s->drives[i].latched == 0) {
            put_drive(text, &s->drives[i]);
            shown++;
        }
    if (s->ndrives - latched > shown)
        fprintf(text->out, "    and %zu more: see result.json\n", s->ndrives - latched - shown);
}
