/* test_endurance.c - a published deployment: 1.9 GB/s of KV writes on eight drives of 12.8 TB,
 * rated 3 DWPD over 5 years = 70 PBW. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/analysis/endurance.h"

static rb_endurance_in_t deployment(double copies)
{
    return (rb_endurance_in_t){.bytes_per_s = 1.9e9,
                               .duty = 1,
                               .copies = copies,
                               .drives = 8,
                               .rated_bytes = 12.8e12,
                               .years = 5};
}

#define assert_near(got, want, digit) assert_float_equal((float)(got), (float)(want), (digit) / 2)

static void test_known(void **state)
{
    (void)state;
    rb_endurance_in_t in = deployment(1);
    rb_endurance_t striped = rb_endurance(&in);
    in = deployment(2);
    rb_endurance_t mirrored = rb_endurance(&in);
    assert_near(striped.dwpd, 1.603, .001);
    assert_near(mirrored.dwpd, 3.206, .001);
    assert_near(rb_endurance_written_bytes(3, 5, 12.8e12) / 1e15, 70.08, .01);
    assert_near(rb_endurance_years(70e15, mirrored.drive_bytes_per_day), 4.67, .01);
    assert_near(rb_endurance_years(70e15, striped.drive_bytes_per_day), 9.35, .01);
    /* over its rating of 3, so the next class; striped it would do */
    assert_float_equal((float)mirrored.class_dwpd, 5, 0);
    assert_float_equal((float)striped.class_dwpd, 3, 0);
    /* a drive of 7.68 TB and 1 DWPD at the mirrored rate */
    assert_near(
        rb_endurance_years(rb_endurance_written_bytes(1, 5, 7.68e12), mirrored.drive_bytes_per_day),
        0.94, .01);
}

static void test_years_and_duty(void **state)
{
    (void)state;
    rb_endurance_in_t in = deployment(2);
    in.years = 3;
    assert_float_equal((float)rb_endurance(&in).class_dwpd, 3, 0); /* 1.924 over 5 */
    in.years = 5;
    in.duty = 0.25;
    assert_near(rb_endurance(&in).dwpd, 3.206 / 4, .001);
    assert_float_equal((float)rb_endurance(&in).class_dwpd, 1, 0);
    in.duty = 1;
    in.bytes_per_s = 1e12;
    assert_float_equal((float)rb_endurance(&in).class_dwpd, 0, 0); /* no drive does */
}

static void test_waf(void **state)
{
    (void)state;
    assert_near(rb_endurance_waf(1.2 * 512000 * 1000, 1000), 1.2, .001);
    assert_float_equal((float)rb_endurance_waf(1, 0), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known),
        cmocka_unit_test(test_years_and_duty),
        cmocka_unit_test(test_waf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
