/* Control groups of both versions, in a made-up /proc and /sys. */
#include "agent/cgroup.h"

#include "tests/unit/sysfs_tree.h"

static int set_up(void **state)
{
    static char root[64];
    strcpy(root, "/tmp/rb-cgroup-XXXXXX");
    *state = mkdtemp(root);
    return *state == NULL;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int tear_down(void **state)
{
    return nftw(*state, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void nothing_limits(void **state)
{
    assert_int_equal(rb_cgroup_memory_room_bytes(*state), UINT64_MAX);
    assert_true(rb_cgroup_cpus(*state) == 0);
    sysfs_set(*state, "proc/self/cgroup", "4:memory:/\n1:cpu:/\n0::/");
    sysfs_set(*state, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    sysfs_set(*state, "sys/fs/cgroup/memory/memory.usage_in_bytes", "1000");
    sysfs_set(*state, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1");
    sysfs_set(*state, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    assert_int_equal(rb_cgroup_memory_room_bytes(*state), UINT64_MAX);
    assert_true(rb_cgroup_cpus(*state) == 0);
}

static void version_one(void **state)
{
    sysfs_set(*state, "proc/self/cgroup", "9:blkio:/x\n4:memory:/a/b\n1:cpu,cpuacct:/c\n0::/");
    sysfs_set(*state, "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9000");
    sysfs_set(*state, "sys/fs/cgroup/memory/a/b/memory.usage_in_bytes", "1000");
    assert_int_equal(rb_cgroup_memory_room_bytes(*state), 8000);
    /* the one above is tighter, even with what its page cache holds */
    sysfs_set(*state, "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "5000");
    sysfs_set(*state, "sys/fs/cgroup/memory/a/memory.usage_in_bytes", "4500");
    sysfs_set(*state, "sys/fs/cgroup/memory/a/memory.stat",
              "cache 900\ninactive_file 1\ntotal_inactive_file 700");
    assert_int_equal(rb_cgroup_memory_room_bytes(*state), 1200);
    sysfs_set(*state, "sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_quota_us", "150000");
    sysfs_set(*state, "sys/fs/cgroup/cpu,cpuacct/c/cpu.cfs_period_us", "100000");
    assert_true(rb_cgroup_cpus(*state) == 1.5);
}

static void version_two(void **state)
{
    sysfs_set(*state, "proc/self/cgroup", "0::/system.slice/agent.service");
    sysfs_set(*state, "sys/fs/cgroup/system.slice/agent.service/memory.max", "max");
    sysfs_set(*state, "sys/fs/cgroup/system.slice/agent.service/memory.current", "7");
    assert_int_equal(rb_cgroup_memory_room_bytes(*state), UINT64_MAX);
    sysfs_set(*state, "sys/fs/cgroup/system.slice/memory.max", "3000");
    sysfs_set(*state, "sys/fs/cgroup/system.slice/memory.current", "4000"); /* as limits change */
    assert_int_equal(rb_cgroup_memory_room_bytes(*state), 0);
    sysfs_set(*state, "sys/fs/cgroup/system.slice/cpu.max", "max 100000");
    assert_true(rb_cgroup_cpus(*state) == 0);
    sysfs_set(*state, "sys/fs/cgroup/system.slice/agent.service/cpu.max", "50000 200000");
    assert_true(rb_cgroup_cpus(*state) == 0.25);
}

#define HERE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {HERE(nothing_limits), HERE(version_one), HERE(version_two)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
