/* A journal that is gone on with: the torn rest is cut, damage is left alone, one process writes.
 */
#include "coordinator/journal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct {
    char dir[64], path[80];
} place_t;

/* A journal of two records, "one" and "two". */
static place_t place_new(void)
{
    place_t p = {.dir = "/tmp/rackbench-resume-XXXXXX"};
    rb_err_t err = {0};
    assert_non_null(mkdtemp(p.dir));
    snprintf(p.path, sizeof(p.path), "%s/j", p.dir);
    RB_AUTO(rb_journal_destroy) rb_journal_t *j = rb_journal_create(p.path, &err);
    assert_int_equal(rb_journal_append(j, 1, "one", 3, &err), 0);
    assert_int_equal(rb_journal_append(j, 2, "two", 3, &err), 0);
    return p;
}

static void place_clear(place_t *p)
{
    unlink(p->path);
    rmdir(p->dir);
}

static off_t size_of(const place_t *p)
{
    struct stat st;
    assert_int_equal(stat(p->path, &st), 0);
    return st.st_size;
}

static int count(void *ctx, uint32_t host, const void *data, size_t size, rb_err_t *err)
{
    (void)host, (void)data, (void)err;
    assert_int_equal(size, 3);
    ++*(size_t *)ctx;
    return 0;
}

static void test_goes_on_behind_the_last_whole_record(void **state)
{
    (void)state;
    for (off_t torn = 0; torn < 15; torn++) {
        RB_AUTO(place_clear) place_t p = place_new();
        off_t whole = size_of(&p) - 15;
        if (torn > 0)
            assert_int_equal(truncate(p.path, whole + torn), 0);
        size_t n = 0;
        rb_err_t err = {0};
        rb_journal_info_t info = {0};
        rb_journal_t *j = rb_journal_resume(p.path, count, &n, &info, &err);
        assert_non_null(j);
        assert_int_equal(info.torn_bytes, torn);
        assert_int_equal(n, torn > 0 ? 1 : 2);
        off_t before = torn > 0 ? whole + torn : whole + 15;
        assert_int_equal(size_of(&p), before); /* whoever only looks changes nothing */
        assert_int_equal(rb_journal_append(j, 3, "six", 3, &err), 0);
        assert_int_equal(rb_journal_sync(j, &err), 0);
        rb_journal_destroy(&j);
        n = 0;
        assert_int_equal(rb_journal_read(p.path, count, &n, &info, &err), 0);
        assert_int_equal(n, torn > 0 ? 2 : 3);
        assert_int_equal(info.torn_bytes, 0);
    }
}

static void test_damage_is_left_alone(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    off_t size = size_of(&p);
    int fd = open(p.path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "X", 1, 8 + 12), 1); /* in the first payload */
    close(fd);
    size_t n = 0;
    rb_err_t err = {0};
    rb_journal_info_t info;
    assert_null(rb_journal_resume(p.path, count, &n, &info, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "is damaged"));
    assert_int_equal(size_of(&p), size);
}

static void test_one_process_writes(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = place_new();
    size_t n = 0;
    rb_err_t err = {0};
    rb_journal_info_t info;
    rb_journal_t *j = rb_journal_resume(p.path, count, &n, &info, &err);
    assert_non_null(j);
    char who[64];
    snprintf(who, sizeof(who), "the run is under way in process %d", (int)getpid());
    assert_null(rb_journal_resume(p.path, count, &n, &info, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, who));
    assert_int_equal(rb_journal_read(p.path, count, &n, &info, &err), 0); /* reading is free */
    rb_journal_destroy(&j);
    j = rb_journal_resume(p.path, count, &n, &info, &err);
    assert_non_null(j);
    rb_journal_destroy(&j);
}

static void test_a_run_holds_the_lock(void **state)
{
    (void)state;
    RB_AUTO(place_clear) place_t p = {.dir = "/tmp/rackbench-resume-XXXXXX"};
    size_t n = 0;
    rb_err_t err = {0};
    rb_journal_info_t info;
    assert_non_null(mkdtemp(p.dir));
    snprintf(p.path, sizeof(p.path), "%s/j", p.dir);
    RB_AUTO(rb_journal_destroy) rb_journal_t *j = rb_journal_create(p.path, &err);
    assert_non_null(j);
    assert_null(rb_journal_resume(p.path, count, &n, &info, &err));
    assert_non_null(strstr(err.text, "under way"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_goes_on_behind_the_last_whole_record),
        cmocka_unit_test(test_damage_is_left_alone),
        cmocka_unit_test(test_one_process_writes),
        cmocka_unit_test(test_a_run_holds_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
