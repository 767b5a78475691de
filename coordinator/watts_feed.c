#include "coordinator/journal.h"
#include "coordinator/watts.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>

enum { MAX_ANSWER_BYTES = 1 << 20, PER_ROW = RB_MAX_ROW_WATTS };

/* ---- files ---- */

static bool is_json(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot, ".json") == 0;
}

static int read_answer(rb_watts_t *watts, FILE *in, const char *path, rb_err_t *err)
{
    struct stat st;
    RB_AUTO(rb_free_str) char *text = rb_calloc(MAX_ANSWER_BYTES + 1, 1);
    size_t size = fread(text, 1, MAX_ANSWER_BYTES + 1, in);
    if (ferror(in) || fstat(fileno(in), &st) != 0)
        return rb_err_errno(err, errno, "read %s", path);
    if (size > MAX_ANSWER_BYTES)
        return rb_err_set(err, RB_ERR_INPUT, "%s: longer than 1 MiB; no answer of Redfish is",
                          path);
    text[size] = '\0';
    uint64_t mtime_ns = (uint64_t)st.st_mtim.tv_sec * RB_NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
    return rb_watts_redfish(watts, path, text, mtime_ns, err);
}

static int read_file(rb_watts_t *watts, const char *path, rb_err_t *err)
{
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        rb_err_errno(err, errno, "open %s", path);
        err->code = RB_ERR_INPUT;
        return -1;
    }
    int rc = is_json(path) ? read_answer(watts, in, path, err) : rb_watts_csv(watts, in, path, err);
    fclose(in);
    return rc;
}

static int wants(const struct dirent *entry)
{
    return is_json(entry->d_name);
}

static int read_directory(rb_watts_t *watts, const char *path, rb_err_t *err)
{
    struct dirent **entries;
    int n = scandir(path, &entries, wants, alphasort), rc = 0;
    if (n < 0)
        return rb_err_errno(err, errno, "read %s", path);
    if (n == 0)
        rc = rb_err_set(err, RB_ERR_INPUT,
                        "%s: no *.json in it; Redfish answers are to be "
                        "called HOST.json or HOST@TIME.json",
                        path);
    for (int i = 0; i < n; i++) {
        RB_AUTO(rb_free_str) char *file = rb_asprintf("%s/%s", path, entries[i]->d_name);
        if (rc == 0)
            rc = read_file(watts, file, err);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

static int by_time(const void *a, const void *b)
{
    const rb_watts_reading_t *x = a, *y = b;
    if (x->at_wall_ns != y->at_wall_ns)
        return x->at_wall_ns < y->at_wall_ns ? -1 : 1;
    if (x->host != y->host)
        return x->host < y->host ? -1 : 1;
    return (int)x->scope - (int)y->scope;
}

/* Two meters of one thing would be taken for one that jumps. */
static int check_meters(rb_watts_t *watts, const char *path, rb_err_t *err)
{
    qsort(watts->items, watts->n, sizeof(*watts->items), by_time);
    for (size_t i = 1; i < watts->n; i++) {
        if (by_time(&watts->items[i - 1], &watts->items[i]) != 0)
            continue;
        const char *host = rb_fold_host_name(watts->fold, watts->items[i].host);
        return rb_err_set(err, RB_ERR_INPUT,
                          "%s: two readings of %s of %s at the same time (%" PRIu64
                          "); add up what several meters say",
                          path, rb_power_scopes[watts->items[i].scope], host != NULL ? host : "*",
                          (uint64_t)(watts->items[i].at_wall_ns / RB_NS_PER_S));
    }
    return 0;
}

int rb_watts_read(rb_watts_t *watts, const char *path, rb_err_t *err)
{
    struct stat st;
    bool directory = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    int rc = (directory ? read_directory : read_file)(watts, path, err);
    return rc == 0 ? check_meters(watts, path, err) : rc;
}

/* ---- rows ---- */

static int no_record(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    (void)ctx, (void)host, (void)data, (void)size, (void)err;
    return 0;
}

static int put_row(rb_fold_t *fold, rb_journal_t *journal, rb_row_watts_t readings, rb_err_t *err)
{
    rb_row_t row = {.kind = RB_ROW_WATTS, .seq = fold->seq + 1, .watts = readings};
    rb_bytes_t bytes = rb_row_pack(&row);
    int rc = journal != NULL ? rb_journal_append(journal, 0, bytes.data, bytes.size, err) : 0;
    if (rc == 0)
        rc = rb_fold_row(fold, 0, bytes.data, bytes.size, err);
    rb_bytes_clear(&bytes);
    return rc;
}

int rb_watts_feed(rb_fold_t *fold, const char *journal_path, const char *path, rb_err_t *err)
{
    RB_AUTO(rb_watts_clear) rb_watts_t watts = {.fold = fold};
    RB_AUTO(rb_journal_destroy) rb_journal_t *journal = NULL;
    rb_journal_info_t info;
    if (rb_watts_read(&watts, path, err) != 0)
        return rb_err_wrap(err, "--watts");
    if (journal_path != NULL) {
        journal = rb_journal_resume(journal_path, no_record, NULL, &info, err);
        if (journal == NULL)
            return -1;
    }
    for (size_t i = 0; i < watts.n; i += PER_ROW) {
        rb_row_watts_t part = {RB_MIN(watts.n - i, (size_t)PER_ROW), watts.items + i};
        if (put_row(fold, journal, part, err) != 0)
            return -1;
    }
    return journal != NULL ? rb_journal_sync(journal, err) : 0;
}
