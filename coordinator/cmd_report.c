#include "coordinator/cmd.h"
#include "coordinator/journal.h"
#include "coordinator/report/report.h"
#include "coordinator/run_dir.h"

#include <signal.h>

static int fold_record(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    return rb_fold_row(ctx, host, data, size, err);
}

static int fold_journal(rb_fold_t *fold, const char *run, bool *ret_damaged, rb_err_t *err)
{
    rb_journal_info_t info;
    RB_AUTO(rb_free_str) char *directory = rb_run_dir_find(run, err);
    if (directory == NULL)
        return -1;
    RB_AUTO(rb_free_str) char *path = rb_run_dir_path(directory, "journal.rbj");
    if (rb_journal_read(path, fold_record, fold, &info, err) != 0)
        return -1;
    if (info.corrupt)
        *ret_damaged = true;
    if (info.torn_bytes > 0)
        fprintf(stderr, "rackbench: %s: %s; the last %llu bytes were left out\n", path,
                info.corrupt ? "a record is damaged, and rows behind a gap cannot be used"
                             : "it ends in an unfinished record",
                (unsigned long long)info.torn_bytes);
    return 0;
}

int cmd_report(const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_fold_destroy) rb_fold_t *fold = rb_fold_new();
    RB_AUTO(rb_result_destroy) rb_result_t *result = NULL;
    bool damaged = false;
    signal(SIGPIPE, SIG_DFL); /* `report | head` is no error */
    if (fold_journal(fold, options->args[0], &damaged, err) == 0)
        result = rb_result_new(fold, err);
    if (result == NULL) /* whatever is wrong with the journal, it is what we were given */
        return RB_ERR_INPUT;
    if (rb_report(stdout, result, options, err) != 0)
        return (int)err->code;
    return damaged ? RB_ERR_INPUT : RB_OK;
}
