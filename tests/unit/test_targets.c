#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/targets.h"
#include "tests/unit/targets_fixture.h"

/* ---- devices ---- */

static void add_loop(fixture_t *f, rb_test_loop_t *loop, const char *name)
{
    rb_test_image(in(f, name), IMAGE_BYTES);
    rb_test_loop_up(loop, in(f, name));
}

static void reading_a_device(void **state)
{
    fixture_t *f = *state;
    add_loop(f, &f->loop, "image");
    add_devices(f, f->loop.path, NULL);
    add_phase(f, "d", RACKBENCH__RW__MODE__randread);
    resolve(f);
    const Rackbench__Subject *m = subject(f, 0);
    assert_string_equal(m->path, f->loop.path);
    assert_int_equal(m->size_bytes, IMAGE_BYTES);
    assert_int_equal(m->action, RACKBENCH__SUBJECT__ACTION__reads);
    assert_null(m->refused);
    assert_null(m->warning);
    assert_string_equal(m->identity->path, f->loop.path);
    const rb_subject_t *s = phase(f, 0, 1);
    assert_true(s->is_device && !s->needs_layout);
    assert_int_equal(s->logical_block_bytes, 512);

    int fd = open(f->loop.path, O_RDONLY | O_EXCL | O_CLOEXEC);
    resolve(f);
    assert_null(subject(f, 0)->refused);
    assert_non_null(strstr(subject(f, 0)->warning, "is opened exclusively"));
    phase(f, 0, 1);
    close(fd);
}

static void writing_a_device(void **state)
{
    fixture_t *f = *state;
    const rb_subject_t *subjects;
    size_t n;
    add_loop(f, &f->loop, "image");
    add_devices(f, f->loop.path, NULL);
    add_phase(f, "d", RACKBENCH__RW__MODE__read);
    add_phase(f, "d", RACKBENCH__RW__MODE__randwrite);
    resolve(f);
    assert_int_equal(subject(f, 0)->action, RACKBENCH__SUBJECT__ACTION__overwrites);
    assert_non_null(strstr(subject(f, 0)->refused, "does not say `destructive: true`"));
    phase(f, 0, 1); /* the phase that reads may */
    assert_int_equal(rb_targets_phase(f->t, &f->phases[1], &subjects, &n, &f->err), -1);
    assert_int_equal(f->err.code, RB_ERR_UNSAFE);
    assert_non_null(strstr(f->err.text, f->loop.path));

    f->phases[1].destructive = true;
    allow_device(f, "/dev/rb-other*");
    resolve(f);
    assert_non_null(strstr(subject(f, 0)->refused, "start the agent with --allow-device"));
    allow_device(f, "/dev/loop*");
    resolve(f);
    assert_null(subject(f, 0)->refused);
    phase(f, 1, 1);

    int fd = open(f->loop.path, O_RDONLY | O_EXCL | O_CLOEXEC); /* taken since Load */
    assert_int_equal(rb_targets_phase(f->t, &f->phases[1], &subjects, &n, &f->err), -1);
    assert_int_equal(f->err.code, RB_ERR_UNSAFE);
    assert_non_null(strstr(f->err.text, "is opened exclusively"));
    close(fd);
}

/* A step may have other jobs than the plan that was loaded, but no other targets and no more room.
 */
static void a_step_fits_what_was_loaded(void **state)
{
    fixture_t *f = *state;
    const rb_subject_t *subjects;
    size_t n;
    add_loop(f, &f->loop, "image");
    add_devices(f, f->loop.path, NULL);
    Rackbench__Job *job = add_phase(f, "d", RACKBENCH__RW__MODE__read);
    resolve(f);
    job->has_size_bytes = true;
    job->size_bytes = 1ull << 50;
    assert_int_equal(rb_targets_phase(f->t, &f->phases[0], &subjects, &n, &f->err), -1);
    assert_non_null(strstr(f->err.text, "is beyond the end of"));
    job->has_size_bytes = false;
    job->target = NULL;
    assert_int_equal(rb_targets_phase(f->t, &f->phases[0], &subjects, &n, &f->err), -1);
    assert_non_null(strstr(f->err.text, "the plan has no target"));
    job->target = (char *)"d";
}

static void allowed_is_a_device_not_a_name(void **state)
{
    fixture_t *f = *state;
    add_loop(f, &f->loop, "image");
    add_loop(f, &f->loop2, "image2");
    make_dir(in(f, "dev"));
    assert_int_equal(symlink(f->loop.path, in(f, "dev/mine")), 0);
    assert_int_equal(symlink(f->loop2.path, in(f, "other")), 0);
    add_devices(f, f->loop.path, NULL);
    add_phase(f, "d", RACKBENCH__RW__MODE__rw);
    f->phases[0].destructive = true;
    allow_device(f, in(f, "dev/*"));
    resolve(f);
    assert_null(subject(f, 0)->refused); /* by its other name */
    f->device[0] = (char *)in(f, "dev/../other");
    resolve(f);
    assert_non_null(strstr(subject(f, 0)->refused, "--allow-device"));
}

static void order_and_duplicates(void **state)
{
    fixture_t *f = *state;
    add_loop(f, &f->loop, "image");
    add_loop(f, &f->loop2, "image2");
    make_dir(in(f, "by-id"));
    assert_int_equal(symlink(f->loop.path, in(f, "by-id/n10")), 0);
    assert_int_equal(symlink(f->loop2.path, in(f, "by-id/n9")), 0);
    add_devices(f, in(f, "by-id/n*"), f->loop2.path);
    add_phase(f, "d", RACKBENCH__RW__MODE__read);
    resolve(f);
    assert_int_equal(rb_targets_loaded(f->t)->n_subjects, 2);
    assert_string_equal(subject(f, 0)->path, in(f, "by-id/n9"));
    assert_string_equal(subject(f, 1)->path, in(f, "by-id/n10"));
    assert_int_equal(subject(f, 1)->drive, 1);
}

static void no_device(void **state)
{
    fixture_t *f = *state;
    add_loop(f, &f->loop, "image");
    add_devices(f, "/dev/rb-nothing*", NULL);
    add_phase(f, "d", RACKBENCH__RW__MODE__read);
    assert_null(rb_targets_new(&f->plan, "h", &f->allow, &f->err));
    assert_int_equal(f->err.code, RB_ERR_INPUT);
    assert_non_null(
        strstr(f->err.text, "target 'd': no device matches /dev/rb-nothing*; this host has /dev/"));
    assert_non_null(strstr(f->err.text, f->loop.path));
}

static void job_must_fit_the_device(void **state)
{
    fixture_t *f = *state;
    add_loop(f, &f->loop, "image");
    add_devices(f, f->loop.path, NULL);
    Rackbench__Job *job = add_phase(f, "d", RACKBENCH__RW__MODE__read);
    job->has_size_bytes = true;
    job->size_bytes = IMAGE_BYTES;
    resolve(f);
    job->offset_bytes = 1 << 20;
    assert_fails(
        f, RB_ERR_INPUT,
        fmt("job 'j': offset 1MiB + size 8MiB is beyond the end of @ (8MiB)", f->loop.path, ""));
}

/* One phase may not write to a drive by two names; it may read it by both, and phases may differ.
 */
static void one_drive_of_two_targets(void **state)
{
    fixture_t *f = *state;
    char text[512];
    char *second[] = {(char *)in(f, "link")};
    add_loop(f, &f->loop, "image");
    assert_int_equal(symlink(f->loop.path, second[0]), 0);
    add_devices(f, f->loop.path, NULL);
    Rackbench__Target *target = add_target(f, "e");
    target->devices = second;
    target->n_devices = 1;
    add_phase(f, "d", RACKBENCH__RW__MODE__write)->name = (char *)"one";
    add_phase(f, "e", RACKBENCH__RW__MODE__write);
    resolve(f);
    f->plan.n_phases = 1;
    f->phases[0].name = (char *)"p";
    f->phases[0].n_jobs = 2; /* job_list goes on with the second phase's job */
    f->jobs[1].rw = RACKBENCH__RW__MODE__read;
    resolve(f);
    f->jobs[1].rw = RACKBENCH__RW__MODE__randwrite;
    snprintf(text, sizeof(text),
             "targets 'd' and 'e' are the same drive %s, and phase 'p' writes to both; give its "
             "jobs one target",
             second[0]);
    assert_fails(f, RB_ERR_INPUT, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RB_HERE(reading_a_device),
        RB_HERE(writing_a_device),
        RB_HERE(allowed_is_a_device_not_a_name),
        RB_HERE(order_and_duplicates),
        RB_HERE(one_drive_of_two_targets),
        RB_HERE(no_device),
        RB_HERE(job_must_fit_the_device),
        RB_HERE(a_step_fits_what_was_loaded),
    };
    const char *why = rb_test_isolate();
    if (why != NULL) {
        print_message("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
