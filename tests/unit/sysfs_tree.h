/* sysfs_tree.h - a captured sysfs (tests/data/sysfs/NAME.txt) as a directory of its own. */
#pragma once

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/base.h"

static inline void make_parents(const char *path)
{
    RB_AUTO(rb_free_str) char *part = rb_strdup(path);
    for (char *at = strchr(part + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(part, 0700);
        *at = '/';
    }
}

static inline void sysfs_set(const char *root, const char *file, const char *content)
{
    RB_AUTO(rb_free_str) char *path = rb_asprintf("%s/%s", root, file);
    make_parents(path);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    fprintf(f, "%s\n", content);
    fclose(f);
}

static inline void sysfs_line(const char *root, char *line)
{
    char *link = strstr(line, " -> "), *value = strstr(line, ": ");
    line[strcspn(line, "\n")] = '\0';
    if (link != NULL) {
        *link = '\0';
        RB_AUTO(rb_free_str) char *path = rb_asprintf("%s/%s", root, line);
        make_parents(path);
        assert_int_equal(symlink(link + 4, path), 0);
    } else {
        assert_non_null(value);
        *value = '\0';
        sysfs_set(root, line, value + 2);
    }
}

/* Owned by the caller: sysfs_remove. */
static inline char *sysfs_make(const char *name)
{
    char line[512], root[] = "/tmp/rackbench-sysfs.XXXXXX";
    assert_non_null(mkdtemp(root));
    RB_AUTO(rb_free_str) char *path = rb_asprintf(RB_SOURCE_DIR "/tests/data/sysfs/%s.txt", name);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof(line), f) != NULL)
        if (line[0] != '#')
            sysfs_line(root, line);
    fclose(f);
    return realpath(root, NULL);
}

static inline int sysfs_unlink(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static inline void sysfs_remove(char **root)
{
    nftw(*root, sysfs_unlink, 16, FTW_DEPTH | FTW_PHYS);
    free(*root);
    *root = NULL;
}
