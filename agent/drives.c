#include "agent/drives.h"

#include <blkid/blkid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/block_graph.h"
#include "agent/drive_facts.h"
#include "agent/loop_device.h"
#include "agent/mounts.h"
#include "agent/probe.h"

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

/* ---- signatures ---- */

static void add_found(rb_block_graph_t *g, const rb_block_node_t *node, blkid_probe pr)
{
    const char *type = "unknown", *usage = "partition table";
    if (blkid_probe_lookup_value(pr, "TYPE", &type, NULL) == 0)
        blkid_probe_lookup_value(pr, "USAGE", &usage, NULL);
    else
        blkid_probe_lookup_value(pr, "PTTYPE", &type, NULL);
    RB_AUTO(rb_free_str) char *what = rb_asprintf("%s %s", type, usage);
    rb_block_graph_use(g, node, RB_USE_SIGNATURE, what);
}

static void add_signature(rb_block_graph_t *g, const rb_block_node_t *node)
{
    rb_probe_note(node->name);
    RB_AUTO(close_fd) int fd = open(node->name, O_RDONLY | O_CLOEXEC);
    blkid_probe pr = fd < 0 ? NULL : blkid_new_probe();
    int rc = -1;
    if (pr != NULL && blkid_probe_set_device(pr, fd, 0, 0) == 0) {
        blkid_probe_enable_superblocks(pr, 1);
        blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_TYPE | BLKID_SUBLKS_USAGE);
        /* the disk of a partition has a partition table, of course */
        blkid_probe_enable_partitions(pr, node->relation != RB_RELATION_PARENT);
        blkid_probe_set_partitions_flags(pr, BLKID_PARTS_FORCE_GPT);
        rc = blkid_do_safeprobe(pr);
    }
    if (rc == 0)
        add_found(g, node, pr);
    else if (rc != 1)
        rb_block_graph_use(g, node, RB_USE_SIGNATURE,
                           rc == -2 ? "several signatures" : "could not be read");
    blkid_free_probe(pr);
}

static int find_uses(rb_block_graph_t *g, const char *path, rb_drive_look_t look, rb_err_t *err)
{
    if (rb_mounts_find(g, err) != 0)
        return -1;
    for (size_t i = 0; look == RB_DRIVE_SIGNATURES && i < g->nnodes; i++) {
        rb_relation_t r = g->nodes[i].relation;
        /* That they exist is a use; members are signed as such. */
        if (r != RB_RELATION_HOLDER && r != RB_RELATION_LOOP && r != RB_RELATION_MEMBER)
            add_signature(g, &g->nodes[i]);
    }
    rb_probe_note(path);
    RB_AUTO(close_fd) int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC);
    if (fd < 0 && errno != EBUSY)
        return rb_err_errno(err, errno, "%s: open", path);
    if (fd < 0)
        rb_block_graph_use(g, &g->nodes[0], RB_USE_EXCLUSIVE, NULL);
    return 0;
}

/* ---- identity ---- */

/* The sysfs name of an NVMe namespace's character device, "ng0n1"; NULL: it is none. Owned. */
static char *character_name(dev_t rdev)
{
    char dir[64];
    snprintf(dir, sizeof(dir), "/sys/dev/char/%u:%u", major(rdev), minor(rdev));
    RB_AUTO(rb_free_str) char *real = realpath(dir, NULL);
    const char *name = real == NULL ? NULL : strrchr(real, '/');
    return name != NULL && strncmp(name, "/ng", 3) == 0 ? rb_strdup(name + 1) : NULL;
}

char *rb_drive_block_path(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISCHR(st.st_mode))
        return rb_strdup(path);
    RB_AUTO(rb_free_str) char *name = character_name(st.st_rdev);
    return name != NULL ? rb_asprintf("/dev/nvme%s", name + 2) : rb_strdup(path);
}

/* A kernel that knows no sequence (before 5.15) cannot tell. */
static bool is_in_sequence(int fd, uint64_t diskseq)
{
    uint64_t its;
    return diskseq == 0 || ioctl(fd, BLKGETDISKSEQ, &its) != 0 || its == diskseq;
}

bool rb_drive_is(int fd, dev_t rdev, uint64_t diskseq)
{
    struct stat st;
    char dir[64];
    dev_t its;
    if (fstat(fd, &st) != 0)
        return false;
    if (S_ISBLK(st.st_mode))
        return st.st_rdev == rdev && is_in_sequence(fd, diskseq);
    RB_AUTO(rb_free_str) char *name = S_ISCHR(st.st_mode) ? character_name(st.st_rdev) : NULL;
    if (name == NULL)
        return false;
    snprintf(dir, sizeof(dir), "/sys/class/block/nvme%.40s", name + 2);
    return rb_sysfs_rdev(dir, &its) && its == rdev &&
           (diskseq == 0 || rb_sysfs_number(dir, "diskseq") == diskseq);
}

static int find_device(const char *path, dev_t *ret_rdev, rb_err_t *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return rb_err_errno(err, errno, "%s", path);
    if (!S_ISBLK(st.st_mode))
        return rb_err_set(err, RB_ERR_INPUT,
                          "%s: is a %s, not a block device; name a block device such as "
                          "/dev/nvme0n1, or use `directory` for files",
                          path,
                          S_ISCHR(st.st_mode)   ? "character device"
                          : S_ISDIR(st.st_mode) ? "directory"
                                                : "file");
    *ret_rdev = st.st_rdev;
    return 0;
}

static int ask_sizes(rb_drive_t *drive, const char *block, rb_err_t *err)
{
    RB_AUTO(close_fd) int fd = open(block, O_RDONLY | O_CLOEXEC);
    int block_bytes = 0;
    if (fd < 0)
        return rb_err_errno(err, errno, "%s: open", drive->path);
    if (ioctl(fd, BLKGETSIZE64, &drive->size_bytes) != 0 || ioctl(fd, BLKSSZGET, &block_bytes) != 0)
        return rb_err_errno(err, errno, "%s: ask for its size", drive->path);
    if (drive->size_bytes == 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "%s: has no medium (0 bytes); choose another drive or set it up first",
                          drive->path);
    drive->logical_block_bytes = (uint32_t)block_bytes;
    return 0;
}

char *rb_drive_id(const rb_drive_t *drive)
{
    if (drive->serial[0] != '\0')
        return rb_strdup(drive->serial);
    RB_AUTO(rb_free_str) char *dir = rb_sysfs_dir(drive->rdev);
    RB_AUTO(rb_free_str) char *disk = dir != NULL ? rb_sysfs_disk(dir) : NULL;
    const char *name = disk != NULL ? strrchr(disk, '/') + 1 : "";
    if (strncmp(name, "zram", 4) == 0)
        return rb_asprintf("zram:%s", name + 4);
    RB_AUTO(rb_free_str) char *file = disk != NULL ? rb_loop_path(disk) : NULL;
    return file != NULL ? rb_asprintf("loop:%s", file) : rb_strdup("");
}

static void ask_identity(rb_drive_t *drive, const char *dir)
{
    RB_AUTO(rb_free_str) char *disk = rb_sysfs_disk(dir);
    drive->model = rb_drive_facts_model(disk);
    drive->serial = rb_drive_facts_serial(disk);
    drive->pci = rb_drive_facts_pci(disk);
    drive->rotational = rb_sysfs_number(disk, "queue/rotational") != 0;
}

rb_drive_t *rb_drive_peek(const char *path, rb_err_t *err)
{
    RB_AUTO(rb_drive_destroy) rb_drive_t *drive = rb_calloc(1, sizeof(*drive));
    RB_AUTO(rb_free_str) char *block = rb_drive_block_path(path);
    drive->path = rb_strdup(path);
    if (find_device(block, &drive->rdev, err) != 0)
        return NULL;
    RB_AUTO(rb_free_str) char *dir = rb_sysfs_dir(drive->rdev);
    if (dir == NULL) {
        rb_err_set(err, RB_ERR_IO, "%s: /sys/dev/block does not describe it; mount sysfs", path);
        return NULL;
    }
    ask_identity(drive, dir);
    drive->read_only = rb_sysfs_number(dir, "ro") != 0;
    return RB_MOVE(drive);
}

rb_drive_t *rb_drive_new(const char *path, rb_drive_look_t look, rb_err_t *err)
{
    rb_probe_note(path);
    RB_AUTO(rb_drive_destroy) rb_drive_t *drive = rb_drive_peek(path, err);
    RB_AUTO(rb_free_str) char *block = rb_drive_block_path(path);
    if (drive == NULL || ask_sizes(drive, block, err) != 0)
        return NULL;
    RB_AUTO(rb_block_graph_destroy) rb_block_graph_t *g = rb_block_graph_new(drive->rdev);
    if (g == NULL) {
        rb_err_set(err, RB_ERR_IO, "%s: more devices hang together than can be looked at", path);
        return NULL;
    }
    if (find_uses(g, block, look, err) != 0)
        return NULL;
    drive->nuses = g->nuses;
    drive->uses = RB_MOVE(g->uses);
    g->nuses = 0;
    return RB_MOVE(drive);
}

void rb_drive_destroy(rb_drive_t **drive)
{
    rb_drive_t *d = *drive;
    *drive = NULL;
    if (d == NULL)
        return;
    free(d->path);
    free(d->model);
    free(d->serial);
    free(d->pci);
    rb_uses_clear(d->uses, d->nuses);
    free(d);
}

Rackbench__Drive *rb_drive_message(const rb_drive_t *drive)
{
    rb_guard_verdict_t verdict = rb_guard_judge(&(rb_guard_facts_t){.path = drive->path,
                                                                    .uses = drive->uses,
                                                                    .nuses = drive->nuses,
                                                                    .read_only = drive->read_only,
                                                                    .write = true,
                                                                    .destructive = true,
                                                                    .allowed = true});
    Rackbench__Drive *m = rb_calloc(1, sizeof(*m));
    rackbench__drive__init(m);
    m->path = rb_strdup(drive->path);
    m->model = drive->model[0] == '\0' ? NULL : rb_strdup(drive->model);
    m->serial = drive->serial[0] == '\0' ? NULL : rb_strdup(drive->serial);
    m->has_size_bytes = m->has_logical_block_bytes = m->has_rotational = true;
    m->size_bytes = drive->size_bytes;
    m->logical_block_bytes = drive->logical_block_bytes;
    m->rotational = drive->rotational;
    if (verdict.outcome == RB_GUARD_REFUSED)
        m->in_use = rb_strdup(verdict.text);
    RB_AUTO(rb_free_str) char *dir = rb_sysfs_dir(drive->rdev);
    if (dir != NULL)
        rb_drive_facts_fill(dir, m);
    m->id = rb_drive_id(drive);
    return m;
}

/* ---- list ---- */

static int by_version(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

char **rb_drive_list(void)
{
    char **list = NULL;
    size_t n = 0;
    DIR *d = opendir("/sys/block");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        RB_AUTO(rb_free_str) char *dir = rb_asprintf("/sys/block/%s", e->d_name);
        /* size 0: a loop or zram device without content, a card reader without a card */
        if (e->d_name[0] == '.' || strncmp(e->d_name, "ram", 3) == 0 ||
            rb_sysfs_number(dir, "size") == 0 || rb_sysfs_number(dir, "hidden") != 0)
            continue;
        *RB_PUSH(list, n) = rb_block_name(dir);
    }
    if (d != NULL)
        closedir(d);
    if (n > 0)
        qsort(list, n, sizeof(*list), by_version);
    *RB_PUSH(list, n) = NULL;
    return list;
}

void rb_drive_list_destroy(char ***list)
{
    for (size_t i = 0; *list != NULL && (*list)[i] != NULL; i++)
        free((*list)[i]);
    free(*list);
    *list = NULL;
}

uint32_t rb_drive_block_of(dev_t st_dev)
{
    RB_AUTO(rb_free_str) char *dir = rb_sysfs_dir(st_dev);
    RB_AUTO(rb_free_str) char *disk = dir == NULL ? NULL : rb_sysfs_disk(dir);
    uint64_t block = disk == NULL ? 0 : rb_sysfs_number(disk, "queue/logical_block_size");
    return block == 0 ? 4096 : (uint32_t)block;
}
