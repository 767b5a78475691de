/* test_run_slow.c - agents whose answers wait for a drive: they are named with it, and not asked
 * twice; there is a limit to what is waited for. */
#include "tests/unit/run_fixture.h"

#include "coordinator/run.h"

static char drive[] = "/dev/slow";

/* The answer to the last Beat of host 2: it has been at the drive for so long. */
static void still_probing(fixture_t *f, uint64_t for_ns)
{
    SAY(f, 2, BEAT_ACK, beat_ack, BeatAck, .seq = f->beats[2], .t1_ns = f->sent_ns[2],
        .t2_ns = f->now_ns, .state = RACKBENCH__BEAT_ACK__STATE__loaded, .probing = drive,
        .has_probing_ns = true, .probing_ns = for_ns);
}

static void begin(fixture_t *f)
{
    start(f);
    welcome(f, 1);
    welcome(f, 2);
    pump(f);
    expect(f, "Hello1 Hello2 Load1 Load2 ");
    enter(f, 1, RACKBENCH__BEAT_ACK__STATE__loaded);
}

/* Beats go on for so long, and host 2 is at its drive all the time. */
static void probe_for(fixture_t *f, uint64_t ns)
{
    uint64_t begun_ns = f->now_ns;
    while (f->now_ns < begun_ns + ns && !rb_run_done(f->run)) {
        tick(f);
        beat_ack(f, 1, 0);
        still_probing(f, f->now_ns - begun_ns);
    }
}

static void test_is_waited_for_and_named(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    begin(f);
    probe_for(f, 30 * RB_NS_PER_S);
    expect(f, ""); /* no Load again: it is at it */
    assert_int_equal(f->rows[RB_ROW_NOTE], 1);
    assert_string_equal(f->last[RB_ROW_NOTE].note.kind, "slow_drive");
    assert_int_equal(f->last[RB_ROW_NOTE].note.host, 2);
    assert_string_equal(f->last[RB_ROW_NOTE].note.text,
                        "still probing /dev/slow for 2.5 s while loading");
    enter(f, 2, RACKBENCH__BEAT_ACK__STATE__loaded);
    expect(f, "Prepare1 Prepare2 ");
}

static void test_a_command_that_was_lost_is_said_again(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    begin(f);
    tick(f);
    beat_ack(f, 2, 0);
    expect(f, "Load2 ");
}

static void test_has_a_limit(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    begin(f);
    probe_for(f, 59 * RB_NS_PER_S);
    assert_false(rb_run_done(f->run));
    probe_for(f, 62 * RB_NS_PER_S);
    silence(f, 2, 5 * RB_NS_PER_S);
    expect_end(f, "host_lost", RB_ERR_LOST, "agent h2: still probing /dev/slow for 6");
}

static void test_inventory_has_the_limit_of_connecting(void **state)
{
    (void)state;
    RB_AUTO(fixture_destroy) fixture_t *f = fixture_new();
    start(f);
    welcome(f, 1);
    for (uint64_t s = 0; s < 6 && !rb_run_done(f->run); s++) {
        SAY(f, 2, PROBING, probing, Probing, .what = drive, .for_ns = s * RB_NS_PER_S);
        silence(f, 2, RB_NS_PER_S);
    }
    expect_end(f, "host_lost", RB_ERR_NET,
               "agent h2: gave no inventory within 5.0 s: still probing /dev/slow for 4 s");
    assert_int_equal(f->rows[RB_ROW_RUN_END], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_waited_for_and_named),
        cmocka_unit_test(test_a_command_that_was_lost_is_said_again),
        cmocka_unit_test(test_has_a_limit),
        cmocka_unit_test(test_inventory_has_the_limit_of_connecting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
