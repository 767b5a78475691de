#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/live/watch.h"
#include "coordinator/playback.h"
#include "coordinator/report/json_lines.h"
#include "coordinator/report/report.h"
#include "coordinator/task.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define SHOW_PERIOD_NS RB_NS_PER_S
enum { LOOK_PERIOD_MS = 100 };

typedef enum { WATCHING, ENDED, GONE, DETACHED, FAILED } end_t;

static int open_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static end_t look(rb_playback_t *playback, rb_err_t *err)
{
    bool live = rb_playback_live(playback);
    if (rb_playback_next(playback, err) != 0)
        return FAILED;
    if (rb_playback_ended(playback))
        return ENDED;
    return live ? WATCHING : GONE;
}

static end_t follow(rb_playback_t *playback, rb_live_t *live, rb_err_t *err)
{
    struct pollfd signals = {.fd = open_signals(), .events = POLLIN};
    uint64_t next_show_ns = 0;
    end_t end;
    while ((end = look(playback, err)) == WATCHING) {
        if (rb_clock_now_ns() >= next_show_ns) {
            rb_live_state_t state;
            rb_watch_state(playback->fold, rb_clock_wall_ns(), &state);
            rb_live_update(live, &state);
            next_show_ns = rb_clock_now_ns() + SHOW_PERIOD_NS;
        }
        if (poll(&signals, 1, LOOK_PERIOD_MS) > 0) {
            end = DETACHED;
            break;
        }
    }
    if (end == ENDED) { /* the last windows and events too */
        rb_live_state_t state;
        rb_watch_state(playback->fold, rb_clock_wall_ns(), &state);
        rb_live_update(live, &state);
    }
    rb_live_end(live);
    close(signals.fd);
    return end;
}

/* As `run` prints it. */
static int print_result(const rb_fold_t *fold, const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_result_destroy) rb_result_t *result = rb_result_new(fold, err);
    if (result == NULL)
        return -1;
    const rb_row_run_end_t *row = &fold->end_row.run_end;
    if (options->json_lines)
        rb_json_line_result(stdout, result, (int)row->exit_code, row->text ? row->text : "");
    else if (result->nphases > 0 || options->format != RB_FORMAT_TEXT)
        return rb_report(stdout, result, options, err);
    return 0;
}

int cmd_attach(const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_playback_close) rb_playback_t *playback = rb_playback_open(options->args[0], err);
    if (playback == NULL)
        return (int)err->code;
    RB_AUTO(rb_live_destroy)
    rb_live_t *live = rb_live_new(options->json_lines ? stdout : stderr, rb_task_live_mode(options),
                                  options->units);
    switch (follow(playback, live, err)) {
    case DETACHED:
        rb_err_set(err, RB_ERR_INTERRUPTED, "detached; the run goes on");
        break;
    case ENDED:
        if (print_result(playback->fold, options, err) == 0)
            rb_playback_outcome(playback, err);
        break;
    case GONE:
        rb_playback_gone(playback, err);
        break;
    case WATCHING:
    case FAILED:
        break;
    }
    return (int)err->code;
}
