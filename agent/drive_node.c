#include "agent/drive_node.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/block_graph.h"
#include "agent/drives.h"

/* Devices under devices; deeper ones exist in no sane host. */
enum { MAX_DEPTH = 8 };

static int32_t node_of_path(const char *path, int depth);

static void close_dir(DIR **d)
{
    if (*d != NULL)
        closedir(*d);
}

/* What is nearest above the device says it: its controller or that one's slot. */
static int32_t above(const char *dir)
{
    char text[32];
    RB_AUTO(rb_free_str) char *at = rb_strdup(dir);
    for (char *slash; (slash = strrchr(at, '/')) != NULL && slash != at; *slash = '\0')
        if (rb_sysfs_read(at, "numa_node", text, sizeof(text)) > 0)
            return (int32_t)RB_MAX(strtol(text, NULL, 10), -1);
    return -1;
}

static int32_t node_of_dir(const char *dir, int depth);

/* Beside a namespace stand its controllers, nvme0, and namespaces, nvme0n1. */
static bool is_controller(const char *name)
{
    size_t digits = strncmp(name, "nvme", 4) == 0 ? strspn(name + 4, "0123456789") : 0;
    return digits > 0 && name[4 + digits] == '\0';
}

typedef enum { PARTS_ALL, PARTS_CONTROLLERS } parts_t;

/* Of the entries of a directory: their node if they agree. */
static int32_t agreed(const char *parts, parts_t which, int depth)
{
    enum { NONE_YET = -2 };
    int32_t node = NONE_YET;
    RB_AUTO(close_dir) DIR *d = opendir(parts);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.' || (which == PARTS_CONTROLLERS && !is_controller(e->d_name)))
            continue;
        RB_AUTO(rb_free_str) char *link = rb_asprintf("%s/%s", parts, e->d_name);
        RB_AUTO(rb_free_str) char *part = realpath(link, NULL);
        int32_t its = part == NULL ? -1 : node_of_dir(part, depth + 1);
        node = node == NONE_YET || node == its ? its : -1;
    }
    return RB_MAX(node, -1);
}

static int32_t of_loop(const char *dir, int depth)
{
    char file[PATH_MAX];
    return rb_sysfs_read(dir, "loop/backing_file", file, sizeof(file)) > 0
               ? node_of_path(file, depth + 1)
               : -1;
}

/* A virtual device has no slot: what it is made of has. */
static int32_t node_of_dir(const char *dir, int depth)
{
    int32_t node = above(dir);
    if (node >= 0 || depth >= MAX_DEPTH)
        return node;
    RB_AUTO(rb_free_str) char *disk = rb_sysfs_disk(dir);
    RB_AUTO(rb_free_str) char *slaves = rb_asprintf("%s/slaves", disk);
    RB_AUTO(rb_free_str) char *subsystem = rb_strdup(disk);
    *strrchr(subsystem, '/') = '\0';
    node = agreed(slaves, PARTS_ALL, depth);
    if (node < 0)
        node = of_loop(disk, depth);
    if (node < 0 && strstr(subsystem, "/nvme-subsystem/") != NULL)
        node = agreed(subsystem, PARTS_CONTROLLERS, depth);
    return node;
}

int32_t rb_drive_node_of_dir(const char *dir)
{
    return node_of_dir(dir, 0);
}

static int32_t node_of_device(dev_t rdev, int depth)
{
    RB_AUTO(rb_free_str) char *dir = rb_sysfs_dir(rdev);
    return dir == NULL ? -1 : node_of_dir(dir, depth);
}

static int32_t node_of_path(const char *path, int depth)
{
    struct stat st;
    RB_AUTO(rb_free_str) char *block = rb_drive_block_path(path);
    if (depth >= MAX_DEPTH)
        return -1;
    if (stat(block, &st) == 0)
        return node_of_device(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev, depth);
    char *slash = strrchr(block, '/');
    if (slash == NULL || slash == block)
        return -1;
    *slash = '\0';
    return stat(block, &st) == 0 ? node_of_device(st.st_dev, depth) : -1;
}

int32_t rb_drive_node(const char *path)
{
    return node_of_path(path, 0);
}
