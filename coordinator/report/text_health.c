#include "coordinator/report/text_parts.h"

#include <inttypes.h>

enum { MAX_KINDS_SHOWN = 8, MAX_NAMED = 4, WORD = 64 };

/* ---- the head: which drives ---- */

/* Drives of one model and firmware. */
typedef struct {
    const char *model, *firmware;
    uint64_t size_bytes;
    size_t n;
    const char *host[MAX_NAMED], *path[MAX_NAMED]; /* the first of them */
} kind_t;

typedef struct {
    size_t nkinds, nseen;
    kind_t *kinds;
    struct {
        uint32_t host;
        const char *path, *serial;
    } * seen; /* drives that are counted already */
} kinds_t;

static bool is_new(kinds_t *k, uint32_t host, const rb_health_drive_t *drive)
{
    for (size_t i = 0; i < k->nseen; i++)
        if (k->seen[i].host == host && strcmp(k->seen[i].path, drive->path) == 0 &&
            strcmp(k->seen[i].serial, drive->serial) == 0)
            return false;
    (void)RB_PUSH(k->seen, k->nseen);
    k->seen[k->nseen - 1].host = host;
    k->seen[k->nseen - 1].path = drive->path;
    k->seen[k->nseen - 1].serial = drive->serial;
    return true;
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

static void count_drive(kinds_t *k, const rb_result_host_t *host, const rb_result_drive_t *drive)
{
    const char *model = drive->identity != NULL ? or_empty(drive->identity->model) : "";
    const char *firmware = drive->end->firmware;
    uint64_t size_bytes = drive->identity != NULL ? drive->identity->size_bytes : 0;
    kind_t *kind = NULL;
    if (!is_new(k, host->number, drive->end))
        return;
    for (size_t i = 0; i < k->nkinds && kind == NULL; i++)
        if (strcmp(k->kinds[i].model, model) == 0 && k->kinds[i].size_bytes == size_bytes &&
            strcmp(k->kinds[i].firmware, firmware) == 0)
            kind = &k->kinds[i];
    if (kind == NULL) {
        kind = RB_PUSH(k->kinds, k->nkinds);
        *kind = (kind_t){.model = model, .firmware = firmware, .size_bytes = size_bytes};
    }
    if (kind->n < MAX_NAMED) {
        kind->host[kind->n] = host->name;
        kind->path[kind->n] = drive->end->path;
    }
    kind->n++;
}

static int by_count(const void *a, const void *b)
{
    const kind_t *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    int order = strcmp(x->model, y->model);
    return order != 0 ? order : strcmp(x->firmware, y->firmware);
}

/* The few that differ from the many are named. */
static void put_kind(FILE *out, const kind_t *kind, size_t most)
{
    char size[RB_FMT_SIZE];
    fprintf(out, "%zu x %s", kind->n, kind->model[0] != '\0' ? kind->model : "(no model)");
    if (kind->size_bytes > 0)
        fprintf(out, ", %s", rb_fmt_bytes(size, sizeof(size), kind->size_bytes));
    if (kind->firmware[0] != '\0')
        fprintf(out, ", firmware %s", kind->firmware);
    for (size_t i = 0; kind->n < most && i < kind->n && i < MAX_NAMED; i++)
        fprintf(out, "%s%s of %s", i == 0 ? ": " : ", ", kind->path[i], kind->host[i]);
    if (kind->n < most && kind->n > MAX_NAMED)
        fputs(", ...", out);
}

static void put_kinds(const rb_text_t *text, const kinds_t *k)
{
    char *line = NULL;
    size_t size;
    FILE *out = open_memstream(&line, &size);
    for (size_t i = 0; i < k->nkinds && i < MAX_KINDS_SHOWN; i++) {
        fputs(i > 0 ? "; " : "", out);
        put_kind(out, &k->kinds[i], k->kinds[0].n);
    }
    if (k->nkinds > MAX_KINDS_SHOWN)
        fprintf(out, "; and %zu other kinds", k->nkinds - MAX_KINDS_SHOWN);
    fclose(out);
    fputs("drives: ", text->out);
    rb_text_wrapped(text->out, line, strlen("drives: "));
    free(line);
}

void rb_text_drives(const rb_text_t *text)
{
    kinds_t k = {0};
    for (size_t p = 0; p < text->result->nphases; p++) {
        const rb_result_phase_t *phase = &text->result->phases[p];
        for (size_t h = 0; h < phase->nhosts; h++)
            for (size_t d = 0; d < phase->hosts[h].ndrives; d++)
                count_drive(&k, &phase->hosts[h], &phase->hosts[h].drives[d]);
    }
    if (k.nkinds > 0) {
        qsort(k.kinds, k.nkinds, sizeof(*k.kinds), by_count);
        put_kinds(text, &k);
    }
    free(k.kinds);
    free(k.seen);
}

/* ---- a phase: how they were ---- */

typedef struct {
    const rb_result_host_t *host;
    const rb_result_drive_t *drive;
} place_t;

typedef struct {
    place_t hottest;
    size_t ndrives, nwaf;
    int64_t written_bytes; /* of the drives that tell, as what follows */
    uint64_t our_bytes;
    double physical_bytes, waf_bytes;
    uint64_t energy_hosts, mhz_hosts;
    double watts, mhz;
} sum_t;

static void add_drive(sum_t *sum, const rb_result_host_t *host, const rb_result_drive_t *d)
{
    const rb_result_drive_t *hottest = sum->hottest.drive;
    if (d->temperature_max != RB_HEALTH_UNKNOWN &&
        (hottest == NULL || d->temperature_max > hottest->temperature_max))
        sum->hottest = (place_t){host, d};
    if (d->written_bytes != RB_HEALTH_UNKNOWN && d->has_ours) {
        sum->ndrives++;
        sum->written_bytes += d->written_bytes;
        sum->our_bytes += d->our_written_bytes;
    }
    if (d->has_waf) {
        sum->nwaf++;
        sum->physical_bytes += d->waf * (double)d->written_bytes;
        sum->waf_bytes += (double)d->written_bytes;
    }
}

static void add_host(sum_t *sum, const rb_result_host_t *host)
{
    const rb_fold_health_t *health = host->health;
    for (size_t i = 0; i < host->ndrives; i++)
        add_drive(sum, host, &host->drives[i]);
    if (health->energy_ns > 0) {
        sum->energy_hosts++;
        sum->watts += (double)health->energy_uj * 1e3 / (double)health->energy_ns;
    }
    if (health->nmhz > 0) {
        sum->mhz_hosts++;
        sum->mhz += (double)health->mhz_sum / (double)health->nmhz;
    }
}

static void put_temperature(const rb_text_t *text, const place_t *hottest)
{
    char path[WORD], host[WORD];
    if (hottest->drive != NULL)
        fprintf(text->out, "  drives: hottest %" PRId64 " C (%s of %s)\n",
                hottest->drive->temperature_max,
                rb_words_clean(path, sizeof(path), hottest->drive->end->path),
                rb_words_clean(host, sizeof(host), hottest->host->name));
}

static void put_written(const rb_text_t *text, const sum_t *sum)
{
    char theirs[RB_FMT_SIZE], ours[RB_FMT_SIZE];
    if (sum->ndrives == 0 || (sum->written_bytes == 0 && sum->our_bytes == 0))
        return;
    fprintf(text->out, "  drives: %s written by their own count (steps of 512 kB), ours %s",
            rb_fmt_bytes(theirs, sizeof(theirs), (uint64_t)sum->written_bytes),
            rb_fmt_bytes(ours, sizeof(ours), sum->our_bytes));
    if (sum->nwaf > 0)
        fprintf(text->out, "; write amplification %.2f", sum->physical_bytes / sum->waf_bytes);
    fputc('\n', text->out);
}

static void put_processors(const rb_text_t *text, const sum_t *sum)
{
    if (sum->mhz_hosts > 0)
        fprintf(text->out, "  processors: %.0f MHz in the mean\n",
                sum->mhz / (double)sum->mhz_hosts);
    if (sum->energy_hosts > 0)
        fprintf(text->out,
                "  processors: %.1f W in all, packages of %" PRIu64 " %s alone: not drives, not "
                "chassis\n",
                sum->watts, sum->energy_hosts, sum->energy_hosts == 1 ? "host" : "hosts");
}

void rb_text_health(const rb_text_t *text, const rb_result_phase_t *phase)
{
    sum_t sum = {0};
    for (size_t i = 0; i < phase->nhosts; i++)
        add_host(&sum, &phase->hosts[i]);
    put_temperature(text, &sum.hottest);
    put_written(text, &sum);
    rb_text_trouble(text, phase);
    put_processors(text, &sum);
}
