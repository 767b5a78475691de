/* What was judged is what is opened: a path that leads elsewhere by now is refused. */
#include <fcntl.h>
#include <linux/fs.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/worker_subject.h"
#include "tests/unit/disk_rig.h"

static rb_worker_subject_t subject;
static rb_crew_t crew;
static rb_err_t err;

static void begin(const rb_subject_t *at)
{
    rb_crew_init(&crew);
    rb_worker_subject_init(&subject, at);
    err = (rb_err_t){0};
}

static void end(void)
{
    rb_worker_subject_clear(&subject);
    rb_crew_clear(&crew);
}

static rb_subject_t file_in(const char *directory, const char *name)
{
    struct stat st;
    rb_subject_t at = {.size_bytes = 8192, .logical_block_bytes = 512};
    assert_int_equal(stat(directory, &st), 0);
    at.pinned_dev = st.st_dev;
    at.pinned_ino = st.st_ino;
    snprintf(at.path, sizeof(at.path), "%s/%s", directory, name);
    return at;
}

static int open_it(void)
{
    return rb_worker_subject_open(&subject, &(rb_open_opts_t){RB_OPEN_WRITE, RB_OPEN_BUFFERED, 0},
                                  &err);
}

static void test_device(void **state)
{
    (void)state;
    struct stat st;
    rb_subject_t at = {.is_device = true, .size_bytes = DISK, .logical_block_bytes = 512};
    snprintf(at.path, sizeof(at.path), "%s", loop.path);
    assert_int_equal(fstat(loop.fd, &st), 0);
    at.pinned_dev = st.st_rdev;
    at.pinned_ino = 1;
    assert_int_equal(ioctl(loop.fd, BLKGETDISKSEQ, &at.pinned_diskseq), 0);
    begin(&at);
    int fd = open_it();
    assert_true(fd >= 0);
    close(fd);
    subject.at.pinned_diskseq++; /* another one has its number */
    assert_int_equal(open_it(), -1);
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    subject.at.pinned_diskseq = 0; /* an old kernel does not say */
    fd = open_it();
    assert_true(fd >= 0);
    close(fd);
    subject.at.pinned_dev++;
    assert_int_equal(open_it(), -1);
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    assert_non_null(strstr(err.text, "leads to another device now"));
    end();
    /* ... and it is not even claimed for writing. */
    at.pinned_dev++;
    begin(&at);
    subject.written = true;
    assert_int_equal(rb_worker_subject_prepare(&subject, &crew, 1, &err), -1);
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    end();
}

static void test_directory(void **state)
{
    (void)state;
    char judged[96], other[96], moved[96];
    snprintf(judged, sizeof(judged), "%s/judged", dir);
    snprintf(moved, sizeof(moved), "%s/moved", dir);
    snprintf(other, sizeof(other), "%s/other", dir);
    assert_int_equal(mkdir(judged, 0700) | mkdir(other, 0700), 0);
    rb_subject_t at = file_in(judged, "f");
    at.needs_layout = true;
    assert_int_equal(rename(judged, moved) | symlink(other, judged), 0);
    begin(&at);
    assert_int_equal(rb_worker_subject_prepare(&subject, &crew, 1, &err), -1);
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    assert_non_null(strstr(err.text, "is another directory now"));
    end();
    assert_int_equal(rmdir(other), 0); /* still empty */
    assert_int_equal(unlink(judged) | rename(moved, judged), 0);
    begin(&at);
    assert_int_equal(rb_worker_subject_prepare(&subject, &crew, 1, &err), 0);
    int fd = open_it();
    assert_true(fd >= 0);
    close(fd);
    end();
}

static void test_file(void **state)
{
    (void)state;
    char name[128], second[128];
    rb_subject_t at = file_in(dir, "f");
    snprintf(name, sizeof(name), "%s/f", dir);
    snprintf(second, sizeof(second), "%s/second", dir);
    assert_int_equal(symlink(loop.image, name), 0);
    begin(&at);
    assert_int_equal(open_it(), -1); /* a link in its place */
    assert_int_equal(unlink(name) | link(loop.image, name), 0);
    assert_int_equal(open_it(), -1); /* a second name of another file */
    assert_int_equal(err.code, RB_ERR_UNSAFE);
    end();
}

int main(void)
{
    const char *why = rb_test_isolate();
    if (why != NULL) {
        fprintf(stderr, "skipped: %s\n", why);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_device, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_directory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_file, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
