#include "agent/targets.h"

#include <errno.h>
#include <glob.h>
#include <sys/stat.h>

#include "agent/drive_change.h"
#include "agent/drives.h"
#include "agent/probe.h"
#include "agent/target_drives.h"
#include "agent/target_files.h"
#include "agent/target_load.h"
#include "agent/target_logs.h"
#include "agent/workload/block.h"
#include "common/units.h"

struct rb_targets {
    const Rackbench__Plan *plan;       /* outlives this */
    const char *host;                  /* outlives this */
    const rb_allowances_t *allowances; /* outlives this */
    size_t nsubjects;
    rb_subject_t *subjects; /* [nsubjects] of all phases, by target, then drive */
    size_t nanswer;
    rb_subject_t *answer; /* [nanswer] of the phase last asked for */
    rb_log_places_t logs; /* of the phase last asked for */
    Rackbench__Loaded *loaded;
};

/* ---- who uses what ---- */

static bool is_device(const char *path, dev_t rdev)
{
    RB_AUTO(rb_free_str) char *block = rb_drive_block_path(path);
    struct stat st;
    return stat(block, &st) == 0 && S_ISBLK(st.st_mode) && st.st_rdev == rdev;
}

/* By device, not by name: a link into an allowed directory allows nothing more. */
static bool is_allowed(const rb_allowances_t *allowances, dev_t rdev)
{
    bool allowed = false;
    for (size_t i = 0; !allowed && i < allowances->nallow_devices; i++) {
        glob_t found;
        if (glob(allowances->allow_devices[i], GLOB_NOSORT, NULL, &found) == 0)
            for (size_t j = 0; !allowed && j < found.gl_pathc; j++)
                allowed = is_device(found.gl_pathv[j], rdev);
        globfree(&found);
    }
    return allowed;
}

static bool is_listed(char *const *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (word[0] != '\0' && strcmp(list[i], word) == 0)
            return true;
    return false;
}

static rb_guard_verdict_t judge(const rb_targets_t *t, const rb_drive_t *drive, const char *target,
                                const Rackbench__Phase *phase)
{
    RB_AUTO(rb_free_str) char *id = rb_drive_id(drive);
    return rb_guard_judge(&(rb_guard_facts_t){
        .path = drive->path,
        .uses = drive->uses,
        .nuses = drive->nuses,
        .read_only = drive->read_only,
        .write = rb_load_in_phase(phase, target) == RB_LOAD_WRITTEN,
        .sets_power = rb_sets_power(phase, target),
        .destructive = phase->destructive,
        .allowed = is_allowed(t->allowances, drive->rdev),
        .id = id,
        .wipe = t->allowances->allow_wipe && is_listed(t->plan->wipe, t->plan->n_wipe, id),
    });
}

/* ---- the message ---- */

static Rackbench__Subject *add_subject(rb_targets_t *t, const rb_subject_t *s)
{
    Rackbench__Subject *m = rb_calloc(1, sizeof(*m));
    rb_load_t load = rb_load_in_plan(t->plan, t->plan->targets[s->target]->name);
    rackbench__subject__init(m);
    m->target = s->target;
    m->drive = s->drive;
    m->path = rb_strdup(s->path);
    m->has_size_bytes = m->has_action = true;
    m->size_bytes = s->size_bytes;
    m->action = s->needs_layout           ? RACKBENCH__SUBJECT__ACTION__lays_out
                : load == RB_LOAD_WRITTEN ? RACKBENCH__SUBJECT__ACTION__overwrites
                : s->is_device            ? RACKBENCH__SUBJECT__ACTION__reads
                                          : RACKBENCH__SUBJECT__ACTION__reuses;
    *RB_PUSH(t->loaded->subjects, t->loaded->n_subjects) = m;
    *RB_PUSH(t->subjects, t->nsubjects) = *s;
    return m;
}

static void add_verdicts(const rb_targets_t *t, const rb_drive_t *drive, Rackbench__Subject *m)
{
    const char *target = t->plan->targets[m->target]->name;
    for (size_t i = 0; i < t->plan->n_phases; i++) {
        const Rackbench__Phase *phase = t->plan->phases[i];
        if (rb_load_in_phase(phase, target) == RB_LOAD_UNUSED)
            continue;
        rb_guard_verdict_t v = judge(t, drive, target, phase);
        if (v.outcome == RB_GUARD_REFUSED && m->refused == NULL)
            m->refused = rb_strdup(v.text);
        if (v.outcome == RB_GUARD_WARNED && m->warning == NULL)
            m->warning = rb_strdup(v.text);
    }
}

/* ---- devices ---- */

static int resolve_devices(rb_targets_t *t, uint32_t index, rb_err_t *err)
{
    const Rackbench__Target *target = t->plan->targets[index];
    RB_AUTO(rb_target_drives_clear) rb_target_drives_t drives = {0};
    if (rb_target_drives_find(target, rb_look_in_plan(t->plan, target->name), &drives, err) != 0)
        return -1;
    for (size_t i = 0; i < drives.n; i++) {
        const rb_drive_t *drive = drives.items[i];
        rb_subject_t s = {.target = index,
                          .drive = (uint32_t)i,
                          .is_device = true,
                          .size_bytes = drive->size_bytes,
                          .pinned_dev = drive->rdev,
                          .pinned_ino = 1,
                          .logical_block_bytes = drive->logical_block_bytes};
        if ((size_t)snprintf(s.path, sizeof(s.path), "%s", drive->path) >= sizeof(s.path))
            return rb_err_set(err, RB_ERR_INPUT, "%.200s...: path is too long", drive->path);
        Rackbench__Subject *m = add_subject(t, &s);
        m->identity = rb_drive_message(drive);
        t->subjects[t->nsubjects - 1].pinned_diskseq = m->identity->diskseq;
        add_verdicts(t, drive, m);
    }
    return 0;
}

/* ---- files ---- */

static int resolve_files(rb_targets_t *t, uint32_t index, rb_err_t *err)
{
    const Rackbench__Target *target = t->plan->targets[index];
    uint32_t nfiles = target->has_files ? target->files : 1;
    rb_file_place_t place;
    rb_probe_note(target->directory != NULL ? target->directory : t->allowances->scratch);
    if (nfiles == 0 || nfiles > RB_MAX_DRIVES)
        return rb_err_set(err, RB_ERR_INPUT, "files %u is not within 1 and %d", nfiles,
                          RB_MAX_DRIVES);
    if (rb_file_place(target, t->host, t->allowances, &place, err) != 0)
        return -1;
    for (uint32_t i = 0; i < nfiles; i++) {
        rb_subject_t s;
        if (rb_file_subject(&place, target, i, &s, err) != 0 ||
            (!rb_file_is_missing(place.directory) && rb_file_pin(&s, t->allowances, err) != 0))
            return -1;
        s.target = index;
        add_subject(t, &s);
    }
    return 0;
}

/* ---- jobs ---- */

static int check_region(const Rackbench__Job *job, const rb_subject_t *s, rb_err_t *err)
{
    char offset[RB_FMT_SIZE], size[RB_FMT_SIZE], end[RB_FMT_SIZE];
    rb_region_t last = rb_block_region(job, s->size_bytes, RB_MAX(job->numjobs, 1u) - 1);
    uint64_t need = RB_MAX(last.size_bytes, (uint64_t)s->logical_block_bytes);
    if (last.offset_bytes <= s->size_bytes && need <= s->size_bytes - last.offset_bytes)
        return 0;
    rb_fmt_bytes_exact(offset, sizeof(offset), last.offset_bytes);
    rb_fmt_bytes_exact(size, sizeof(size), job->size_bytes);
    rb_fmt_bytes_exact(end, sizeof(end), s->size_bytes);
    return rb_err_set(err, RB_ERR_INPUT, "job '%s': offset %s%s%s is beyond the end of %s (%s)",
                      job->name == NULL ? "" : job->name, offset,
                      job->has_size_bytes ? " + size " : "", job->has_size_bytes ? size : "",
                      s->path, end);
}

static int check_job(const rb_targets_t *t, const Rackbench__Job *job, rb_err_t *err)
{
    bool known = false;
    for (size_t i = 0; i < t->nsubjects; i++) {
        const rb_subject_t *s = &t->subjects[i];
        if (job->target == NULL || strcmp(t->plan->targets[s->target]->name, job->target) != 0)
            continue;
        known = true;
        if (check_region(job, s, err) != 0)
            return -1;
    }
    if (!known)
        return rb_err_set(err, RB_ERR_INPUT, "job '%s': the plan has no target '%s'",
                          job->name == NULL ? "" : job->name,
                          job->target == NULL ? "" : job->target);
    return 0;
}

/* A drive that a phase writes to is held for one target. */
static int check_pair(const rb_targets_t *t, const rb_subject_t *a, const rb_subject_t *b,
                      rb_err_t *err)
{
    const char *first = t->plan->targets[a->target]->name;
    const char *second = t->plan->targets[b->target]->name;
    if (a->target == b->target || !a->is_device || !b->is_device || a->pinned_dev != b->pinned_dev)
        return 0;
    for (size_t i = 0; i < t->plan->n_phases; i++) {
        const Rackbench__Phase *phase = t->plan->phases[i];
        if (rb_load_in_phase(phase, first) == RB_LOAD_WRITTEN &&
            rb_load_in_phase(phase, second) == RB_LOAD_WRITTEN)
            return rb_err_set(err, RB_ERR_INPUT,
                              "targets '%s' and '%s' are the same drive %s, and phase '%s' writes "
                              "to both; give its jobs one target",
                              first, second, b->path, phase->name == NULL ? "" : phase->name);
    }
    return 0;
}

static int check_pairs(const rb_targets_t *t, rb_err_t *err)
{
    for (size_t i = 0; i < t->nsubjects; i++)
        for (size_t j = i + 1; j < t->nsubjects; j++)
            if (check_pair(t, &t->subjects[i], &t->subjects[j], err) != 0)
                return -1;
    return 0;
}

static int resolve(rb_targets_t *t, rb_err_t *err)
{
    const Rackbench__Plan *plan = t->plan;
    for (uint32_t i = 0; i < plan->n_targets; i++) {
        const Rackbench__Target *target = plan->targets[i];
        if (rb_load_in_plan(plan, target->name) == RB_LOAD_UNUSED)
            continue;
        if ((target->n_devices > 0 ? resolve_devices : resolve_files)(t, i, err) != 0)
            return rb_err_wrap(err, "target '%s'", target->name);
    }
    if (check_pairs(t, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_phases; i++)
        for (size_t j = 0; j < plan->phases[i]->n_jobs; j++)
            if (check_job(t, plan->phases[i]->jobs[j], err) != 0)
                return -1;
    if (rb_target_logs_check(plan, t->allowances, err) != 0)
        return -1;
    return rb_file_room(t->subjects, t->nsubjects, plan, t->allowances->reserve_bytes, err);
}

rb_targets_t *rb_targets_new(const Rackbench__Plan *plan, const char *host,
                             const rb_allowances_t *allowances, rb_err_t *err)
{
    RB_AUTO(rb_targets_destroy) rb_targets_t *t = rb_calloc(1, sizeof(*t));
    t->plan = plan;
    t->host = host;
    t->allowances = allowances;
    t->loaded = rb_calloc(1, sizeof(*t->loaded));
    rackbench__loaded__init(t->loaded);
    return resolve(t, err) == 0 ? RB_MOVE(t) : NULL;
}

void rb_targets_destroy(rb_targets_t **targets)
{
    rb_targets_t *t = *targets;
    *targets = NULL;
    if (t == NULL)
        return;
    rackbench__loaded__free_unpacked(t->loaded, NULL);
    free(t->subjects);
    free(t->answer);
    free(t->logs.items);
    free(t);
}

const Rackbench__Loaded *rb_targets_loaded(const rb_targets_t *targets)
{
    return targets->loaded;
}

/* ---- a phase ---- */

/* was: what a device was when the plan was loaded. */
static int look_again(const rb_targets_t *t, const Rackbench__Phase *phase,
                      const Rackbench__Drive *was, rb_subject_t *s, rb_err_t *err)
{
    const Rackbench__Target *target = t->plan->targets[s->target];
    if (!s->is_device) {
        rb_probe_note(s->path);
        if (rb_file_look(s, err) != 0)
            return -1;
        if (s->needs_layout && target->directory == NULL &&
            rb_file_make_directory(t->allowances->scratch, err) != 0)
            return -1;
        return rb_file_pin(s, t->allowances, err);
    }
    RB_AUTO(rb_drive_destroy)
    rb_drive_t *drive = rb_drive_new(s->path, rb_look_in_phase(phase, target->name), err);
    if (drive == NULL)
        return -1;
    if (rb_drive_check_same(drive, was, s->pinned_dev, err) != 0)
        return -1;
    if (drive->size_bytes != s->size_bytes)
        return rb_err_set(err, RB_ERR_INPUT, "%s: its size changed since the plan was loaded",
                          s->path);
    rb_guard_verdict_t v = judge(t, drive, target->name, phase);
    return v.outcome == RB_GUARD_REFUSED ? rb_err_set(err, RB_ERR_UNSAFE, "%s", v.text) : 0;
}

int rb_targets_phase(rb_targets_t *targets, const Rackbench__Phase *phase,
                     const rb_subject_t **ret_subjects, size_t *ret_n, rb_err_t *err)
{
    const Rackbench__Plan *plan = targets->plan;
    if (rb_target_logs_phase(phase, targets->allowances, &targets->logs, err) != 0)
        return -1;
    free(targets->answer);
    targets->answer = NULL;
    targets->nanswer = 0;
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (check_job(targets, phase->jobs[i], err) != 0)
            return -1;
    for (size_t i = 0; i < targets->nsubjects; i++) {
        rb_subject_t s = targets->subjects[i];
        const char *target = plan->targets[s.target]->name;
        if (rb_load_in_phase(phase, target) == RB_LOAD_UNUSED)
            continue;
        if (look_again(targets, phase, targets->loaded->subjects[i]->identity, &s, err) != 0)
            return rb_err_wrap(err, "target '%s'", target);
        targets->subjects[i].pinned_dev = s.pinned_dev; /* of a directory made just now */
        targets->subjects[i].pinned_ino = s.pinned_ino;
        *RB_PUSH(targets->answer, targets->nanswer) = s;
    }
    *ret_subjects = targets->answer;
    *ret_n = targets->nanswer;
    return 0;
}

const rb_log_place_t *rb_targets_logs(const rb_targets_t *targets, size_t *ret_n)
{
    *ret_n = targets->logs.n;
    return targets->logs.items;
}

int rb_targets_clean(const Rackbench__Plan *plan, const char *host,
                     const rb_allowances_t *allowances, rb_cleaned_t *ret, rb_err_t *err)
{
    *ret = (rb_cleaned_t){0};
    for (size_t i = 0; i < plan->n_targets; i++) {
        const Rackbench__Target *target = plan->targets[i];
        rb_file_place_t place;
        if (target->n_devices > 0 ||
            (target->directory != NULL && rb_file_is_missing(target->directory)))
            continue;
        if (rb_file_place(target, host, allowances, &place, err) != 0 ||
            rb_file_clean(&place, allowances, ret, err) != 0)
            return rb_err_wrap(err, "target '%s'", target->name);
    }
    return 0;
}
