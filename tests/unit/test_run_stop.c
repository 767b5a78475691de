/* test_run_stop.c - hosts that are freed of the run that owns them. */
#include "coordinator/run.h"

#include "tests/unit/run_fixture.h"

static fixture_t *stop_new(void)
{
    fixture_t *f = fixture_new();
    f->opts.goal = RB_RUN_STOP;
    f->opts.plan = NULL;
    start(f);
    expect(f, "Evict1 Evict2 ");
    return f;
}

static void busy(fixture_t *f, uint32_t host, const char *run_id)
{
    SAY(f, host, BUSY, busy, Busy, .run_id = (char *)(uintptr_t)run_id, .since_wall_ns = 77);
}

/* Answers the Beat that went with Evict. */
static void idle(fixture_t *f, uint32_t host)
{
    f->states[host] = RACKBENCH__BEAT_ACK__STATE__idle;
    beat_ack(f, host, 0);
}

static void test_one_busy_one_free(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = stop_new();
    busy(f, 1, "other");
    idle(f, 2);
    assert_false(rb_run_done(f->run));
    tick(f); /* it drains: asked again */
    expect(f, "Evict1 ");
    busy(f, 1, "another"); /* quick as they are, the first one is told */
    idle(f, 1);
    expect_end(f, "done", RB_OK, "");
    rb_run_stopped_t one = rb_run_stopped(f->run, 1), two = rb_run_stopped(f->run, 2);
    assert_string_equal(one.run_id, "other");
    assert_int_equal(one.since_wall_ns, 77);
    assert_true(one.is_free);
    assert_null(two.run_id);
    assert_true(two.is_free);
}

static void test_unreachable_host(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = stop_new();
    idle(f, 1);
    while (!rb_run_done(f->run))
        tick(f);
    expect_end(f, "host_lost", RB_ERR_NET, "agent h2: no answer from a2:7411 within 5.0 s");
    assert_true(rb_run_stopped(f->run, 1).is_free);
    assert_false(rb_run_stopped(f->run, 2).is_free);
}

/* What it sends keeps the others from nothing. */
static void test_host_of_another_kind(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = stop_new();
    step(f, (rb_run_event_t){.kind = RB_RUN_BROKEN, .host = 1, .text = "not understood"});
    assert_false(rb_run_done(f->run));
    idle(f, 2);
    expect_end(f, "host_lost", RB_ERR_NET, "agent h1: not understood");
    assert_true(rb_run_stopped(f->run, 2).is_free);
}

/* Longer than the connect timeout, as long as it answers; not for ever. */
static void test_slow_drain(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = stop_new();
    uint64_t start_ns = f->now_ns;
    idle(f, 2);
    while (!rb_run_done(f->run)) {
        busy(f, 1, "other");
        tick(f);
    }
    expect_end(f, "host_lost", RB_ERR_NET, "agent h1: still busy with run other after 60 s");
    assert_true(f->now_ns - start_ns >= RB_DRAIN_LIMIT_NS);
}

static void test_dies_while_it_drains(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = stop_new();
    uint64_t start_ns = f->now_ns;
    idle(f, 2);
    busy(f, 1, "other");
    while (!rb_run_done(f->run))
        tick(f);
    expect_end(f, "host_lost", RB_ERR_NET, "agent h1: busy with run other, and no answer any more");
    assert_true(f->now_ns - start_ns < 5 * RB_NS_PER_S);
}

/* Of a run that is under way: whose it is and what to do. */
static void test_busy_says_what_to_do(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    start(f);
    busy(f, 1, "other");
    expect_end(f, "failed", RB_ERR_NET,
               "agent h1: busy with run other since 1970-01-01 00:00:00 UTC (0s); wait until that "
               "run has ended, or free the host by rackbench stop --hosts h1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_busy_one_free),    cmocka_unit_test(test_unreachable_host),
        cmocka_unit_test(test_host_of_another_kind), cmocka_unit_test(test_slow_drain),
        cmocka_unit_test(test_dies_while_it_drains), cmocka_unit_test(test_busy_says_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
