#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/guard.h"

enum { NOTHING = 0, WRITE = 1, DESTRUCTIVE = 2, ALLOW = 4, ALL = 7, READ_ONLY = 8, POWER = 16 };

typedef struct {
    unsigned flags;
    rb_use_t uses[3];
    rb_guard_outcome_t outcome;
    const char *text; /* exactly */
} row_t;

#define MOUNTED(rel, dev, at)                                                                      \
    {                                                                                              \
        RB_USE_MOUNT, RB_RELATION_##rel, (char *)dev, (char *)at                                   \
    }
#define SWAP(rel, dev)                                                                             \
    {                                                                                              \
        RB_USE_SWAP, RB_RELATION_##rel, (char *)dev, NULL                                          \
    }
#define HELD(rel, dev, by)                                                                         \
    {                                                                                              \
        RB_USE_HOLDER, RB_RELATION_##rel, (char *)dev, (char *)by                                  \
    }
#define LOOPED(rel, dev, by)                                                                       \
    {                                                                                              \
        RB_USE_LOOP, RB_RELATION_##rel, (char *)dev, (char *)by                                    \
    }
#define OPENED                                                                                     \
    {                                                                                              \
        RB_USE_EXCLUSIVE, RB_RELATION_SELF, (char *)"/dev/sdb", NULL                               \
    }
#define SIGNED(rel, dev, as)                                                                       \
    {                                                                                              \
        RB_USE_SIGNATURE, RB_RELATION_##rel, (char *)dev, (char *)as                               \
    }
#define PATH_OF(rel, dev, of)                                                                      \
    {                                                                                              \
        RB_USE_PATH, RB_RELATION_##rel, (char *)dev, (char *)of                                    \
    }
#define NEAR(dev, what)                                                                            \
    {                                                                                              \
        RB_USE_NEIGHBOUR, RB_RELATION_MEMBER, (char *)dev, (char *)what                            \
    }
#define OR_ANOTHER " or choose another drive"
#define SHOWS      "; that use will show in the figures, choose another drive for clean ones"

static const row_t rows[] = {
    /* the flags, on a drive that nobody uses */
    {NOTHING, {{0}}, RB_GUARD_ALLOWED, ""},
    {DESTRUCTIVE, {{0}}, RB_GUARD_ALLOWED, ""},
    {ALLOW, {{0}}, RB_GUARD_ALLOWED, ""},
    {ALL, {{0}}, RB_GUARD_ALLOWED, ""},
    {WRITE,
     {{0}},
     RB_GUARD_REFUSED,
     "/dev/sdb: a job writes to it and the phase does not say `destructive: true`; add it if the "
     "drive's data can go"},
    {WRITE | ALLOW,
     {{0}},
     RB_GUARD_REFUSED,
     "/dev/sdb: a job writes to it and the phase does not say `destructive: true`; add it if the "
     "drive's data can go"},
    {WRITE | DESTRUCTIVE,
     {{0}},
     RB_GUARD_REFUSED,
     "/dev/sdb: the agent does not allow writing to it; start the agent with --allow-device "
     "/dev/sdb"},
    /* every use of the drive itself refuses a write that has every permission */
    {ALL,
     {MOUNTED(SELF, "/dev/sdb", "/data")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is mounted at /data; unmount it" OR_ANOTHER},
    {ALL,
     {SWAP(SELF, "/dev/sdb")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is in use as swap; run swapoff /dev/sdb" OR_ANOTHER},
    {ALL,
     {HELD(SELF, "/dev/sdb", "/dev/md0")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is held by /dev/md0; take that apart" OR_ANOTHER},
    {ALL,
     {LOOPED(SELF, "/dev/sdb", "/dev/loop5")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is behind loop device /dev/loop5; run losetup -d /dev/loop5" OR_ANOTHER},
    {ALL,
     {OPENED},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is opened exclusively by the kernel or a program; stop what uses it" OR_ANOTHER},
    {ALL,
     {SIGNED(SELF, "/dev/sdb", "ext4 filesystem")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is signed (ext4 filesystem); run wipefs -a /dev/sdb if its data can "
     "go" OR_ANOTHER},
    /* ... and of every device that shares its blocks */
    {ALL,
     {MOUNTED(PARTITION, "/dev/sdb1", "/data")},
     RB_GUARD_REFUSED,
     "/dev/sdb: partition /dev/sdb1 is mounted at /data; unmount it" OR_ANOTHER},
    {ALL,
     {SWAP(PARTITION, "/dev/sdb2")},
     RB_GUARD_REFUSED,
     "/dev/sdb: partition /dev/sdb2 is in use as swap; run swapoff /dev/sdb2" OR_ANOTHER},
    {ALL,
     {HELD(PARTITION, "/dev/sdb1", "/dev/dm-0")},
     RB_GUARD_REFUSED,
     "/dev/sdb: partition /dev/sdb1 is held by /dev/dm-0; take that apart" OR_ANOTHER},
    {ALL,
     {SIGNED(PARTITION, "/dev/sdb1", "linux_raid_member raid")},
     RB_GUARD_REFUSED,
     "/dev/sdb: partition /dev/sdb1 is signed (linux_raid_member raid); run wipefs -a /dev/sdb1 if "
     "its data can go" OR_ANOTHER},
    {ALL,
     {MOUNTED(PARENT, "/dev/sd", "/old")},
     RB_GUARD_REFUSED,
     "/dev/sdb: its disk /dev/sd is mounted at /old; unmount it" OR_ANOTHER},
    {ALL,
     {MOUNTED(HOLDER, "/dev/dm-0", "/")},
     RB_GUARD_REFUSED,
     "/dev/sdb: /dev/dm-0, built on it, is mounted at /; unmount it" OR_ANOTHER},
    {ALL,
     {MOUNTED(LOOP, "/dev/loop5", "/img")},
     RB_GUARD_REFUSED,
     "/dev/sdb: loop device /dev/loop5, backed by it, is mounted at /img; unmount it" OR_ANOTHER},
    {ALL,
     {MOUNTED(BACKING, "/dev/sdc", "/under")},
     RB_GUARD_REFUSED,
     "/dev/sdb: /dev/sdc, which backs it, is mounted at /under; unmount it" OR_ANOTHER},
    /* ... and of what an array is made of */
    {ALL,
     {MOUNTED(MEMBER, "/dev/sdc1", "/part")},
     RB_GUARD_REFUSED,
     "/dev/sdb: its member /dev/sdc1 is mounted at /part; unmount it" OR_ANOTHER},
    {ALL,
     {HELD(MEMBER, "/dev/sdc1", "bcache device /dev/bcache0")},
     RB_GUARD_REFUSED,
     "/dev/sdb: its member /dev/sdc1 is held by bcache device /dev/bcache0; take that "
     "apart" OR_ANOTHER},
    /* a path of a multipath device is named as such */
    {ALL,
     {HELD(SELF, "/dev/sdb", "/dev/dm-1"), PATH_OF(SELF, "/dev/sdb", "/dev/dm-0 (mpatha)")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is a path of multipath device /dev/dm-0 (mpatha); name that one" OR_ANOTHER},
    {NOTHING,
     {PATH_OF(PARENT, "/dev/sd", "/dev/dm-0 (mpatha)")},
     RB_GUARD_WARNED,
     "/dev/sdb: its disk /dev/sd is a path of multipath device /dev/dm-0 (mpatha)" SHOWS},
    /* who shows no holder is told by the signature */
    {ALL,
     {OPENED, SIGNED(SELF, "/dev/sdb", "gpt partition table"),
      SIGNED(PARTITION, "/dev/sdb1", "zfs_member filesystem")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is opened exclusively by the kernel or a program, and partition /dev/sdb1 is "
     "signed (zfs_member filesystem); stop what uses it" OR_ANOTHER},
    {NOTHING,
     {OPENED, SIGNED(SELF, "/dev/sdb", "bcache other")},
     RB_GUARD_WARNED,
     "/dev/sdb: it is opened exclusively by the kernel or a program, and it is signed (bcache "
     "other)" SHOWS},
    /* volumes beside it on the same drives are said; nothing is allowed or refused for them */
    {ALL,
     {NEAR("/dev/sdc", "LVM volume /dev/dm-1 (vg-b)")},
     RB_GUARD_WARNED,
     "/dev/sdb: its member /dev/sdc also carries LVM volume /dev/dm-1 (vg-b)" SHOWS},
    {NOTHING,
     {SIGNED(SELF, "/dev/sdb", "ext4 filesystem"), NEAR("/dev/sdc", "LVM volume /dev/dm-1 (vg-b)")},
     RB_GUARD_WARNED,
     "/dev/sdb: its member /dev/sdc also carries LVM volume /dev/dm-1 (vg-b)" SHOWS},
    {ALL,
     {SIGNED(SELF, "/dev/sdb", "ext4 filesystem"), NEAR("/dev/sdc", "LVM volume /dev/dm-1 (vg-b)")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is signed (ext4 filesystem); run wipefs -a /dev/sdb if its data can "
     "go" OR_ANOTHER},
    {WRITE | DESTRUCTIVE,
     {NEAR("/dev/sdc", "LVM volume /dev/dm-1 (vg-b)")},
     RB_GUARD_REFUSED,
     "/dev/sdb: the agent does not allow writing to it; start the agent with --allow-device "
     "/dev/sdb"},
    /* a use is told before a missing flag: never advise `destructive: true` for a drive in use */
    {WRITE,
     {SWAP(SELF, "/dev/sdb")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is in use as swap; run swapoff /dev/sdb" OR_ANOTHER},
    {WRITE | DESTRUCTIVE,
     {SIGNED(SELF, "/dev/sdb", "gpt partition table")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is signed (gpt partition table); run wipefs -a /dev/sdb if its data can "
     "go" OR_ANOTHER},
    /* of several uses the most telling one */
    {ALL,
     {SIGNED(SELF, "/dev/sdb", "gpt partition table"), OPENED,
      MOUNTED(PARTITION, "/dev/sdb1", "/data")},
     RB_GUARD_REFUSED,
     "/dev/sdb: partition /dev/sdb1 is mounted at /data; unmount it" OR_ANOTHER},
    {ALL,
     {OPENED, HELD(SELF, "/dev/sdb", "/dev/md0"), SIGNED(SELF, "/dev/sdb", "ddf_raid_member raid")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is held by /dev/md0; take that apart" OR_ANOTHER},
    /* reading: a warning while in use; a signature alone is not a use */
    {NOTHING,
     {MOUNTED(SELF, "/dev/sdb", "/data")},
     RB_GUARD_WARNED,
     "/dev/sdb: it is mounted at /data" SHOWS},
    {DESTRUCTIVE | ALLOW,
     {SWAP(PARTITION, "/dev/sdb2")},
     RB_GUARD_WARNED,
     "/dev/sdb: partition /dev/sdb2 is in use as swap" SHOWS},
    {NOTHING,
     {OPENED},
     RB_GUARD_WARNED,
     "/dev/sdb: it is opened exclusively by the kernel or a program" SHOWS},
    {NOTHING, {SIGNED(SELF, "/dev/sdb", "xfs filesystem")}, RB_GUARD_ALLOWED, ""},
    /* read-only */
    {READ_ONLY, {{0}}, RB_GUARD_ALLOWED, ""},
    {ALL | READ_ONLY,
     {{0}},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is read-only and a job writes to it; make it writable (blockdev --setrw) or "
     "choose "
     "another drive"},
    /* a power state, of a drive that is read */
    {POWER | ALLOW, {{0}}, RB_GUARD_ALLOWED, ""},
    {POWER | ALLOW, {SIGNED(SELF, "/dev/sdb", "ext4 filesystem")}, RB_GUARD_ALLOWED, ""},
    {POWER,
     {{0}},
     RB_GUARD_REFUSED,
     "/dev/sdb: a job sets its power_state, and the agent does not allow changing it; start the "
     "agent with --allow-device /dev/sdb"},
    {POWER | ALLOW,
     {SWAP(SELF, "/dev/sdb")},
     RB_GUARD_REFUSED,
     "/dev/sdb: it is in use as swap; run swapoff /dev/sdb" OR_ANOTHER},
};

static void every_rule(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        const row_t *row = &rows[i];
        size_t nuses = 0;
        while (nuses < RB_LEN(row->uses) && row->uses[nuses].device != NULL)
            nuses++;
        rb_guard_verdict_t v = rb_guard_judge(&(rb_guard_facts_t){
            .path = "/dev/sdb",
            .uses = row->uses,
            .nuses = nuses,
            .read_only = (row->flags & READ_ONLY) != 0,
            .write = (row->flags & WRITE) != 0,
            .sets_power = (row->flags & POWER) != 0,
            .destructive = (row->flags & DESTRUCTIVE) != 0,
            .allowed = (row->flags & ALLOW) != 0,
        });
        if (v.outcome != row->outcome)
            print_error("row %zu: %s\n", i, row->text);
        assert_int_equal(v.outcome, row->outcome);
        assert_string_equal(v.text, row->text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_rule)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
