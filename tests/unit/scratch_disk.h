/* scratch_disk.h - temporary directories, image files and loop devices for tests of real drives.
 *
 * A loop device is AUTOCLEAR: it goes with its last user, also when the test program dies. Mounts
 * are made in a mount namespace of the test program, so they end with it too. Needs root.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/blkpg.h>
#include <linux/loop.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"

typedef struct {
    int fd;        /* keeps the device up; -1: none */
    char path[64]; /* "/dev/loop3" */
    char image[256];
} rb_test_loop_t;

/* Why these tests cannot run here, or NULL. Moves the program into its own mount namespace. */
static inline const char *rb_test_isolate(void)
{
    if (geteuid() != 0)
        return "needs root for loop devices and mounts";
    if (access("/dev/loop-control", R_OK | W_OK) != 0)
        return "needs loop devices";
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return "needs a mount namespace";
    return NULL;
}

static inline void rb_test_image(const char *path, uint64_t size_bytes)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    RB_ASSERT(fd >= 0 && ftruncate(fd, (off_t)size_bytes) == 0);
    close(fd);
}

/* A free loop device over the file or block device `over`. */
static inline void rb_test_loop_up(rb_test_loop_t *loop, const char *over)
{
    struct loop_config config = {.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_PARTSCAN};
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    int image = open(over, O_RDWR | O_CLOEXEC);
    RB_ASSERT(control >= 0 && image >= 0);
    config.fd = (uint32_t)image;
    snprintf(loop->image, sizeof(loop->image), "%s", over);
    for (int tries = 0; tries < 100; tries++) { /* another program may take the free one first */
        int n = ioctl(control, LOOP_CTL_GET_FREE);
        snprintf(loop->path, sizeof(loop->path), "/dev/loop%d", n);
        loop->fd = open(loop->path, O_RDWR | O_CLOEXEC);
        if (loop->fd >= 0 && ioctl(loop->fd, LOOP_CONFIGURE, &config) == 0)
            break;
        if (loop->fd >= 0)
            close(loop->fd);
        loop->fd = -1;
    }
    close(image);
    close(control);
    RB_ASSERT(loop->fd >= 0);
}

static inline void rb_test_loop_down(rb_test_loop_t *loop)
{
    if (loop->fd >= 0)
        close(loop->fd);
    loop->fd = -1;
}

static inline void rb_test_put_le32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

/* An MBR with two Linux partitions of size_bytes from 1 MiB on, and the kernel told of them: not
 * every kernel reads an MBR itself. */
static inline void rb_test_partition(rb_test_loop_t *loop, uint32_t size_bytes)
{
    uint8_t mbr[512] = {0};
    for (int i = 0; i < 2; i++) {
        struct blkpg_partition part = {
            .start = (1 << 20) + (long long)i * size_bytes, .length = size_bytes, .pno = i + 1};
        struct blkpg_ioctl_arg add = {
            .op = BLKPG_ADD_PARTITION, .datalen = sizeof(part), .data = &part};
        uint8_t *entry = mbr + 446 + 16 * i;
        entry[4] = 0x83;
        rb_test_put_le32(entry + 8, (uint32_t)(part.start / 512));
        rb_test_put_le32(entry + 12, (uint32_t)(part.length / 512));
        RB_ASSERT(ioctl(loop->fd, BLKPG, &add) == 0);
    }
    mbr[510] = 0x55;
    mbr[511] = 0xaa;
    RB_ASSERT(pwrite(loop->fd, mbr, sizeof(mbr), 0) == (ssize_t)sizeof(mbr));
    RB_ASSERT(fsync(loop->fd) == 0);
}

/* A number into a file of sysfs. */
static inline void rb_test_put(const char *path, long long value)
{
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return;
    fprintf(file, "%lld", value);
    fclose(file);
}

/* FNV-1a over what a file or device holds. */
static inline uint64_t rb_test_checksum(const char *path)
{
    uint64_t sum = 0xcbf29ce484222325ull, word;
    FILE *f = fopen(path, "re");
    RB_ASSERT(f != NULL);
    while (fread(&word, sizeof(word), 1, f) == 1)
        sum = (sum ^ word) * 0x100000001b3ull;
    fclose(f);
    return sum;
}

static inline int rb_test_remove_one(const char *path, const struct stat *st, int type,
                                     struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path) != 0 && errno != ENOENT ? -1 : 0;
}

static inline void rb_test_remove_tree(const char *path)
{
    nftw(path, rb_test_remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
