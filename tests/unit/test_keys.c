/* Key files: what is written is read back, and what is wrong is named with its place. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/keys.h"
#include "proto/socket.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define A "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define B "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

#define KNOWN_SECRET "77076d0a7318a57d3c16c17251b26645df4c2f92ebc099cc92d9c9a5da8b8d7f"
#define KNOWN_PUBLIC "282cb6a46707ed4703149a90f6dfb183150fb0af7d8589fd08cb922bc391ba34"

static char dir[64];

static int setup(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/rb-keys-XXXXXX");
    return mkdtemp(dir) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    RB_AUTO(rb_free_str) char *command = rb_asprintf("rm -r '%s'", dir);
    return system(command);
}

static const char *in_dir(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    return path;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    chmod(path, 0600);
}

static void test_valid(void **state)
{
    (void)state;
    assert_true(rb_key_valid(A));
    assert_false(rb_key_valid(A "0"));
    assert_false(rb_key_valid(""));
    char upper[] = A;
    upper[63] = 'F';
    assert_false(rb_key_valid(upper));
    uint8_t bytes[RB_KEY_BYTES];
    char text[RB_KEY_SIZE];
    rb_key_to_bytes(bytes, B);
    assert_int_equal(bytes[0], 0xff);
    assert_int_equal(bytes[10], 0xaa);
    rb_key_from_bytes(text, bytes);
    assert_string_equal(text, B);
}

/* Against the ladder of RFC 7748, section 5, written apart from this. */
static void test_public_of_secret(void **state)
{
    (void)state;
    rb_key_pair_t known;
    memcpy(known.secret_key, KNOWN_SECRET, RB_KEY_SIZE);
    rb_key_public(&known);
    assert_string_equal(known.public_key, KNOWN_PUBLIC);
}

static void test_pair(void **state)
{
    (void)state;
    rb_err_t err;
    rb_key_pair_t pair, again;
    struct stat st;
    const char *path = in_dir("deep/er/key");
    rb_key_make(&pair);
    assert_int_equal(rb_key_pair_save(path, &pair, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(rb_key_pair_load(path, &again, &err), 0);
    assert_string_equal(pair.secret_key, again.secret_key);
    assert_string_equal(pair.public_key, again.public_key);
    assert_int_equal(rb_key_pair_save(path, &pair, &err), -1);
    assert_non_null(strstr(err.text, "is there already"));
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(rb_key_pair_load(path, &again, &err), -1);
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    write_text(path, "secret 12\n");
    assert_int_equal(rb_key_pair_load(path, &again, &err), -1);
    assert_non_null(strstr(err.text, "holds no line"));
    assert_int_equal(rb_key_pair_load(in_dir("none"), &again, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
}

static void test_list(void **state)
{
    (void)state;
    rb_err_t err;
    rb_key_list_t list = {0};
    const char *path = in_dir("list");
    write_text(path, "# who\n\n" A "\n  db07 " B " # with a name\n");
    assert_int_equal(rb_key_list_take(&list, path, &err), 0);
    assert_int_equal(rb_key_list_take(&list, A, &err), 0);
    assert_int_equal(list.nkeys, 3);
    assert_null(list.keys[0].name);
    assert_string_equal(list.keys[0].key, A);
    assert_string_equal(rb_key_list_find(&list, "db07"), B);
    assert_null(rb_key_list_find(&list, "db08"));
    write_text(path, A "\ndb07 " B " more\n");
    assert_int_equal(rb_key_list_load(&list, path, &err), -1);
    assert_non_null(strstr(err.text, "/list:2: is no 'KEY' or 'NAME KEY'"));
    rb_key_list_clear(&list);
    assert_int_equal(rb_key_list_take(&list, in_dir("none"), &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_public_of_secret),
        cmocka_unit_test_setup_teardown(test_pair, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
