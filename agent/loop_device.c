#include "agent/loop_device.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/block_graph.h"

/* A name under /dev may be missing or be another device's; the descriptor says which one it is. */
static int open_loop(const char *dir)
{
    RB_AUTO(rb_free_str) char *name = rb_block_name(dir);
    struct stat st;
    dev_t rdev;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISBLK(st.st_mode) && rb_sysfs_rdev(dir, &rdev) &&
                   st.st_rdev == rdev))
        return fd;
    close(fd);
    errno = ENODEV;
    return -1;
}

rb_under_t rb_loop_under(const char *dir)
{
    struct loop_info64 info;
    if (!rb_sysfs_has(dir, "loop/backing_file"))
        return (rb_under_t){.kind = RB_UNDER_NOTHING};
    int fd = open_loop(dir);
    int rc = fd < 0 ? -1 : ioctl(fd, LOOP_GET_STATUS64, &info);
    bool is_gone = rc < 0 && errno == ENXIO; /* taken down since */
    if (fd >= 0)
        close(fd);
    if (rc < 0)
        return (rb_under_t){.kind = is_gone ? RB_UNDER_NOTHING : RB_UNDER_UNKNOWN};
    return (rb_under_t){.kind = info.lo_rdevice != 0 ? RB_UNDER_DEVICE : RB_UNDER_FILE,
                        .dev = info.lo_device,
                        .ino = info.lo_inode,
                        .rdev = info.lo_rdevice};
}

bool rb_loop_same_file(const rb_under_t *a, const rb_under_t *b)
{
    bool both_may = (a->kind == RB_UNDER_FILE || a->kind == RB_UNDER_UNKNOWN) &&
                    (b->kind == RB_UNDER_FILE || b->kind == RB_UNDER_UNKNOWN);
    bool known = a->kind == RB_UNDER_FILE && b->kind == RB_UNDER_FILE;
    return both_may && (!known || (a->dev == b->dev && a->ino == b->ino));
}

char *rb_loop_path(const char *dir)
{
    char path[PATH_MAX];
    struct stat st;
    rb_under_t under = rb_loop_under(dir);
    if ((under.kind != RB_UNDER_FILE && under.kind != RB_UNDER_DEVICE) ||
        rb_sysfs_read(dir, "loop/backing_file", path, sizeof(path)) == 0 || stat(path, &st) != 0 ||
        st.st_dev != under.dev || st.st_ino != under.ino)
        return NULL;
    return rb_strdup(path);
}
