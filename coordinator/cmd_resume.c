#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/playback.h"
#include "coordinator/resume.h"
#include "coordinator/run_report.h"
#include "coordinator/task.h"

/* Agents that dial us have no address; a list wants each one's to be its own. */
static int add_host(rb_hostlist_t *list, const rb_row_reach_t *reach, rb_err_t *err)
{
    const char *colon = strrchr(reach->address, ':');
    RB_AUTO(rb_free_str)
    char *address = colon != NULL ? rb_strndup(reach->address, (size_t)(colon - reach->address))
                                  : rb_strdup("localhost");
    uint64_t port = reach->host;
    if (colon != NULL && rb_parse_count(colon + 1, &port, err) != 0)
        return -1;
    if (port > UINT16_MAX)
        return rb_err_set(err, RB_ERR_INPUT, "%s is no port", colon + 1);
    if (rb_hostlist_add(list, reach->name, address, (uint16_t)port, err) != 0)
        return -1;
    if (reach->key[0] != '\0')
        list->items[list->nitems - 1].key = rb_strdup(reach->key);
    for (size_t i = 0; i < reach->nlabels; i++) {
        RB_AUTO(rb_free_str) char *key = rb_strdup(reach->labels[i]);
        char *value = strchr(key, '=');
        if (value == NULL)
            return rb_err_set(err, RB_ERR_INPUT, "'%s' is no label", key);
        *value++ = '\0';
        if (rb_hostlist_label(list, list->nitems - 1, key, value, err) != 0)
            return -1;
    }
    return 0;
}

static rb_hostlist_t *hosts_of(const rb_fold_t *fold, rb_err_t *err)
{
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    for (size_t i = 0; i < fold->nreaches; i++)
        if (add_host(list, &fold->reaches[i], err) != 0) {
            rb_err_wrap(err, "the journal's host %zu", i + 1);
            return NULL;
        }
    return RB_MOVE(list);
}

static bool is_insecure(const rb_row_run_t *run)
{
    for (size_t i = 0; i < run->nmarks; i++)
        if (strcmp(run->marks[i], "insecure") == 0)
            return true;
    return false;
}

/* What was agreed to when the run began holds on. */
static int run_on(rb_task_opts_t *task_opts, const rb_options_t *given, rb_err_t *err)
{
    const rb_row_run_t *run = &task_opts->fold->run_row.run;
    rb_options_t options = *given;
    rb_task_t task;
    options.insecure = is_insecure(run);
    snprintf(task_opts->id, sizeof(task_opts->id), "%s", run->id);
    task_opts->goal = RB_RUN_BENCHMARK;
    task_opts->plan = task_opts->fold->plan;
    task_opts->wall_ns = run->started_wall_ns;
    int rc = rb_task_run(&task, task_opts, &options, err);
    int status = rc == 0 ? rb_task_report(&task, task_opts, &options, err) : (int)err->code;
    rb_task_clear(&task);
    return status;
}

/* Nobody is there to be asked: the result is what the journal has. */
static int fold_only(const char *directory, const rb_fold_t *fold, const rb_options_t *options,
                     rb_err_t *err)
{
    rb_err_t outcome, report_err = {0};
    bool ended = fold->end_row.kind == RB_ROW_RUN_END;
    if (ended)
        rb_err_set(&outcome, (rb_code_t)fold->end_row.run_end.exit_code, "%s",
                   fold->end_row.run_end.text);
    else
        rb_err_set(
            &outcome, RB_ERR_INTERRUPTED,
            "interrupted: the embedded agents of a --local run end with its coordinator; this "
            "is what had come from them");
    int rc = rb_run_report(directory, fold, options, &outcome, &report_err);
    *err = rc != 0 && outcome.code == RB_OK ? report_err : outcome;
    return (int)err->code;
}

/* One that was interrupted is not complete, but has ended all the same. */
static int nothing_left(const rb_row_run_end_t *end)
{
    bool done = strcmp(end->status, "done") == 0;
    fprintf(stderr, "nothing to resume: the run %s%s%s%s%s, and no host holds rows of it\n",
            done ? "is complete" : "has ended as ", done ? "" : end->status,
            end->text[0] != '\0' ? " (" : "", end->text, end->text[0] != '\0' ? ")" : "");
    return (int)end->exit_code;
}

static int resume(rb_task_opts_t *task_opts, const rb_resume_t *from, uint64_t torn_bytes,
                  const rb_options_t *options, rb_err_t *err)
{
    const rb_fold_t *fold = task_opts->fold;
    const char *listen = fold->reaches[0].listen;
    bool local = strcmp(listen, "local") == 0;
    if (from->complete != NULL && (local || !rb_resume_rows_missing(from)))
        return nothing_left(from->complete);
    if (local)
        return fold_only(task_opts->directory, fold, options, err);
    task_opts->hosts = hosts_of(fold, err);
    if (task_opts->hosts == NULL)
        return (int)err->code;
    task_opts->listen = listen[0] != '\0' ? listen : NULL;
    task_opts->resume = from;
    if (torn_bytes > 0)
        fprintf(stderr,
                "rackbench: %s/journal.rbj ends in an unfinished record: its %llu bytes are cut\n",
                task_opts->directory, (unsigned long long)torn_bytes);
    return run_on(task_opts, options, err);
}

int cmd_resume(const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_fold_destroy) rb_fold_t *fold = rb_fold_new();
    rb_journal_info_t info;
    RB_AUTO(rb_free_str) char *directory = rb_run_dir_find(options->args[0], err);
    if (directory == NULL)
        return (int)err->code;
    RB_AUTO(rb_free_str) char *path = rb_run_dir_path(directory, "journal.rbj");
    rb_task_opts_t task_opts = {.directory = directory, .fold = fold};
    RB_AUTO(rb_journal_destroy)
    rb_journal_t *journal = rb_journal_resume(path, rb_playback_record, fold, &info, err);
    if (journal == NULL)
        return (int)err->code;
    if (fold->nreaches == 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "journal %s: it does not say how the hosts are reached; runs of this "
                          "version do",
                          path),
               RB_ERR_INPUT;
    RB_AUTO(rb_resume_destroy) rb_resume_t *from = rb_resume_new(fold, fold->nreaches);
    from->journal_bytes = info.end_bytes;
    task_opts.journal = journal;
    return resume(&task_opts, from, info.torn_bytes, options, err);
}
