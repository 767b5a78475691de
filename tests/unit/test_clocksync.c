/* The clock estimate: the truth lies within the bound, whatever the path and the clocks do. */
#include "coordinator/clocksync.h"

#include "common/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define START_NS (36000 * RB_NS_PER_S)
enum { ROUNDING_NS = 2 };

/* A pair of clocks and the path between them; `now_ns` is our clock. */
typedef struct {
    rb_rng_t rng;
    uint64_t now_ns;
    int64_t offset_ns, drift_ppb;
    uint64_t there_ns, back_ns, tail_ns;
    uint64_t best_rtt_ns;
    rb_clocksync_t sync;
} pair_t;

static uint64_t between(pair_t *p, uint64_t low, uint64_t high)
{
    return low + rb_rng_below(&p->rng, high - low + 1);
}

static pair_t pair_new(uint64_t seed)
{
    pair_t p = {.now_ns = START_NS, .best_rtt_ns = UINT64_MAX};
    rb_rng_seed(&p.rng, seed, 0, 0);
    p.offset_ns = (int64_t)between(&p, 0, 8 * 3600 * RB_NS_PER_S) - 4 * 3600 * (int64_t)RB_NS_PER_S;
    p.drift_ppb = (int64_t)between(&p, 0, 400000) - 200000; /* each within 100 ppm */
    p.there_ns = between(&p, 5 * RB_NS_PER_US, 2 * RB_NS_PER_MS);
    p.back_ns = between(&p, 5 * RB_NS_PER_US, 2 * RB_NS_PER_MS);
    p.tail_ns = between(&p, RB_NS_PER_US, RB_NS_PER_S);
    rb_clocksync_init(&p.sync);
    return p;
}

static int64_t offset_at(const pair_t *p, uint64_t at_ns)
{
    int64_t since_ns = (int64_t)(at_ns - START_NS);
    return p->offset_ns + (int64_t)((__int128)since_ns * p->drift_ppb / 1000000000);
}

static uint64_t delay(pair_t *p, uint64_t base_ns)
{
    uint64_t ns = base_ns + rb_rng_below(&p->rng, base_ns / 3 + 1);
    return rb_rng_below(&p->rng, 20) == 0 ? ns + rb_rng_below(&p->rng, p->tail_ns) : ns;
}

static void probe_with(pair_t *p, uint64_t there_ns, uint64_t back_ns)
{
    uint64_t t1_ns = p->now_ns, read_ns = t1_ns + there_ns;
    p->now_ns = read_ns + back_ns;
    p->best_rtt_ns = RB_MIN(p->best_rtt_ns, there_ns + back_ns);
    rb_clocksync_add(&p->sync, t1_ns, read_ns + (uint64_t)offset_at(p, read_ns), p->now_ns);
}

static void probe(pair_t *p)
{
    uint64_t there_ns = delay(p, p->there_ns);
    probe_with(p, there_ns, delay(p, p->back_ns));
}

static rb_clock_estimate_t estimate(const pair_t *p, uint64_t at_ns)
{
    rb_clock_estimate_t e;
    assert_true(rb_clocksync_estimate(&p->sync, at_ns, &e));
    return e;
}

static void assert_holds(const pair_t *p, uint64_t at_ns)
{
    rb_clock_estimate_t e = estimate(p, at_ns);
    int64_t error_ns = offset_at(p, at_ns) - e.offset_ns;
    assert_in_range(error_ns < 0 ? -error_ns : error_ns, 0, e.bound_ns + ROUNDING_NS);
}

static void test_bound_holds_at_every_moment(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        pair_t p = pair_new(seed);
        for (size_t i = 0; i < 200; i++) {
            probe(&p);
            assert_holds(&p, p.now_ns);
            assert_holds(&p, p.now_ns + RB_NS_PER_S);
            if (i % 40 >= 32) /* beats between bursts */
                p.now_ns += 500 * RB_NS_PER_MS;
        }
        assert_false(p.sync.stepped);
    }
}

static void test_burst_gives_half_the_best_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        pair_t p = pair_new(seed);
        p.tail_ns = 100 * RB_NS_PER_US;
        for (size_t i = 0; i < 32; i++)
            probe(&p);
        rb_clock_estimate_t e = estimate(&p, p.now_ns);
        assert_int_equal(e.rtt_ns, p.best_rtt_ns);
        /* Carried over the burst of at most 0.2 s by the drift that may be: 0.2 s x 200 ppm. */
        assert_in_range(e.bound_ns, 1, p.best_rtt_ns / 2 + 40 * RB_NS_PER_US);
    }
}

static void test_drift_is_found(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        pair_t p = pair_new(seed);
        p.tail_ns = RB_NS_PER_US;
        for (size_t i = 0; i < 60; i++) {
            probe(&p);
            p.now_ns += 500 * RB_NS_PER_MS;
        }
        int64_t wrong_ppb = estimate(&p, p.now_ns).drift_ppb - p.drift_ppb;
        uint64_t most_ppb = (p.there_ns + p.back_ns) * 4 / 30; /* widths over the window of 30 s */
        assert_in_range(wrong_ppb < 0 ? -wrong_ppb : wrong_ppb, 0, most_ppb + 2000);
    }
}

/* The agent reads its clock at one end of a round trip of 20 s (one of us was stopped). */
static void test_long_round_trip_contradicts_nothing(void **state)
{
    (void)state;
    for (int64_t drift_ppb = -200000; drift_ppb <= 200000; drift_ppb += 400000) {
        pair_t p = pair_new(1);
        p.drift_ppb = drift_ppb;
        probe_with(&p, 10 * RB_NS_PER_US, 10 * RB_NS_PER_US);
        probe_with(&p, 20 * RB_NS_PER_S, 10 * RB_NS_PER_US);
        assert_holds(&p, p.now_ns);
        probe_with(&p, 10 * RB_NS_PER_US, 20 * RB_NS_PER_S);
        assert_holds(&p, p.now_ns);
        probe_with(&p, 10 * RB_NS_PER_US, 10 * RB_NS_PER_US);
        assert_holds(&p, p.now_ns);
        assert_false(p.sync.stepped);
    }
}

static void test_stepped_clock_is_noticed(void **state)
{
    (void)state;
    pair_t p = pair_new(7);
    for (size_t i = 0; i < 20; i++) {
        probe(&p);
        p.now_ns += 500 * RB_NS_PER_MS;
    }
    assert_false(p.sync.stepped);
    p.offset_ns -= 3600 * (int64_t)RB_NS_PER_S;
    probe(&p);
    assert_true(p.sync.stepped);
    assert_holds(&p, p.now_ns);
    probe(&p);
    assert_holds(&p, p.now_ns + RB_NS_PER_S);
}

static void test_worst_round_trip_since_mark(void **state)
{
    (void)state;
    pair_t p = pair_new(3);
    probe_with(&p, 100, 200);
    probe_with(&p, 50, 60);
    assert_int_equal(p.sync.worst_rtt_ns, 300);
    rb_clocksync_mark(&p.sync);
    assert_int_equal(p.sync.worst_rtt_ns, 0);
    probe_with(&p, 50, 60);
    assert_int_equal(p.sync.worst_rtt_ns, 110);
}

static void test_nothing_known(void **state)
{
    (void)state;
    rb_clocksync_t sync;
    rb_clock_estimate_t e;
    rb_clocksync_init(&sync);
    assert_false(rb_clocksync_estimate(&sync, START_NS, &e));
    rb_clocksync_add(&sync, START_NS, START_NS, START_NS - 1); /* came back before it left */
    assert_false(rb_clocksync_estimate(&sync, START_NS, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound_holds_at_every_moment),
        cmocka_unit_test(test_burst_gives_half_the_best_round_trip),
        cmocka_unit_test(test_drift_is_found),
        cmocka_unit_test(test_long_round_trip_contradicts_nothing),
        cmocka_unit_test(test_stepped_clock_is_noticed),
        cmocka_unit_test(test_worst_round_trip_since_mark),
        cmocka_unit_test(test_nothing_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
