/* test_drive_node.c - the NUMA node of a drive, on a sysfs made of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/drive_node.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    char root[64];
} tree_t;

static char *path_in(const tree_t *t, const char *rest)
{
    return rb_asprintf("%s/%s", t->root, rest);
}

static void make_dirs(const tree_t *t, const char *rest)
{
    RB_AUTO(rb_free_str) char *path = path_in(t, rest);
    for (char *slash = path + strlen(t->root); slash != NULL;) {
        slash = strchr(slash + 1, '/');
        if (slash != NULL)
            *slash = '\0';
        mkdir(path, 0755);
        if (slash != NULL)
            *slash = '/';
    }
    assert_int_equal(access(path, F_OK), 0);
}

static void put(const tree_t *t, const char *dir, const char *file, const char *text)
{
    make_dirs(t, dir);
    RB_AUTO(rb_free_str) char *path = rb_asprintf("%s/%s/%s", t->root, dir, file);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s\n", text);
    fclose(f);
}

static void link_to(const tree_t *t, const char *dir, const char *name, const char *target)
{
    make_dirs(t, dir);
    RB_AUTO(rb_free_str) char *at = rb_asprintf("%s/%s/%s", t->root, dir, name);
    RB_AUTO(rb_free_str) char *to = path_in(t, target);
    assert_int_equal(symlink(to, at), 0);
}

static int32_t node(const tree_t *t, const char *dir)
{
    RB_AUTO(rb_free_str) char *path = path_in(t, dir);
    return rb_drive_node_of_dir(path);
}

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static int set_up(void **state)
{
    tree_t *t = rb_calloc(1, sizeof(*t));
    snprintf(t->root, sizeof(t->root), "/tmp/rackbench-node-XXXXXX");
    *state = t;
    if (mkdtemp(t->root) == NULL)
        return -1;
    put(t, "pci/0000:80/80:01", "numa_node", "1");
    put(t, "pci/0000:00/00:02", "numa_node", "0");
    make_dirs(t, "pci/0000:80/80:01/nvme/nvme1/nvme1n1");
    put(t, "pci/0000:80/80:01/nvme/nvme1/nvme1n1/nvme1n1p1", "partition", "1");
    make_dirs(t, "pci/0000:00/00:02/ata1/sda");
    return 0;
}

static int tear_down(void **state)
{
    tree_t *t = *state;
    nftw(t->root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(t);
    return 0;
}

static void the_slot_tells(void **state)
{
    const tree_t *t = *state;
    assert_int_equal(node(t, "pci/0000:80/80:01/nvme/nvme1/nvme1n1"), 1);
    assert_int_equal(node(t, "pci/0000:80/80:01/nvme/nvme1/nvme1n1/nvme1n1p1"), 1);
    assert_int_equal(node(t, "pci/0000:00/00:02/ata1/sda"), 0);
    put(t, "pci/0000:40/40:01", "numa_node", "-1"); /* a host with one node */
    make_dirs(t, "pci/0000:40/40:01/vda");
    assert_int_equal(node(t, "pci/0000:40/40:01/vda"), -1);
    make_dirs(t, "virtual/block/zram0");
    assert_int_equal(node(t, "virtual/block/zram0"), -1);
}

static void parts_tell_if_they_agree(void **state)
{
    const tree_t *t = *state;
    link_to(t, "virtual/block/dm-0/slaves", "nvme1n1", "pci/0000:80/80:01/nvme/nvme1/nvme1n1");
    assert_int_equal(node(t, "virtual/block/dm-0"), 1);
    link_to(t, "virtual/block/md0/slaves", "dm-0", "virtual/block/dm-0");
    put(t, "virtual/block/md0/md0p1", "partition", "1");
    assert_int_equal(node(t, "virtual/block/md0/md0p1"), 1);
    link_to(t, "virtual/block/dm-0/slaves", "sda", "pci/0000:00/00:02/ata1/sda");
    assert_int_equal(node(t, "virtual/block/dm-0"), -1);
    assert_int_equal(node(t, "virtual/block/md0"), -1);
}

/* What holds itself is no sysfs, and ends all the same. */
static void a_ring_ends(void **state)
{
    const tree_t *t = *state;
    link_to(t, "virtual/block/dm-1/slaves", "dm-2", "virtual/block/dm-2");
    link_to(t, "virtual/block/dm-2/slaves", "dm-1", "virtual/block/dm-1");
    assert_int_equal(node(t, "virtual/block/dm-1"), -1);
}

/* A multipath namespace hangs under no controller; they stand beside it. */
static void controllers_tell_for_multipath(void **state)
{
    const tree_t *t = *state;
    const char *subsystem = "virtual/nvme-subsystem/nvme-subsys1";
    link_to(t, subsystem, "nvme1", "pci/0000:80/80:01/nvme/nvme1");
    make_dirs(t, "virtual/nvme-subsystem/nvme-subsys1/nvme1n1");
    make_dirs(t, "virtual/nvme-subsystem/nvme-subsys1/nvme1n2");
    assert_int_equal(node(t, "virtual/nvme-subsystem/nvme-subsys1/nvme1n1"), 1);
}

static void a_loop_device_lies_where_its_file_does(void **state)
{
    const tree_t *t = *state;
    RB_AUTO(rb_free_str) char *file = path_in(t, "image");
    FILE *f = fopen(file, "w");
    assert_non_null(f);
    fclose(f);
    put(t, "virtual/block/loop7/loop", "backing_file", file);
    assert_int_equal(node(t, "virtual/block/loop7"), rb_drive_node(file));
    RB_AUTO(rb_free_str) char *absent = path_in(t, "absent");
    assert_int_equal(rb_drive_node(absent), rb_drive_node(file));
    assert_int_equal(rb_drive_node("/no/such/dir/file"), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_slot_tells, set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_tell_if_they_agree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_ring_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(controllers_tell_for_multipath, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loop_device_lies_where_its_file_does, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
