/* test_block_graph.c - what shares blocks with a device, and who holds it, by a captured sysfs. */
#include "tests/unit/sysfs_tree.h"

#include "agent/block_graph.h"

static char *root;

static int set_up(void **state)
{
    (void)state;
    root = sysfs_make("arrays");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sysfs_remove(&root);
    return 0;
}

static const char *const kinds[] = {
    [RB_USE_PATH] = "path", [RB_USE_HOLDER] = "held", [RB_USE_NEIGHBOUR] = "near"};
static const char *const relations[] = {
    [RB_RELATION_SELF] = "self",     [RB_RELATION_PARTITION] = "partition",
    [RB_RELATION_PARENT] = "parent", [RB_RELATION_HOLDER] = "holder",
    [RB_RELATION_LOOP] = "loop",     [RB_RELATION_BACKING] = "backing",
    [RB_RELATION_TWIN] = "twin",     [RB_RELATION_MEMBER] = "member"};

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, as directories have no order. */
static char *join(char **lines, size_t n)
{
    char *all = rb_strdup("");
    qsort(lines, n, sizeof(*lines), by_text);
    for (size_t i = 0; i < n; i++) {
        char *more = rb_asprintf("%s%s\n", all, lines[i]);
        free(all);
        free(lines[i]);
        all = more;
    }
    return all;
}

/* The devices around `device` and their uses, a line each, are exactly these. */
static void assert_graph(const char *device, const char *nodes, const char *uses)
{
    char *lines[16];
    RB_AUTO(rb_free_str) char *dir = rb_asprintf("%s/devices/%s", root, device);
    RB_AUTO(rb_block_graph_destroy) rb_block_graph_t *g = rb_block_graph_of_dir(dir);
    assert_non_null(g);
    assert_true(g->nnodes <= RB_LEN(lines) && g->nuses <= RB_LEN(lines));
    for (size_t i = 0; i < g->nnodes; i++)
        lines[i] = rb_asprintf("%s %s", g->nodes[i].name + 5, relations[g->nodes[i].relation]);
    RB_AUTO(rb_free_str) char *all_nodes = join(lines, g->nnodes);
    for (size_t i = 0; i < g->nuses; i++)
        lines[i] =
            rb_asprintf("%s %s %s", g->uses[i].device + 5, kinds[g->uses[i].kind], g->uses[i].what);
    RB_AUTO(rb_free_str) char *all_uses = join(lines, g->nuses);
    assert_string_equal(all_nodes, nodes);
    assert_string_equal(all_uses, uses);
}

static void a_path_of_a_multipath_device(void **state)
{
    (void)state;
    assert_graph("platform/host2/block/sda", "dm-0 holder\ndm-1 holder\ndm-2 holder\nsda self\n",
                 "dm-0 held device-mapper device /dev/dm-1 (mpatha-part1)\n"
                 "dm-0 held device-mapper device /dev/dm-2 (mpatha-part2)\n"
                 "sda path /dev/dm-0 (mpatha)\n");
}

/* Its paths are its own; a partition of it does not mind the other one. */
static void a_multipath_device(void **state)
{
    (void)state;
    assert_graph("virtual/block/dm-0",
                 "dm-0 self\ndm-1 holder\ndm-2 holder\nsda member\nsdb member\n",
                 "dm-0 held device-mapper device /dev/dm-1 (mpatha-part1)\n"
                 "dm-0 held device-mapper device /dev/dm-2 (mpatha-part2)\n");
    assert_graph("virtual/block/dm-1", "dm-0 member\ndm-1 self\nsda member\nsdb member\n",
                 "dm-0 near device-mapper device /dev/dm-2 (mpatha-part2)\n");
}

static void volumes_of_one_group(void **state)
{
    (void)state;
    assert_graph("virtual/block/dm-3", "dm-3 self\nnvme0n1 parent\nnvme0n1p1 member\n",
                 "nvme0n1p1 near LVM volume /dev/dm-4 (vg-b)\n");
    assert_graph("virtual/block/dm-5", "dm-4 member\ndm-5 self\nnvme0n1 parent\nnvme0n1p1 member\n",
                 "nvme0n1p1 near LVM volume /dev/dm-3 (vg-a)\n");
    assert_graph("virtual/block/dm-4", "dm-4 self\ndm-5 holder\nnvme0n1 parent\nnvme0n1p1 member\n",
                 "dm-4 held encrypted volume /dev/dm-5 (secret)\n"
                 "nvme0n1p1 near LVM volume /dev/dm-3 (vg-a)\n");
}

/* The partition beside one that is a member shares nothing with it. */
static void a_partition_beside(void **state)
{
    (void)state;
    assert_graph("platform/nvme0n1/nvme0n1p2", "nvme0n1 parent\nnvme0n1p2 self\n", "");
}

static void a_member_with_another_user(void **state)
{
    (void)state;
    assert_graph("virtual/block/md0", "md0 self\nsdc parent\nsdc1 member\nsdd member\n",
                 "sdc1 held device-mapper device /dev/dm-6 (stray)\n");
    assert_graph("platform/host2/block/sdd", "md0 holder\nsdd self\n",
                 "sdd held md array /dev/md0\n");
}

static void bcache(void **state)
{
    (void)state;
    assert_graph("platform/host2/block/sde", "bcache0 holder\nsde self\n",
                 "sde held bcache device /dev/bcache0\n");
    assert_graph("virtual/block/bcache0", "bcache0 self\nsde member\n", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_path_of_a_multipath_device), cmocka_unit_test(a_multipath_device),
        cmocka_unit_test(volumes_of_one_group),         cmocka_unit_test(a_partition_beside),
        cmocka_unit_test(a_member_with_another_user),   cmocka_unit_test(bcache),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
