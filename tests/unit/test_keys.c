/* Key files: what is written is read back, and what is wrong is named with its place. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
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

/* A file whose first line is a comment of `bytes` and then `tail`. */
static void write_comment(const char *path, size_t bytes, const char *tail)
{
    RB_AUTO(rb_free_str) char *text = rb_calloc(bytes + strlen(tail) + 1, 1);
    memset(text, '#', bytes);
    memcpy(text + bytes, tail, strlen(tail));
    write_text(path, text);
}

/* What does not fit in one line must not be read as the next. */
static void test_long_comment(void **state)
{
    (void)state;
    rb_err_t err;
    rb_key_list_t list = {0};
    rb_key_pair_t pair;
    const char *path = in_dir("list");
    write_comment(path, 1023, A "\n" B "\n");
    assert_int_equal(rb_key_list_load(&list, path, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "/list:1: is longer than 1022 characters"));
    assert_int_equal(list.nkeys, 0);
    write_comment(path, 1022, "\n" B "\n");
    assert_int_equal(rb_key_list_load(&list, path, &err), 0);
    assert_int_equal(list.nkeys, 1);
    rb_key_list_clear(&list);
    write_comment(path, 1023, "secret " A "\n");
    assert_int_equal(rb_key_pair_load(path, &pair, &err), -1);
    assert_non_null(strstr(err.text, "/list:1: is longer than"));
}

static void test_nothing_given(void **state)
{
    (void)state;
    rb_err_t err;
    rb_key_list_t list = {0};
    rb_key_pair_t pair;
    rb_key_make(&pair);
    assert_int_equal(rb_key_pair_save("", &pair, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_string_equal(err.text, "a key with an empty path; name a file");
    const char *path = in_dir("list");
    write_text(path, "# nobody\n");
    assert_int_equal(rb_key_list_load(&list, path, &err), 0); /* known_hosts may be empty */
    assert_int_equal(rb_key_list_take(&list, path, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "/list' holds no key"));
    rb_key_list_clear(&list);
}

static size_t files_in(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* A limit of 0 bytes on files is a disk that is full. */
static void test_full_disk(void **state)
{
    (void)state;
    rb_err_t err;
    rb_key_pair_t pair;
    struct rlimit old, none;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    none = (struct rlimit){0, old.rlim_max};
    rb_key_make(&pair);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    int rc = rb_key_pair_save(in_dir("key"), &pair, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, -1);
    assert_int_equal(err.code, RB_ERR_IO);
    assert_int_equal(files_in(dir), 0);
    assert_int_equal(rb_key_pair_save(in_dir("key"), &pair, &err), 0);
    assert_int_equal(files_in(dir), 2);
    assert_int_equal(rb_key_pair_save(in_dir("key"), &pair, &err), -1);
    assert_int_equal(files_in(dir), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_public_of_secret),
        cmocka_unit_test_setup_teardown(test_pair, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_comment, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_given, setup, teardown),
        cmocka_unit_test_setup_teardown(test_full_disk, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
