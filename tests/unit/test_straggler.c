/* Drives that are not like their peers: the goal of measurement.md 8 as a simulation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/rng.h"
#include "coordinator/analysis/straggler.h"

enum { DRIVES = 512, ROUNDS = 10, RUNS = 400, SLOW = 77 };

/* Standard normal (Box and Muller). */
static double normal(rb_rng_t *rng)
{
    return sqrt(-2 * log(1 - rb_rng_double(rng))) * cos(2 * M_PI * rb_rng_double(rng));
}

static double noisy(rb_rng_t *rng, double value)
{
    double sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum += value * (1 + 0.04 * normal(rng));
    return sum / ROUNDS;
}

/* Operations beyond p99.9 of 50,000 a drive: Poisson of 50, as a sum of exponential gaps. */
static double beyond(rb_rng_t *rng, double mean)
{
    double n = -1, t = 0;
    while (t < mean) {
        t -= log(1 - rb_rng_double(rng));
        n++;
    }
    return n;
}

static void fill(rb_rng_t *rng, rb_peer_t *peers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        peers[i].by[RB_BY_THROUGHPUT] = noisy(rng, 1e9);
        peers[i].by[RB_BY_LATENCY] = noisy(rng, 1e5);
        peers[i].by[RB_BY_TAIL] = beyond(rng, 50);
    }
}

static void one_slow_drive_among_512(void **state)
{
    (void)state;
    static rb_peer_t peers[DRIVES];
    static rb_straggler_t found[DRIVES];
    rb_rng_t rng;
    size_t named = 0, false_names = 0;
    rb_rng_seed(&rng, 8, 0, 0);
    for (int run = 0; run < RUNS; run++) {
        fill(&rng, peers, DRIVES);
        peers[SLOW].by[RB_BY_THROUGHPUT] = noisy(&rng, 0.9e9);
        size_t n = rb_stragglers(peers, DRIVES, found);
        for (size_t i = 0; i < n; i++) {
            bool is_it = found[i].peer == SLOW && (found[i].bits & 1u << RB_BY_THROUGHPUT);
            named += is_it;
            false_names += found[i].peer != SLOW;
        }
    }
    print_message("found in %zu of %d runs, %zu false names in all\n", named, RUNS, false_names);
    assert_true(named >= RUNS * 95 / 100);
    assert_true(false_names <= RUNS);
}

/* Few operations lie beyond p99.9: chance alone names nobody. */
static void a_thin_tail_names_nobody(void **state)
{
    (void)state;
    static rb_peer_t peers[DRIVES];
    static rb_straggler_t found[DRIVES];
    rb_rng_t rng;
    size_t names = 0;
    rb_rng_seed(&rng, 9, 0, 0);
    for (int run = 0; run < RUNS; run++) {
        fill(&rng, peers, DRIVES);
        for (size_t i = 0; i < DRIVES; i++)
            peers[i].by[RB_BY_TAIL] = beyond(&rng, 0.5);
        size_t n = rb_stragglers(peers, DRIVES, found);
        for (size_t i = 0; i < n; i++)
            names += found[i].bits >> RB_BY_TAIL & 1;
    }
    print_message("%.2f names a run\n", (double)names / RUNS);
    assert_true(names <= RUNS / 20);
}

static void the_tail_of_one(void **state)
{
    (void)state;
    rb_peer_t peers[4] = {{{100, 10, 13}}, {{101, 10, 13}}, {{99, 10, 61}}, {{100, 10, 13}}};
    rb_straggler_t found[4];
    assert_int_equal(rb_stragglers(peers, 4, found), 1);
    assert_int_equal(found[0].peer, 2);
    assert_int_equal(found[0].bits, 1u << RB_BY_TAIL);
    assert_true(fabs(found[0].tail_share - 0.61) < 1e-12);
    assert_true(found[0].median[RB_BY_TAIL] == 13);
    peers[2].by[RB_BY_TAIL] = 30; /* 43 %: less than twice its quarter */
    assert_int_equal(rb_stragglers(peers, 4, found), 0);
}

static void worse_alone_is_told(void **state)
{
    (void)state;
    rb_peer_t peers[5] = {
        {{100, 10, 0}}, {{100, 10, 0}}, {{100, 10, 0}}, {{130, 8, 0}}, {{94, 12, 0}}};
    rb_straggler_t found[5];
    assert_int_equal(rb_stragglers(peers, 5, found), 1);
    assert_int_equal(found[0].peer, 4);
    assert_int_equal(found[0].bits, 1u << RB_BY_THROUGHPUT | 1u << RB_BY_LATENCY);
    peers[4] = (rb_peer_t){{95.5, 10.4, 0}}; /* far out, but not 5 % off */
    assert_int_equal(rb_stragglers(peers, 5, found), 0);
    peers[4] = (rb_peer_t){{50, 20, 0}};
    assert_int_equal(rb_stragglers(peers + 2, 3, found), 0); /* too few */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_slow_drive_among_512),
        cmocka_unit_test(a_thin_tail_names_nobody),
        cmocka_unit_test(the_tail_of_one),
        cmocka_unit_test(worse_alone_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
