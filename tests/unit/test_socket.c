/* Addresses: their form is judged before ZeroMQ sees them, and the bound port is told. */
#include "proto/socket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_addresses(void **state)
{
    (void)state;
    static const char *const good[] = {"tcp://10.0.0.7:7411", "tcp://[::1]:65535", "tcp://*:*",
                                       "tcp://127.0.0.1:0", "ipc:///run/rackbench"};
    static const char *const bad[] = {"foo",         "",
                                      "tcp://",      "tcp://10.0.0.7",
                                      "tcp://:7411", "tcp://10.0.0.7:",
                                      "ipc://",      "udp://10.0.0.7:1"};
    static const char *const no_port[] = {"tcp://127.0.0.1:99999", "tcp://127.0.0.1:65536",
                                          "tcp://127.0.0.1:0x10", "tcp://127.0.0.1:4294967297"};
    rb_err_t err;
    for (size_t i = 0; i < RB_LEN(good); i++)
        assert_int_equal(rb_socket_check_url(good[i], &err), 0);
    for (size_t i = 0; i < RB_LEN(bad); i++) {
        assert_int_equal(rb_socket_check_url(bad[i], &err), -1);
        assert_int_equal(err.code, RB_ERR_INPUT);
        assert_non_null(strstr(err.text, "is no address"));
    }
    for (size_t i = 0; i < RB_LEN(no_port); i++) {
        assert_int_equal(rb_socket_check_url(no_port[i], &err), -1);
        assert_non_null(strstr(err.text, "is no port; 0 to 65535 is right"));
    }
}

static void test_the_port_is_told(void **state)
{
    (void)state;
    static const char *const urls[] = {"tcp://127.0.0.1:0", "tcp://127.0.0.1:*"};
    for (size_t i = 0; i < RB_LEN(urls); i++) {
        unsigned port = 0;
        rb_err_t err;
        rb_socket_opts_t opts = {.send_queue = 1, .receive_queue = 1};
        RB_AUTO(rb_socket_destroy) rb_socket_t *s = rb_socket_new(&opts);
        assert_int_equal(rb_socket_bind(s, urls[i], &err), 0);
        assert_int_equal(sscanf(rb_socket_endpoint(s), "tcp://127.0.0.1:%u", &port), 1);
        assert_true(port > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_the_port_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
