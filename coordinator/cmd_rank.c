#include "coordinator/cmd.h"
#include "coordinator/playback.h"
#include "coordinator/reference/rank_show.h"

static int show_specs(const rb_options_t *options, const rb_reference_t *reference, rb_err_t *err)
{
    if (options->nargs != 2)
        return rb_err_set(err, RB_ERR_INPUT, "--specs compares two drives: rank --specs A B");
    const rb_reference_drive_t *a = rb_reference_find(reference, options->args[0], err);
    const rb_reference_drive_t *b =
        a != NULL ? rb_reference_find(reference, options->args[1], err) : NULL;
    return b != NULL ? rb_specs_show(stdout, a, b, options, err) : -1;
}

static int show_run(const rb_options_t *options, const rb_reference_t *reference, rb_err_t *err)
{
    if (options->nargs != 1)
        return rb_err_set(err, RB_ERR_INPUT, "rank takes one RUN, or --specs and two drives");
    RB_AUTO(rb_playback_close) rb_playback_t *playback = rb_playback_open(options->args[0], err);
    if (playback == NULL || rb_playback_next(playback, err) != 0)
        return -1;
    RB_AUTO(rb_result_destroy) rb_result_t *result = rb_result_new(playback->fold, err);
    if (result == NULL)
        return -1;
    RB_AUTO(rb_ranking_destroy) rb_ranking_t *ranking = rb_ranking_new(result, reference);
    return rb_rank_show(stdout, ranking, options, err);
}

int cmd_rank(const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_reference_destroy) rb_reference_t *reference = rb_reference_new();
    if (options->format != RB_FORMAT_TEXT && options->format != RB_FORMAT_JSON) {
        rb_err_set(err, RB_ERR_INPUT, "--format: ranks are text or json");
        return RB_ERR_INPUT;
    }
    int rc =
        options->specs ? show_specs(options, reference, err) : show_run(options, reference, err);
    return rc == 0 ? RB_OK : (int)err->code;
}
