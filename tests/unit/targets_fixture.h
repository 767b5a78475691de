/* targets_fixture.h - a small plan, a directory and loop devices for the tests of agent/targets.
 *
 * Include after cmocka.h. Everything is removed by tear_down.
 */
#pragma once

#include "agent/targets.h"
#include "tests/unit/scratch_disk.h"

enum { IMAGE_BYTES = 8 << 20, MAX = 4 };

/* A plan of up to MAX targets and MAX phases with one job each. */
typedef struct {
    char dir[64], scratch[128];
    rb_test_loop_t loop, loop2;
    Rackbench__Plan plan;
    Rackbench__Target targets[MAX], *target_list[MAX];
    Rackbench__Phase phases[MAX], *phase_list[MAX];
    Rackbench__Job jobs[MAX], *job_list[MAX];
    rb_allowances_t allow;
    const char *allow_one;
    char *device[2];
    rb_targets_t *t;
    rb_err_t err;
} fixture_t;

static inline int set_up(void **state)
{
    fixture_t *f = rb_calloc(1, sizeof(*f));
    f->loop.fd = f->loop2.fd = -1;
    strcpy(f->dir, "/tmp/rb-targets-XXXXXX");
    RB_ASSERT(mkdtemp(f->dir) != NULL);
    snprintf(f->scratch, sizeof(f->scratch), "%s/deep/scratch", f->dir);
    rackbench__plan__init(&f->plan);
    f->plan.targets = f->target_list;
    f->plan.phases = f->phase_list;
    f->allow.scratch = f->scratch;
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    fixture_t *f = *state;
    char path[128];
    rb_targets_destroy(&f->t);
    snprintf(path, sizeof(path), "%s/small", f->dir);
    umount2(path, MNT_DETACH);
    rb_test_loop_down(&f->loop);
    rb_test_loop_down(&f->loop2);
    rb_test_remove_tree(f->dir);
    free(f);
    return 0;
}

static inline Rackbench__Target *add_target(fixture_t *f, const char *name)
{
    Rackbench__Target *target = &f->targets[f->plan.n_targets];
    rackbench__target__init(target);
    target->name = (char *)name;
    f->target_list[f->plan.n_targets++] = target;
    return target;
}

static inline Rackbench__Target *add_files(fixture_t *f, const char *name, const char *directory,
                                           uint64_t size_bytes)
{
    Rackbench__Target *target = add_target(f, name);
    target->directory = (char *)directory;
    target->has_files = target->has_size_bytes = true;
    target->files = 1;
    target->size_bytes = size_bytes;
    return target;
}

static inline Rackbench__Target *add_devices(fixture_t *f, const char *a, const char *b)
{
    Rackbench__Target *target = add_target(f, "d");
    f->device[0] = (char *)a;
    f->device[1] = (char *)b;
    target->devices = f->device;
    target->n_devices = b == NULL ? 1 : 2;
    return target;
}

static inline Rackbench__Job *add_phase(fixture_t *f, const char *target, Rackbench__Rw__Mode rw)
{
    size_t n = f->plan.n_phases;
    rackbench__phase__init(&f->phases[n]);
    rackbench__job__init(&f->jobs[n]);
    f->jobs[n].name = (char *)"j";
    f->jobs[n].target = (char *)target;
    f->jobs[n].has_rw = true;
    f->jobs[n].rw = rw;
    f->job_list[n] = &f->jobs[n];
    f->phases[n].jobs = &f->job_list[n];
    f->phases[n].n_jobs = 1;
    f->phase_list[f->plan.n_phases++] = &f->phases[n];
    return &f->jobs[n];
}

static inline void allow_device(fixture_t *f, const char *glob)
{
    f->allow_one = glob;
    f->allow.allow_devices = &f->allow_one;
    f->allow.nallow_devices = 1;
}

static inline void resolve(fixture_t *f)
{
    rb_targets_destroy(&f->t);
    f->t = rb_targets_new(&f->plan, "db07:7412", &f->allow, &f->err);
    if (f->t == NULL)
        fail_msg("%s", f->err.text);
}

static inline void assert_fails(fixture_t *f, rb_code_t code, const char *text)
{
    rb_targets_destroy(&f->t);
    f->t = rb_targets_new(&f->plan, "db07:7412", &f->allow, &f->err);
    assert_null(f->t);
    assert_string_equal(f->err.text, text);
    assert_int_equal(f->err.code, code);
}

static inline const Rackbench__Subject *subject(const fixture_t *f, size_t i)
{
    const Rackbench__Loaded *loaded = rb_targets_loaded(f->t);
    assert_true(i < loaded->n_subjects);
    return loaded->subjects[i];
}

static inline const rb_subject_t *phase(fixture_t *f, uint32_t index, size_t expected)
{
    const rb_subject_t *subjects = NULL;
    size_t n = 0;
    if (rb_targets_phase(f->t, &f->phases[index], &subjects, &n, &f->err) != 0)
        fail_msg("%s", f->err.text);
    assert_int_equal(n, expected);
    return subjects;
}

/* A path in the test's directory; kept in a few places in turn. */
static inline const char *in(const fixture_t *f, const char *name)
{
    static char paths[64][256];
    static unsigned next;
    char *path = paths[next++ % 64];
    snprintf(path, sizeof(paths[0]), "%s/%s", f->dir, name);
    return path;
}

static inline const char *fmt(const char *format, const char *a, const char *b)
{
    static char text[1024];
    char *out = text;
    for (const char *p = format; *p != '\0'; p++) {
        if (*p == '@' || *p == '#')
            out = stpcpy(out, *p == '@' ? a : b);
        else
            *out++ = *p;
    }
    *out = '\0';
    return text;
}

static inline void make_dir(const char *path)
{
    assert_int_equal(mkdir(path, 0755), 0);
}

static inline bool exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

#define RB_HERE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
