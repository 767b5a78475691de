#include "agent/mounts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

enum { MAX_NAMESPACES = 4096 };

/* The nodes to find, and the words after each mount point that is found. */
typedef struct {
    rb_block_graph_t *graph;
    const char *where;
    bool found;
} search_t;

/* /proc writes space, tab, newline and backslash as \ooo. */
static void unescape(char *s)
{
    char *out = s;
    while (*s != '\0') {
        unsigned code;
        if (*s == '\\' && sscanf(s + 1, "%3o", &code) == 1) {
            *out++ = (char)code;
            s += 4;
        } else {
            *out++ = *s++;
        }
    }
    *out = '\0';
}

/* 0: not a block device. Only under /dev, as a path on a dead network mount would hang. */
static dev_t rdev_of(const char *path)
{
    struct stat st;
    bool device = strncmp(path, "/dev/", 5) == 0 && stat(path, &st) == 0 && S_ISBLK(st.st_mode);
    return device ? st.st_rdev : 0;
}

static void add_mount(search_t *s, const char *line)
{
    unsigned maj, min;
    RB_AUTO(rb_free_str) char *point = NULL;
    RB_AUTO(rb_free_str) char *source = NULL;
    rb_block_graph_t *g = s->graph;
    const char *tail = strstr(line, " - ");
    if (tail == NULL || sscanf(line, "%*s %*s %u:%u %*s %ms", &maj, &min, &point) != 3 ||
        sscanf(tail, " - %*s %ms", &source) != 1)
        return;
    unescape(point);
    unescape(source);
    dev_t dev = makedev(maj, min);
    dev_t rdev = rdev_of(source); /* btrfs shows a device number of its own */
    RB_AUTO(rb_free_str) char *where = rb_asprintf("%s%s", point, s->where);
    for (size_t i = 0; i < g->nnodes; i++) {
        if (g->nodes[i].rdev != dev && g->nodes[i].rdev != rdev)
            continue;
        rb_block_graph_use(g, &g->nodes[i], RB_USE_MOUNT, where);
        s->found = true;
    }
}

static void add_swap(search_t *s, const char *line)
{
    RB_AUTO(rb_free_str) char *path = NULL;
    rb_block_graph_t *g = s->graph;
    if (sscanf(line, "%ms", &path) != 1)
        return;
    unescape(path);
    dev_t rdev = rdev_of(path);
    for (size_t i = 0; i < g->nnodes; i++)
        if (g->nodes[i].rdev == rdev)
            rb_block_graph_use(g, &g->nodes[i], RB_USE_SWAP, NULL);
}

/* -1: errno says why it cannot be read. */
static int each_line(search_t *s, const char *file, void (*add)(search_t *, const char *))
{
    FILE *f = fopen(file, "re");
    RB_AUTO(rb_free_str) char *line = NULL;
    size_t room = 0;
    if (f == NULL)
        return -1;
    while (getline(&line, &room, f) > 0)
        add(s, line);
    fclose(f);
    return 0;
}

typedef struct {
    size_t n;
    ino_t *items; /* [n] */
} seen_t;

static bool is_new(seen_t *seen, ino_t ns)
{
    for (size_t i = 0; i < seen->n; i++)
        if (seen->items[i] == ns)
            return false;
    if (seen->n == MAX_NAMESPACES)
        return false;
    *RB_PUSH(seen->items, seen->n) = ns;
    return true;
}

/* A process that ends while we look is no error. */
static void look_at(search_t *s, const char *pid, seen_t *seen)
{
    char path[64], name[32] = "";
    struct stat st;
    snprintf(path, sizeof(path), "/proc/%.16s/ns/mnt", pid);
    if (stat(path, &st) != 0 || !is_new(seen, st.st_ino))
        return;
    snprintf(path, sizeof(path), "/proc/%.16s", pid);
    rb_sysfs_read(path, "comm", name, sizeof(name));
    RB_AUTO(rb_free_str)
    char *where = rb_asprintf(" in the mount namespace of process %s (%s)", pid, name);
    s->where = where;
    snprintf(path, sizeof(path), "/proc/%.16s/mountinfo", pid);
    each_line(s, path, add_mount);
    s->where = "";
}

static void look_elsewhere(search_t *s)
{
    seen_t seen = {0};
    struct stat own;
    DIR *d = opendir("/proc");
    if (stat("/proc/self/ns/mnt", &own) == 0)
        is_new(&seen, own.st_ino);
    for (struct dirent *e; d != NULL && !s->found && (e = readdir(d)) != NULL;)
        if (isdigit((unsigned char)e->d_name[0]))
            look_at(s, e->d_name, &seen);
    if (d != NULL)
        closedir(d);
    free(seen.items);
}

int rb_mounts_find(rb_block_graph_t *graph, rb_err_t *err)
{
    search_t s = {graph, "", false};
    if (each_line(&s, "/proc/self/mountinfo", add_mount) != 0)
        return rb_err_errno(err, errno, "/proc/self/mountinfo");
    if (each_line(&s, "/proc/swaps", add_swap) != 0 && errno != ENOENT)
        return rb_err_errno(err, errno, "/proc/swaps"); /* a kernel without swap has none */
    if (!s.found)
        look_elsewhere(&s);
    return 0;
}
