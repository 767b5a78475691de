/* test_units.c - tables of text and number, both ways. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/rng.h"
#include "common/units.h"

typedef int parse_fn(const char *text, uint64_t *ret, rb_err_t *err);

typedef struct {
    const char *text;
    uint64_t want;
} good_t;

/* A text that is refused, and a part of the message that says why. */
typedef struct {
    const char *text;
    const char *why;
} bad_t;

static void check_good(parse_fn *parse, const good_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rb_err_t err = {0};
        uint64_t got = 0;
        if (parse(rows[i].text, &got, &err) < 0)
            fail_msg("\"%s\": %s", rows[i].text, err.text);
        if (got != rows[i].want)
            fail_msg("\"%s\" became %llu", rows[i].text, (unsigned long long)got);
    }
}

static void check_bad(parse_fn *parse, const bad_t *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        rb_err_t err = {0};
        uint64_t got = 4711;
        if (parse(rows[i].text, &got, &err) == 0)
            fail_msg("\"%s\" became %llu", rows[i].text, (unsigned long long)got);
        assert_int_equal(got, 4711); /* untouched */
        assert_int_equal(err.code, RB_ERR_INPUT);
        if (!strstr(err.text, rows[i].why))
            fail_msg("\"%s\": %s", rows[i].text, err.text);
    }
}

static void test_bytes(void **state)
{
    (void)state;
    const good_t good[] = {
        {"0", 0},
        {"512", 512},
        {"512B", 512},
        {"4k", 4096},
        {"4K", 4096},
        {"4KiB", 4096},
        {" 4 KiB ", 4096},
        {"4kB", 4000},
        {"4KB", 4000},
        {"1M", 1048576},
        {"1m", 1048576},
        {"1MiB", 1048576},
        {"1MB", 1000000},
        {"1g", 1073741824},
        {"1.5GiB", 1610612736},
        {"1.5GB", 1500000000},
        {"3.2TB", 3200000000000},
        {"1TiB", 1ull << 40},
        {"2P", 1ull << 51},
        {"2PB", 2000000000000000},
        {"0.000000000000001PB", 1},
        {"0.0009765625k", 1},
        {"18446744073709551615", UINT64_MAX},
        {"16383P", 16383ull << 50},
    };
    const bad_t bad[] = {
        {"", "a number is missing"},
        {"KiB", "does not begin with a digit"},
        {"-4k", "does not begin with a digit"},
        {".5k", "does not begin with a digit"},
        {"4.k", "after the point"},
        {"4q", "unit is unknown; write bytes, or a number with KiB"},
        {"4kb", "unit is unknown"},
        {"1mB", "unit is unknown"},
        {"1e6", "unit is unknown"},
        {"4 k 4", "something stands after it"},
        {"1,000", "something stands after it"},
        {"1.5", "not a whole number"},
        {"0.0001k", "not a whole number"},
        {"0.1234567890123456789k", "more than 18 digits"},
        {"16384P", "64 bits"},
        {"18446744073709551616", "64 bits"},
        {"20000000000000000000", "64 bits"},
        {"99999999999999999999k", "64 bits"},
    };
    check_good(rb_parse_bytes, good, RB_LEN(good));
    check_bad(rb_parse_bytes, bad, RB_LEN(bad));
}

static void test_count(void **state)
{
    (void)state;
    const good_t good[] = {
        {"64", 64},      {"2k", 2000},      {"2K", 2000},
        {"1M", 1000000}, {"1.5M", 1500000}, {"3G", 3000000000},
    };
    const bad_t bad[] = {
        {"1.5", "not a whole number"},
        {"2KiB", "unit is unknown; write a whole number"},
        {"1m", "unit is unknown"},
        {"20000P", "64 bits"},
    };
    check_good(rb_parse_count, good, RB_LEN(good));
    check_bad(rb_parse_count, bad, RB_LEN(bad));
}

static void test_duration(void **state)
{
    (void)state;
    const good_t good[] = {
        {"0", 0},
        {"0s", 0},
        {"7ns", 7},
        {"250us", 250000},
        {"1.5ms", 1500000},
        {"30s", 30 * RB_NS_PER_S},
        {"30 s", 30 * RB_NS_PER_S},
        {"1m30s", 90 * RB_NS_PER_S},
        {"1h 30m", 5400 * RB_NS_PER_S},
        {"2d", 172800 * RB_NS_PER_S},
        {"0.5h", 1800 * RB_NS_PER_S},
        {"1d2h3m4s5ms6us7ns", 93784005006007ull},
        {"18446744073709551615ns", UINT64_MAX},
    };
    const bad_t bad[] = {
        {"", "it is empty"},
        {"30", "add a unit: 30s"},
        {"1m30", "add a unit: 30s"},
        {"00", "add a unit"},
        {"30sec", "unit is unknown; write 30s"},
        {"30S", "unit is unknown"},
        {"30s1m", "fall from left to right"},
        {"1m1m", "fall from left to right"},
        {"0.5ns", "not a whole number"},
        {"-1s", "does not begin with a digit"},
        {"300000d", "64 bits"},
        {"213503d23h34m33s709ms551us616ns", "64 bits"},
    };
    check_good(rb_parse_duration, good, RB_LEN(good));
    check_bad(rb_parse_duration, bad, RB_LEN(bad));
}

static void test_ppm(void **state)
{
    (void)state;
    const good_t good[] = {
        {"0", 0},        {"20000", 20000},  {"20ppm", 20},        {"2%", 20000},
        {"0.25%", 2500}, {"100%", 1000000}, {"1000000", 1000000},
    };
    const bad_t bad[] = {
        {"1000001", "more than the whole; write 0% to 100%"},
        {"101%", "more than the whole"},
        {"0.5", "not a whole number"},
        {"0.00001%", "not a whole number"},
        {"2k", "unit is unknown"},
    };
    check_good(rb_parse_ppm, good, RB_LEN(good));
    check_bad(rb_parse_ppm, bad, RB_LEN(bad));
}

typedef const char *fmt_fn(char *buf, size_t size, uint64_t value);

static void check_fmt(fmt_fn *fmt, const good_t *rows, size_t n)
{
    char buf[RB_FMT_SIZE];
    for (size_t i = 0; i < n; i++)
        assert_string_equal(fmt(buf, sizeof(buf), rows[i].want), rows[i].text);
}

static void test_fmt_bytes(void **state)
{
    (void)state;
    const good_t rows[] = {
        {"0 B", 0},
        {"1537 B", 1537},
        {"4 KiB", 4096},
        {"1536 MiB", 1610612736},
        {"812 GiB", 812 * RB_GIB},
        {"9.77 KiB", 10001},
        {"1.42 GiB", 1524713391},
        {"745.1 GiB", 800000000001},
        {"1023 MiB", 1023 * RB_MIB - 1},
        {"1.00 GiB", RB_GIB - 1},
        {"16384 PiB", UINT64_MAX},
    };
    check_fmt(rb_fmt_bytes, rows, RB_LEN(rows));
}

static void test_fmt_count_and_ns(void **state)
{
    (void)state;
    const good_t counts[] = {
        {"0", 0},           {"950", 950},      {"1.00k", 1000},
        {"123.4k", 123400}, {"1.00M", 999996}, {"1.20M", 1200000},
    };
    const good_t latencies[] = {
        {"0 ns", 0},
        {"950 ns", 950},
        {"86.2 us", 86200},
        {"9.99 us", 9994},
        {"10.0 us", 9996},
        {"999.4 us", 999400},
        {"1.00 ms", 999960},
        {"1.24 ms", 1240000},
        {"12.5 s", 12500 * RB_NS_PER_MS},
        {"5400 s", 5400 * RB_NS_PER_S},
    };
    static const struct {
        const char *text;
        double per_s;
    } rates[] = {
        {"0", 0},       {"0.0017", 1 / 600.0}, {"0.33", 1 / 3.0}, {"3", 3},
        {"9.99", 9.99}, {"41.7", 41.67},       {"100", 99.97},
    };
    char buf[RB_FMT_SIZE];
    for (size_t i = 0; i < RB_LEN(rates); i++)
        assert_string_equal(rb_fmt_rate_count(buf, sizeof(buf), rates[i].per_s), rates[i].text);
    assert_string_equal(rb_fmt_rate_count(buf, sizeof(buf), 123399.7), "123.4k");
    check_fmt(rb_fmt_count, counts, RB_LEN(counts));
    check_fmt(rb_fmt_ns, latencies, RB_LEN(latencies));
}

static void test_fmt_duration(void **state)
{
    (void)state;
    const good_t rows[] = {
        {"0s", 0},
        {"1ns", 1},
        {"1m30s", 90 * RB_NS_PER_S},
        {"2h", 7200 * RB_NS_PER_S},
        {"1.5s", 1500 * RB_NS_PER_MS},
        {"59.999s", 59999 * RB_NS_PER_MS},
        {"1s1us", RB_NS_PER_S + RB_NS_PER_US},
        {"213503d23h34m33s709ms551us615ns", UINT64_MAX},
    };
    check_fmt(rb_fmt_duration, rows, RB_LEN(rows));
}

static void test_fmt_bytes_exact(void **state)
{
    (void)state;
    const good_t rows[] = {
        {"0B", 0},
        {"1537B", 1537},
        {"4KiB", 4096},
        {"1536MiB", 1610612736},
        {"18446744073709551615B", UINT64_MAX},
    };
    check_fmt(rb_fmt_bytes_exact, rows, RB_LEN(rows));
}

static void test_exact_texts_are_read_back(void **state)
{
    (void)state;
    rb_rng_t rng;
    rb_err_t err;
    char buf[RB_FMT_SIZE];
    rb_rng_seed(&rng, 1, 1, 1);
    for (int i = 0; i < 100000; i++) {
        uint64_t want = rb_rng_next(&rng) >> rb_rng_below(&rng, 64), got;
        want <<= rb_rng_below(&rng, 64); /* multiples of large units too */
        assert_int_equal(rb_parse_bytes(rb_fmt_bytes_exact(buf, sizeof(buf), want), &got, &err), 0);
        assert_int_equal(got, want);
        assert_int_equal(rb_parse_duration(rb_fmt_duration(buf, sizeof(buf), want), &got, &err), 0);
        assert_int_equal(got, want);
    }
}

static void test_small_buffers_are_kept(void **state)
{
    (void)state;
    char buf[8] = "xxxxxxx";
    rb_fmt_duration(buf, 5, UINT64_MAX);
    assert_string_equal(buf, "2135");
    rb_fmt_bytes(buf, 5, RB_GIB * 10000);
    assert_string_equal(buf, "9.77");
    assert_int_equal(buf[5], 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_duration),
        cmocka_unit_test(test_ppm),
        cmocka_unit_test(test_fmt_bytes),
        cmocka_unit_test(test_fmt_count_and_ns),
        cmocka_unit_test(test_fmt_duration),
        cmocka_unit_test(test_fmt_bytes_exact),
        cmocka_unit_test(test_exact_texts_are_read_back),
        cmocka_unit_test(test_small_buffers_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
