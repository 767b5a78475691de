#include "coordinator/cmd.h"
#include "coordinator/playback.h"
#include "coordinator/report/report.h"
#include "coordinator/watts.h"

#include <signal.h>

static void tell_torn(const rb_playback_t *playback)
{
    const rb_journal_info_t *info = &playback->info;
    if (info->torn_bytes > 0)
        fprintf(stderr, "rackbench: %s: %s; the last %llu bytes were left out\n", playback->path,
                info->corrupt ? "a record is damaged, and rows behind a gap cannot be used"
                              : "it ends in an unfinished record",
                (unsigned long long)info->torn_bytes);
}

int cmd_report(const rb_options_t *options, rb_err_t *err)
{
    signal(SIGPIPE, SIG_DFL); /* `report | head` is no error */
    RB_AUTO(rb_playback_close) rb_playback_t *playback = rb_playback_open(options->args[0], err);
    if (playback == NULL || rb_playback_next(playback, err) != 0)
        return RB_ERR_INPUT;
    tell_torn(playback);
    for (size_t i = 0; i < options->nwatts; i++)
        if (rb_watts_feed(playback->fold, NULL, options->watts[i], err) != 0)
            return (int)err->code;
    RB_AUTO(rb_result_destroy) rb_result_t *result = rb_result_new(playback->fold, err);
    if (result == NULL)
        return RB_ERR_INPUT;
    if (rb_report(stdout, result, options, err) != 0)
        return (int)err->code;
    return playback->info.corrupt ? RB_ERR_INPUT : RB_OK;
}
