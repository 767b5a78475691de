#include "agent/target_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agent/drives.h"
#include "common/units.h"

/* ---- place ---- */

/* Both resolved; by whole components, so that /data2 is not under /data. */
static bool is_under(const char *path, const char *directory)
{
    size_t n = strlen(directory);
    if (n > 0 && directory[n - 1] == '/') /* the root directory */
        n--;
    return strncmp(path, directory, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

static bool is_allowed(const char *resolved, const rb_allowances_t *allowances)
{
    char base[PATH_MAX];
    if (allowances->embedded ||
        (realpath(allowances->scratch, base) != NULL && is_under(resolved, base)))
        return true;
    for (size_t i = 0; i < allowances->nallow_paths; i++)
        if (realpath(allowances->allow_paths[i], base) != NULL && is_under(resolved, base))
            return true;
    return false;
}

int rb_file_directory_check(const char *directory, const char *key,
                            const rb_allowances_t *allowances, rb_err_t *err)
{
    char resolved[PATH_MAX];
    struct stat st;
    if (realpath(directory, resolved) == NULL)
        return errno != ENOENT
                   ? rb_err_errno(err, errno, "directory %s", directory)
                   : rb_err_set(err, RB_ERR_INPUT,
                                "directory %s does not exist on this host; create it or change "
                                "`%s`",
                                directory, key);
    if (stat(resolved, &st) != 0 || !S_ISDIR(st.st_mode))
        return rb_err_set(err, RB_ERR_INPUT, "%s is not a directory; change `%s`", directory, key);
    if (!is_allowed(resolved, allowances))
        return rb_err_set(err, RB_ERR_INPUT,
                          "the agent does not allow directory %s; start it with --allow-path %s",
                          directory, resolved);
    return 0;
}

static int set_prefix(const char *host, const char *target, rb_file_place_t *place, rb_err_t *err)
{
    int n = snprintf(place->prefix, sizeof(place->prefix), "rackbench.%s.%s.", host, target);
    if (strchr(place->prefix, '/') != NULL)
        return rb_err_set(err, RB_ERR_INPUT,
                          "host %s or the target has a / in its name, which names files; rename it",
                          host);
    if (n < 0 || n + 10 > NAME_MAX) /* 10: "1023.part" and its end */
        return rb_err_set(err, RB_ERR_INPUT,
                          "file names %sN are too long; shorten the name of the target",
                          place->prefix);
    return 0;
}

int rb_file_place(const Rackbench__Target *target, const char *host,
                  const rb_allowances_t *allowances, rb_file_place_t *ret_place, rb_err_t *err)
{
    rb_file_place_t place = {.is_scratch = target->directory == NULL};
    const char *directory = place.is_scratch ? allowances->scratch : target->directory;
    size_t n = strlen(directory);
    while (n > 1 && directory[n - 1] == '/')
        n--;
    if (n + NAME_MAX + 2 > sizeof(place.directory))
        return rb_err_set(err, RB_ERR_INPUT, "directory %.200s... is too long", directory);
    memcpy(place.directory, directory, n);
    if (set_prefix(host, target->name, &place, err) != 0 ||
        (!place.is_scratch &&
         rb_file_directory_check(place.directory, "directory", allowances, err) != 0))
        return -1;
    *ret_place = place;
    return 0;
}

/* ---- one file ---- */

/* The directory of path, or the nearest above it that exists. */
static int nearest_directory(const char *path, char *ret_directory, struct stat *ret_st,
                             rb_err_t *err)
{
    snprintf(ret_directory, PATH_MAX, "%s", path);
    for (;;) {
        char *slash = strrchr(ret_directory, '/');
        if (slash == NULL)
            strcpy(ret_directory, ".");
        else
            slash[slash == ret_directory] = '\0'; /* keeps the root's slash */
        if (stat(ret_directory, ret_st) == 0)
            break;
        if (errno != ENOENT || slash == NULL)
            return rb_err_errno(err, errno, "directory %s", ret_directory);
    }
    if (!S_ISDIR(ret_st->st_mode))
        return rb_err_set(err, RB_ERR_INPUT, "%s is not a directory", ret_directory);
    return 0;
}

bool rb_file_is_missing(const char *path)
{
    struct stat st;
    return stat(path, &st) != 0 && errno == ENOENT;
}

int rb_file_look(rb_subject_t *subject, rb_err_t *err)
{
    struct stat st;
    subject->needs_layout = true;
    if (lstat(subject->path, &st) != 0)
        return errno == ENOENT ? 0 : rb_err_errno(err, errno, "%s", subject->path);
    if (!S_ISREG(st.st_mode))
        return rb_err_set(err, RB_ERR_INPUT, "%s is not a regular file; remove it", subject->path);
    /* A second name or a foreign owner: its content may be somebody's. */
    if (st.st_nlink != 1 || st.st_uid != geteuid())
        return rb_err_set(
            err, RB_ERR_INPUT,
            "%s %s; it may hold somebody's data: remove it or choose another directory",
            subject->path, st.st_nlink != 1 ? "has other hard links" : "belongs to another user");
    subject->needs_layout = (uint64_t)st.st_size < subject->size_bytes;
    return 0;
}

/* One descriptor answers all questions, so that nothing can change between them. */
static int open_allowed(const char *directory, const rb_allowances_t *allowances, rb_err_t *err)
{
    char link[64], resolved[PATH_MAX];
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return rb_err_errno(err, errno, "directory %s", directory);
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, resolved, sizeof(resolved) - 1);
    resolved[RB_MAX(n, 0)] = '\0';
    if (n > 0 && is_allowed(resolved, allowances))
        return fd;
    close(fd);
    return rb_err_set(err, RB_ERR_INPUT, "%s is now at %s, which the agent does not allow",
                      directory, resolved);
}

int rb_file_pin_directory(const char *directory, const rb_allowances_t *allowances,
                          rb_pin_t *ret_pin, rb_err_t *err)
{
    struct stat st;
    int fd = open_allowed(directory, allowances, err);
    if (fd < 0)
        return -1;
    int rc = fstat(fd, &st) == 0 ? 0 : rb_err_errno(err, errno, "directory %s", directory);
    close(fd);
    if (rc == 0)
        *ret_pin = (rb_pin_t){st.st_dev, st.st_ino};
    return rc;
}

int rb_file_pin(rb_subject_t *subject, const rb_allowances_t *allowances, rb_err_t *err)
{
    const char *slash = strrchr(subject->path, '/');
    RB_AUTO(rb_free_str)
    char *directory = rb_strndup(subject->path, (size_t)RB_MAX(slash - subject->path, 1));
    rb_pin_t pin;
    if (rb_file_pin_directory(directory, allowances, &pin, err) != 0)
        return -1;
    if (subject->pinned_ino != 0 &&
        (pin.dev != subject->pinned_dev || pin.ino != subject->pinned_ino))
        return rb_err_set(err, RB_ERR_UNSAFE,
                          "%s: is another directory than when the plan was loaded", directory);
    subject->pinned_dev = pin.dev;
    subject->pinned_ino = pin.ino;
    return 0;
}

static int check_size(const rb_subject_t *s, rb_err_t *err)
{
    char size[RB_FMT_SIZE];
    if (s->size_bytes == 0)
        return rb_err_set(err, RB_ERR_INPUT, "`size` is missing; say how big each file is: 1GiB");
    if (s->size_bytes % s->logical_block_bytes != 0)
        return rb_err_set(
            err, RB_ERR_INPUT, "size %s is not a multiple of %u bytes, the logical block under %s",
            rb_fmt_bytes_exact(size, sizeof(size), s->size_bytes), s->logical_block_bytes, s->path);
    return 0;
}

int rb_file_subject(const rb_file_place_t *place, const Rackbench__Target *target, uint32_t n,
                    rb_subject_t *ret_subject, rb_err_t *err)
{
    char directory[PATH_MAX];
    struct stat st;
    rb_subject_t s = {.drive = n, .size_bytes = target->size_bytes};
    size_t used = (size_t)snprintf(s.path, sizeof(s.path), "%s/%s%u",
                                   strcmp(place->directory, "/") == 0 ? "" : place->directory,
                                   place->prefix, n);
    RB_ASSERT(used < sizeof(s.path)); /* rb_file_place has checked the room */
    if (nearest_directory(s.path, directory, &st, err) != 0)
        return -1;
    s.logical_block_bytes = rb_drive_block_of(st.st_dev);
    if (check_size(&s, err) != 0 || rb_file_look(&s, err) != 0)
        return -1;
    if (s.needs_layout && access(directory, W_OK | X_OK) != 0)
        return rb_err_errno(err, errno, "directory %s cannot be written", directory);
    *ret_subject = s;
    return 0;
}

/* ---- room ---- */

typedef struct {
    dev_t dev;
    uint32_t target; /* the first that needs room here */
    uint64_t need_bytes;
    char directory[PATH_MAX];
} filesystem_t;

typedef struct {
    size_t n;
    filesystem_t *items; /* [n] */
} filesystems_t;

static void free_filesystems(filesystems_t *all)
{
    free(all->items);
}

static filesystem_t *filesystem_of(filesystems_t *all, dev_t dev)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->items[i].dev == dev)
            return &all->items[i];
    filesystem_t *fs = RB_PUSH(all->items, all->n);
    fs->dev = dev;
    return fs;
}

static uint64_t part_bytes(const rb_subject_t *s)
{
    RB_AUTO(rb_free_str) char *part = rb_asprintf("%s.part", s->path);
    struct stat st;
    return lstat(part, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

static int add_need(filesystems_t *all, const rb_subject_t *s, rb_err_t *err)
{
    char directory[PATH_MAX];
    struct stat st;
    if (nearest_directory(s->path, directory, &st, err) != 0)
        return -1;
    filesystem_t *fs = filesystem_of(all, st.st_dev);
    uint64_t need = s->size_bytes - RB_MIN(s->size_bytes, part_bytes(s));
    if (fs->directory[0] == '\0') {
        memcpy(fs->directory, directory, sizeof(directory));
        fs->target = s->target;
    }
    if (__builtin_add_overflow(fs->need_bytes, need, &fs->need_bytes))
        fs->need_bytes = UINT64_MAX;
    return 0;
}

static int check_room(const filesystem_t *fs, const char *target, uint64_t reserve, rb_err_t *err)
{
    char need[RB_FMT_SIZE], room[RB_FMT_SIZE], kept[RB_FMT_SIZE];
    struct statvfs vfs;
    if (statvfs(fs->directory, &vfs) != 0)
        return rb_err_errno(err, errno, "free space of %s", fs->directory);
    uint64_t free_bytes = (uint64_t)vfs.f_bavail * vfs.f_frsize;
    uint64_t size_bytes = (uint64_t)vfs.f_blocks * vfs.f_frsize;
    if (reserve == 0)
        reserve = RB_MIN(size_bytes / 20, RB_GIB);
    uint64_t may_take = free_bytes - RB_MIN(free_bytes, reserve);
    if (size_bytes == 0 || fs->need_bytes <= may_take) /* 0: a tmpfs without limit */
        return 0;
    return rb_err_set(err, RB_ERR_IO,
                      "target '%s': needs %s in %s, %s are free and %s of them are to stay free "
                      "(rackbench-agent --reserve)",
                      target, rb_fmt_bytes(need, sizeof(need), fs->need_bytes), fs->directory,
                      rb_fmt_bytes(room, sizeof(room), free_bytes),
                      rb_fmt_bytes(kept, sizeof(kept), RB_MIN(reserve, free_bytes)));
}

int rb_file_room(const rb_subject_t *subjects, size_t nsubjects, const Rackbench__Plan *plan,
                 uint64_t reserve_bytes, rb_err_t *err)
{
    RB_AUTO(free_filesystems) filesystems_t all = {0};
    for (size_t i = 0; i < nsubjects; i++)
        if (!subjects[i].is_device && subjects[i].needs_layout &&
            add_need(&all, &subjects[i], err) != 0)
            return -1;
    for (size_t i = 0; i < all.n; i++)
        if (check_room(&all.items[i], plan->targets[all.items[i].target]->name, reserve_bytes,
                       err) != 0)
            return -1;
    return 0;
}

int rb_file_make_directory(const char *directory, rb_err_t *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s", directory);
    for (char *p = path + 1;; p++) {
        char c = *p;
        if (c != '/' && c != '\0')
            continue;
        *p = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return rb_err_errno(err, errno, "make directory %s", path);
        if (c == '\0')
            return 0;
        *p = c;
    }
}

/* ---- removal ---- */

static void close_dir(DIR **d)
{
    if (*d != NULL)
        closedir(*d);
}

/* PREFIX then digits, then nothing or .part: nothing else is ours. */
static bool is_ours(const rb_file_place_t *place, const char *name)
{
    size_t n = strlen(place->prefix);
    if (strncmp(name, place->prefix, n) != 0 || !isdigit((unsigned char)name[n]))
        return false;
    name += n + strspn(name + n, "0123456789");
    return name[0] == '\0' || strcmp(name, ".part") == 0;
}

int rb_file_clean(const rb_file_place_t *place, const rb_allowances_t *allowances,
                  rb_cleaned_t *cleaned, rb_err_t *err)
{
    uint32_t before = cleaned->files;
    if (rb_file_is_missing(place->directory))
        return 0;
    int fd = open_allowed(place->directory, allowances, err);
    RB_AUTO(close_dir) DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && d == NULL)
        close(fd);
    if (d == NULL)
        return fd < 0 ? -1 : rb_err_errno(err, errno, "directory %s", place->directory);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        if (!is_ours(place, e->d_name) ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        if (unlinkat(dirfd(d), e->d_name, 0) != 0)
            return rb_err_errno(err, errno, "remove %s/%s", place->directory, e->d_name);
        cleaned->files++;
        cleaned->bytes += (uint64_t)st.st_size;
    }
    if (place->is_scratch && cleaned->files > before)
        rmdir(place->directory); /* fails as it should where others still have files there */
    return 0;
}
