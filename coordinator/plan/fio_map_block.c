#include "coordinator/plan/fio_job.h"

#include <inttypes.h>

#include "common/bssplit.h"
#include "common/units.h"
#include "coordinator/plan/resolve.h"

enum { DEFAULT_BS = 4096 };

typedef int side_t(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line, const char *text,
                   char **ret);

static char *size_text(uint64_t bytes)
{
    char buf[RB_FMT_SIZE];
    return rb_strdup(rb_fmt_bytes_exact(buf, sizeof(buf), bytes));
}

static int one_size(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line, const char *text,
                    char **ret)
{
    uint64_t bytes = DEFAULT_BS;
    if (*text != '\0' && rb_fio_parse_number(f, job, line, text, &bytes) != 0)
        return -1;
    *ret = size_text(bytes);
    return 0;
}

/* `min-max`: fio draws multiples of min, each as often as any other. */
static int range(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line, const char *text,
                 char **ret)
{
    uint64_t min = 0, max = 0, step = 1;
    size_t split = strcspn(text, "-:");
    RB_AUTO(rb_free_str) char *low = rb_strndup(text, split);
    if (text[split] == '\0')
        return rb_fio_fail(f, line, "a range is min-max");
    if (rb_fio_parse_number(f, job, line, low, &min) != 0 ||
        rb_fio_parse_number(f, job, line, text + split + 1, &max) != 0)
        return -1;
    if (min == 0 || max < min || max % min != 0)
        return rb_fio_fail(f, line, "min-max with max a multiple of min is right");
    if (max / min > RB_MAX_BSSPLIT) {
        step = (max / min + RB_MAX_BSSPLIT - 1) / RB_MAX_BSSPLIT;
        if (rb_fio_lacks(f, line, "that is more than 64 sizes; bssplit with some of them") != 0)
            return -1;
    }
    char *list = size_text(min);
    for (uint64_t k = 1 + step; k <= max / min; k += step) {
        RB_AUTO(rb_free_str) char *before = list;
        RB_AUTO(rb_free_str) char *size = size_text(k * min);
        list = rb_asprintf("%s:%s", before, size);
    }
    *ret = list;
    return 0;
}

/* 4k/60:64k/40, with fio's units. */
static int split(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line, const char *text,
                 char **ret)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    char *rest = copy, *item;
    char *list = rb_strdup("");
    while ((item = strsep(&rest, ":")) != NULL) {
        RB_AUTO(rb_free_str) char *before = list;
        uint64_t bytes = 0;
        char *share = item, *number = strsep(&share, "/");
        list = NULL;
        if (rb_fio_parse_number(f, job, line, number, &bytes) != 0)
            return -1;
        RB_AUTO(rb_free_str) char *size = size_text(bytes);
        list = rb_asprintf("%s%s%s%s%s", before, *before ? ":" : "", size,
                           share && *share ? "/" : "", share ? share : "");
    }
    *ret = list;
    return 0;
}

/* Trims have the sizes of writes. */
static int join(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line,
                char *const sides[RB_FIO_DIRECTIONS])
{
    bool reads = rb_fio_reads(job), writes = rb_fio_writes(job), trims = rb_fio_trims(job);
    const char *change = writes ? sides[1] : sides[2], *first = reads ? sides[0] : change;
    if (writes && trims && strcmp(sides[1], sides[2]) != 0 &&
        rb_fio_lacks(f, line, "trims have the sizes of writes") != 0)
        return -1;
    bool two = reads && (writes || trims) && strcmp(sides[0], change) != 0;
    RB_AUTO(rb_free_str)
    char *both = rb_asprintf("%s%s%s", first, two ? "," : "", two ? change : "");
    bool one = strpbrk(both, ",:/") == NULL;
    return rb_fio_set_word(f, job, one ? "bs" : "bssplit", both, line);
}

static int map_sizes(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "bssplit");
    const char *texts[RB_FIO_DIRECTIONS];
    char buf[RB_MAX_FIO_VALUE + 1], *sides[RB_FIO_DIRECTIONS] = {0};
    side_t *side = split;
    if (!line) {
        line = rb_fio_last_of(job, "bs", "bsrange");
        side = line && line == rb_fio_get(job, "bsrange") ? range : one_size;
    }
    if (!line)
        return rb_fio_set_word(f, job, "bs", "4KiB", NULL);
    if (rb_fio_directions(f, line, buf, texts) != 0)
        return -1;
    int rc = 0;
    for (int i = 0; i < RB_FIO_DIRECTIONS && rc == 0; i++)
        rc = (*texts[i] ? side : one_size)(f, job, line, texts[i], &sides[i]);
    if (rc == 0)
        rc = join(f, job, line, sides);
    for (int i = 0; i < RB_FIO_DIRECTIONS; i++)
        free(sides[i]);
    return rc;
}

static int map_align(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "ba");
    const char *texts[RB_FIO_DIRECTIONS];
    char buf[RB_MAX_FIO_VALUE + 1];
    uint64_t bytes = 0;
    if (!line || rb_fio_directions(f, line, buf, texts) != 0)
        return line ? -1 : 0;
    const char *mine = rb_fio_reads(job) ? texts[0] : texts[1];
    if (rb_fio_reads(job) && rb_fio_writes(job) && strcmp(texts[0], texts[1]) != 0 &&
        rb_fio_lacks(f, line, "reads and writes are aligned alike") != 0)
        return -1;
    if (rb_fio_parse_number(f, job, line, mine, &bytes) != 0)
        return -1;
    if (rb_rw_is_sequential(job->job->rw)) {
        rb_fio_note(f, line, "left out: it is for random offsets");
        return 0;
    }
    if (bytes > 0 && bytes != job->job->bs_bytes)
        rb_fio_set(job, "blockalign", bytes, line);
    return 0;
}

/* Sizes of zoned_abs in plain bytes; all else as it is. */
static int zones(rb_fio_t *f, rb_fio_job_t *job, const rb_fio_line_t *line, char **ret)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(line->value);
    char *rest = copy, *item = strsep(&rest, ":");
    char *list = rb_strdup(item);
    while ((item = strsep(&rest, ":")) != NULL) {
        RB_AUTO(rb_free_str) char *before = list;
        uint64_t bytes = 0;
        char *size = item, *access = strsep(&size, "/");
        list = NULL;
        if (!size)
            return rb_fio_fail(f, line, "a zone is percent/size");
        if (rb_fio_parse_number(f, job, line, size, &bytes) != 0)
            return -1;
        list = rb_asprintf("%s:%s/%" PRIu64 "B", before, access, bytes);
    }
    *ret = list;
    return 0;
}

static int map_distribution(rb_fio_t *f, rb_fio_job_t *job)
{
    static const char *const defaults[][2] = {{"zipf", "zipf:1.1"}, {"pareto", "pareto:0.2"}};
    const rb_fio_line_t *line = rb_fio_get(job, "random_distribution");
    if (!line || strcmp(line->value, "random") == 0)
        return 0;
    if (rb_rw_is_sequential(job->job->rw)) {
        rb_fio_note(f, line, "left out: it is for random offsets");
        return 0;
    }
    if (strchr(line->value, ','))
        return rb_fio_fail(f, line, "reads and writes prefer the same blocks; use two jobs");
    for (size_t i = 0; i < RB_LEN(defaults); i++)
        if (strcmp(defaults[i][0], line->value) == 0)
            return rb_fio_set_word(f, job, "random_distribution", defaults[i][1], line);
    RB_AUTO(rb_free_str) char *text = NULL;
    if (strncmp(line->value, "zoned_abs:", 10) == 0 && zones(f, job, line, &text) != 0)
        return -1;
    return rb_fio_set_word(f, job, "random_distribution", text ? text : line->value, line);
}

/* fio takes each block once, unless norandommap says otherwise. */
static int map_once(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "norandommap");
    bool none = false;
    if (rb_fio_get_flag(f, job, "norandommap", &none) != 0)
        return -1;
    if (none || rb_rw_is_sequential(job->job->rw) || job->job->random_distribution)
        return 0;
    if (!job->job->bssplit && !job->job->has_blockalign_bytes) {
        rb_fio_set(job, "norandommap", 0, line);
        return 0;
    }
    const char *why = "each block once needs blocks of one size side by side: they are drawn anew "
                      "each time, as with norandommap=1";
    if (line)
        return rb_fio_lacks(f, line, "%s", why);
    rb_fio_note(f, job->head, "%s", why);
    return 0;
}

int rb_fio_map_blocks(rb_fio_t *f, rb_fio_job_t *job)
{
    if (map_sizes(f, job) != 0 || map_align(f, job) != 0 || map_distribution(f, job) != 0)
        return -1;
    return map_once(f, job);
}
