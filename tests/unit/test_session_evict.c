/* test_session_evict.c - an agent that somebody frees of its run. */
#include "agent/session.h"

#include "tests/unit/session_fixture.h"

static void evict(agent_t *a)
{
    static char reason[] = "stopped by somebody";
    HEAR(a, "other", EVICT, evict, Evict, evict, .reason = reason);
}

static void test_running_agent_drains_first(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    make_row(a, "w1");
    evict(a);
    expect(a, "row:w1 Busy(run1 to other) note(evicted) stop(0) ");
    evict(a);
    expect(a, "Busy(run1 to other) ");
    make_row(a, "w2"); /* what was measured still goes to the owner */
    report(a, RB_SESSION_DRAINED);
    expect(a, "row:w2 Drained(0 rows 2 fault 5) Leaving release ");
    assert_false(rb_session_owned(a->session));
    evict(a);
    beat(a, 0);
    expect(a, "BeatAck(0) ");
}

static void test_preparing_agent_gives_up_first(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    hello(a, "c", run1);
    load(a);
    report(a, RB_SESSION_LOADED);
    prepare(a, 0);
    a->said[0] = '\0';
    evict(a);
    expect(a, "Busy(run1 to other) note(evicted) stop(0) ");
    report(a, RB_SESSION_READY); /* just when it was told */
    expect(a, "Ready ");
    report(a, RB_SESSION_FAILED);
    expect(a, "Failed(fault 5) Leaving release ");
}

static void test_resting_agent_leaves_at_once(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    evict(a);
    expect(a, "");
    hello(a, "c", run1);
    evict(a);
    expect(a, "Welcome Busy(run1 to other) note(evicted) Leaving release ");
    hello(a, "d", run2); /* and is anybody's again */
    load(a);
    evict(a);
    expect(a, "Welcome Busy(run2 to other) note(evicted) Leaving release ");
}

/* A coordinator that is gone acknowledges nothing: a full outbox must not hold the agent. */
static void test_orphan_with_a_full_outbox(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    size_t size = 8 << 20;
    RB_AUTO(rb_free_str) char *row = rb_calloc(1, size);
    memset(row, 'x', size - 1);
    while (rb_session_takes_rows(a->session))
        make_row(a, row);
    wait(a, LEASE_NS + 1);
    a->said[0] = '\0';
    evict(a);
    expect(a, "Busy(run1 to other) note(evicted) stop(0) ");
    assert_true(rb_session_takes_rows(a->session));
    report(a, RB_SESSION_DRAINED);
    expect(a, "Drained(0 rows 9 fault 5) Leaving release ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_running_agent_drains_first),
        cmocka_unit_test(test_preparing_agent_gives_up_first),
        cmocka_unit_test(test_resting_agent_leaves_at_once),
        cmocka_unit_test(test_orphan_with_a_full_outbox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
