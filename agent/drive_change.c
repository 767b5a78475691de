#include "agent/drive_change.h"

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static bool is_same(const char *a, const char *b)
{
    return strcmp(or_empty(a), or_empty(b)) == 0;
}

/* Loop and zram devices have an id, but no serial number. */
static char *describe(const char *model, const char *serial, const char *id)
{
    bool has_model = or_empty(model)[0] != '\0', has_id = or_empty(id)[0] != '\0';
    return rb_asprintf("%s%s%s%s",
                       has_model ? model
                       : has_id  ? ""
                                 : "a drive",
                       has_model || !has_id ? ", " : "",
                       !has_id                       ? "no serial number"
                       : or_empty(serial)[0] != '\0' ? "S/N "
                                                     : "",
                       or_empty(id));
}

static bool has_same_members(const Rackbench__Drive *was, const Rackbench__Drive *is)
{
    bool same = was->n_member_drives == is->n_member_drives;
    for (size_t i = 0; same && i < was->n_member_drives; i++) {
        const Rackbench__MemberDrive *a = was->member_drives[i], *b = is->member_drives[i];
        same = is_same(a->path, b->path) && is_same(a->model, b->model) &&
               is_same(a->serial, b->serial) && is_same(a->wwid, b->wwid);
    }
    return same;
}

static char *list_members(const Rackbench__Drive *drive)
{
    char *list = rb_strdup("");
    for (size_t i = 0; i < drive->n_member_drives; i++) {
        const Rackbench__MemberDrive *m = drive->member_drives[i];
        RB_AUTO(rb_free_str) char *what = describe(m->model, m->serial, m->serial);
        char *more = rb_asprintf("%s%s%s (%s)", list, i == 0 ? "" : ", ", m->path, what);
        free(list);
        list = more;
    }
    return list;
}

char *rb_drive_change(const Rackbench__Drive *was, const Rackbench__Drive *is)
{
    RB_AUTO(rb_free_str) char *before = NULL;
    RB_AUTO(rb_free_str) char *now = NULL;
    if (!is_same(was->model, is->model) || !is_same(was->id, is->id) ||
        !is_same(was->wwid, is->wwid)) {
        before = describe(was->model, was->serial, was->id);
        now = describe(is->model, is->serial, is->id);
        return strcmp(before, now) != 0 ? rb_asprintf("it was %s, it is %s now", before, now)
                                        : rb_asprintf("it was %s, it is %s now (%s)",
                                                      or_empty(was->wwid), or_empty(is->wwid), now);
    }
    if (was->has_diskseq && is->has_diskseq && was->diskseq != is->diskseq) {
        now = describe(is->model, is->serial, is->id);
        return rb_asprintf("it was taken away and came back (%s)", now);
    }
    if (has_same_members(was, is))
        return NULL;
    before = list_members(was);
    now = list_members(is);
    return rb_asprintf("it lay on %s, it lies on %s now", before, now);
}

static void drop_message(Rackbench__Drive **drive)
{
    rackbench__drive__free_unpacked(*drive, NULL);
}

int rb_drive_check_same(const rb_drive_t *drive, const Rackbench__Drive *was, dev_t rdev,
                        rb_err_t *err)
{
    RB_AUTO(drop_message) Rackbench__Drive *is = rb_drive_message(drive);
    RB_AUTO(rb_free_str) char *change = rb_drive_change(was, is);
    if (change == NULL && drive->rdev == rdev)
        return 0;
    return rb_err_set(
        err, RB_ERR_UNSAFE,
        "%s: is another device than when the plan was loaded%s%s; run again if that is "
        "meant",
        drive->path, change == NULL ? "" : ": ", or_empty(change));
}
