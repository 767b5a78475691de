/* test_hostlist.c - expressions and what they expand to; each refusal and where it points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <unistd.h>
#include <cmocka.h>

#include "common/hostlist.h"

/* name>address>port of each host, with blanks between. */
static char *show(const rb_hostlist_t *list)
{
    char *text = rb_strdup("");
    for (size_t i = 0; i < list->nitems; i++) {
        const rb_hostlist_item_t *item = &list->items[i];
        char *longer = rb_asprintf("%s%s%s>%s>%u", text, i ? " " : "", item->name, item->address,
                                   (unsigned)item->port);
        free(text);
        text = longer;
    }
    return text;
}

static void test_expressions(void **state)
{
    (void)state;
    const struct {
        const char *expr, *want;
    } rows[] = {
        {"a", "a>a>7411"},
        {" a ,b", "a>a>7411 b>b>7411"},
        {"b,a:1", "b>b>7411 a:1>a>1"},
        {"node[08-11,20]", "node08>node08>7411 node09>node09>7411 node10>node10>7411 "
                           "node11>node11>7411 node20>node20>7411"},
        {"n[9-10]", "n9>n9>7411 n10>n10>7411"},
        {"n[099-100]", "n099>n099>7411 n100>n100>7411"},
        {"n[0-1]", "n0>n0>7411 n1>n1>7411"},
        {"r[1-2]n[01,3]x", "r1n01x>r1n01x>7411 r1n3x>r1n3x>7411 "
                           "r2n01x>r2n01x>7411 r2n3x>r2n3x>7411"},
        {"10.77.0.[3-4]", "10.77.0.3>10.77.0.3>7411 10.77.0.4>10.77.0.4>7411"},
        {"[1-2].rack:80", "1.rack:80>1.rack>80 2.rack:80>2.rack>80"},
        {"h:[7411-7412]", "h:7411>h>7411 h:7412>h>7412"},
        {"db07:65535", "db07:65535>db07>65535"},
        {"[fd00::7]", "[fd00::7]>fd00::7>7411"},
        {"[fd00::7]:7412,a", "[fd00::7]:7412>fd00::7>7412 a>a>7411"},
        {"[fe80::1%eth0]:[1-2]", "[fe80::1%eth0]:1>fe80::1%eth0>1 [fe80::1%eth0]:2>fe80::1%eth0>2"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
        rb_err_t err = {0};
        if (rb_hostlist_parse(list, rows[i].expr, &err) < 0)
            fail_msg("%s: %s", rows[i].expr, err.text);
        RB_AUTO(rb_free_str) char *got = show(list);
        assert_string_equal(got, rows[i].want);
    }
}

static void assert_refused(const char *expr, const char *want)
{
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    rb_err_t err = {0};
    if (rb_hostlist_parse(list, expr, &err) == 0)
        fail_msg("\"%s\" was accepted", expr);
    assert_int_equal(err.code, RB_ERR_INPUT);
    if (!strstr(err.text, want))
        fail_msg("\"%s\": %s", expr, err.text);
}

static void test_refused(void **state)
{
    (void)state;
    const struct {
        const char *expr, *want;
    } rows[] = {
        {"", "host list, column 1: a host is missing"},
        {"  ", "a host is missing"},
        {"a,,b", "column 3: a host is missing"},
        {"a,", "column 3: a host is missing"},
        {"a,b,a", "column 5: host a is in the list twice"},
        {"a,b[1-2],b2", "column 10: host b2 is in the list twice"},
        {"a,a:7411", "column 3: host a:7411 is the same agent as a "},
        {"a:0", "column 1: \"a:0\" has the port \"0\": use 1 to 65535"},
        {"a,b:65536", "column 3: \"b:65536\" has the port"},
        {"a:", "has the port \"\""},
        {"a:7x", "has the port \"7x\""},
        {"a:-1", "has the port \"-1\""},
        {":7411", "host address \"\" is empty"},
        {"fd00::7", "several colons: write an IPv6 address as [address]:port"},
        {"[fd00:::7]", "\"fd00:::7\" is not an IPv6 address"},
        {"[fd00::7]x", "only :port may follow"},
        {"[fd00::7]:", "has the port \"\""},
        {"a,n[4-1]", "column 5: range 4-1 is reversed"},
        {"n[1-4097]", "column 3: range 1-4097 has 4097 numbers: at most 4096 hosts"},
        {"n[0-9][0-9][0-9][0-9]", "one too many: at most 4096 hosts"},
        {"n[1-99999999999]", "is not a range of numbers"},
        {"n[1-010]", "pads its ends differently"},
        {"n[]", "column 3: \"\" is not a range"},
        {"n[1,]", "column 5: \"\" is not a range"},
        {"n[1-2-3]", "\"1-2-3\" is not a range"},
        {"n[a-c]", "\"a-c\" is not a range"},
        {"n[[1-2]]", "\"[1-2\" is not a range"},
        {"a,n[1-4", "column 4: '[' is not closed"},
        {"a,n1-4]", "column 7: ']' has no '['"},
        {"a/b", "holds a '/'"},
        {"tcp://a", "has the port \"//a\""},
        {"a b", "holds a blank or control character"},
        {"a\033[1]", "holds a blank or control character"},
        {"a\177", "holds a blank or control character"},
        {"@", "column 1: host file \"\": No such file"},
        {"a,@/nonexistent/hosts", "column 3: host file \"/nonexistent/hosts\": No such file"},
        {"@/", "host file \"/\": Is a directory"},
        {"@/dev/null", "host file \"/dev/null\" names no host"},
    };
    for (size_t i = 0; i < RB_LEN(rows); i++)
        assert_refused(rows[i].expr, rows[i].want);
}

static void test_long_names(void **state)
{
    (void)state;
    char expr[2 * RB_MAX_NAME];
    memset(expr, 'n', sizeof(expr));
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    rb_err_t err = {0};
    expr[RB_MAX_NAME] = '\0';
    assert_int_equal(rb_hostlist_parse(list, expr, &err), 0);
    assert_string_equal(list->items[0].name, expr);
    memcpy(expr + RB_MAX_NAME, "n", 2);
    assert_refused(expr, "longer than 255 bytes");
    memcpy(expr + RB_MAX_NAME - 1, "[10]", 5);
    assert_refused(expr, "longer than 255 bytes");
    memset(expr, ':', sizeof(expr) - 2);
    expr[0] = '[';
    memcpy(expr + sizeof(expr) - 2, "]", 2);
    assert_refused(expr, "longer than 255 bytes");
}

static void test_most_hosts(void **state)
{
    (void)state;
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    rb_err_t err = {0};
    assert_int_equal(rb_hostlist_parse(list, "n[1-4096]", &err), 0);
    assert_int_equal(list->nitems, RB_MAX_HOSTS);
    assert_string_equal(list->items[4095].name, "n4096");
    assert_int_equal(rb_hostlist_parse(list, "x", &err), -1);
    assert_int_equal(list->nitems, RB_MAX_HOSTS);
}

/* A file of that text; unlink and free the path. */
static char *write_file(const char *text, size_t size)
{
    char *path = rb_strdup("/tmp/test_hostlist.XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, size), size);
    close(fd);
    return path;
}

static void test_file(void **state)
{
    (void)state;
    const char text[] = "# the rack\n\n  n[1-2]  # left\r\nb:80, c\n\t\nlast";
    RB_AUTO(rb_free_str) char *path = write_file(text, sizeof(text) - 1);
    RB_AUTO(rb_free_str) char *expr = rb_asprintf("a,@%s,z", path);
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    rb_err_t err = {0};
    assert_int_equal(rb_hostlist_parse(list, expr, &err), 0);
    RB_AUTO(rb_free_str) char *got = show(list);
    assert_string_equal(got, "a>a>7411 n1>n1>7411 n2>n2>7411 b:80>b>80 c>c>7411 "
                             "last>last>7411 z>z>7411");
    unlink(path);
}

static void assert_file_refused(const char *text, size_t size, const char *want)
{
    RB_AUTO(rb_free_str) char *path = write_file(text, size);
    RB_AUTO(rb_free_str) char *expr = rb_asprintf("@%s", path);
    RB_AUTO(rb_free_str) char *message = rb_asprintf("%s:%s", path, want);
    assert_refused(expr, message);
    unlink(path);
}

static void test_file_refused(void **state)
{
    (void)state;
    char longest[5000];
    assert_file_refused("a\n# x\n  b, c:0\n", 15, "3:6: \"c:0\" has the port");
    assert_file_refused("a\n\na\n", 5, "3:1: host a is in the list twice");
    assert_file_refused("a\n@b\n", 5, "2:1: a host file cannot name another");
    assert_file_refused("a\0b\nc\n", 6, "1:1: line holds a NUL byte");
    memset(longest, ' ', sizeof(longest));
    assert_file_refused(longest, sizeof(longest), "1:1: line holds a NUL byte or more than");
}

static void test_add_and_label(void **state)
{
    (void)state;
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    rb_err_t err = {0};
    assert_int_equal(rb_hostlist_add(list, "db07", "10.0.0.7", 7411, &err), 0);
    assert_int_equal(rb_hostlist_add(list, "db08", "10.0.0.7", 7412, &err), 0);
    assert_int_equal(rb_hostlist_add(list, "db07", "10.0.0.8", 7411, &err), -1);
    assert_string_equal(err.text, "host db07 is in the list twice: name it once");
    assert_int_equal(rb_hostlist_add(list, "db09", "10.0.0.7", 7412, &err), -1);
    assert_non_null(strstr(err.text, "db09 is the same agent as db08"));
    assert_int_equal(rb_hostlist_add(list, "db10", "10.0.0.10", 0, &err), -1);
    assert_int_equal(rb_hostlist_add(list, "", "10.0.0.10", 1, &err), -1);
    assert_int_equal(rb_hostlist_add(list, "db10", "", 1, &err), -1);
    assert_int_equal(list->nitems, 2);
    assert_int_equal(rb_hostlist_label(list, 1, "generation", "gen15", &err), 0);
    assert_int_equal(rb_hostlist_label(list, 1, "rack", "r1", &err), 0);
    assert_int_equal(rb_hostlist_label(list, 1, "rack", "r2", &err), -1);
    assert_string_equal(err.text, "host db08 has label rack twice: give it once");
    assert_int_equal(rb_hostlist_label(list, 1, "", "x", &err), -1);
    assert_int_equal(rb_hostlist_label(list, 1, "a=b", "x", &err), -1);
    assert_int_equal(list->items[0].nlabels, 0);
    assert_int_equal(list->items[1].nlabels, 2);
    assert_string_equal(list->items[1].labels[0].key, "generation");
    assert_string_equal(list->items[1].labels[1].value, "r1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expressions),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_names),    cmocka_unit_test(test_most_hosts),
        cmocka_unit_test(test_file),          cmocka_unit_test(test_file_refused),
        cmocka_unit_test(test_add_and_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
