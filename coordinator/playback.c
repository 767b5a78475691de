#include "coordinator/playback.h"

#include "coordinator/run_dir.h"

rb_playback_t *rb_playback_open(const char *run, rb_err_t *err)
{
    RB_AUTO(rb_playback_close) rb_playback_t *playback = rb_calloc(1, sizeof(*playback));
    playback->directory = rb_run_dir_find(run, err);
    if (playback->directory == NULL)
        return NULL;
    playback->path = rb_run_dir_path(playback->directory, "journal.rbj");
    playback->reader = rb_journal_open(playback->path, err);
    if (playback->reader == NULL)
        return NULL;
    playback->fold = rb_fold_new();
    return RB_MOVE(playback);
}

void rb_playback_close(rb_playback_t **playback_p)
{
    rb_playback_t *playback = *playback_p;
    if (playback == NULL)
        return;
    rb_journal_close(&playback->reader);
    rb_fold_destroy(&playback->fold);
    free(playback->directory);
    free(playback->path);
    free(playback);
    *playback_p = NULL;
}

int rb_playback_record(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    return rb_fold_row(ctx, host, data, size, err);
}

int rb_playback_next(rb_playback_t *playback, rb_err_t *err)
{
    if (rb_journal_next(playback->reader, rb_playback_record, playback->fold, &playback->info,
                        err) == 0)
        return 0;
    err->code = RB_ERR_INPUT;
    return -1;
}

bool rb_playback_ended(const rb_playback_t *playback)
{
    return playback->fold->end_row.kind == RB_ROW_RUN_END;
}

bool rb_playback_live(const rb_playback_t *playback)
{
    return rb_journal_held(playback->path);
}

void rb_playback_outcome(const rb_playback_t *playback, rb_err_t *ret)
{
    const rb_row_run_end_t *end = &playback->fold->end_row.run_end;
    rb_err_set(ret, (rb_code_t)end->exit_code, "%s", end->text != NULL ? end->text : "");
}

void rb_playback_gone(const rb_playback_t *playback, rb_err_t *ret)
{
    rb_err_set(ret, RB_ERR_LOST,
               "no process writes to %s, and the end of the run is not in it: its coordinator is "
               "gone; rackbench resume takes it up again, rackbench report shows what was measured",
               playback->path);
}
