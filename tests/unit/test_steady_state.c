/* The rule for steady state, by hand and over simulated drives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/rng.h"
#include "coordinator/analysis/steady_state.h"

#include <math.h>

static const rb_steady_rule_t pts = {RB_STEADY_PTS, 5, 0.20, 0.10};

enum { ROUNDS = 25, DRIVES = 128 };

static double normal(rb_rng_t *rng)
{
    double sum = 0; /* of 12 uniform ones: variance 1 */
    for (int i = 0; i < 12; i++)
        sum += (double)rb_rng_next(rng) / 0x1p64;
    return sum - 6;
}

static void the_fit_by_hand(void **state)
{
    (void)state;
    static const double y[] = {100, 104, 96, 102, 98};
    rb_steady_fit_t f = rb_steady_fit(&pts, y);
    assert_float_equal(f.mean, 100, 1e-9);
    assert_float_equal(f.range, 0.08, 1e-9);
    assert_float_equal(f.deviation, 0.04, 1e-9);
    /* sum of (x - 2) (y - 100): 0 - 4 + 0 + 2 - 4 = -6, by sum of squares 10 */
    assert_float_equal(f.slope, 0.006, 1e-9);
    assert_float_equal(f.excursion, 0.024, 1e-9);
    assert_true(f.holds);
}

/* At the limits it holds, beyond either one it does not. */
static void limits(void **state)
{
    (void)state;
    static const double range[] = {90, 110, 100, 110, 90}, beyond[] = {89, 110, 100, 110, 91};
    static const double line[] = {95, 97.5, 100, 102.5, 105},
                        steeper[] = {94.9, 97.5, 100, 102.5, 105.1};
    assert_true(rb_steady_fit(&pts, range).holds);
    assert_false(rb_steady_fit(&pts, beyond).holds);
    assert_true(rb_steady_fit(&pts, line).holds);
    assert_false(rb_steady_fit(&pts, steeper).holds);
}

static void fios_kinds(void **state)
{
    (void)state;
    static const double y[] = {100, 104, 96, 102, 98};
    rb_steady_rule_t rule = {RB_STEADY_DEVIATION, 5, 0.041, 0};
    assert_true(rb_steady_fit(&rule, y).holds);
    rule.range = 0.039;
    assert_false(rb_steady_fit(&rule, y).holds);
    rule = (rb_steady_rule_t){RB_STEADY_SLOPE, 5, 0, 0.0061};
    assert_true(rb_steady_fit(&rule, y).holds);
    rule.slope = 0.0059;
    assert_false(rb_steady_fit(&rule, y).holds);
}

static void nothing_holds_over_a_gap(void **state)
{
    (void)state;
    double y[] = {1, 1, NAN, 1, 1, 1, 1, 1, 1}, zeros[5] = {0};
    assert_int_equal(rb_steady_latch(&pts, y, 7), 0);
    assert_int_equal(rb_steady_latch(&pts, y, 9), 8);
    assert_int_equal(rb_steady_latch(&pts, y, 4), 0);
    assert_false(rb_steady_fit(&pts, zeros).holds); /* nothing was done */
}

/* 4 % noise a round: each of 128 drives latches soon. All of them in one window: hardly ever. */
static void noise_latches(void **state)
{
    (void)state;
    static double y[DRIVES][ROUNDS];
    rb_rng_t rng;
    rb_rng_seed(&rng, 1, 2, 3);
    uint32_t last = 0, together = 0;
    for (int d = 0; d < DRIVES; d++) {
        for (int r = 0; r < ROUNDS; r++)
            y[d][r] = 1000 * (1 + 0.04 * normal(&rng));
        uint32_t at = rb_steady_latch(&pts, y[d], ROUNDS);
        assert_in_range(at, 5, ROUNDS);
        last = RB_MAX(last, at);
    }
    for (int r = 0; r + 5 <= ROUNDS; r++) {
        int held = 0;
        for (int d = 0; d < DRIVES; d++)
            held += rb_steady_fit(&pts, &y[d][r]).holds;
        together += held == DRIVES;
    }
    print_message("the last of %d drives latched in round %u\n", DRIVES, last);
    assert_int_equal(together, 0);
}

/* A rate that falls by 3 % a round: the line falls by 12 % over a window. */
static void drift_does_not(void **state)
{
    (void)state;
    double y[ROUNDS], slow[ROUNDS];
    for (int r = 0; r < ROUNDS; r++) {
        y[r] = 1000 * pow(0.97, r);
        slow[r] = 1000 * pow(0.98, r);
    }
    assert_int_equal(rb_steady_latch(&pts, y, ROUNDS), 0);
    assert_int_equal(rb_steady_latch(&pts, slow, ROUNDS), 5);
}

/* A drive that falls from 4 to 1 and stays there. */
static void after_the_transition(void **state)
{
    (void)state;
    double y[ROUNDS];
    for (int r = 0; r < ROUNDS; r++)
        y[r] = r < 6 ? 4000 - 500 * r : 1000 + 5 * (r % 2);
    assert_int_equal(rb_steady_latch(&pts, y, ROUNDS), 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fit_by_hand),      cmocka_unit_test(limits),
        cmocka_unit_test(fios_kinds),           cmocka_unit_test(nothing_holds_over_a_gap),
        cmocka_unit_test(noise_latches),        cmocka_unit_test(drift_does_not),
        cmocka_unit_test(after_the_transition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
