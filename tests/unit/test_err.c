/* test_err.c - codes, prefixes, and texts that are too long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <cmocka.h>

#include "common/err.h"

static void test_set(void **state)
{
    (void)state;
    rb_err_t err = {0};
    assert_int_equal(rb_err_set(&err, RB_ERR_UNSAFE, "drive %s is mounted", "sda"), -1);
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    assert_string_equal(err.text, "drive sda is mounted");
}

static void test_wrap_keeps_the_code(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_err_set(&err, RB_ERR_IO, "read: Input/output error");
    assert_int_equal(rb_err_wrap(&err, "drive %s", "nvme0n1"), -1);
    assert_int_equal(rb_err_wrap(&err, "agent %s", "db07"), -1);
    assert_int_equal(err.code, RB_ERR_IO);
    assert_string_equal(err.text, "agent db07: drive nvme0n1: read: Input/output error");
}

static void test_errno(void **state)
{
    (void)state;
    const struct {
        int errnum;
        rb_code_t code;
    } rows[] = {
        {ENOENT, RB_ERR_INPUT}, {ENOTDIR, RB_ERR_INPUT}, {EINVAL, RB_ERR_INPUT},
        {EACCES, RB_ERR_INPUT}, {EIO, RB_ERR_IO},        {ENOSPC, RB_ERR_IO},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        rb_err_t err = {0};
        assert_int_equal(rb_err_errno(&err, rows[i].errnum, "open %s", "/data"), -1);
        assert_int_equal(err.code, rows[i].code);
        assert_memory_equal(err.text, "open /data: ", 12);
        assert_string_equal(err.text + 12, strerror(rows[i].errnum));
    }
}

static void test_long_texts_are_cut(void **state)
{
    (void)state;
    rb_err_t err = {0};
    char text[2000];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    rb_err_set(&err, RB_ERR_INPUT, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    rb_err_wrap(&err, "place");
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_memory_equal(err.text, "place: xxx", 10);
    rb_err_wrap(&err, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    rb_err_errno(&err, EIO, "%s", text);
    assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
    assert_int_equal(err.code, RB_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_wrap_keeps_the_code),
        cmocka_unit_test(test_errno),
        cmocka_unit_test(test_long_texts_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
