#include "agent/block_graph.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/loop_device.h"

enum { DM_UUID = 160 }; /* the kernel's limit is 129 */

static void close_dir(DIR **d)
{
    if (*d != NULL)
        closedir(*d);
}

/* ---- sysfs ---- */

size_t rb_sysfs_read(const char *dir, const char *file, char *buf, size_t size)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    size_t n = f == NULL ? 0 : fread(buf, 1, size - 1, f);
    if (f != NULL)
        fclose(f);
    while (n > 0 && (buf[n - 1] == ' ' || buf[n - 1] == '\n'))
        n--;
    buf[n] = '\0';
    return n;
}

uint64_t rb_sysfs_number(const char *dir, const char *file)
{
    char text[32];
    return rb_sysfs_read(dir, file, text, sizeof(text)) > 0 ? strtoull(text, NULL, 10) : 0;
}

bool rb_sysfs_rdev(const char *dir, dev_t *ret_rdev)
{
    char text[32];
    unsigned maj, min;
    if (rb_sysfs_read(dir, "dev", text, sizeof(text)) == 0 ||
        sscanf(text, "%u:%u", &maj, &min) != 2)
        return false;
    *ret_rdev = makedev(maj, min);
    return true;
}

bool rb_sysfs_has(const char *dir, const char *file)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/%s", dir, file);
    return access(path, F_OK) == 0;
}

char *rb_sysfs_dir(dev_t rdev)
{
    char path[64];
    snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(rdev), minor(rdev));
    return realpath(path, NULL);
}

char *rb_sysfs_disk(const char *dir)
{
    bool partition = rb_sysfs_has(dir, "partition");
    return rb_strndup(dir, partition ? (size_t)(strrchr(dir, '/') - dir) : strlen(dir));
}

char *rb_block_name(const char *dir)
{
    char *name = rb_asprintf("/dev/%s", strrchr(dir, '/') + 1);
    for (char *p = name; *p != '\0'; p++)
        if (*p == '!') /* sysfs cannot hold a slash in a name */
            *p = '/';
    return name;
}

/* ---- graph ---- */

void rb_block_graph_use(rb_block_graph_t *graph, const rb_block_node_t *node, rb_use_kind_t kind,
                        const char *what)
{
    *RB_PUSH(graph->uses, graph->nuses) = (rb_use_t){
        .kind = kind,
        .relation = node->relation,
        .device = rb_strdup(node->name),
        .what = what == NULL ? NULL : rb_strdup(what),
    };
}

/* NULL where it is not a block device or was met before. */
static const rb_block_node_t *add(rb_block_graph_t *g, const char *path, rb_relation_t relation)
{
    RB_AUTO(rb_free_str) char *dir = realpath(path, NULL);
    dev_t rdev;
    if (dir == NULL || g->nnodes == RB_MAX_BLOCK_NODES || !rb_sysfs_rdev(dir, &rdev))
        return NULL;
    for (size_t i = 0; i < g->nnodes; i++)
        if (strcmp(g->nodes[i].dir, dir) == 0)
            return NULL;
    rb_block_node_t *node = RB_PUSH(g->nodes, g->nnodes);
    node->rdev = rdev;
    node->name = rb_block_name(dir);
    node->relation = relation;
    node->dir = RB_MOVE(dir);
    return node;
}

/* What a device found from `from` over `edge` is to the device the graph is made for. */
static rb_relation_t relation_over(rb_relation_t from, rb_relation_t edge)
{
    bool stays = from == RB_RELATION_HOLDER || from == RB_RELATION_LOOP ||
                 from == RB_RELATION_TWIN ||
                 (from == RB_RELATION_BACKING && edge == RB_RELATION_PARTITION) ||
                 (from == RB_RELATION_MEMBER &&
                  (edge == RB_RELATION_PARTITION || edge == RB_RELATION_BACKING));
    return stays ? from : edge;
}

static void add_partitions(rb_block_graph_t *g, const rb_block_node_t *of)
{
    RB_AUTO(close_dir) DIR *d = opendir(of->dir);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        RB_AUTO(rb_free_str) char *dir = rb_asprintf("%s/%s", of->dir, e->d_name);
        if (e->d_name[0] != '.' && rb_sysfs_has(dir, "partition"))
            add(g, dir, relation_over(of->relation, RB_RELATION_PARTITION));
    }
}

static bool is_below(rb_relation_t relation)
{
    return relation == RB_RELATION_SELF || relation == RB_RELATION_PARENT ||
           relation == RB_RELATION_BACKING || relation == RB_RELATION_MEMBER;
}

/* ---- what is built on it ---- */

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *kind_of(const char *name, const char *dm_uuid)
{
    return starts(name, "/dev/md")       ? "md array "
           : starts(name, "/dev/bcache") ? "bcache device "
           : starts(dm_uuid, "LVM-")     ? "LVM volume "
           : starts(dm_uuid, "CRYPT-")   ? "encrypted volume "
           : starts(name, "/dev/dm-")    ? "device-mapper device "
                                         : "";
}

/* Devices of one family share drives and no block: volumes of one LVM group ("LVM-" and its uuid of
 * 32 letters), partitions that kpartx makes of one map ("part1-" and the map's uuid). */
static void read_family(const char *dir, char *buf, size_t size)
{
    enum { LVM_GROUP = 4 + 32 };
    rb_sysfs_read(dir, "dm/uuid", buf, size);
    if (starts(buf, "LVM-"))
        buf[RB_MIN(strlen(buf), (size_t)LVM_GROUP)] = '\0';
    else if (starts(buf, "part") && strchr(buf, '-') != NULL)
        memmove(buf, strchr(buf, '-'), strlen(strchr(buf, '-')) + 1);
    else
        buf[0] = '\0';
}

static bool is_neighbour(const rb_block_graph_t *g, const char *dir)
{
    char its[DM_UUID], other[DM_UUID];
    read_family(dir, its, sizeof(its));
    for (size_t i = 0; its[0] != '\0' && i < g->nnodes; i++) {
        read_family(g->nodes[i].dir, other, sizeof(other));
        if (is_below(g->nodes[i].relation) && strcmp(its, other) == 0)
            return true;
    }
    return false;
}

static bool is_known(const rb_block_graph_t *g, const char *dir)
{
    for (size_t i = 0; i < g->nnodes; i++)
        if (strcmp(g->nodes[i].dir, dir) == 0)
            return true;
    return false;
}

/* What else is built on a member of the array shares nothing with it, or should not be there. */
static void add_holder(rb_block_graph_t *g, const rb_block_node_t *of, const char *dir)
{
    char uuid[DM_UUID], map[DM_UUID];
    bool member = of->relation == RB_RELATION_MEMBER;
    RB_AUTO(rb_free_str) char *name = rb_block_name(dir);
    rb_sysfs_read(dir, "dm/uuid", uuid, sizeof(uuid));
    bool named = rb_sysfs_read(dir, "dm/name", map, sizeof(map)) > 0;
    bool path = starts(uuid, "mpath-");
    RB_AUTO(rb_free_str)
    char *what = rb_asprintf("%s%s%s%s%s", path ? "" : kind_of(name, uuid), name, named ? " (" : "",
                             map, named ? ")" : "");
    rb_block_graph_use(g, of,
                       path                             ? RB_USE_PATH
                       : member && is_neighbour(g, dir) ? RB_USE_NEIGHBOUR
                                                        : RB_USE_HOLDER,
                       what);
    if (!member)
        add(g, dir, relation_over(of->relation, RB_RELATION_HOLDER));
}

static void add_holders(rb_block_graph_t *g, const rb_block_node_t *of)
{
    RB_AUTO(rb_free_str) char *holders = rb_asprintf("%s/holders", of->dir);
    RB_AUTO(close_dir) DIR *d = opendir(holders);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        RB_AUTO(rb_free_str) char *link = rb_asprintf("%s/%s", holders, e->d_name);
        RB_AUTO(rb_free_str) char *dir = e->d_name[0] == '.' ? NULL : realpath(link, NULL);
        if (dir != NULL && !is_known(g, dir))
            add_holder(g, of, dir);
    }
}

/* ---- loop devices ---- */

/* Of a loop device that cannot be asked, the path in sysfs is the best witness there is; if that
 * leads nowhere, the device may be over any drive. */
static bool may_be_over(const char *dir, dev_t rdev)
{
    rb_under_t under = rb_loop_under(dir);
    char path[PATH_MAX];
    struct stat st;
    if (under.kind != RB_UNDER_UNKNOWN)
        return under.kind == RB_UNDER_DEVICE && under.rdev == rdev;
    return rb_sysfs_read(dir, "loop/backing_file", path, sizeof(path)) == 0 ||
           stat(path, &st) != 0 || (S_ISBLK(st.st_mode) && st.st_rdev == rdev);
}

static void add_loops(rb_block_graph_t *g, const rb_block_node_t *of)
{
    RB_AUTO(close_dir) DIR *d = opendir("/sys/block");
    rb_relation_t relation = relation_over(of->relation, RB_RELATION_LOOP);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, "loop", 4) != 0)
            continue;
        RB_AUTO(rb_free_str) char *dir = rb_asprintf("/sys/block/%s", e->d_name);
        const rb_block_node_t *loop = may_be_over(dir, of->rdev) ? add(g, dir, relation) : NULL;
        if (loop != NULL)
            rb_block_graph_use(g, of, RB_USE_LOOP, loop->name);
    }
}

/* Other loop devices over the file under this one. */
static void add_twins(rb_block_graph_t *g, const rb_block_node_t *of)
{
    RB_AUTO(rb_free_str) char *disk = rb_sysfs_disk(of->dir);
    rb_under_t own = rb_loop_under(disk);
    if (own.kind == RB_UNDER_NOTHING || own.kind == RB_UNDER_DEVICE)
        return;
    const char *name = strrchr(disk, '/') + 1;
    RB_AUTO(close_dir) DIR *d = opendir("/sys/block");
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (strncmp(e->d_name, "loop", 4) != 0 || strcmp(e->d_name, name) == 0)
            continue;
        RB_AUTO(rb_free_str) char *dir = rb_asprintf("/sys/block/%s", e->d_name);
        rb_under_t other = rb_loop_under(dir);
        if (rb_loop_same_file(&own, &other))
            add(g, dir, RB_RELATION_TWIN);
    }
}

/* ---- what it is built on ---- */

static void add_members(rb_block_graph_t *g, const rb_block_node_t *of)
{
    RB_AUTO(rb_free_str) char *slaves = rb_asprintf("%s/slaves", of->dir);
    RB_AUTO(close_dir) DIR *d = opendir(slaves);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        RB_AUTO(rb_free_str) char *dir = rb_asprintf("%s/%s", slaves, e->d_name);
        if (e->d_name[0] != '.')
            add(g, dir, RB_RELATION_MEMBER);
    }
}

static void add_below(rb_block_graph_t *g, const rb_block_node_t *of)
{
    RB_AUTO(rb_free_str) char *disk = rb_sysfs_disk(of->dir);
    rb_under_t own = rb_loop_under(of->dir);
    RB_AUTO(rb_free_str) char *under = own.kind == RB_UNDER_DEVICE ? rb_sysfs_dir(own.rdev) : NULL;
    if (strcmp(disk, of->dir) != 0)
        add(g, disk, RB_RELATION_PARENT);
    if (under != NULL)
        add(g, under, relation_over(of->relation, RB_RELATION_BACKING));
    add_members(g, of);
}

/* ---- all of it ---- */

rb_block_graph_t *rb_block_graph_new(dev_t rdev)
{
    RB_AUTO(rb_free_str) char *dir = rb_sysfs_dir(rdev);
    return dir == NULL ? NULL : rb_block_graph_of_dir(dir);
}

rb_block_graph_t *rb_block_graph_of_dir(const char *dir)
{
    RB_AUTO(rb_block_graph_destroy) rb_block_graph_t *g = rb_calloc(1, sizeof(*g));
    add(g, dir, RB_RELATION_SELF);
    for (size_t i = 0; i < g->nnodes; i++) {
        rb_block_node_t of = g->nodes[i]; /* a copy: the array moves while it grows */
        add_below(g, &of);
    }
    for (size_t i = 0; i < g->nnodes; i++) {
        rb_block_node_t of = g->nodes[i];
        if (of.relation != RB_RELATION_PARENT) /* its other partitions share nothing */
            add_partitions(g, &of);
        add_holders(g, &of);
        add_loops(g, &of);
        add_twins(g, &of);
    }
    return g->nnodes == 0 || g->nnodes == RB_MAX_BLOCK_NODES ? NULL : RB_MOVE(g);
}

void rb_uses_clear(rb_use_t *uses, size_t nuses)
{
    for (size_t i = 0; i < nuses; i++) {
        free(uses[i].device);
        free(uses[i].what);
    }
    free(uses);
}

void rb_block_graph_destroy(rb_block_graph_t **graph)
{
    rb_block_graph_t *g = *graph;
    *graph = NULL;
    if (g == NULL)
        return;
    for (size_t i = 0; i < g->nnodes; i++) {
        free(g->nodes[i].dir);
        free(g->nodes[i].name);
    }
    free(g->nodes);
    rb_uses_clear(g->uses, g->nuses);
    free(g);
}
