#include "coordinator/consent.h"

#include "common/units.h"
#include "coordinator/plan/resolve.h"
#include "coordinator/report/words.h"
#include "proto/select.h"

#include <signal.h>

enum { HOST, PATH, MODEL, SERIAL, SIZE, WHAT, COLUMNS };

typedef struct {
    char cell[COLUMNS][RB_WORDS_SIZE];
} line_t;

typedef struct {
    size_t nlines;
    line_t *lines; /* [nlines] */
} table_t;

/* Of a drive, all jobs together. */
typedef struct {
    uint64_t from_bytes, to_bytes;
    uint32_t modes; /* bit i: some job has rw i */
} extent_t;

static const char titles[COLUMNS][RB_WORDS_SIZE] = {"host",   "drive", "model",
                                                    "serial", "size",  "what of it"};

static bool writes(const Rackbench__Job *job, const Rackbench__Target *target)
{
    return rb_rw_writes(job->rw) && job->target && strcmp(job->target, target->name) == 0;
}

bool rb_consent_needed(const Rackbench__Plan *plan)
{
    for (size_t i = 0; i < plan->n_phases; i++)
        for (size_t k = 0; k < plan->phases[i]->n_jobs; k++)
            for (size_t t = 0; t < plan->n_targets; t++)
                if (plan->targets[t]->n_devices > 0 &&
                    writes(plan->phases[i]->jobs[k], plan->targets[t]))
                    return true;
    return false;
}

static void add_extent(extent_t *extent, const Rackbench__Job *job, uint64_t drive_bytes)
{
    uint64_t from = RB_MIN(job->offset_bytes, drive_bytes), rest = drive_bytes - from;
    uint64_t to = from + (job->has_size_bytes ? RB_MIN(job->size_bytes, rest) : rest);
    bool first = extent->modes == 0;
    extent->from_bytes = first ? from : RB_MIN(extent->from_bytes, from);
    extent->to_bytes = first ? to : RB_MAX(extent->to_bytes, to);
    extent->modes |= 1u << job->rw;
}

static extent_t extent_of(const Rackbench__Plan *plan, const rb_run_host_opts_t *host,
                          const Rackbench__Subject *subject)
{
    extent_t extent = {0};
    for (size_t i = 0; i < plan->n_phases; i++)
        for (size_t k = 0; k < plan->phases[i]->n_jobs; k++) {
            const Rackbench__Job *job = plan->phases[i]->jobs[k];
            if (writes(job, plan->targets[subject->target]) &&
                rb_job_on_host(job, host->nlabels, host->labels))
                add_extent(&extent, job, subject->size_bytes);
        }
    return extent;
}

static void put_what(char *cell, const extent_t *extent, uint64_t drive_bytes)
{
    char size[RB_FMT_SIZE], from[RB_FMT_SIZE];
    const ProtobufCEnumDescriptor *modes = &rackbench__rw__mode__descriptor;
    uint64_t bytes = extent->to_bytes - extent->from_bytes;
    size_t length =
        (size_t)(bytes == drive_bytes
                     ? snprintf(cell, RB_WORDS_SIZE, "all:")
                     : snprintf(cell, RB_WORDS_SIZE,
                                "%s from %s on:", rb_fmt_bytes(size, sizeof(size), bytes),
                                rb_fmt_bytes(from, sizeof(from), extent->from_bytes)));
    for (unsigned i = 0; i < modes->n_values; i++)
        if (extent->modes & 1u << modes->values[i].value)
            length += (size_t)snprintf(cell + length, RB_WORDS_SIZE - length, " %s",
                                       modes->values[i].name);
}

static void put(line_t *line, int column, const char *text)
{
    rb_words_clean(line->cell[column], RB_WORDS_SIZE, text && *text ? text : "-");
}

static void put_size(line_t *line, uint64_t bytes)
{
    char size[RB_FMT_SIZE];
    put(line, SIZE, rb_fmt_bytes(size, sizeof(size), bytes));
}

static void add_member(table_t *table, const Rackbench__MemberDrive *drive)
{
    line_t *line = RB_PUSH(table->lines, table->nlines);
    RB_AUTO(rb_free_str) char *path = rb_asprintf("  on %s", drive->path);
    put(line, PATH, path);
    put(line, MODEL, drive->model);
    put(line, SERIAL, drive->serial);
    put_size(line, drive->size_bytes);
}

static void add_drive(table_t *table, const char *host, const Rackbench__Subject *subject,
                      const extent_t *extent)
{
    const Rackbench__Drive *drive = subject->identity;
    line_t *line = RB_PUSH(table->lines, table->nlines);
    put(line, HOST, host);
    put(line, PATH, subject->path);
    put(line, MODEL, drive ? drive->model : NULL);
    put(line, SERIAL, !drive ? NULL : drive->serial ? drive->serial : drive->id);
    put_size(line, subject->size_bytes);
    put_what(line->cell[WHAT], extent, subject->size_bytes);
    for (size_t i = 0; drive && i < drive->n_member_drives; i++)
        add_member(table, drive->member_drives[i]);
}

static void add_host(table_t *table, const Rackbench__Plan *plan, const rb_run_host_opts_t *host,
                     const Rackbench__Loaded *loaded)
{
    for (size_t i = 0; loaded && i < loaded->n_subjects; i++) {
        const Rackbench__Subject *s = loaded->subjects[i];
        if (s->refused || plan->targets[s->target]->n_devices == 0)
            continue;
        extent_t extent = extent_of(plan, host, s);
        if (extent.modes != 0)
            add_drive(table, host->name, s, &extent);
    }
}

static void print_table(FILE *out, const table_t *table)
{
    int width[COLUMNS] = {0};
    for (size_t i = 0; i < table->nlines; i++)
        for (int c = 0; c < COLUMNS; c++)
            width[c] = RB_MAX(width[c], (int)strlen(table->lines[i].cell[c]));
    for (size_t i = 0; i < table->nlines; i++) {
        const line_t *line = &table->lines[i];
        for (int c = 0; c < WHAT; c++)
            fprintf(out, "  %-*s", width[c], line->cell[c]);
        fprintf(out, "  %s\n", line->cell[WHAT]);
    }
}

char *rb_consent_table(const rb_run_t *run, const Rackbench__Plan *plan, const rb_fleet_t *fleet)
{
    table_t table = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    RB_ASSERT(out != NULL);
    memcpy(RB_PUSH(table.lines, table.nlines)->cell, titles, sizeof(titles));
    for (size_t i = 0; i < fleet->list->nitems; i++)
        add_host(&table, plan, &fleet->hosts[i], rb_run_loaded(run, (uint32_t)i + 1));
    if (table.nlines > 1)
        print_table(out, &table);
    free(table.lines);
    RB_ASSERT(fclose(out) == 0);
    return text;
}

static void show(FILE *out, const char *table)
{
    fprintf(out, "What is on these drives will be lost:\n%s", table);
}

/* The answer without its end of line; NULL: none. Owned by the caller. */
static char *ask(FILE *tty, const char *name)
{
    char *answer = NULL;
    size_t size = 0;
    fprintf(tty, "Type the plan's name, %s, to go on: ", name);
    fflush(tty);
    if (getline(&answer, &size, tty) < 0) {
        fputc('\n', tty);
        free(answer);
        return NULL;
    }
    answer[strcspn(answer, "\n")] = '\0';
    return answer;
}

int rb_consent_ask(const char *table, const Rackbench__Plan *plan, rb_err_t *err)
{
    sigset_t interrupts, before;
    FILE *tty = fopen("/dev/tty", "r+e");
    if (tty == NULL)
        return rb_err_set(err, RB_ERR_UNSAFE, "no terminal to ask at; --yes skips the question");
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTERM);
    show(tty, table);
    sigprocmask(SIG_UNBLOCK, &interrupts, &before);
    RB_AUTO(rb_free_str) char *answer = ask(tty, plan->name);
    sigprocmask(SIG_SETMASK, &before, NULL);
    fclose(tty);
    if (answer != NULL && strcmp(answer, plan->name) == 0)
        return 0;
    return rb_err_set(err, RB_ERR_UNSAFE,
                      "not confirmed: nothing was done; --yes skips the question");
}

int rb_consent_hold(const char *table, const char *confirmed, rb_err_t *err)
{
    if (confirmed == NULL && *table != '\0')
        show(stderr, table);
    if (confirmed == NULL || strcmp(table, confirmed) == 0)
        return 0;
    return rb_err_set(err, RB_ERR_UNSAFE,
                      "the drives are not those that were confirmed; start again to see them");
}
