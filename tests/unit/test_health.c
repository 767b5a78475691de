/* test_health.c - the thread that asks drives: borders of a phase, rows, what an earlier phase
 * left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/health.h"
#include "common/clock.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

typedef struct {
    size_t nrows, nevents;
    rb_row_health_t rows[4]; /* without what they own */
    rb_disk_place_t places[4];
} heard_t;

static void hear(void *ctx, rb_row_t *row)
{
    heard_t *heard = ctx;
    heard->nevents += row->kind == RB_ROW_EVENT;
    if (row->kind != RB_ROW_HEALTH)
        return;
    assert_true(heard->nrows < RB_LEN(heard->rows));
    if (row->health.ndrives > 0) {
        assert_true(row->health.drives[0].nplaces <= RB_LEN(heard->places));
        memcpy(heard->places, row->health.drives[0].places,
               row->health.drives[0].nplaces * sizeof(rb_disk_place_t));
        assert_int_equal(strncmp(row->health.drives[0].path, "/dev/", 5), 0);
    }
    heard->rows[heard->nrows++] = row->health;
}

static rb_health_t *make(void)
{
    rb_err_t err;
    rb_health_t *h = rb_health_new("/sys", &err);
    if (h == NULL)
        fail_msg("%s", err.text);
    return h;
}

/* As the shell waits: for the descriptor. */
static void await(rb_health_t *h, rb_engine_state_t state)
{
    while (!rb_health_border(h, state)) {
        struct pollfd fd = {rb_health_fd(h), POLLIN, 0};
        assert_int_equal(poll(&fd, 1, 3000), 1);
        rb_health_poll(h);
    }
}

/* Two files; is there a block device under them? */
static size_t subjects_here(rb_subject_t subjects[2])
{
    struct stat st;
    char dir[64];
    for (uint32_t i = 0; i < 2; i++) {
        subjects[i] = (rb_subject_t){.target = 3, .drive = i};
        snprintf(subjects[i].path, sizeof(subjects[i].path), "/tmp/none.%u", i);
    }
    assert_int_equal(stat("/tmp", &st), 0);
    snprintf(dir, sizeof(dir), "/sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
    return access(dir, F_OK) == 0;
}

static void borders(void **state)
{
    (void)state;
    RB_AUTO(rb_health_destroy) rb_health_t *h = make();
    heard_t heard = {0};
    rb_subject_t subjects[2];
    size_t ndrives = subjects_here(subjects);
    rb_health_watch(h, &(rb_health_watch_t){7, subjects, 2, 0});
    await(h, RB_ENGINE_READY);
    rb_health_rows(h, hear, &heard);
    assert_int_equal(heard.nrows, 0); /* T0 is not known */
    uint64_t t0_ns = rb_clock_now_ns() + RB_NS_PER_MS;
    rb_health_arm(h, t0_ns, 0);
    rb_health_rows(h, hear, &heard);
    assert_int_equal(heard.nrows, 1);
    while (rb_clock_now_ns() < t0_ns)
        usleep(100);
    await(h, RB_ENGINE_DRAINED);
    rb_health_rows(h, hear, &heard);
    assert_int_equal(heard.nrows, 2);
    assert_true(heard.rows[0].when == RB_HEALTH_BEGIN && heard.rows[0].at_ns < 0);
    assert_true(heard.rows[1].when == RB_HEALTH_END && heard.rows[1].at_ns >= 0);
    assert_true(heard.rows[0].phase == 7 && heard.rows[1].phase == 7);
    assert_int_equal(heard.rows[0].ndrives, ndrives); /* both files are on one */
    if (ndrives > 0) {
        assert_true(heard.places[0].target == 3 && heard.places[0].drive == 0);
        assert_true(heard.places[1].target == 3 && heard.places[1].drive == 1);
    }
}

/* A phase that was never armed leaves nothing to the next one. */
static void a_phase_that_failed(void **state)
{
    (void)state;
    RB_AUTO(rb_health_destroy) rb_health_t *h = make();
    heard_t heard = {0};
    rb_subject_t subjects[2];
    subjects_here(subjects);
    rb_health_watch(h, &(rb_health_watch_t){0, subjects, 2, 0});
    await(h, RB_ENGINE_READY);
    rb_health_watch(h, &(rb_health_watch_t){1, subjects, 2, 0});
    await(h, RB_ENGINE_READY);
    rb_health_arm(h, rb_clock_now_ns(), 0);
    rb_health_rows(h, hear, &heard);
    assert_int_equal(heard.nrows, 1);
    assert_int_equal(heard.rows[0].phase, 1);
    rb_health_release(h);
    rb_health_rows(h, hear, &heard);
    assert_int_equal(heard.nrows, 1);
    assert_true(rb_health_border(h, RB_ENGINE_DRAINED)); /* nothing to wait for */
}

/* What was being read for a phase that is no more is not taken for the next one's. */
static void a_reading_that_comes_too_late(void **state)
{
    (void)state;
    enum { TIMES = 300 };
    RB_AUTO(rb_health_destroy) rb_health_t *h = make();
    rb_subject_t subjects[2];
    subjects_here(subjects);
    for (uint32_t i = 0; i < TIMES; i++) {
        heard_t heard = {0};
        rb_health_watch(h, &(rb_health_watch_t){0, subjects, 2, 0});
        rb_health_border(h, RB_ENGINE_READY);
        usleep(i % 30 * 10); /* into the middle of it, sooner or later */
        rb_health_watch(h, &(rb_health_watch_t){1, subjects, 2, 0});
        await(h, RB_ENGINE_READY);
        await(h, RB_ENGINE_DRAINED);
        rb_health_arm(h, rb_clock_now_ns(), 0);
        rb_health_rows(h, hear, &heard);
        assert_int_equal(heard.nrows, 2);
        rb_health_release(h);
    }
}

/* T0 + 10 s, here soon; the border comes after it. */
static void periodic(void **state)
{
    (void)state;
    RB_AUTO(rb_health_destroy) rb_health_t *h = make();
    heard_t heard = {0};
    rb_subject_t subjects[2];
    subjects_here(subjects);
    rb_health_watch(h, &(rb_health_watch_t){0, subjects, 2, 0});
    await(h, RB_ENGINE_READY);
    uint64_t t0_ns = rb_clock_now_ns() - RB_HEALTH_PERIOD_S * RB_NS_PER_S + 50 * RB_NS_PER_MS;
    rb_health_arm(h, t0_ns, 0);
    rb_health_poll(h);
    struct pollfd fd = {rb_health_fd(h), POLLIN, 0};
    assert_int_equal(poll(&fd, 1, 3000), 1);
    rb_health_poll(h);
    await(h, RB_ENGINE_DRAINED);
    rb_health_rows(h, hear, &heard);
    assert_int_equal(heard.nrows, 3);
    assert_int_equal(heard.rows[1].when, RB_HEALTH_DURING);
    int64_t late_ns = heard.rows[1].at_ns - (int64_t)(RB_HEALTH_PERIOD_S * RB_NS_PER_S);
    assert_true(late_ns >= 0 && late_ns < (int64_t)RB_NS_PER_S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders),
        cmocka_unit_test(a_phase_that_failed),
        cmocka_unit_test(a_reading_that_comes_too_late),
        cmocka_unit_test(periodic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
