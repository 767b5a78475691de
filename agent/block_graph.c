#include "agent/block_graph.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/loop_device.h"

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
                 (from == RB_RELATION_BACKING && edge == RB_RELATION_PARTITION);
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

static void add_holders(rb_block_graph_t *g, const rb_block_node_t *of)
{
    RB_AUTO(rb_free_str) char *holders = rb_asprintf("%s/holders", of->dir);
    RB_AUTO(close_dir) DIR *d = opendir(holders);
    rb_relation_t relation = relation_over(of->relation, RB_RELATION_HOLDER);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        RB_AUTO(rb_free_str) char *dir = rb_asprintf("%s/%s", holders, e->d_name);
        const rb_block_node_t *holder = add(g, dir, relation);
        if (holder != NULL)
            rb_block_graph_use(g, of, RB_USE_HOLDER, holder->name);
    }
}

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

static void add_below(rb_block_graph_t *g, const rb_block_node_t *of)
{
    RB_AUTO(rb_free_str) char *disk = rb_sysfs_disk(of->dir);
    rb_under_t own = rb_loop_under(of->dir);
    RB_AUTO(rb_free_str) char *under = own.kind == RB_UNDER_DEVICE ? rb_sysfs_dir(own.rdev) : NULL;
    if (strcmp(disk, of->dir) != 0)
        add(g, disk, RB_RELATION_PARENT);
    if (under != NULL)
        add(g, under, RB_RELATION_BACKING);
}

static bool is_below(rb_relation_t relation)
{
    return relation == RB_RELATION_SELF || relation == RB_RELATION_PARENT ||
           relation == RB_RELATION_BACKING;
}

rb_block_graph_t *rb_block_graph_new(dev_t rdev)
{
    RB_AUTO(rb_block_graph_destroy) rb_block_graph_t *g = rb_calloc(1, sizeof(*g));
    RB_AUTO(rb_free_str) char *dir = rb_sysfs_dir(rdev);
    if (dir != NULL)
        add(g, dir, RB_RELATION_SELF);
    for (size_t i = 0; i < g->nnodes; i++) {
        rb_block_node_t of = g->nodes[i];      /* a copy: the array moves while it grows */
        if (of.relation != RB_RELATION_PARENT) /* its other partitions share nothing */
            add_partitions(g, &of);
        add_holders(g, &of);
        add_loops(g, &of);
        add_twins(g, &of);
        if (is_below(of.relation))
            add_below(g, &of);
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
