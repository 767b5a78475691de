/* Two loop devices over one file: found by the file itself, whatever stands at its path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/major.h>
#include <sys/sysmacros.h>

#include "agent/drives.h"
#include "agent/loop_device.h"
#include "tests/unit/scratch_disk.h"

enum { IMAGE_BYTES = 8 << 20 };

static char dir[64], image[80];
static rb_test_loop_t a, b;

static int set_up(void **state)
{
    (void)state;
    a.fd = b.fd = -1;
    strcpy(dir, "/tmp/rb-loops-XXXXXX");
    RB_ASSERT(mkdtemp(dir) != NULL);
    snprintf(image, sizeof(image), "%s/image", dir);
    rb_test_image(image, IMAGE_BYTES);
    rb_test_loop_up(&a, image);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rb_test_loop_down(&b);
    rb_test_loop_down(&a);
    rb_test_remove_tree(dir);
    return 0;
}

static const char *sysfs(const rb_test_loop_t *loop)
{
    static char path[64];
    snprintf(path, sizeof(path), "/sys/block/%s", loop->path + 5);
    return path;
}

static rb_drive_t *drive_of(const rb_test_loop_t *loop)
{
    rb_err_t err = {0};
    rb_drive_t *drive = rb_drive_new(loop->path, RB_DRIVE_SIGNATURES, &err);
    if (drive == NULL)
        fail_msg("%s", err.text);
    return drive;
}

/* Somebody uses b: is that a use of a? */
static bool a_is_used(void)
{
    RB_AUTO(rb_drive_destroy) rb_drive_t *drive = drive_of(&a);
    for (size_t i = 0; i < drive->nuses; i++)
        if (drive->uses[i].relation == RB_RELATION_TWIN &&
            strcmp(drive->uses[i].device, b.path) == 0)
            return true;
    return false;
}

/* b, over the same file, has a file system. */
static void make_twin(void)
{
    char line[160];
    rb_test_loop_up(&b, image);
    snprintf(line, sizeof(line), "mkfs.ext4 -q -F -O ^has_journal %s >/dev/null 2>&1", b.path);
    assert_int_equal(system(line), 0);
}

static void twin(void **state)
{
    (void)state;
    make_twin();
    assert_true(a_is_used());
    rb_test_loop_down(&b);
    snprintf(image, sizeof(image), "%s/other", dir);
    rb_test_image(image, IMAGE_BYTES);
    make_twin();
    assert_false(a_is_used()); /* over another file */
}

static void twin_over_an_unlinked_file(void **state)
{
    (void)state;
    make_twin();
    assert_int_equal(unlink(image), 0);
    assert_true(a_is_used());
}

static void twin_behind_a_hidden_path(void **state)
{
    (void)state;
    make_twin();
    assert_int_equal(mount("none", dir, "tmpfs", 0, NULL), 0);
    bool nothing_there = a_is_used();
    rb_test_image(image, IMAGE_BYTES); /* another one at the same path */
    bool another_there = a_is_used();
    umount2(dir, MNT_DETACH);
    assert_true(nothing_there);
    assert_true(another_there);
}

/* b cannot be asked: another device, or none, is at its name. */
static void twin_that_cannot_be_asked(void **state)
{
    (void)state;
    char over[80];
    snprintf(over, sizeof(over), "%s/other", dir);
    rb_test_image(over, IMAGE_BYTES);
    rb_test_loop_up(&b, over);
    assert_false(a_is_used());
    assert_int_equal(mount("/dev/null", b.path, NULL, MS_BIND, NULL), 0);
    rb_under_t under = rb_loop_under(sysfs(&b));
    bool used = a_is_used();
    umount2(b.path, MNT_DETACH);
    assert_int_equal(under.kind, RB_UNDER_UNKNOWN);
    assert_true(used);
    assert_false(a_is_used());
}

/* A name that leads to another loop device must not answer for it. */
static void name_of_another(void **state)
{
    (void)state;
    rb_test_loop_up(&b, a.path);
    assert_int_equal(rb_loop_under(sysfs(&b)).kind, RB_UNDER_DEVICE);
    assert_int_equal(mount(a.path, b.path, NULL, MS_BIND, NULL), 0);
    rb_under_t under = rb_loop_under(sysfs(&b));
    umount2(b.path, MNT_DETACH);
    assert_int_equal(under.kind, RB_UNDER_UNKNOWN);
}

static void what_is_under_it(void **state)
{
    (void)state;
    struct stat st;
    rb_test_loop_up(&b, a.path);
    rb_under_t under = rb_loop_under(sysfs(&a));
    assert_int_equal(stat(image, &st), 0);
    assert_int_equal(under.kind, RB_UNDER_FILE);
    assert_true(under.dev == st.st_dev && under.ino == st.st_ino);
    under = rb_loop_under(sysfs(&b));
    assert_int_equal(fstat(a.fd, &st), 0);
    assert_int_equal(under.kind, RB_UNDER_DEVICE);
    assert_true(under.rdev == st.st_rdev);
    assert_int_equal(major(under.rdev), LOOP_MAJOR);
    char gone[64];
    strcpy(gone, sysfs(&b));
    rb_test_loop_down(&b);
    assert_int_equal(rb_loop_under(gone).kind, RB_UNDER_NOTHING);
}

static void assert_id(const char *expected)
{
    RB_AUTO(rb_drive_destroy) rb_drive_t *drive = drive_of(&a);
    RB_AUTO(rb_free_str) char *id = rb_drive_id(drive);
    assert_string_equal(id, expected);
}

/* An id that a plan can wipe by is the path of the very file, or there is none. */
static void id_of_its_file(void **state)
{
    (void)state;
    char expected[96];
    snprintf(expected, sizeof(expected), "loop:%s", image);
    assert_id(expected);
    assert_int_equal(unlink(image), 0);
    assert_id("");
    rb_test_image(image, IMAGE_BYTES);
    assert_id("");
}

#define RB_ON_LOOPS(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RB_ON_LOOPS(what_is_under_it),
        RB_ON_LOOPS(twin),
        RB_ON_LOOPS(twin_over_an_unlinked_file),
        RB_ON_LOOPS(twin_behind_a_hidden_path),
        RB_ON_LOOPS(twin_that_cannot_be_asked),
        RB_ON_LOOPS(name_of_another),
        RB_ON_LOOPS(id_of_its_file),
    };
    const char *why = rb_test_isolate();
    if (why != NULL) {
        print_message("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
