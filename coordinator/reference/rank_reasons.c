/* What makes a figure one that reviews cannot be held against. */
#include "coordinator/reference/rank.h"

#include <strings.h>

typedef struct {
    char *words;
} list_t;

static void add(list_t *list, bool applies, const char *reason)
{
    if (!applies)
        return;
    char *longer = rb_asprintf("%s%s%s", list->words, list->words[0] != '\0' ? ", " : "", reason);
    free(list->words);
    list->words = longer;
}

static bool has_run_mark(const rb_result_t *result, const char *word)
{
    for (size_t i = 0; i < result->nmarks; i++)
        if (strcmp(result->marks[i], word) == 0)
            return true;
    return false;
}

static bool begins(const char *path, const char *prefix)
{
    return strncmp(path, prefix, strlen(prefix)) == 0;
}

static bool is_emulated(const Rackbench__Drive *drive)
{
    static const char *const words[] = {"QEMU", "VMware", "VBOX", "Virtual"};
    for (size_t i = 0; drive->model != NULL && i < RB_LEN(words); i++)
        if (strcasestr(drive->model, words[i]) != NULL)
            return true;
    return false;
}

/* What it is, where it is no drive as it can be bought; NULL: it is. */
static const char *not_a_drive(const Rackbench__Drive *drive, const char *path)
{
    static const struct {
        const char *prefix, *what;
    } kinds[] = {
        {"/dev/loop", "loop device"},      {"/dev/zram", "zram"},    {"/dev/ram", "RAM disk"},
        {"/dev/nullb", "null device"},     {"/dev/md", "array"},     {"/dev/dm-", "mapped device"},
        {"/dev/mapper/", "mapped device"}, {"/dev/zd", "ZFS volume"}};
    for (size_t i = 0; i < RB_LEN(kinds); i++)
        if (begins(path, kinds[i].prefix))
            return kinds[i].what;
    if (drive == NULL)
        return begins(path, "/dev/") ? "not in the inventory" : "a file, not a drive";
    return is_emulated(drive) ? "emulated drive" : NULL;
}

/* The reviews fill each drive twice before they measure. */
static bool was_filled(const rb_result_t *result, const rb_result_phase_t *phase)
{
    for (size_t i = 0; i < result->nprepares; i++)
        if (result->prepares[i].passes > 0 && !result->prepares[i].discards &&
            result->prepares[i].index < phase->index &&
            !rb_phase_has_mark(&result->prepares[i], "truncated"))
            return true;
    return false;
}

static void add_job(list_t *list, const Rackbench__Job *job, const Rackbench__Drive *drive)
{
    add(list, job->rate_iops > 0 || job->rate_bytes > 0, "open loop");
    add(list, job->thinktime_ns > 0, "thinktime");
    add(list, job->has_direct && !job->direct, "buffered");
    add(list, job->bssplit != NULL, "bssplit");
    add(list, job->random_distribution != NULL && strcmp(job->random_distribution, "random") != 0,
        "random_distribution");
    add(list,
        drive != NULL && job->size_bytes > 0 &&
            (double)job->size_bytes < 0.9 * (double)drive->size_bytes,
        "size: not the whole drive");
}

char *rb_rank_reasons(const rb_result_t *result, const rb_result_phase_t *phase,
                      const rb_result_host_t *host, const char *path)
{
    static const char *const run_marks[] = {"scaled", "simulated"};
    static const char *const marks[] = {"truncated", "not_steady", "iowq", "batched_reap"};
    const Rackbench__Phase *run = rb_fold_plan_phase(result->fold, phase->index);
    const Rackbench__Drive *drive = rb_fold_identity(result->fold, host->number, path);
    list_t list = {rb_strdup("")};
    const char *what = not_a_drive(drive, path);
    add(&list, what != NULL, what);
    for (size_t i = 0; i < RB_LEN(run_marks); i++)
        add(&list, has_run_mark(result, run_marks[i]), run_marks[i]);
    for (size_t i = 0; i < RB_LEN(marks); i++)
        add(&list, rb_phase_has_mark(phase, marks[i]), marks[i]);
    add(&list, host->limits != 0, "client_bound");
    add(&list, host->lost, "host_lost");
    add(&list, phase->seconds <= 0, "nothing was measured");
    add(&list, phase->steady == NULL && !was_filled(result, phase),
        "not known to be steady (neither filled before nor with a steady_state)");
    add(&list, run->n_jobs != 1, "several jobs at once");
    add_job(&list, run->jobs[0], drive);
    return list.words;
}

const char *rb_rank_test(char *buf, const Rackbench__Job *job)
{
    const char *word = NULL;
    if (job->rw == RACKBENCH__RW__MODE__read)
        word = "seq_read";
    else if (job->rw == RACKBENCH__RW__MODE__write)
        word = "seq_write";
    else if (job->rw == RACKBENCH__RW__MODE__randread)
        word = "rand_read";
    else if (job->rw == RACKBENCH__RW__MODE__randwrite)
        word = "rand_write";
    if (word == NULL || job->bs_bytes % RB_KIB != 0)
        return NULL;
    snprintf(buf, RB_FMT_SIZE, "%s_%lluK", word, (unsigned long long)(job->bs_bytes / RB_KIB));
    return buf;
}
