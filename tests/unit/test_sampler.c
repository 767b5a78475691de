/* The sampler over windows published by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/sampler.h"

enum { WORKERS = 3, MAX_ROWS = 16 };

static rb_worker_subject_t subjects[2];
static rb_worker_t *workers[WORKERS]; /* 0 and 1 on the first subject, 2 on the second */
static rb_sampler_t *sampler;

typedef struct {
    rb_part_t part;
    uint64_t index, ops[2], counts; /* ops by drive */
    uint32_t span;
    size_t ncells;
    bool all_running;
} seen_t;
static seen_t seen[MAX_ROWS];
static size_t nseen;

static void see(void *ctx, rb_row_t *row)
{
    (void)ctx;
    const rb_row_window_t *w = &row->window;
    assert_int_equal(row->kind, RB_ROW_WINDOW);
    assert_true(nseen < MAX_ROWS);
    seen_t *s = &seen[nseen++];
    *s = (seen_t){.part = w->part,
                  .index = w->index,
                  .span = w->span,
                  .ncells = w->ncells,
                  .all_running = w->all_running};
    for (size_t i = 0; i < w->ncells; i++) {
        assert_int_equal(w->cells[i].bytes, w->cells[i].ops * 1536);
        s->ops[w->cells[i].drive] += w->cells[i].ops;
        s->counts += w->cells[i].response.count;
    }
}

static void rows(void)
{
    nseen = 0;
    rb_sampler_rows(sampler, see, NULL);
}

static int set_up(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++)
        subjects[i].at.drive = i;
    for (int i = 0; i < WORKERS; i++) {
        rb_worker_t *w = aligned_alloc(64, sizeof(*w));
        memset(w, 0, sizeof(*w));
        w->fd = -1;
        w->o.subject = &subjects[i / 2];
        w->block.bs_bytes = 512;
        rb_windows_init(&w->windows, 1u << RB_OP_READ | 1u << RB_OP_WRITE);
        workers[i] = w;
    }
    sampler = rb_sampler_new(0, workers, WORKERS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rb_sampler_destroy(&sampler);
    for (int i = 0; i < WORKERS; i++)
        rb_worker_destroy(&workers[i]);
    return 0;
}

static void publish(int worker, rb_part_t part, uint64_t index, uint32_t span, uint64_t ops)
{
    rb_windows_t *w = &workers[worker]->windows;
    rb_window_t *win = rb_windows_current(w);
    win->part = part;
    win->index = index;
    win->span = span;
    win->running = true;
    win->ops[RB_OP_READ]->ops = ops;
    win->ops[RB_OP_READ]->bytes = ops * 1536;
    for (uint64_t i = 0; i < ops; i++)
        rb_hist_record(&win->ops[RB_OP_READ]->response, 1000 * ops);
    rb_windows_publish(w);
}

static void a_row_waits_for_all(void **state)
{
    (void)state;
    publish(0, RB_PART_MAIN, 0, 1, 10);
    publish(2, RB_PART_MAIN, 0, 1, 5);
    rows();
    assert_int_equal(nseen, 0);
    publish(1, RB_PART_MAIN, 0, 1, 7);
    rows();
    assert_int_equal(nseen, 1);
    assert_int_equal(seen[0].ops[0], 17);
    assert_int_equal(seen[0].ops[1], 5);
    assert_int_equal(seen[0].counts, 22);
    assert_int_equal(seen[0].ncells, 4); /* two drives, read and write */
    assert_true(seen[0].all_running);
    rows();
    assert_int_equal(nseen, 0);
}

static void who_ended_is_not_waited_for(void **state)
{
    (void)state;
    publish(0, RB_PART_MAIN, 0, 1, 1);
    publish(1, RB_PART_MAIN, 0, 1, 1);
    publish(2, RB_PART_MAIN, 0, 1, 1);
    publish(0, RB_PART_MAIN, 1, 1, 2);
    publish(1, RB_PART_MAIN, 1, 1, 2);
    workers[2]->windows.slots[0].running = false;
    atomic_store(&workers[2]->ended, true);
    rows();
    assert_int_equal(nseen, 2);
    assert_false(seen[0].all_running);
    assert_int_equal(seen[1].ops[0], 4);
    assert_int_equal(seen[1].ncells, 2);
    assert_false(seen[1].all_running);
}

static void a_span_is_never_split(void **state)
{
    (void)state;
    publish(0, RB_PART_MAIN, 0, 1, 1);
    publish(0, RB_PART_MAIN, 1, 2, 10);
    publish(0, RB_PART_MAIN, 3, 1, 1);
    for (uint64_t k = 0; k < 3; k++)
        publish(1, RB_PART_MAIN, k, 1, 2);
    atomic_store(&workers[2]->ended, true); /* published nothing at all */
    rows();
    /* Window 3 of worker 1 may still come. */
    assert_int_equal(nseen, 4);
    const seen_t want[] = {{.index = 0, .span = 1, .ops = {3}},
                           {.index = 1, .span = 1, .ops = {2}},
                           {.index = 1, .span = 2, .ops = {10}},
                           {.index = 2, .span = 1, .ops = {2}}};
    for (size_t i = 0; i < nseen; i++) {
        assert_int_equal(seen[i].index, want[i].index);
        assert_int_equal(seen[i].span, want[i].span);
        assert_int_equal(seen[i].ops[0], want[i].ops[0]);
    }
}

static void parts_do_not_mix(void **state)
{
    (void)state;
    publish(0, RB_PART_RAMP, 2, 1, 1);
    publish(0, RB_PART_MAIN, 2, 1, 2);
    publish(1, RB_PART_MAIN, 2, 1, 4); /* a job without a ramp */
    atomic_store(&workers[0]->ended, true);
    atomic_store(&workers[1]->ended, true);
    atomic_store(&workers[2]->ended, true);
    rows();
    assert_int_equal(nseen, 2);
    assert_int_equal(seen[0].part, RB_PART_RAMP);
    assert_int_equal(seen[0].ops[0], 1);
    assert_int_equal(seen[1].part, RB_PART_MAIN);
    assert_int_equal(seen[1].ops[0], 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_row_waits_for_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_ended_is_not_waited_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_span_is_never_split, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_do_not_mix, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
