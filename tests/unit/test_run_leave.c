/* test_run_leave.c - agents that leave the run, come back as others, or are one and the same. */
#include "tests/unit/run_fixture.h"

#include "coordinator/run.h"

static void test_restarted_agent_is_lost(void **state)
{
    (void)state;
    static char name[] = "h2";
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    start(f);
    SAY(f, 2, JOIN, join, Join, .name = name);
    expect(f, "Hello1 Hello2 Hello2 ");
    welcome(f, 1);
    welcome(f, 2);
    pump(f);
    SAY(f, 2, JOIN, join, Join, .name = name);
    expect_end(f, "host_lost", RB_ERR_LOST,
               "agent h2: an agent that knows nothing of this run joined under its name");
}

static void test_idle_agent_was_restarted(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    f->states[2] = RACKBENCH__BEAT_ACK__STATE__idle;
    pump(f);
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h2: it was restarted");
}

static void test_leaving_agent_is_lost_at_once(void **state)
{
    (void)state;
    static char reason[] = "it was told to end";
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    SAY(f, 1, LEAVING, leaving, Leaving, .reason = reason);
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h1: it was told to end");
}

static void test_agent_named_twice(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    start(f);
    welcome(f, 1);
    SAY(f, 2, BUSY, busy, Busy, .run_id = (char *)(uintptr_t) "r", .since_wall_ns = 0);
    expect_end(f, "failed", RB_ERR_INPUT, "agent h2: stands in the host list twice");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restarted_agent_is_lost),
        cmocka_unit_test(test_idle_agent_was_restarted),
        cmocka_unit_test(test_leaving_agent_is_lost_at_once),
        cmocka_unit_test(test_agent_named_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
