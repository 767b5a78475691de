/* test_log.c - what arrives on stderr: level, one line each, nothing mixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>
#include <cmocka.h>

#include "common/log.h"

typedef struct {
    int saved, file; /* stderr as it was, and what stands in for it */
} capture_t;

static capture_t capture_start(void)
{
    char path[] = "/tmp/test_log.XXXXXX";
    capture_t c = {.saved = dup(STDERR_FILENO), .file = mkstemp(path)};
    assert_true(c.saved >= 0 && c.file >= 0);
    fcntl(c.file, F_SETFL, O_APPEND); /* as a log file of a service */
    unlink(path);
    dup2(c.file, STDERR_FILENO);
    return c;
}

/* Puts stderr back; the caller frees the text. */
static char *capture_end(capture_t *c)
{
    off_t size = lseek(c->file, 0, SEEK_END);
    char *text = rb_calloc((size_t)size + 1, 1);
    dup2(c->saved, STDERR_FILENO);
    close(c->saved);
    assert_int_equal(pread(c->file, text, (size_t)size, 0), size);
    close(c->file);
    return text;
}

static void test_levels(void **state)
{
    (void)state;
    capture_t c = capture_start();
    rb_log_info("before %s", "init");
    rb_log_init("rackbench-agent", RB_LOG_WARN);
    rb_log_error("e %d", 1);
    rb_log_warn("w");
    rb_log_info("i");
    rb_log_debug("d");
    rb_log_init("rackbench-agent", RB_LOG_DEBUG);
    rb_log_debug("d");
    RB_AUTO(rb_free_str) char *text = capture_end(&c);
    assert_string_equal(text, "rackbench: info: before init\n"
                              "rackbench-agent: error: e 1\n"
                              "rackbench-agent: warning: w\n"
                              "rackbench-agent: debug: d\n");
}

static void test_one_line_each(void **state)
{
    (void)state;
    char longest[3000];
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    rb_log_init("p", RB_LOG_INFO);
    capture_t c = capture_start();
    errno = ENOENT;
    rb_log_info("a\nb\033[1m %m");
    assert_int_equal(errno, ENOENT);
    rb_log_info("%s", longest);
    RB_AUTO(rb_free_str) char *text = capture_end(&c);
    const char first[] = "p: info: a\\x0ab\\x1b[1m No such file or directory\n";
    assert_memory_equal(text, first, sizeof(first) - 1);
    assert_int_equal(strlen(text), sizeof(first) - 1 + RB_LOG_LINE);
    assert_int_equal(text[strlen(text) - 2], 'x');
    assert_int_equal(text[strlen(text) - 1], '\n');
}

/* Names of peers are any bytes: nothing of them may reach a terminal but text. */
static void test_only_text_is_shown(void **state)
{
    (void)state;
    char longest[RB_LOG_LINE];
    memset(longest, 0x80, sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    rb_log_init("p", RB_LOG_INFO);
    capture_t c = capture_start();
    rb_log_info("%s", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80");
    rb_log_info("%s", "\x9b"
                      "2J \xc2\x9b"
                      "2J \x7f \xff \xc3");
    rb_log_info("%s", "\xc0\xaf \xe0\x80\xaf \xed\xa0\x80 \xf4\x90\x80\x80");
    rb_log_info("%s", longest);
    RB_AUTO(rb_free_str) char *text = capture_end(&c);
    const char all[] = "p: info: gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\n"
                       "p: info: \\x9b2J \\xc2\\x9b2J \\x7f \\xff \\xc3\n"
                       "p: info: \\xc0\\xaf \\xe0\\x80\\xaf \\xed\\xa0\\x80 "
                       "\\xf4\\x90\\x80\\x80\n"
                       "p: info: \\x80\\x80";
    assert_memory_equal(text, all, sizeof(all) - 1);
    const char *last = strrchr(text, 'i');
    assert_true(strlen(last) <= RB_LOG_LINE);
    assert_string_equal(text + strlen(text) - 5, "\\x80\n");
}

static void test_errno_is_kept(void **state)
{
    (void)state;
    int saved = dup(STDERR_FILENO), full = open("/dev/full", O_WRONLY);
    assert_true(saved >= 0 && full >= 0);
    rb_log_init("p", RB_LOG_INFO);
    dup2(full, STDERR_FILENO);
    errno = EINTR;
    rb_log_info("lost");
    int after = errno;
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(full);
    assert_int_equal(after, EINTR);
}

enum { THREADS = 4, LINES = 2000 };

static void *log_many(void *letter)
{
    for (int i = 0; i < LINES; i++)
        rb_log_info("%.40s", (const char *)letter);
    return NULL;
}

static void test_threads_do_not_mix(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    char letters[THREADS][64];
    rb_log_init("p", RB_LOG_INFO);
    capture_t c = capture_start();
    for (int i = 0; i < THREADS; i++) {
        memset(letters[i], 'a' + i, sizeof(letters[i]));
        pthread_create(&threads[i], NULL, log_many, letters[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    RB_AUTO(rb_free_str) char *text = capture_end(&c);
    const char *line = text;
    for (int i = 0; i < THREADS * LINES; i++, line += 50) {
        assert_memory_equal(line, "p: info: ", 9);
        assert_int_equal(strspn(line + 9, (char[]){line[9], '\0'}), 40);
        assert_int_equal(line[49], '\n');
    }
    assert_int_equal(*line, '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_one_line_each),
        cmocka_unit_test(test_only_text_is_shown),
        cmocka_unit_test(test_errno_is_kept),
        cmocka_unit_test(test_threads_do_not_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
