/* The agent's session: whose it is, who may take it, and who hears of its drives too early. */
#include "agent/session.h"

#include "tests/unit/session_fixture.h"

static void test_orphan_is_free_to_take(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    hello(a, "c", run1);
    wait(a, LEASE_NS);
    hello(a, "x", run2);
    expect(a, "Welcome note(lease_expired) release Welcome ");
    beat(a, 0); /* of the first: no longer the owner */
    expect(a, "");
    hello(a, "c", run1);
    expect(a, "Busy(run2 to c) ");
}

static void test_an_agent_under_two_names_is_busy(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    static char other[] = "h2";
    hello(a, "c", run1);
    hello(a, "c", run1);
    HEAR(a, "c", HELLO, hello, Hello, hello, .run_id = run1, .host = other, .lease_ns = LEASE_NS);
    expect(a, "Welcome Welcome Busy(run1 to c) ");
}

/* A coordinator that takes up the run: not while the one before it is heard, as that of a copy. */
static void test_an_heir_waits_for_silence(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    make_row(a, "row1");
    make_row(a, "row2");
    beat(a, 1);
    a->said[0] = '\0';
    hello(a, "run1.2", run1);
    wait(a, 1100 * RB_NS_PER_MS);
    hello(a, "run1.2", run1);
    beat(a, 1); /* it lives */
    wait(a, 1100 * RB_NS_PER_MS);
    hello(a, "run1.2", run1);
    expect(a,
           "Busy(run1 to run1.2) Busy(run1 to run1.2) BeatAck(5) row:row2 Busy(run1 to run1.2) ");
    wait(a, 200 * RB_NS_PER_MS);
    hello(a, "run1.2", run1);
    beat(a, 1); /* of the first: no longer the owner */
    HEAR(a, "run1.2", BEAT, beat, Beat, beat, .seq = 1, .acked_row = 0);
    expect(a, "Welcome BeatAck(5) row:row2 ");
    assert_int_equal(a->first_row, 2);
}

/* One that has given us up says no Hello. */
static void test_an_heir_collects(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_armed();
    make_row(a, "row1");
    wait(a, LEASE_NS + 1);
    a->said[0] = '\0';
    HEAR(a, "run2.2", COLLECT, collect, Collect, collect, .seq = 1, .acked_row = 0);
    expect(a, "");
    HEAR(a, "run1.2", COLLECT, collect, Collect, collect, .seq = 1, .acked_row = 0);
    expect(a, "stop(0) BeatAck(6) row:row1 ");
}

/* Whoever comes while the drives are still asked is told to wait, and for what. */
static void test_inventory_that_comes_late(void **state)
{
    (void)state;
    RB_AUTO(agent_destroy) agent_t *a = agent_new(NULL);
    rb_session_take_inventory(a->session, NULL);
    a->probing = "/dev/slow";
    hello(a, "c", run1);
    hello(a, "c", run1);
    expect(a, "Probing(/dev/slow) Probing(/dev/slow) ");
    wait(a, LEASE_NS - 1); /* a lease is a lease */
    expect(a, "");
    rb_session_take_inventory(a->session, &a->inventory);
    expect(a, "Welcome ");
    beat(a, 0);
    expect(a, "BeatAck(1 /dev/slow) ");
    bye(a);
    rb_session_take_inventory(a->session, &a->inventory); /* nobody waits for it */
    expect(a, "release ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orphan_is_free_to_take),
        cmocka_unit_test(test_an_agent_under_two_names_is_busy),
        cmocka_unit_test(test_an_heir_waits_for_silence),
        cmocka_unit_test(test_an_heir_collects),
        cmocka_unit_test(test_inventory_that_comes_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
