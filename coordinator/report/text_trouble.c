#include "coordinator/report/text_parts.h"

#include <inttypes.h>

enum { MAX_LINES = 5, WORD = 64 };

/* What is told of a drive, one behind the other. */
typedef struct {
    FILE *out;
    bool any;
} list_t;

static FILE *next(list_t *list)
{
    fputs(list->any ? ", " : " ", list->out);
    list->any = true;
    return list->out;
}

static void put_warnings(list_t *list, int64_t warnings)
{
    for (size_t i = 0; i < RB_WARNINGS; i++)
        if ((warnings & rb_result_warnings[i].bit) != 0)
            fputs(rb_result_warnings[i].text, next(list));
}

static void put_drive(FILE *out, const rb_result_drive_t *d)
{
    list_t list = {.out = out};
    char link[RB_WORDS_SIZE];
    put_warnings(&list, d->warnings);
    if (d->throttled_s > 0)
        fprintf(next(&list), "slowed itself down to cool for %" PRId64 " s", d->throttled_s);
    if (d->media_errors > 0)
        fprintf(next(&list), "%" PRId64 " media errors", d->media_errors);
    if (d->used_percent > 0)
        fprintf(next(&list), "%" PRId64 " %% more of its rated life used", d->used_percent);
    if (rb_words_link(link, sizeof(link), &d->link))
        fprintf(next(&list), "PCIe link at %s", link);
}

static bool is_well(const rb_result_drive_t *d)
{
    char link[RB_WORDS_SIZE];
    return d->warnings == 0 && d->throttled_s <= 0 && d->media_errors <= 0 &&
           d->used_percent <= 0 && !rb_words_link(link, sizeof(link), &d->link);
}

void rb_text_trouble(const rb_text_t *text, const rb_result_phase_t *phase)
{
    char path[WORD], host[WORD];
    size_t n = 0;
    for (size_t h = 0; h < phase->nhosts; h++)
        for (size_t i = 0; i < phase->hosts[h].ndrives; i++) {
            const rb_result_drive_t *d = &phase->hosts[h].drives[i];
            if (is_well(d) || n++ >= MAX_LINES)
                continue;
            fprintf(text->out,
                    "  drive %s of %s:", rb_words_clean(path, sizeof(path), d->end->path),
                    rb_words_clean(host, sizeof(host), phase->hosts[h].name));
            put_drive(text->out, d);
            fputc('\n', text->out);
        }
    if (n > MAX_LINES)
        fprintf(text->out, "  and %zu more such drives: see result.json\n", n - MAX_LINES);
}
