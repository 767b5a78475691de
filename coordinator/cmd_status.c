#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/live/watch.h"
#include "coordinator/playback.h"
#include "coordinator/report/json_status.h"
#include "coordinator/report/words.h"

#include <signal.h>

enum { EVENTS_SHOWN = 5 };

static void print_phase(const rb_live_state_t *s)
{
    char name[RB_WORDS_SIZE], rate[RB_FMT_SIZE];
    if (s->phase == NULL)
        return;
    printf("phase %u of %u: %s", s->phase_number, s->phases,
           rb_words_clean(name, sizeof(name), s->phase));
    if (s->step > 0 && s->rate_iops > 0)
        printf(", step %u at %s IOPS", s->step, rb_fmt_count(rate, sizeof(rate), s->rate_iops));
    else if (s->step > 0)
        printf(", step %u (closed loop)", s->step);
    putchar('\n');
}

static void print_left(const rb_fold_t *fold, const rb_live_state_t *s, uint64_t wall_ns)
{
    char done[RB_FMT_SIZE], text[RB_FMT_SIZE];
    rb_watch_left_t left = rb_watch_left(fold, wall_ns);
    if (s->total_ns > 0)
        printf("of this phase: %s of %s\n",
               rb_fmt_duration(done, sizeof(done), s->elapsed_ns / RB_NS_PER_S * RB_NS_PER_S),
               rb_fmt_duration(text, sizeof(text), s->total_ns));
    printf("left by the plan: %s%s%s\n", left.at_most ? "at most " : "",
           rb_fmt_duration(text, sizeof(text), left.ns / RB_NS_PER_S * RB_NS_PER_S),
           left.open_end ? ", and what phases bound by bytes or operations take" : "");
}

static void print_hosts(const rb_fold_t *fold, uint64_t wall_ns)
{
    char name[RB_WORDS_SIZE], text[RB_FMT_SIZE];
    for (uint32_t host = 1; host <= fold->nhosts; host++) {
        if (fold->hosts[host - 1].row.kind != RB_ROW_HOST)
            continue;
        rb_watch_host_t h = rb_watch_host(fold, host, wall_ns);
        rb_words_clean(name, sizeof(name), rb_fold_host_name(fold, host));
        if (h.kind == RB_WATCH_LOST)
            printf("  %s lost: %s\n", name, h.why);
        else if (h.kind == RB_WATCH_SILENT)
            printf("  %s no answer: its last window ended %s ago\n", name,
                   rb_fmt_ns(text, sizeof(text), h.behind_ns));
    }
}

static void print_events(const rb_fold_t *fold)
{
    char host[RB_WORDS_SIZE], kind[RB_WORDS_SIZE], stamp[RB_STAMP_SIZE] = "";
    size_t first = fold->nevents > EVENTS_SHOWN ? fold->nevents - EVENTS_SHOWN : 0;
    if (fold->nevents > 0)
        printf("last events%s\n", first > 0 ? " (rackbench report has all)" : "");
    for (size_t i = first; i < fold->nevents; i++) {
        const rb_fold_event_t *e = &fold->events[i];
        const char *who = rb_fold_host_name(fold, e->host);
        char text[RB_WORDS_SIZE];
        uint64_t wall_ns = rb_watch_event_wall_ns(fold, e);
        if (wall_ns != 0)
            rb_words_stamp(stamp, wall_ns);
        printf("  %s%s%s%s%s: %s\n", stamp, wall_ns != 0 ? "  " : "",
               who ? rb_words_clean(host, sizeof(host), who) : "", who ? " " : "",
               rb_words_clean(kind, sizeof(kind), e->kind),
               rb_words_clean(text, sizeof(text), e->text));
    }
}

static void print_run(const rb_playback_t *playback, const char *word)
{
    char name[RB_WORDS_SIZE], id[RB_WORDS_SIZE], stamp[RB_STAMP_SIZE];
    const rb_row_run_t *run = &playback->fold->run_row.run;
    printf("%s (%s): %s\nstarted %s, run directory %s\n",
           rb_words_clean(name, sizeof(name), run->name), rb_words_clean(id, sizeof(id), run->id),
           word, rb_words_stamp(stamp, run->started_wall_ns), playback->directory);
}

static void print_all(const rb_playback_t *playback, bool alive)
{
    const rb_fold_t *fold = playback->fold;
    uint64_t wall_ns = rb_clock_wall_ns();
    rb_live_state_t state;
    bool ended = rb_playback_ended(playback);
    rb_watch_state(fold, wall_ns, &state);
    print_run(playback, ended || alive ? state.word : "its coordinator is gone");
    if (!ended)
        print_phase(&state);
    if (!ended && alive)
        print_left(fold, &state, wall_ns);
    if (ended || alive) {
        printf("hosts: %u of %u %s\n", state.hosts_ready, state.hosts,
               ended ? "to the end" : "answering");
        print_hosts(fold, wall_ns);
    }
    print_events(fold);
}

int cmd_status(const rb_options_t *options, rb_err_t *err)
{
    signal(SIGPIPE, SIG_DFL);
    if (options->format != RB_FORMAT_TEXT && options->format != RB_FORMAT_JSON)
        return rb_err_set(err, RB_ERR_INPUT, "--format: a status is text or json"), RB_ERR_INPUT;
    RB_AUTO(rb_playback_close) rb_playback_t *playback = rb_playback_open(options->args[0], err);
    if (playback == NULL)
        return (int)err->code;
    bool alive = rb_playback_live(playback);
    if (rb_playback_next(playback, err) != 0)
        return (int)err->code;
    if (playback->fold->run_row.kind != RB_ROW_RUN) {
        rb_err_set(err, alive ? RB_OK : RB_ERR_INPUT, "%s: nothing is written yet", playback->path);
        return (int)err->code;
    }
    if (options->format == RB_FORMAT_TEXT)
        print_all(playback, alive);
    else if (rb_json_status(stdout, playback, rb_clock_wall_ns(), alive, err) != 0)
        return (int)err->code;
    if (rb_playback_ended(playback))
        rb_playback_outcome(playback, err);
    else if (!alive)
        rb_playback_gone(playback, err);
    return (int)err->code;
}
