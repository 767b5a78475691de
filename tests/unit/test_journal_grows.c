/* test_journal_grows.c - a journal that is read while it is written. */
#include "coordinator/journal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    char directory[64], path[80];
    char text[256]; /* payloads, one behind the other */
    rb_journal_info_t info;
} grows_t;

static int record(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    grows_t *g = ctx;
    (void)host;
    (void)err;
    strncat(g->text, data, size);
    return 0;
}

static int set_up(void **state)
{
    grows_t *g = rb_calloc(1, sizeof(*g));
    snprintf(g->directory, sizeof(g->directory), "/tmp/rackbench-journal.XXXXXX");
    assert_non_null(mkdtemp(g->directory));
    snprintf(g->path, sizeof(g->path), "%s/journal.rbj", g->directory);
    *state = g;
    return 0;
}

static int tear_down(void **state)
{
    grows_t *g = *state;
    unlink(g->path);
    rmdir(g->directory);
    free(g);
    return 0;
}

static void append(rb_journal_t *journal, const char *text)
{
    rb_err_t err;
    assert_int_equal(rb_journal_append(journal, 1, text, strlen(text), &err), 0);
}

static void expect_next(grows_t *g, rb_journal_reader_t *reader, const char *text)
{
    rb_err_t err;
    g->text[0] = '\0';
    assert_int_equal(rb_journal_next(reader, record, g, &g->info, &err), 0);
    assert_string_equal(g->text, text);
}

static void test_only_what_is_new(void **state)
{
    grows_t *g = *state;
    rb_err_t err;
    RB_AUTO(rb_journal_destroy) rb_journal_t *journal = rb_journal_create(g->path, &err);
    RB_AUTO(rb_journal_close) rb_journal_reader_t *reader = rb_journal_open(g->path, &err);
    assert_non_null(reader);
    expect_next(g, reader, "");
    append(journal, "one ");
    append(journal, "two ");
    expect_next(g, reader, "one two ");
    expect_next(g, reader, "");
    append(journal, "three ");
    expect_next(g, reader, "three ");
    assert_int_equal(g->info.records, 3);
    assert_int_equal(g->info.torn_bytes, 0);
}

/* The bytes of a whole file are shown to the reader up to `shown`, then up to the end. */
static void show_torn(grows_t *g, const uint8_t *bytes, size_t shown, size_t size)
{
    rb_err_t err;
    FILE *file = fopen(g->path, "wb");
    assert_int_equal(fwrite(bytes, 1, shown, file), shown);
    fflush(file);
    RB_AUTO(rb_journal_close) rb_journal_reader_t *reader = rb_journal_open(g->path, &err);
    expect_next(g, reader, "first ");
    assert_int_equal(g->info.torn_bytes, shown - (8 + 12 + 6));
    assert_int_equal(fwrite(bytes + shown, 1, size - shown, file), size - shown);
    fclose(file);
    expect_next(g, reader, "second ");
    assert_int_equal(g->info.torn_bytes, 0);
    assert_false(g->info.corrupt);
}

static void test_half_written_record(void **state)
{
    grows_t *g = *state;
    rb_err_t err;
    uint8_t bytes[128];
    RB_AUTO(rb_journal_destroy) rb_journal_t *journal = rb_journal_create(g->path, &err);
    append(journal, "first ");
    append(journal, "second ");
    rb_journal_destroy(&journal);
    FILE *file = fopen(g->path, "rb");
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    assert_int_equal(size, 8 + 12 + 6 + 12 + 7);
    for (size_t shown = 8 + 12 + 6; shown < size; shown++)
        show_torn(g, bytes, shown, size);
}

/* A record that did not go in whole is taken back by the writer, and another one takes its place.
 */
static void test_record_taken_back(void **state)
{
    grows_t *g = *state;
    rb_err_t err;
    RB_AUTO(rb_journal_destroy) rb_journal_t *journal = rb_journal_create(g->path, &err);
    append(journal, "first ");
    FILE *file = fopen(g->path, "ab");
    fwrite("\x50\0\0\0torn", 1, 8, file);
    fclose(file);
    RB_AUTO(rb_journal_close) rb_journal_reader_t *reader = rb_journal_open(g->path, &err);
    expect_next(g, reader, "first ");
    assert_int_equal(g->info.torn_bytes, 8);
    assert_int_equal(truncate(g->path, 8 + 12 + 6), 0);
    expect_next(g, reader, "");
    append(journal, "second ");
    expect_next(g, reader, "second ");
}

static void test_held_while_its_writer_lives(void **state)
{
    grows_t *g = *state;
    rb_err_t err;
    assert_false(rb_journal_held(g->path));
    rb_journal_t *journal = rb_journal_create(g->path, &err);
    assert_true(rb_journal_held(g->path));
    assert_true(rb_journal_held(g->path)); /* asking leaves no trace */
    rb_journal_destroy(&journal);
    assert_false(rb_journal_held(g->path));
    unlink(g->path);
    pid_t pid = fork();
    if (pid == 0) {
        journal = rb_journal_create(g->path, &err);
        _exit(journal == NULL || !rb_journal_held(g->path)); /* killed with the journal open */
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_false(rb_journal_held(g->path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_only_what_is_new, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_half_written_record, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_record_taken_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_held_while_its_writer_lives, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
