/* test_distribution.c - fio's words for a distribution, and each refusal word for word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/distribution.h"

static rb_distribution_t parsed(const char *text)
{
    rb_distribution_t d;
    rb_err_t err = {0};
    if (rb_distribution_parse(text, &d, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return d;
}

static void test_values(void **state)
{
    (void)state;
    const struct {
        const char *text;
        rb_distribution_kind_t kind;
        double value;
        bool centered;
        double center;
    } rows[] = {
        {"random", RB_DISTRIBUTION_RANDOM, 0, false, 0},
        {"zipf:1.2", RB_DISTRIBUTION_ZIPF, 1.2, false, 0},
        {"zipf:.5", RB_DISTRIBUTION_ZIPF, 0.5, false, 0},
        {"zipf:1.2:0.25", RB_DISTRIBUTION_ZIPF, 1.2, true, 0.25},
        {"zipf:1.2/0.25", RB_DISTRIBUTION_ZIPF, 1.2, true, 0.25},
        {"pareto:0.2", RB_DISTRIBUTION_PARETO, 0.2, false, 0},
        {"pareto:0.2:0", RB_DISTRIBUTION_PARETO, 0.2, true, 0},
        {"normal:10", RB_DISTRIBUTION_NORMAL, 10, false, 0},
        {"normal:99.9:1", RB_DISTRIBUTION_NORMAL, 99.9, true, 1},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_distribution_t d = parsed(rows[i].text);
        assert_int_equal(d.kind, rows[i].kind);
        assert_true(d.value == rows[i].value);
        assert_int_equal(d.centered, rows[i].centered);
        assert_true(d.center == rows[i].center);
        assert_int_equal(d.nzones, 0);
    }
}

static void test_zones(void **state)
{
    (void)state;
    rb_distribution_t d = parsed("zoned:60/10:30.5/:9.5/20:0/");
    const uint32_t access_ppm[] = {600000, 305000, 95000, 0};
    const uint32_t range_ppm[] = {100000, 350000, 200000, 350000};
    assert_int_equal(d.kind, RB_DISTRIBUTION_ZONED);
    assert_int_equal(d.nzones, 4);
    assert_memory_equal(d.access_ppm, access_ppm, sizeof(access_ppm));
    assert_memory_equal(d.range_ppm, range_ppm, sizeof(range_ppm));

    d = parsed("zoned:60/10:40/20"); /* the last 70 % are left alone */
    assert_int_equal(d.range_ppm[0] + d.range_ppm[1], 300000);
    d = parsed("zoned:10/:10/:80/");
    assert_int_equal(d.range_ppm[0] + d.range_ppm[1] + d.range_ppm[2], RB_SHARE_WHOLE_PPM);
    assert_int_equal(d.range_ppm[0], 333333);
    d = parsed("zoned:100");
    assert_int_equal(d.range_ppm[0], RB_SHARE_WHOLE_PPM);

    d = parsed("zoned_abs:60/20G:40/1MiB");
    assert_int_equal(d.kind, RB_DISTRIBUTION_ZONED_ABS);
    assert_int_equal(d.access_ppm[1], 400000);
    assert_int_equal(d.range_bytes[0], 20 * RB_GIB);
    assert_int_equal(d.range_bytes[1], RB_MIB);
}

static void assert_refused(const char *text, const char *want)
{
    rb_distribution_t d = {.value = 42};
    rb_err_t err = {0};
    if (rb_distribution_parse(text, &d, &err) == 0)
        fail_msg("\"%s\" was accepted", text);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_string_equal(err.text, want);
    assert_true(d.value == 42);
}

#define UNKNOWN                                                                                    \
    " is not a distribution: write random, zipf:1.2, pareto:0.2, normal:10, zoned:60/10:40/90 "    \
    "or zoned_abs:60/20G:40/100G"
#define THETA  " is not a theta of zipf: it must be above 0, below 100 and not 1, such as zipf:1.2"
#define H      " is not a h of pareto: it must be above 0 and below 1, such as pareto:0.2"
#define NORMAL "above 0 and below 100 (% of the space), such as normal:10"

static void test_refused_values(void **state)
{
    (void)state;
    const struct {
        const char *text, *want;
    } rows[] = {
        {"", "\"\"" UNKNOWN},
        {"gauss:1", "\"gauss:1\"" UNKNOWN},
        {"Zipf:1.2", "\"Zipf:1.2\"" UNKNOWN},
        {"random:1", "random takes no value: write random"},
        {"zipf", "zipf lacks its theta: it must be above 0, below 100 and not 1, such as zipf:1.2"},
        {"zipf:", "\"\"" THETA},
        {"zipf:1", "\"1\"" THETA},
        {"zipf:1.000", "\"1.000\"" THETA},
        {"zipf:0", "\"0\"" THETA},
        {"zipf:100", "\"100\"" THETA},
        {"zipf:-1", "\"-1\"" THETA},
        {"zipf:1e1", "\"1e1\"" THETA},
        {"zipf:0x1", "\"0x1\"" THETA},
        {"zipf:nan", "\"nan\"" THETA},
        {"zipf:.", "\".\"" THETA},
        {"zipf:1.2.3", "\"1.2.3\"" THETA},
        {"zipf:1.2,normal:3", "\"1.2,normal\"" THETA},
        {"zipf:1.2:1.1", "\"1.1\" is not a center of zipf: it must be 0 to 1 of the space"},
        {"zipf:1.2:", "\"\" is not a center of zipf: it must be 0 to 1 of the space"},
        {"zipf:1.2:0:1", "\"0:1\" is not a center of zipf: it must be 0 to 1 of the space"},
        {"pareto:1", "\"1\"" H},
        {"pareto:0", "\"0\"" H},
        {"normal", "normal lacks its deviation: it must be " NORMAL},
        {"normal:0", "\"0\" is not a deviation of normal: it must be " NORMAL},
        {"normal:100", "\"100\" is not a deviation of normal: it must be " NORMAL},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++)
        assert_refused(rows[i].text, rows[i].want);
}

static void test_refused_zones(void **state)
{
    (void)state;
    const struct {
        const char *text, *want;
    } rows[] = {
        {"zoned", "zoned lacks its zones: write them as in zoned:60/10:40/90"},
        {"zoned:", "zone 1 of zoned: its percentage of the accesses is missing: write it before "
                   "the /"},
        {"zoned:60/10:/20", "zone 2 of zoned: its percentage of the accesses is missing: write it "
                            "before the /"},
        {"zoned:60/10:x/20", "zone 2 of zoned: \"x\" is not a percentage: write 0 to 100, such as "
                             "12.5"},
        {"zoned:101/10", "zone 1 of zoned: \"101\" is not a percentage: write 0 to 100, such as "
                         "12.5"},
        {"zoned:60/10/5:40", "zone 1 of zoned: \"10/5\" is not a percentage: write 0 to 100, such "
                             "as 12.5"},
        {"zoned:60/10:30/20", "accesses of zoned: the percentages add up to 90: they must make "
                              "100"},
        {"zoned:60/10:50/20", "accesses of zoned: the percentages add up to 110: lower them to "
                              "100"},
        {"zoned:60/10:40/95", "ranges of zoned: the percentages add up to 105: lower them to 100"},
        {"zoned_abs", "zoned_abs lacks its zones: write them as in zoned_abs:60/20G:40/100G"},
        {"zoned_abs:100", "zone 1 of zoned_abs: \"\" is not a size: a number is missing; write "
                          "bytes, or a number with KiB MiB GiB TiB PiB (or k M G T P), kB MB GB TB "
                          "PB"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++)
        assert_refused(rows[i].text, rows[i].want);
}

static void test_number_of_zones(void **state)
{
    (void)state;
    char text[8 + 4 * (RB_MAX_ZONES + 1)] = "zoned:100/";
    for (int i = 1; i < RB_MAX_ZONES; i++)
        strcat(text, ":0/");
    assert_int_equal(parsed(text).nzones, RB_MAX_ZONES);
    strcat(text, ":0/");
    assert_refused(text, "zoned has more than 256 zones: join some");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),          cmocka_unit_test(test_zones),
        cmocka_unit_test(test_refused_values),  cmocka_unit_test(test_refused_zones),
        cmocka_unit_test(test_number_of_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
