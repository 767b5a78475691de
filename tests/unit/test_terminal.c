/* test_terminal.c - the live line: plain, on a terminal, quiet, and as JSON lines. */
#include "tests/unit/fold_rows.h"

#include "coordinator/live/terminal.h"
#include "coordinator/report/json_lines.h"

typedef struct {
    char *text;
    size_t size;
    FILE *out;
    rb_live_t *live;
} screen_t;

static void open_screen(screen_t *s, rb_live_mode_t mode)
{
    s->out = open_memstream(&s->text, &s->size);
    s->live = rb_live_new(s->out, mode, RB_UNITS_BINARY);
}

static void close_screen(screen_t *s)
{
    rb_live_destroy(&s->live);
    fclose(s->out);
    free(s->text);
}

static void feed_two_windows(feed_t *feed)
{
    feed_begin(feed, feed_job(0, 20 * S, 0), 1);
    feed_reads(feed, 1, 0, 100, false);
    feed_reads(feed, 1, 1, 2560, false);
}

static rb_live_state_t running(const rb_fold_t *fold)
{
    return (rb_live_state_t){.word = "",
                             .phase = "one",
                             .phase_number = 1,
                             .phases = 2,
                             .elapsed_ns = 9500 * MS,
                             .total_ns = 20 * S,
                             .hosts_ready = 1,
                             .hosts = 1,
                             .fold = fold};
}

static void a_line_tells_progress_and_figures(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(close_screen) screen_t s = {0};
    feed_two_windows(&feed);
    open_screen(&s, RB_LIVE_PLAIN);
    rb_live_state_t live = running(feed.fold);
    rb_live_update(s.live, &live);
    rb_live_update(s.live, &live); /* nothing new: no second line */
    rb_live_end(s.live);
    assert_string_equal(
        s.text, "one 1/2 [####......] 11s left  2.56k IOPS  10.0 MiB/s  p99 2.00 ms  1/1 hosts\n");
}

static void where_nothing_completed_there_is_no_p99(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(close_screen) screen_t s = {0};
    feed_begin(&feed, feed_job(0, 20 * S, 0), 1);
    feed_window(&feed, 1, (feed_window_t){.part = RB_PART_MAIN, .inflight = 4});
    open_screen(&s, RB_LIVE_PLAIN);
    rb_live_state_t live = running(feed.fold);
    rb_live_update(s.live, &live);
    rb_live_end(s.live);
    assert_non_null(strstr(s.text, "  0 IOPS  0.0 MiB/s  p99 -  1/1 hosts\n"));
}

static void a_layout_tells_bytes(void **state)
{
    (void)state;
    RB_AUTO(close_screen) screen_t s = {0};
    open_screen(&s, RB_LIVE_PLAIN);
    rb_live_update(s.live, &(rb_live_state_t){.word = "connecting", .hosts_ready = 3, .hosts = 4});
    rb_live_update(s.live, &(rb_live_state_t){.word = "laying out",
                                              .done_bytes = RB_GIB,
                                              .total_bytes = 4 * RB_GIB,
                                              .hosts_ready = 4,
                                              .hosts = 4});
    assert_string_equal(s.text, "connecting  3/4 hosts\n"
                                "laying out [##........] 1 GiB of 4 GiB  4/4 hosts\n");
}

/* Of a fill the end is known by bytes, at the pace so far: 3 GiB more take 3 times as long. */
static void a_fill_tells_what_is_left(void **state)
{
    (void)state;
    RB_AUTO(close_screen) screen_t s = {0};
    open_screen(&s, RB_LIVE_PLAIN);
    rb_live_update(s.live, &(rb_live_state_t){.word = "filling",
                                              .elapsed_ns = 9500 * MS,
                                              .done_bytes = RB_GIB,
                                              .total_bytes = 4 * RB_GIB,
                                              .hosts_ready = 4,
                                              .hosts = 4});
    assert_string_equal(s.text, "filling [##........] 1 GiB of 4 GiB, 29s left  4/4 hosts\n");
}

static void a_terminal_line_is_rewritten_and_cleared(void **state)
{
    (void)state;
    RB_AUTO(close_screen) screen_t s = {0};
    setenv("NO_COLOR", "1", 1);
    open_screen(&s, RB_LIVE_TTY);
    unsetenv("NO_COLOR");
    rb_live_update(s.live, &(rb_live_state_t){.word = "connecting", .hosts = 4});
    rb_live_end(s.live);
    assert_string_equal(s.text, "\r\033[Kconnecting  0/4 hosts\r\033[K");
}

static void quiet_says_nothing(void **state)
{
    (void)state;
    RB_AUTO(close_screen) screen_t s = {0};
    open_screen(&s, RB_LIVE_QUIET);
    rb_live_update(s.live, &(rb_live_state_t){.word = "connecting"});
    rb_live_end(s.live);
    assert_int_equal(s.size, 0);
}

static size_t count(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        n++;
    return n;
}

/* Each window once, also the last ones, which become final when the phase is over. */
static void json_lines_tell_each_window_and_event_once(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(close_screen) screen_t s = {0};
    rb_row_note_t note = {.at_ns = 1, .kind = (char *)"k", .text = (char *)"t"};
    feed_two_windows(&feed);
    open_screen(&s, RB_LIVE_JSON_LINES);
    rb_live_state_t live = running(feed.fold);
    rb_live_update(s.live, &live);
    assert_int_equal(count(s.text, "\"type\":\"window\""), 1);
    assert_non_null(strstr(
        s.text, "\"phase\":\"one\",\"wall_ns\":1010000000000,\"at_ns\":0,\"length_ns\":1000000000,"
                "\"ramp\":false,\"read\":{\"ops\":100,"));
    feed_row(&feed, 0, (rb_row_t){.kind = RB_ROW_NOTE, .note = note});
    feed_end(&feed, INT64_MAX, 0);
    feed_start(&feed, 1, 1);
    live.phase_index = 1;
    rb_live_update(s.live, &live);
    rb_live_update(s.live, &live);
    assert_int_equal(count(s.text, "\"type\":\"window\""), 2);
    rb_cell_t cell = {.ops = 7};
    rb_row_window_t window = {.phase = 1, .part = RB_PART_MAIN, .span = 1, .ncells = 1};
    window.cells = &cell;
    for (window.index = 0; window.index < 3; window.index++)
        feed_row(&feed, 1, (rb_row_t){.kind = RB_ROW_WINDOW, .window = window});
    rb_live_update(s.live, &live);
    assert_int_equal(count(s.text, "\"type\":\"window\""), 4);
    assert_int_equal(count(s.text, "\"phase\":\"two\",\"wall_ns\":111"), 2);
    assert_int_equal(count(s.text, "\"type\":\"event\""), 1);
    assert_int_equal(count(s.text, "\"type\":\"state\""), 1);
    assert_int_equal(count(s.text, "\n"), 6);
}

/* Where the last window ends is told when it is known: with the work, or with a stop. */
static void the_last_window_waits_for_the_end(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(close_screen) screen_t s = {0};
    feed_begin(&feed, feed_job(0, 0, 10), 1);
    feed_reads(&feed, 1, 0, 10, true);
    feed_finished(&feed, 1, 250 * (int64_t)MS - 1);
    open_screen(&s, RB_LIVE_JSON_LINES);
    rb_live_state_t live = running(feed.fold);
    rb_live_update(s.live, &live);
    assert_int_equal(count(s.text, "\"type\":\"window\""), 0);
    feed_end(&feed, INT64_MAX, 0);
    rb_live_update(s.live, &live);
    assert_int_equal(count(s.text, "\"length_ns\":250000000,"), 1);
}

static void the_result_is_a_line_too(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(close_screen) screen_t s = {0};
    rb_err_t err = {0};
    feed_two_windows(&feed);
    feed_end(&feed, 2 * (int64_t)S, 0);
    feed_run_end(&feed, "truncated");
    RB_AUTO(rb_result_destroy) rb_result_t *result = rb_result_new(feed.fold, &err);
    open_screen(&s, RB_LIVE_JSON_LINES);
    rb_json_line_result(s.out, result, 130, "interrupted");
    assert_non_null(strstr(
        s.text, "{\"type\":\"result\",\"run\":{\"id\":\"id1\",\"name\":\"demo\","
                "\"status\":\"truncated\"},\"exit_code\":130,\"text\":\"interrupted\",\"phases\":"
                "[{\"name\":\"one\",\"cluster\":{\"read\":{\"ops\":2660,"));
    assert_int_equal(count(s.text, "\n"), 1);
}

static void a_search_tells_its_step(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(close_screen) screen_t s = {0};
    feed_two_windows(&feed);
    open_screen(&s, RB_LIVE_PLAIN);
    rb_live_state_t live = running(feed.fold);
    live.step = 1;
    rb_live_update(s.live, &live);
    live.step = 4;
    live.rate_iops = 12300;
    rb_live_update(s.live, &live);
    rb_live_end(s.live);
    assert_non_null(strstr(s.text, "one 1/2 step 1 (closed loop) [####"));
    assert_non_null(strstr(s.text, "one 1/2 step 4 at 12.3k IOPS [####"));
}

static void a_state_names_the_step(void **state)
{
    (void)state;
    RB_AUTO(feed_clear) feed_t feed = {0};
    RB_AUTO(close_screen) screen_t s = {0};
    feed_two_windows(&feed);
    open_screen(&s, RB_LIVE_JSON_LINES);
    rb_live_state_t live = running(feed.fold);
    live.word = "running";
    for (live.step = 1; live.step <= 2; live.step++) {
        rb_live_update(s.live, &live);
        rb_live_update(s.live, &live);
    }
    assert_int_equal(count(s.text, "\"type\":\"state\""), 2); /* a new step is a new state */
    assert_non_null(strstr(s.text, "\"state\":\"running\",\"phase\":\"one\",\"step\":2}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_tells_progress_and_figures),
        cmocka_unit_test(where_nothing_completed_there_is_no_p99),
        cmocka_unit_test(a_layout_tells_bytes),
        cmocka_unit_test(a_fill_tells_what_is_left),
        cmocka_unit_test(a_terminal_line_is_rewritten_and_cleared),
        cmocka_unit_test(quiet_says_nothing),
        cmocka_unit_test(json_lines_tell_each_window_and_event_once),
        cmocka_unit_test(the_last_window_waits_for_the_end),
        cmocka_unit_test(the_result_is_a_line_too),
        cmocka_unit_test(a_search_tells_its_step),
        cmocka_unit_test(a_state_names_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
