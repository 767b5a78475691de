#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/swap.h>

#include "agent/drives.h"
#include "agent/inventory.h"
#include "tests/unit/scratch_disk.h"

enum { IMAGE_BYTES = 8 << 20, PARTITION_BYTES = 3 << 20 };

typedef struct {
    char dir[64];
    rb_test_loop_t a, b; /* b is for what stands on a */
    char mounted[3][128];
    size_t nmounted;
    char swap[64];
    int exclusive;
    int zram; /* number; -1: none */
} fixture_t;

static int set_up(void **state)
{
    fixture_t *f = rb_calloc(1, sizeof(*f));
    f->a.fd = f->b.fd = f->exclusive = f->zram = -1;
    strcpy(f->dir, "/tmp/rb-drives-XXXXXX");
    RB_ASSERT(mkdtemp(f->dir) != NULL);
    RB_AUTO(rb_free_str) char *image = rb_asprintf("%s/image", f->dir);
    rb_test_image(image, IMAGE_BYTES);
    rb_test_loop_up(&f->a, image);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture_t *f = *state;
    while (f->nmounted > 0)
        umount2(f->mounted[--f->nmounted], MNT_DETACH);
    if (f->swap[0] != '\0')
        swapoff(f->swap);
    if (f->exclusive >= 0)
        close(f->exclusive);
    if (f->zram >= 0)
        rb_test_put("/sys/class/zram-control/hot_remove", f->zram);
    rb_test_loop_down(&f->b);
    rb_test_loop_down(&f->a);
    rb_test_remove_tree(f->dir);
    free(f);
    return 0;
}

/* ---- doing things to drives ---- */

static void shell(const char *fmt, const char *arg)
{
    RB_AUTO(rb_free_str) char *line = NULL;
    assert_true(asprintf(&line, "%s %s >/dev/null 2>&1", fmt, arg) > 0);
    assert_int_equal(system(line), 0);
}

static void mkfs(const char *device)
{
    shell("mkfs.ext4 -q -F -O ^has_journal -E lazy_itable_init=0,nodiscard", device);
}

/* Read-only, so that the filesystem itself leaves every byte alone. */
static void mount_at(fixture_t *f, const char *device, const char *name)
{
    RB_AUTO(rb_free_str) char *where = rb_asprintf("%s/%s", f->dir, name);
    mkdir(where, 0700);
    assert_int_equal(mount(device, where, "ext4", MS_RDONLY, NULL), 0);
    strcpy(f->mounted[f->nmounted++], where);
}

/* ---- asking ---- */

static rb_guard_verdict_t judge(const char *path, bool write)
{
    rb_err_t err = {0};
    RB_AUTO(rb_drive_destroy) rb_drive_t *drive = rb_drive_new(path, RB_DRIVE_SIGNATURES, &err);
    if (drive == NULL)
        fail_msg("%s", err.text);
    return rb_guard_judge(&(rb_guard_facts_t){.path = drive->path,
                                              .uses = drive->uses,
                                              .nuses = drive->nuses,
                                              .write = write,
                                              .destructive = true,
                                              .allowed = true});
}

/* Writing to path is refused for a reason that starts with "PATH: " and fmt, and asking changed
 * nothing. */
static void assert_refused(const fixture_t *f, const char *path, const char *reason)
{
    sync();
    RB_AUTO(rb_free_str) char *image = rb_asprintf("%s/image", f->dir);
    RB_AUTO(rb_free_str) char *expected = rb_asprintf("%s: %s", path, reason);
    uint64_t before = rb_test_checksum(image);
    rb_guard_verdict_t v = judge(path, true);
    sync();
    assert_int_equal(v.outcome, RB_GUARD_REFUSED);
    v.text[RB_MIN(strlen(expected), sizeof(v.text) - 1)] = '\0';
    assert_string_equal(v.text, expected);
    assert_true(rb_test_checksum(image) == before);
}

#define SAY(...)                                                                                   \
    __extension__({                                                                                \
        snprintf(reason, sizeof(reason), __VA_ARGS__);                                             \
        reason;                                                                                    \
    })

/* ---- tests ---- */

static void nobody_uses_it(void **state)
{
    fixture_t *f = *state;
    rb_err_t err = {0};
    RB_AUTO(rb_drive_destroy)
    rb_drive_t *drive = rb_drive_new(f->a.path, RB_DRIVE_SIGNATURES, &err);
    assert_non_null(drive);
    assert_int_equal(drive->nuses, 0);
    assert_int_equal(drive->size_bytes, IMAGE_BYTES);
    assert_int_equal(drive->logical_block_bytes, 512);
    assert_string_equal(drive->path, f->a.path);
    assert_int_equal(judge(f->a.path, true).outcome, RB_GUARD_ALLOWED);
}

static void mounted(void **state)
{
    fixture_t *f = *state;
    char reason[256];
    mkfs(f->a.path);
    mount_at(f, f->a.path, "a b"); /* a blank is escaped in mountinfo */
    assert_refused(f, f->a.path, SAY("it is mounted at %s/a b; unmount it", f->dir));
    assert_int_equal(judge(f->a.path, false).outcome, RB_GUARD_WARNED);
}

static void mounted_in_another_namespace(void **state)
{
    fixture_t *f = *state;
    mkfs(f->a.path);
    mount_at(f, f->a.path, "a");
    int here = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
    assert_int_equal(unshare(CLONE_NEWNS), 0);
    assert_int_equal(umount2(f->mounted[0], 0), 0); /* here only */
    assert_refused(f, f->a.path, "it is opened exclusively by the kernel or a program");
    assert_int_equal(setns(here, CLONE_NEWNS), 0);
    close(here);
}

static void filesystem_signature(void **state)
{
    fixture_t *f = *state;
    char reason[256];
    mkfs(f->a.path);
    assert_refused(f, f->a.path,
                   SAY("it is signed (ext4 filesystem); run wipefs -a %s", f->a.path));
    assert_int_equal(judge(f->a.path, false).outcome, RB_GUARD_ALLOWED);
}

static void partitions(void **state)
{
    fixture_t *f = *state;
    char reason[256], p1[80], p2[80];
    rb_test_partition(&f->a, PARTITION_BYTES);
    snprintf(p1, sizeof(p1), "%sp1", f->a.path);
    snprintf(p2, sizeof(p2), "%sp2", f->a.path);
    assert_refused(f, f->a.path, "it is signed (dos partition table)");
    assert_int_equal(judge(p1, true).outcome, RB_GUARD_ALLOWED);

    mkfs(p1);
    mount_at(f, p1, "p1");
    assert_refused(f, f->a.path, SAY("partition %s is mounted at %s/p1;", p1, f->dir));
    assert_refused(f, p1, SAY("it is mounted at %s/p1;", f->dir));
    assert_int_equal(judge(p2, true).outcome, RB_GUARD_ALLOWED); /* its sibling is fine */
}

static void disk_of_a_partition(void **state)
{
    fixture_t *f = *state;
    char reason[256], p2[80];
    rb_test_partition(&f->a, PARTITION_BYTES);
    snprintf(p2, sizeof(p2), "%sp2", f->a.path);
    rb_test_loop_up(&f->b, f->a.path); /* over the whole disk, the partition included */
    assert_refused(f, p2,
                   SAY("its disk %s is behind loop device %s; run losetup", f->a.path, f->b.path));
}

static void loop_on_it(void **state)
{
    fixture_t *f = *state;
    char reason[256];
    rb_test_loop_up(&f->b, f->a.path);
    assert_refused(f, f->a.path, SAY("it is behind loop device %s; run losetup -d", f->b.path));
    assert_int_equal(judge(f->b.path, true).outcome, RB_GUARD_ALLOWED);
    mkfs(f->b.path);
    mount_at(f, f->b.path, "b");
    assert_refused(f, f->a.path,
                   SAY("loop device %s, backed by it, is mounted at %s/b;", f->b.path, f->dir));
}

static void loop_over_what_is_mounted(void **state)
{
    fixture_t *f = *state;
    char reason[256];
    mkfs(f->a.path);
    rb_test_loop_up(&f->b, f->a.path);
    mount_at(f, f->a.path, "a");
    assert_refused(f, f->b.path, SAY("%s, which backs it, is mounted at %s/a;", f->a.path, f->dir));
}

static void swap_on_it(void **state)
{
    fixture_t *f = *state;
    char reason[256];
    shell("mkswap", f->a.path);
    assert_refused(f, f->a.path, "it is signed (swap other)");
    assert_int_equal(swapon(f->a.path, 0), 0);
    strcpy(f->swap, f->a.path);
    assert_refused(f, f->a.path, SAY("it is in use as swap; run swapoff %s", f->a.path));
}

static void opened_exclusively(void **state)
{
    fixture_t *f = *state;
    f->exclusive = open(f->a.path, O_RDONLY | O_EXCL | O_CLOEXEC);
    assert_true(f->exclusive >= 0);
    assert_refused(f, f->a.path, "it is opened exclusively by the kernel or a program; stop");
    assert_int_equal(judge(f->a.path, false).outcome, RB_GUARD_WARNED);
}

/* No md or dm is needed for this: what sysfs shows under holders is put there by a mount over it.
 */
static void holder(void **state)
{
    fixture_t *f = *state;
    char reason[256], link[256], name[64], image[128];
    snprintf(image, sizeof(image), "%s/other", f->dir);
    rb_test_image(image, IMAGE_BYTES);
    rb_test_loop_up(&f->b, image);
    mkfs(f->b.path);
    snprintf(f->mounted[0], sizeof(f->mounted[0]), "/sys/block/%s/holders", f->a.path + 5);
    if (mount("none", f->mounted[0], "tmpfs", 0, NULL) != 0)
        skip();
    f->nmounted = 1;
    snprintf(name, sizeof(name), "/sys/block/%s", f->b.path + 5);
    RB_AUTO(rb_free_str) char *dir = realpath(name, NULL);
    snprintf(link, sizeof(link), "%s/%s", f->mounted[0], f->b.path + 5);
    assert_int_equal(symlink(dir, link), 0);
    assert_refused(f, f->a.path, SAY("it is held by %s; take that apart", f->b.path));
    mount_at(f, f->b.path, "b");
    assert_refused(f, f->a.path, SAY("%s, built on it, is mounted at %s/b;", f->b.path, f->dir));
}

static void symbolic_link(void **state)
{
    fixture_t *f = *state;
    char link[128], reason[256];
    snprintf(link, sizeof(link), "%s/by-id", f->dir);
    assert_int_equal(symlink(f->a.path, link), 0);
    mkfs(f->a.path);
    mount_at(f, f->a.path, "a");
    assert_refused(f, link, SAY("it is mounted at %s/a;", f->dir));
}

static void assert_input_error(const char *path, const char *text)
{
    rb_err_t err = {0};
    assert_null(rb_drive_new(path, RB_DRIVE_SIGNATURES, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    if (strstr(err.text, text) == NULL)
        fail_msg("%s", err.text);
}

static void not_a_drive(void **state)
{
    fixture_t *f = *state;
    char path[64];
    assert_input_error("/dev/null", "/dev/null: is a character device, not a block device; name");
    assert_input_error(f->a.image, "is a file, not a block device");
    assert_input_error(f->dir, "is a directory, not a block device");
    assert_input_error("/dev/rb-nothing", "/dev/rb-nothing: No such file");
    strcpy(path, f->a.path);
    rb_test_loop_down(&f->a);
    assert_input_error(path, "has no medium (0 bytes)");
}

static bool is_listed(const char *path)
{
    bool found = false;
    RB_AUTO(rb_drive_list_destroy) char **list = rb_drive_list();
    for (size_t i = 0; list[i] != NULL; i++)
        found = found || strcmp(list[i], path) == 0;
    return found;
}

static void zram(void **state)
{
    fixture_t *f = *state;
    char path[64], size[64];
    rb_err_t err = {0};
    FILE *add = fopen("/sys/class/zram-control/hot_add", "re");
    if (add == NULL || fscanf(add, "%d", &f->zram) != 1)
        skip(); /* no zram in this kernel */
    fclose(add);
    snprintf(path, sizeof(path), "/dev/zram%d", f->zram);
    snprintf(size, sizeof(size), "/sys/block/zram%d/disksize", f->zram);
    assert_input_error(path, "has no medium (0 bytes)");
    assert_false(is_listed(path));
    rb_test_put(size, IMAGE_BYTES);
    RB_AUTO(rb_drive_destroy) rb_drive_t *drive = rb_drive_new(path, RB_DRIVE_SIGNATURES, &err);
    assert_non_null(drive);
    assert_int_equal(drive->size_bytes, IMAGE_BYTES);
    assert_int_equal(drive->logical_block_bytes, 4096);
    assert_false(drive->rotational);
    assert_int_equal(judge(path, true).outcome, RB_GUARD_ALLOWED);
    assert_true(is_listed(path));
}

static void drive_of_the_inventory(void **state)
{
    fixture_t *f = *state;
    char empty[64];
    mkfs(f->a.path);
    rb_test_loop_up(&f->b, f->a.image);
    strcpy(empty, f->b.path);
    rb_test_loop_down(&f->b);
    Rackbench__Drive *drive = rb_inventory_drive(f->a.path);
    assert_int_equal(drive->size_bytes, IMAGE_BYTES);
    assert_int_equal(drive->logical_block_bytes, 512);
    assert_null(drive->in_use); /* its signature is not known: nothing was read */
    rackbench__drive__free_unpacked(drive, NULL);
    assert_true(is_listed(f->a.path) && !is_listed(empty));
    drive = rb_inventory_drive(empty);
    assert_non_null(strstr(drive->in_use, "has no medium"));
    rackbench__drive__free_unpacked(drive, NULL);
}

/* Sectors that were read of it, by the kernel's count. */
static unsigned long long sectors_read(const char *path)
{
    char stat[64];
    unsigned long long ios, merges, sectors = 0;
    snprintf(stat, sizeof(stat), "/sys/block/%s/stat", path + strlen("/dev/"));
    FILE *file = fopen(stat, "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu %llu", &ios, &merges, &sectors), 3);
    fclose(file);
    return sectors;
}

static void only_signatures_read_the_drive(void **state)
{
    fixture_t *f = *state;
    rb_err_t err;
    unsigned long long before = sectors_read(f->a.path);
    RB_AUTO(rb_drive_destroy) rb_drive_t *uses = rb_drive_new(f->a.path, RB_DRIVE_USES, &err);
    assert_non_null(uses);
    assert_int_equal(sectors_read(f->a.path), before);
    RB_AUTO(rb_drive_destroy)
    rb_drive_t *signatures = rb_drive_new(f->a.path, RB_DRIVE_SIGNATURES, &err);
    assert_non_null(signatures);
    assert_in_range(512 * (sectors_read(f->a.path) - before), 1, 2 * RB_MIB);
}

#define RB_ON_DRIVE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RB_ON_DRIVE(nobody_uses_it),
        RB_ON_DRIVE(mounted),
        RB_ON_DRIVE(mounted_in_another_namespace),
        RB_ON_DRIVE(filesystem_signature),
        RB_ON_DRIVE(partitions),
        RB_ON_DRIVE(disk_of_a_partition),
        RB_ON_DRIVE(loop_on_it),
        RB_ON_DRIVE(loop_over_what_is_mounted),
        RB_ON_DRIVE(swap_on_it),
        RB_ON_DRIVE(opened_exclusively),
        RB_ON_DRIVE(holder),
        RB_ON_DRIVE(symbolic_link),
        RB_ON_DRIVE(not_a_drive),
        RB_ON_DRIVE(zram),
        RB_ON_DRIVE(drive_of_the_inventory),
        RB_ON_DRIVE(only_signatures_read_the_drive),
    };
    const char *why = rb_test_isolate();
    if (why != NULL) {
        print_message("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
