#include "coordinator/cmd.h"
#include "coordinator/journal.h"
#include "coordinator/report/report.h"
#include "coordinator/run_dir.h"

#include <signal.h>

static int fold_record(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    return rb_fold_row(ctx, host, data, size, err);
}

static int fold_journal(rb_fold_t *fold, const char *run, rb_err_t *err)
{
    rb_journal_info_t info;
    RB_AUTO(rb_free_str) char *directory = rb_run_dir_find(run, err);
    if (directory == NULL)
        return -1;
    RB_AUTO(rb_free_str) char *path = rb_run_dir_path(directory, "journal.rbj");
    if (rb_journal_read(path, fold_record, fold, &info, err) != 0)
        return -1;
    if (info.torn_bytes > 0)
        fprintf(stderr, "rackbench: %s: the last %llu bytes are %s and were left out\n", path,
                (unsigned long long)info.torn_bytes,
                info.corrupt ? "damaged" : "an unfinished record");
    return 0;
}

int cmd_report(const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_fold_destroy) rb_fold_t *fold = rb_fold_new();
    RB_AUTO(rb_result_destroy) rb_result_t *result = NULL;
    signal(SIGPIPE, SIG_DFL); /* `report | head` is no error */
    if (fold_journal(fold, options->args[0], err) == 0)
        result = rb_result_new(fold, err);
    if (result == NULL || rb_report(stdout, result, options, err) != 0)
        return (int)err->code;
    return RB_OK;
}
