#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/local.h"

static void addresses(void **state)
{
    (void)state;
    assert_true(rb_local_address("127.0.0.1"));
    assert_true(rb_local_address("127.9.8.7"));
    assert_true(rb_local_address("::1"));
    assert_true(rb_local_address("localhost"));
    assert_false(rb_local_address("127.example.org"));
    assert_false(rb_local_address("128.0.0.1"));
    assert_false(rb_local_address("fd00::1"));
    assert_false(rb_local_address("::"));
    assert_false(rb_local_address("0.0.0.0"));
    assert_false(rb_local_address("localhost.example.org"));
    assert_false(rb_local_address(""));
}

static void urls(void **state)
{
    (void)state;
    assert_true(rb_local_url("ipc:///tmp/x"));
    assert_true(rb_local_url("inproc://x"));
    assert_true(rb_local_url("tcp://127.0.0.1:7411"));
    assert_true(rb_local_url("tcp://127.0.0.1:*"));
    assert_true(rb_local_url("tcp://[::1]:7411"));
    assert_true(rb_local_url("tcp://localhost:7411"));
    assert_false(rb_local_url("tcp://127.example.org:7411"));
    assert_false(rb_local_url("tcp://0.0.0.0:7411"));
    assert_false(rb_local_url("tcp://*:7411"));
    assert_false(rb_local_url("tcp://[fd00::1]:7411"));
    assert_false(rb_local_url("tcp://[:1"));
    assert_false(rb_local_url("tcp://"));
    assert_false(rb_local_url("tcp:"));
    assert_false(rb_local_url(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(addresses), cmocka_unit_test(urls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
