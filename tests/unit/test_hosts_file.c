/* test_hosts_file.c - hosts.yaml: names, ranges, addresses, labels, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "coordinator/hosts_file.h"

/* Loads text as a file; the file's name in err.text becomes "F". */
static rb_hostlist_t *load(const char *text, rb_err_t *err)
{
    char path[] = "/tmp/rb_hosts_XXXXXX.yml";
    int fd = mkstemps(path, 4);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    rb_hostlist_t *list = rb_hosts_load(path, err);
    unlink(path);
    char *at = strstr(err->text, path);
    if (!list && at)
        memmove(at + 1, at + strlen(path), strlen(at + strlen(path)) + 1), *at = 'F';
    return list;
}

static void check(const rb_hostlist_item_t *item, const char *name, const char *address,
                  unsigned port)
{
    assert_string_equal(item->name, name);
    assert_string_equal(item->address, address);
    assert_int_equal(item->port, port);
}

static void test_good(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(rb_hostlist_destroy)
    rb_hostlist_t *list =
        load("hosts:\n"
             "  - {name: \"node[08-09]\", labels: {generation: gen15, rack: r1}}\n"
             "  - {name: \"db[1-2]\", address: \"10.77.0.[1-2]:7500\"}\n"
             "  - name: last:7412\n",
             &err);
    assert_non_null(list);
    assert_int_equal(list->nitems, 5);
    check(&list->items[0], "node08", "node08", 7411);
    check(&list->items[1], "node09", "node09", 7411);
    check(&list->items[3], "db2", "10.77.0.2", 7500);
    check(&list->items[4], "last:7412", "last", 7412);
    assert_int_equal(list->items[1].nlabels, 2);
    assert_string_equal(list->items[1].labels[1].key, "rack");
    assert_string_equal(list->items[1].labels[1].value, "r1");
    assert_int_equal(list->items[2].nlabels, 0);
}

static void test_expression(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hosts_load("a,b[1-2]", &err);
    assert_non_null(list);
    assert_int_equal(list->nitems, 3);
    assert_null(rb_hosts_load("a,a", &err));
    assert_null(rb_hosts_load("/nonexistent/hosts.yaml", &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_string_equal(err.text, "host list /nonexistent/hosts.yaml: No such file or directory");
}

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static const struct {
    const char *text, *message;
} bad[] = {
    {"", "F:1:1: the file is empty"},
    {"- a\n", "F:1:1: expected hosts: [{name: node01}, ...], got a list"},
    {"{}\n", "F:1:1: expected hosts: [{name: node01}, ...], got a map"},
    {"hosts: []\n", "F:1:8: expected hosts: [{name: node01}, ...], got a list"},
    {"host: [{name: a}]\n", "F:1:1: unknown key 'host'; did you mean 'hosts'?"},
    {"hosts: [a]\n", "F:1:9: expected a map: {name: node01}, got 'a'"},
    {"hosts: [{address: a}]\n", "F:1:9: expected a host with the key 'name', got a map"},
    {"hosts: [{name: a, adress: b}]\n", "F:1:19: unknown key 'adress'; did you mean 'address'?"},
    {"hosts: [{name: a, x: b}]\n",
     "F:1:19: unknown key 'x'; the keys here are name, address, labels, key"},
    {"hosts: [{name: a, key: b}]\n",
     "F:1:24: expected a public key of 64 hexadecimal digits, got 'b'"},
    {"hosts: [{name: \"a[1-2]\", key: " KEY "}]\n",
     "F:1:31: one key for 2 hosts; each agent has a key of its own"},
    {"hosts: [{name: [a]}]\n", "F:1:16: expected a host, got a list"},
    {"hosts: [{name: \"a[1-2]\", address: b}]\n",
     "F:1:35: 1 addresses for 2 names; as many of each are right"},
    {"hosts: [{name: a, labels: r1}]\n", "F:1:27: expected a map: {rack: r1}, got 'r1'"},
    {"hosts: [{name: a, labels: {rack: }}]\n", "F:1:34: expected a label's value, got nothing"},
};

static void test_bad(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_LEN(bad); i++) {
        rb_err_t err = {0};
        if (load(bad[i].text, &err))
            fail_msg("accepted: %s", bad[i].text);
        assert_int_equal(err.code, RB_ERR_INPUT);
        assert_string_equal(err.text, bad[i].message);
    }
}

static void test_key(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_hostlist_t *list = load("hosts: [{name: a, key: " KEY "}, {name: b}]\n", &err);
    assert_non_null(list);
    assert_string_equal(list->items[0].key, KEY);
    assert_null(list->items[1].key);
    rb_hostlist_destroy(&list);
}

/* What the host list itself refuses gets its place here. */
static void test_duplicate(void **state)
{
    (void)state;
    rb_err_t err = {0};
    assert_null(load("hosts:\n  - {name: a}\n  - {name: a}\n", &err));
    if (strncmp(err.text, "F:3:5: ", 7) != 0)
        fail_msg("%s", err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good), cmocka_unit_test(test_expression), cmocka_unit_test(test_bad),
        cmocka_unit_test(test_key),  cmocka_unit_test(test_duplicate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
