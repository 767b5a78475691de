#include "agent/target_drives.h"

#include <fnmatch.h>
#include <glob.h>

void rb_target_drives_clear(rb_target_drives_t *drives)
{
    for (size_t i = 0; i < drives->n; i++)
        rb_drive_destroy(&drives->items[i]);
    free(drives->items);
    *drives = (rb_target_drives_t){0};
}

static int no_match(const char *what, rb_err_t *err)
{
    RB_AUTO(rb_drive_list_destroy) char **list = rb_drive_list();
    RB_AUTO(rb_free_str) char *all = rb_strdup("");
    for (size_t i = 0; list[i] != NULL; i++) {
        char *more = rb_asprintf("%s%s%s", all, i == 0 ? "" : ", ", list[i]);
        rb_free_str(&all);
        all = more;
    }
    return rb_err_set(err, RB_ERR_INPUT, "no device matches %s; this host has %s", what,
                      all[0] == '\0' ? "no block device" : all);
}

/* By what it is: one pattern of each list that has some. */
static bool matches(char *const *patterns, size_t n, const char *text)
{
    bool found = n == 0;
    for (size_t i = 0; !found && i < n; i++)
        found = fnmatch(patterns[i], text, 0) == 0;
    return found;
}

static bool is_meant(const Rackbench__Target *target, const rb_drive_t *drive)
{
    return matches(target->model, target->n_model, drive->model) &&
           matches(target->serial, target->n_serial, drive->serial) &&
           matches(target->pci, target->n_pci, drive->pci);
}

static int add_drive(rb_target_drives_t *drives, rb_drive_t *drive, rb_err_t *err)
{
    for (size_t i = 0; i < drives->n; i++) {
        if (drives->items[i]->rdev != drive->rdev) /* under another name */
            continue;
        rb_drive_destroy(&drive);
        return 0;
    }
    if (drives->n == RB_MAX_DRIVES) {
        rb_drive_destroy(&drive);
        return rb_err_set(err, RB_ERR_INPUT, "more than %d devices match; narrow the patterns",
                          RB_MAX_DRIVES);
    }
    *RB_PUSH(drives->items, drives->n) = drive;
    return 0;
}

/* A volume beside it uses its drives, not it. */
static bool is_used(const rb_drive_t *drive)
{
    for (size_t i = 0; i < drive->nuses; i++)
        if (drive->uses[i].kind != RB_USE_NEIGHBOUR)
            return true;
    return false;
}

typedef struct {
    bool unused; /* only drives that are */
    rb_drive_look_t look;
} wanted_t;

/* One that cannot be opened is an error if it is meant, and not known to be unused. */
static int look_at(rb_target_drives_t *drives, const Rackbench__Target *target, const char *path,
                   wanted_t wanted, rb_err_t *err)
{
    RB_AUTO(rb_drive_destroy) rb_drive_t *peek = rb_drive_peek(path, err);
    if (peek == NULL)
        return -1;
    if (!is_meant(target, peek) || (wanted.unused && peek->read_only))
        return 0;
    RB_AUTO(rb_drive_destroy) rb_drive_t *drive = rb_drive_new(path, wanted.look, err);
    if (drive == NULL)
        return wanted.unused ? 0 : -1;
    if (wanted.unused && is_used(drive))
        return 0;
    return add_drive(drives, RB_MOVE(drive), err);
}

static int add_listed(rb_target_drives_t *drives, const Rackbench__Target *target, wanted_t wanted,
                      rb_err_t *err)
{
    RB_AUTO(rb_drive_list_destroy) char **list = rb_drive_list();
    for (size_t i = 0; list[i] != NULL; i++)
        if (look_at(drives, target, list[i], wanted, err) != 0)
            return -1;
    return 0;
}

static int add_matches(rb_target_drives_t *drives, const Rackbench__Target *target,
                       const char *pattern, rb_drive_look_t look, rb_err_t *err)
{
    bool unused = strcmp(pattern, "all-unused") == 0;
    wanted_t wanted = {unused, unused ? RB_DRIVE_SIGNATURES : look};
    if (unused || strcmp(pattern, "all") == 0)
        return add_listed(drives, target, wanted, err);
    RB_AUTO(globfree) glob_t found = {0};
    if (glob(pattern, 0, NULL, &found) != 0)
        return no_match(pattern, err);
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (look_at(drives, target, found.gl_pathv[i], wanted, err) != 0)
            return -1;
    return 0;
}

static int by_version(const void *a, const void *b)
{
    return strverscmp((*(rb_drive_t *const *)a)->path, (*(rb_drive_t *const *)b)->path);
}

int rb_target_drives_find(const Rackbench__Target *target, rb_drive_look_t look,
                          rb_target_drives_t *drives, rb_err_t *err)
{
    for (size_t i = 0; i < target->n_devices; i++)
        if (add_matches(drives, target, target->devices[i], look, err) != 0)
            return -1;
    if (drives->n > 0) {
        qsort(drives->items, drives->n, sizeof(drives->items[0]), by_version);
        return 0;
    }
    bool by_kind = target->n_model + target->n_serial + target->n_pci > 0;
    return no_match(by_kind ? "its model, serial and pci" : target->devices[0], err);
}
