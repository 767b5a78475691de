/* test_cpu_list.c - lists of CPUs: what they mean, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cpu_list.h"

static void test_parse(void **state)
{
    (void)state;
    const struct {
        const char *text, *want;
    } rows[] = {
        {"0", "0"},         {"0-3,8", "0 1 2 3 8"}, {"8,0-1", "0 1 8"},
        {"2-3,3,2", "2 3"}, {"1023", "1023"},       {"5-5", "5"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_cpu_list_t list;
        rb_err_t err = {0};
        char got[100] = "";
        assert_int_equal(rb_cpu_list_parse(rows[i].text, &list, &err), 0);
        for (uint32_t k = 0; k < list.n; k++)
            sprintf(got + strlen(got), "%s%u", k ? " " : "", list.cpu[k]);
        assert_string_equal(got, rows[i].want);
    }
    rb_cpu_list_t all;
    rb_err_t err = {0};
    assert_int_equal(rb_cpu_list_parse("0-1023", &all, &err), 0);
    assert_int_equal(all.n, RB_MAX_CPUS);
}

static void test_refused(void **state)
{
    (void)state;
    const struct {
        const char *text, *want;
    } rows[] = {
        {"", "\"\" is not the number of a CPU: write them as in 0-3,8"},
        {"1,", "\"\" is not the number of a CPU: write them as in 0-3,8"},
        {"0-", "\"\" is not the number of a CPU: write them as in 0-3,8"},
        {"-1", "\"\" is not the number of a CPU: write them as in 0-3,8"},
        {"0-1-2", "\"1-2\" is not the number of a CPU: write them as in 0-3,8"},
        {"a", "\"a\" is not the number of a CPU: write them as in 0-3,8"},
        {"0 1", "\"0 1\" is not the number of a CPU: write them as in 0-3,8"},
        {"1024", "CPU 1024 is out of range; 0 to 1023 is right"},
        {"99999999999999999999", "CPU 99999999999999999999 is out of range; 0 to 1023 is right"},
        {"4294967297", "CPU 4294967297 is out of range; 0 to 1023 is right"},
        {"8-3", "8-3 runs backwards: write 3-8"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_cpu_list_t list = {.n = 7};
        rb_err_t err = {0};
        assert_int_equal(rb_cpu_list_parse(rows[i].text, &list, &err), -1);
        assert_int_equal(err.code, RB_ERR_INPUT);
        assert_string_equal(err.text, rows[i].want);
        assert_int_equal(list.n, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parse),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
