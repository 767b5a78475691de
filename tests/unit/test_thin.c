/* test_thin.c - windows that merge into rows of a span, and those around events that do not. */
#include "agent/thin.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

typedef struct {
    rb_thin_t *thin;
    char rows[8192]; /* "part:index+span " of each row, since the last expect */
    uint64_t nrows, ops, samples, errors, made, last_inflight;
    bool running;
    uint64_t latency_ns;
} thinned_t;

static void emit(void *ctx, rb_row_t *row)
{
    thinned_t *t = ctx;
    size_t n = strlen(t->rows);
    snprintf(t->rows + n, sizeof(t->rows) - n, "%d:%llu+%u ", (int)row->window.part,
             (unsigned long long)row->window.index, row->window.span);
    t->nrows++;
    t->running = row->window.all_running;
    for (size_t i = 0; i < row->window.ncells; i++) {
        const rb_cell_t *c = &row->window.cells[i];
        t->ops += c->ops;
        t->errors += c->errors;
        t->samples += c->response.count;
        assert_int_equal(c->service.count, c->response.count);
        t->last_inflight = c->inflight;
    }
}

/* A window of two cells: `ops` operations of drive 0, as many of drive 1. */
static void window(thinned_t *t, rb_part_t part, uint64_t index, uint64_t ops, uint64_t errors)
{
    rb_hist_t *hist = rb_hist_new();
    rb_cell_t cells[2] = {0};
    for (uint64_t i = 0; i < ops; i++)
        rb_hist_record(hist, t->latency_ns + i);
    for (uint32_t d = 0; d < 2; d++) {
        cells[d] = (rb_cell_t){.drive = d, .ops = ops, .inflight = index};
        rb_hist_to_sparse(hist, &cells[d].service);
        rb_hist_to_sparse(hist, &cells[d].response);
    }
    cells[1].errors = errors;
    rb_row_t row = {.kind = RB_ROW_WINDOW,
                    .window = {.part = part,
                               .index = index,
                               .span = 1,
                               .all_running = true,
                               .ncells = 2,
                               .cells = cells}};
    t->made += 2 * ops;
    rb_thin_window(t->thin, &row, emit, t);
    for (uint32_t d = 0; d < 2; d++) {
        rb_hist_sparse_clear(&cells[d].service);
        rb_hist_sparse_clear(&cells[d].response);
    }
    rb_hist_destroy(&hist);
}

static void windows(thinned_t *t, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++)
        window(t, RB_PART_MAIN, i, 200, 0);
}

static void expect(thinned_t *t, const char *rows)
{
    assert_string_equal(t->rows, rows);
    t->rows[0] = '\0';
}

static int set_up(void **state)
{
    thinned_t *t = rb_calloc(1, sizeof(*t));
    t->thin = rb_thin_new();
    t->latency_ns = 100000;
    *state = t;
    return 0;
}

static int tear_down(void **state)
{
    thinned_t *t = *state;
    rb_thin_end(t->thin, emit, t);
    assert_int_equal(t->ops, t->made); /* merged or not, none vanishes */
    assert_int_equal(t->samples, t->made);
    rb_thin_destroy(&t->thin);
    free(t);
    return 0;
}

static void test_span_one_goes_straight_through(void **state)
{
    thinned_t *t = *state;
    windows(t, 0, 3);
    expect(t, "2:0+1 2:1+1 2:2+1 ");
}

static void test_rows_of_a_span(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 4);
    windows(t, 2, 9); /* borders count from T0 */
    expect(t, "2:2+2 2:4+4 ");
    assert_int_equal(t->last_inflight, 7); /* as it was at the end of the row */
    windows(t, 9, 11);
    rb_thin_end(t->thin, emit, t);
    expect(t, "2:8+3 ");
    assert_int_equal(t->nrows, 3);
}

static void test_parts_do_not_mix(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 8);
    window(t, RB_PART_RAMP, 0, 10, 0);
    window(t, RB_PART_RAMP, 1, 10, 0);
    window(t, RB_PART_MAIN, 1, 10, 0); /* the ramp ended within window 1 */
    window(t, RB_PART_MAIN, 2, 10, 0);
    rb_thin_end(t->thin, emit, t);
    expect(t, "1:0+2 2:1+2 ");
}

static void test_span_changes(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 2);
    windows(t, 0, 3);
    rb_thin_set_span(t->thin, 8);
    windows(t, 3, 9);
    expect(t, "2:0+2 2:2+6 ");
    rb_thin_set_span(t->thin, 1);
    windows(t, 9, 10);
    expect(t, "2:8+1 2:9+1 ");
}

/* The windows before an error, and those behind it. */
static void test_full_resolution_around_an_error(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 16);
    windows(t, 0, 19);
    expect(t, "2:0+16 ");
    window(t, RB_PART_MAIN, 19, 200, 1);
    expect(t, "2:16+1 2:17+1 2:18+1 2:19+1 ");
    assert_int_equal(t->errors, 1);
    uint64_t rows = t->nrows;
    windows(t, 20, 19 + RB_THIN_AFTER);
    assert_int_equal(t->nrows, rows + RB_THIN_AFTER - 1);
    t->rows[0] = '\0';
    windows(t, 19 + RB_THIN_AFTER, 64);
    expect(t, "2:49+15 ");
}

static void test_full_resolution_around_a_jump(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 16);
    windows(t, 0, 18);
    t->rows[0] = '\0';
    t->latency_ns *= 5;
    windows(t, 18, 19);
    expect(t, "2:16+1 2:17+1 2:18+1 ");
}

static void test_less_room_ends_full_resolution(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 4);
    rb_thin_event(t->thin, emit, t);
    windows(t, 0, 2);
    rb_thin_set_span(t->thin, 8);
    windows(t, 2, 9);
    expect(t, "2:0+1 2:1+1 2:2+6 ");
}

static void test_an_event_of_the_engine(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 16);
    windows(t, 0, 2);
    rb_thin_event(t->thin, emit, t);
    windows(t, 2, 4);
    expect(t, "2:0+1 2:1+1 2:2+1 2:3+1 ");
}

/* Errors in every window: full resolution at most doubles the rows. */
static void test_errors_without_end(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 64);
    for (uint64_t i = 0; i < 64 * 500; i++)
        window(t, RB_PART_MAIN, i, 1, 1);
    assert_true(t->nrows > 500);
    assert_true(t->nrows <= 2 * 500 + RB_THIN_HELD + RB_THIN_AFTER);
}

/* More than can be held apart: the oldest merge, the last RB_THIN_HELD stay. */
static void test_long_span(void **state)
{
    thinned_t *t = *state;
    rb_thin_set_span(t->thin, 1024);
    windows(t, 0, 200);
    rb_thin_event(t->thin, emit, t);
    assert_int_equal(t->nrows, RB_THIN_HELD);
    assert_int_equal(strncmp(t->rows, "2:0+137 2:137+1 ", 16), 0);
}

int main(void)
{
#define THIN(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        THIN(test_span_one_goes_straight_through),
        THIN(test_rows_of_a_span),
        THIN(test_parts_do_not_mix),
        THIN(test_span_changes),
        THIN(test_full_resolution_around_an_error),
        THIN(test_full_resolution_around_a_jump),
        THIN(test_less_room_ends_full_resolution),
        THIN(test_an_event_of_the_engine),
        THIN(test_errors_without_end),
        THIN(test_long_span),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
