#include "agent/cgroup.h"

#include <limits.h>
#include <math.h>

#define NO_LIMIT UINT64_MAX

/* What is asked of a group, by its directory. */
typedef double ask_fn(const char *dir);

/* The first number of a file, or the one behind `key` in it; -1: not there, or a word. */
static double number_of(const char *dir, const char *file, const char *key)
{
    char path[PATH_MAX], line[256];
    size_t n = key == NULL ? 0 : strlen(key);
    double value = -1;
    snprintf(path, sizeof(path), "%s/%s", dir, file);
    FILE *f = fopen(path, "re");
    while (f != NULL && value < 0 && fgets(line, sizeof(line), f) != NULL)
        if (n == 0 || strncmp(line, key, n) == 0)
            if (sscanf(line + n, "%lf", &value) != 1)
                break;
    if (f != NULL)
        fclose(f);
    return value;
}

static double room_of(const char *dir, const char *limit, const char *usage, const char *idle)
{
    double limit_bytes = number_of(dir, limit, NULL), used_bytes = number_of(dir, usage, NULL);
    double idle_bytes = number_of(dir, "memory.stat", idle);
    if (limit_bytes < 0 || used_bytes < 0)
        return HUGE_VAL;
    return fmax(limit_bytes - used_bytes + fmax(idle_bytes, 0), 0);
}

static double room_v1(const char *dir)
{
    return room_of(dir, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ");
}

static double room_v2(const char *dir)
{
    return room_of(dir, "memory.max", "memory.current", "inactive_file ");
}

static double cpus_v1(const char *dir)
{
    double quota = number_of(dir, "cpu.cfs_quota_us", NULL);
    double period = number_of(dir, "cpu.cfs_period_us", NULL);
    return quota > 0 && period > 0 ? quota / period : HUGE_VAL;
}

/* "QUOTA PERIOD", or "max PERIOD". */
static double cpus_v2(const char *dir)
{
    char path[PATH_MAX];
    double quota = 0, period = 0;
    snprintf(path, sizeof(path), "%s/cpu.max", dir);
    FILE *f = fopen(path, "re");
    bool has = f != NULL && fscanf(f, "%lf %lf", &quota, &period) == 2;
    if (f != NULL)
        fclose(f);
    return has && period > 0 ? quota / period : HUGE_VAL;
}

/* Of the group and of all above it. */
static double smallest_above(const char *mount, char *group, ask_fn *ask)
{
    double smallest = HUGE_VAL;
    for (;;) {
        RB_AUTO(rb_free_str) char *dir = rb_asprintf("%s%s", mount, group);
        smallest = fmin(smallest, ask(dir));
        char *slash = strrchr(group, '/');
        if (slash == NULL)
            return smallest;
        *slash = '\0';
    }
}

static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; (p = strstr(p, word)) != NULL; p += n)
        if ((p == list || p[-1] == ',') && (p[n] == ',' || p[n] == '\0'))
            return true;
    return false;
}

/* Lines of /proc/self/cgroup: "5:cpu,cpuacct:/a/b"; of version 2 "0::/a/b". */
static double smallest(const char *root, const char *controller, ask_fn *v1, ask_fn *v2)
{
    char line[PATH_MAX + 128];
    RB_AUTO(rb_free_str) char *path = rb_asprintf("%s/proc/self/cgroup", root);
    double least = HUGE_VAL;
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *group = list == NULL ? NULL : strchr(list + 1, ':');
        if (group == NULL)
            continue;
        *list++ = *group++ = '\0';
        bool unified = list[0] == '\0';
        if (!unified && !has_word(list, controller))
            continue;
        RB_AUTO(rb_free_str)
        char *mount = rb_asprintf("%s/sys/fs/cgroup%s%s", root, unified ? "" : "/", list);
        least = fmin(least, smallest_above(mount, group, unified ? v2 : v1));
    }
    if (f != NULL)
        fclose(f);
    return least;
}

uint64_t rb_cgroup_memory_room_bytes(const char *root)
{
    double room = smallest(root, "memory", room_v1, room_v2);
    return room < 0x1p62 ? (uint64_t)room : NO_LIMIT; /* version 1 writes no limit as 2^63 */
}

double rb_cgroup_cpus(const char *root)
{
    double cpus = smallest(root, "cpu", cpus_v1, cpus_v2);
    return cpus < HUGE_VAL ? cpus : 0;
}
