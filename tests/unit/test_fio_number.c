/* test_fio_number.c - sizes, times and flags as fio 3.33 reads them: each value was asked of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "coordinator/plan/fio_number.h"

static const rb_fio_opts_t opts = {.page_bytes = 4096, .ncpus = 8, .memory_mb = 1000};

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t kb_base;
        uint64_t want;
    } rows[] = {
        {"0", 1024, 0},
        {"4k", 1024, 4096},
        {"4K", 1024, 4096},
        {"2kb", 1024, 2048},
        {"4ki", 1024, 4096},
        {"4kib", 1024, 4000},
        {"4KiB", 1024, 4000},
        {"1mib", 1024, 1000000},
        {"1m", 1024, RB_MIB},
        {"2g", 1024, 2 * RB_GIB},
        {"1t", 1024, 1024 * RB_GIB},
        {"1p", 1024, 1024 * 1024 * RB_GIB},
        {"100b", 1024, 100},
        {"4k", 1000, 4000},
        {"1mi", 1000, 1000000},
        {"4kib", 1000, 4096},
        {"1mib", 1000, RB_MIB},
        {"0x10", 1024, 16},
        {"0x10k", 1024, 16384},
        {"010", 1024, 10},
        {"2*$pagesize", 1024, 8192},
        {"$ncpus", 1024, 8},
        {"5*1024*1024*$mb_memory/8", 1024, 655360000},
        {"( $ncpus + 2 ) * 3 - 1", 1024, 29},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_fio_units_t units = {rows[i].kb_base, &opts};
        rb_err_t err;
        uint64_t got = 0;
        if (rb_fio_number(rows[i].text, &units, &got, &err) != 0 || got != rows[i].want)
            fail_msg("%s: %llu", rows[i].text, (unsigned long long)got);
    }
}

static void test_no_numbers(void **state)
{
    (void)state;
    static const char *const rows[] = {"",
                                       "k",
                                       "-1",
                                       "1.5k",
                                       "10 m",
                                       "4kk",
                                       "1x",
                                       "0x",
                                       "5*1024",
                                       "(2+3)*4",
                                       "1z",
                                       "1e3",
                                       "$cpus",
                                       "$ncpus/0",
                                       "$ncpus-9",
                                       "$ncpus)",
                                       "99999999999999999999",
                                       "32000p",
                                       "4ibk"};
    rb_fio_units_t units = {1024, &opts};
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_err_t err;
        uint64_t got = 77;
        if (rb_fio_number(rows[i], &units, &got, &err) == 0)
            fail_msg("%s is %llu", rows[i], (unsigned long long)got);
        assert_int_equal(got, 77);
        assert_int_equal(err.code, RB_ERR_INPUT);
    }
}

static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t unit_ns, want_ns;
    } rows[] = {
        {"5", RB_NS_PER_S, 5 * RB_NS_PER_S},        {"5", RB_NS_PER_US, 5 * RB_NS_PER_US},
        {"2d", RB_NS_PER_S, 172800 * RB_NS_PER_S},  {"3h", RB_NS_PER_S, 10800 * RB_NS_PER_S},
        {"4m", RB_NS_PER_S, 240 * RB_NS_PER_S},     {"2s", RB_NS_PER_US, 2 * RB_NS_PER_S},
        {"500ms", RB_NS_PER_S, 500 * RB_NS_PER_MS}, {"7usec", RB_NS_PER_S, 7 * RB_NS_PER_US},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_err_t err;
        uint64_t got = 0;
        assert_int_equal(rb_fio_time(rows[i].text, rows[i].unit_ns, &got, &err), 0);
        assert_int_equal(got, rows[i].want_ns);
    }
    static const char *const wrong[] = {"", "s", "1.5", "1:30", "5 s", "3w", "-1"};
    for (size_t i = 0; i < RB_LEN(wrong); i++) {
        rb_err_t err;
        uint64_t got = 77;
        assert_int_equal(rb_fio_time(wrong[i], RB_NS_PER_S, &got, &err), -1);
    }
}

static void test_flags_and_percent(void **state)
{
    (void)state;
    rb_err_t err;
    bool flag = false;
    uint32_t percent = 0;
    assert_int_equal(rb_fio_flag("", &flag, &err), 0);
    assert_true(flag);
    assert_int_equal(rb_fio_flag("0", &flag, &err), 0);
    assert_false(flag);
    assert_int_equal(rb_fio_flag("true", &flag, &err), -1);
    assert_true(rb_fio_percent("20%", &percent));
    assert_int_equal(percent, 20);
    assert_false(rb_fio_percent("20", &percent));
    assert_false(rb_fio_percent("101%", &percent));
    assert_false(rb_fio_percent("%", &percent));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_no_numbers),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_flags_and_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
