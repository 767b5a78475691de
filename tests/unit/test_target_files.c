#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/targets.h"
#include "tests/unit/targets_fixture.h"

static void scratch_is_made_when_needed(void **state)
{
    fixture_t *f = *state;
    char path[256];
    add_files(f, "s", NULL, 65536)->files = 2;
    add_phase(f, "s", RACKBENCH__RW__MODE__randread);
    resolve(f);
    assert_int_equal(rb_targets_loaded(f->t)->n_subjects, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const Rackbench__Subject *m = subject(f, i);
        snprintf(path, sizeof(path), "%s/rackbench.db07:7412.s.%u", f->scratch, i);
        assert_string_equal(m->path, path);
        assert_int_equal(m->drive, i);
        assert_int_equal(m->size_bytes, 65536);
        assert_int_equal(m->action, RACKBENCH__SUBJECT__ACTION__lays_out);
        assert_null(m->identity);
    }
    assert_false(exists(in(f, "deep"))); /* Load touches nothing */
    const rb_subject_t *s = phase(f, 0, 2);
    assert_true(exists(f->scratch));
    assert_false(exists(s[0].path));
    assert_true(s[1].needs_layout && !s[1].is_device);
    assert_int_equal(s[1].size_bytes, 65536);
    assert_true(s[1].logical_block_bytes == 512 || s[1].logical_block_bytes == 4096);
}

static void files_in_full_are_reused(void **state)
{
    fixture_t *f = *state;
    char first[256];
    make_dir(in(f, "deep"));
    make_dir(f->scratch);
    add_files(f, "s", NULL, 65536)->files = 2;
    add_phase(f, "s", RACKBENCH__RW__MODE__read);
    snprintf(first, sizeof(first), "%s/rackbench.db07:7412.s.0", f->scratch);
    rb_test_image(first, 65536);
    resolve(f);
    assert_int_equal(subject(f, 0)->action, RACKBENCH__SUBJECT__ACTION__reuses);
    assert_int_equal(subject(f, 1)->action, RACKBENCH__SUBJECT__ACTION__lays_out);
    rb_test_image(subject(f, 1)->path, 65536);
    assert_false(phase(f, 0, 2)[1].needs_layout); /* laid out by an earlier phase */

    rb_test_image(first, 65535);
    add_phase(f, "s", RACKBENCH__RW__MODE__randrw);
    resolve(f);
    assert_int_equal(subject(f, 0)->action, RACKBENCH__SUBJECT__ACTION__lays_out);
    assert_int_equal(subject(f, 1)->action, RACKBENCH__SUBJECT__ACTION__overwrites);
}

static void only_used_targets_count(void **state)
{
    fixture_t *f = *state;
    add_files(f, "unused", "/nowhere", 1);
    add_files(f, "s", NULL, 4096);
    add_files(f, "r", NULL, 4096);
    add_phase(f, "s", RACKBENCH__RW__MODE__read);
    add_phase(f, "r", RACKBENCH__RW__MODE__read);
    resolve(f);
    assert_int_equal(rb_targets_loaded(f->t)->n_subjects, 2);
    assert_int_equal(subject(f, 0)->target, 1);
    assert_int_equal(phase(f, 0, 1)[0].target, 1);
    assert_int_equal(phase(f, 1, 1)[0].target, 2);
    f->jobs[1].target = (char *)"q";
    assert_fails(f, RB_ERR_INPUT, "job 'j': the plan has no target 'q'");
}

static void directory_must_exist(void **state)
{
    fixture_t *f = *state;
    add_files(f, "s", in(f, "data"), 4096);
    add_phase(f, "s", RACKBENCH__RW__MODE__read);
    f->allow.embedded = true;
    assert_fails(f, RB_ERR_INPUT,
                 fmt("target 's': directory @ does not exist on this host; create it or change "
                     "`directory`",
                     in(f, "data"), ""));
    make_dir(in(f, "data"));
    resolve(f);
    rb_test_image(in(f, "file"), 1);
    f->targets[0].directory = (char *)in(f, "file");
    assert_fails(f, RB_ERR_INPUT,
                 fmt("target 's': @ is not a directory; change `directory`", in(f, "file"), ""));
}

#define NOT_ALLOWED "target 's': the agent does not allow directory @; start it with --allow-path #"

static void directory_must_be_allowed(void **state)
{
    fixture_t *f = *state;
    const char *paths[1];
    make_dir(in(f, "data"));
    make_dir(in(f, "data/sub"));
    make_dir(in(f, "data2"));
    assert_int_equal(symlink(in(f, "data2"), in(f, "data/out")), 0);
    add_files(f, "s", in(f, "data"), 4096);
    add_phase(f, "s", RACKBENCH__RW__MODE__read);
    assert_fails(f, RB_ERR_INPUT, fmt(NOT_ALLOWED, in(f, "data"), in(f, "data")));

    paths[0] = in(f, "data/");
    f->allow.allow_paths = paths;
    f->allow.nallow_paths = 1;
    resolve(f);
    f->targets[0].directory = (char *)in(f, "data/sub/");
    resolve(f);
    assert_string_equal(subject(f, 0)->path, in(f, "data/sub/rackbench.db07:7412.s.0"));
    f->targets[0].directory = (char *)in(f, "data2"); /* "data" is no component of it */
    assert_fails(f, RB_ERR_INPUT, fmt(NOT_ALLOWED, in(f, "data2"), in(f, "data2")));
    f->targets[0].directory = (char *)in(f, "data/out"); /* a link out of it */
    assert_fails(f, RB_ERR_INPUT, fmt(NOT_ALLOWED, in(f, "data/out"), in(f, "data2")));
    f->targets[0].directory = (char *)in(f, "data/../data2");
    assert_fails(f, RB_ERR_INPUT, fmt(NOT_ALLOWED, in(f, "data/../data2"), in(f, "data2")));
    f->allow.embedded = true;
    resolve(f);
    f->allow.embedded = false;
    paths[0] = "/";
    resolve(f);
    f->allow.scratch = in(f, "data2");
    f->allow.nallow_paths = 0;
    resolve(f);
}

static void room_is_counted_together(void **state)
{
    fixture_t *f = *state;
    f->allow.embedded = true;
    f->allow.reserve_bytes = 1; /* nothing */
    make_dir(in(f, "small"));
    assert_int_equal(mount("none", in(f, "small"), "tmpfs", 0, "size=1m"), 0);
    add_files(f, "a", in(f, "small"), 600 << 10);
    add_files(f, "b", in(f, "small"), 600 << 10);
    add_phase(f, "a", RACKBENCH__RW__MODE__read);
    resolve(f);
    add_phase(f, "b", RACKBENCH__RW__MODE__read);
    assert_fails(
        f, RB_ERR_IO,
        fmt("target 'a': needs 1200 KiB in @, 1 MiB are free and 1 B of them are to stay free "
            "(rackbench-agent --reserve)",
            in(f, "small"), ""));
    /* what is there in full needs no room, and a half laid out file makes room for itself */
    int fd = open(in(f, "small/rackbench.db07:7412.a.0.part"), O_CREAT | O_WRONLY, 0600);
    assert_int_equal(posix_fallocate(fd, 0, 600 << 10), 0);
    close(fd);
    f->plan.n_phases = 1;
    resolve(f);
    rb_test_image(in(f, "small/rackbench.db07:7412.a.0"), 600 << 10); /* sparse */
    f->plan.n_phases = 2;
    assert_fails(
        f, RB_ERR_IO,
        fmt("target 'b': needs 600 KiB in @, 424 KiB are free and 1 B of them are to stay free "
            "(rackbench-agent --reserve)",
            in(f, "small"), ""));
}

static void some_room_is_kept(void **state)
{
    fixture_t *f = *state;
    f->allow.embedded = true;
    make_dir(in(f, "small"));
    assert_int_equal(mount("none", in(f, "small"), "tmpfs", 0, "size=10m"), 0);
    Rackbench__Target *target = add_files(f, "a", in(f, "small"), 9728 << 10);
    add_phase(f, "a", RACKBENCH__RW__MODE__read);
    resolve(f); /* a twentieth, 512 KiB, are left */
    target->size_bytes = 9732 << 10;
    assert_fails(f, RB_ERR_IO,
                 fmt("target 'a': needs 9732 KiB in @, 10 MiB are free and 512 KiB of them are to "
                     "stay free (rackbench-agent --reserve)",
                     in(f, "small"), ""));
    f->allow.reserve_bytes = 256 << 10;
    resolve(f);
}

static void sizes_and_names(void **state)
{
    fixture_t *f = *state;
    Rackbench__Target *target = add_files(f, "s", f->dir, 4097);
    add_phase(f, "s", RACKBENCH__RW__MODE__read);
    f->allow.embedded = true;
    rb_targets_destroy(&f->t);
    assert_null(rb_targets_new(&f->plan, "h", &f->allow, &f->err));
    assert_int_equal(f->err.code, RB_ERR_INPUT);
    assert_non_null(strstr(f->err.text, "target 's': size 4097B is not a multiple of "));
    target->has_size_bytes = false;
    target->size_bytes = 0;
    assert_fails(f, RB_ERR_INPUT, "target 's': `size` is missing; say how big each file is: 1GiB");
    target->size_bytes = 4096;
    target->files = RB_MAX_DRIVES + 1;
    assert_fails(f, RB_ERR_INPUT, "target 's': files 1025 is not within 1 and 1024");
    target->files = 1;
    target->name = f->jobs[0].target = (char *)"../../etc/s";
    assert_fails(f, RB_ERR_INPUT,
                 "target '../../etc/s': host db07:7412 or the target has a / in its name, which "
                 "names files; rename it");
}

static void nothing_else_in_a_files_place(void **state)
{
    fixture_t *f = *state;
    const char *path = in(f, "rackbench.db07:7412.s.0");
    rb_test_image(in(f, "precious"), 65536);
    assert_int_equal(symlink(in(f, "precious"), path), 0);
    add_files(f, "s", f->dir, 4096);
    add_phase(f, "s", RACKBENCH__RW__MODE__write);
    f->allow.embedded = true;
    assert_fails(f, RB_ERR_INPUT, fmt("target 's': @ is not a regular file; remove it", path, ""));
}

static void nobody_elses_file_is_taken(void **state)
{
    fixture_t *f = *state;
    const char *path = in(f, "rackbench.db07:7412.s.0");
    rb_test_image(in(f, "precious"), 65536);
    assert_int_equal(link(in(f, "precious"), path), 0);
    add_files(f, "s", f->dir, 4096);
    add_phase(f, "s", RACKBENCH__RW__MODE__write);
    f->allow.embedded = true;
    assert_fails(
        f, RB_ERR_INPUT,
        fmt("target 's': @ has other hard links; it may hold somebody's data: remove it or "
            "choose another directory",
            path, ""));
    assert_int_equal(unlink(in(f, "precious")), 0);
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_fails(
        f, RB_ERR_INPUT,
        fmt("target 's': @ belongs to another user; it may hold somebody's data: remove it "
            "or choose another directory",
            path, ""));
}

static void job_must_fit(void **state)
{
    fixture_t *f = *state;
    add_files(f, "s", f->dir, 2 << 20);
    Rackbench__Job *job = add_phase(f, "s", RACKBENCH__RW__MODE__read);
    f->allow.embedded = true;
    job->has_offset_bytes = job->has_size_bytes = true;
    job->offset_bytes = 1 << 20;
    job->size_bytes = 1 << 20;
    resolve(f);
    job->size_bytes++;
    const char *path = in(f, "rackbench.db07:7412.s.0");
    assert_fails(
        f, RB_ERR_INPUT,
        fmt("job 'j': offset 1MiB + size 1048577B is beyond the end of @ (2MiB)", path, ""));
    job->size_bytes = UINT64_MAX; /* the sum overflows */
    rb_targets_destroy(&f->t);
    assert_null(rb_targets_new(&f->plan, "db07:7412", &f->allow, &f->err));
    job->has_size_bytes = false;
    job->size_bytes = 0;
    resolve(f);
    job->offset_bytes = 2 << 20;
    assert_fails(f, RB_ERR_INPUT,
                 fmt("job 'j': offset 2MiB is beyond the end of @ (2MiB)", path, ""));
}

static void assert_other_directory(fixture_t *f, uint32_t index, const char *directory)
{
    const rb_subject_t *subjects;
    size_t n;
    assert_int_equal(rb_targets_phase(f->t, &f->phases[index], &subjects, &n, &f->err), -1);
    assert_int_equal(f->err.code, RB_ERR_UNSAFE);
    assert_string_equal(
        f->err.text,
        fmt("target 's': @: is another directory than when the plan was loaded", directory, ""));
}

/* Both allowed: the plan was loaded, and shown to a person, with one of them. */
static void the_directory_stays_the_same(void **state)
{
    fixture_t *f = *state;
    const char *d = in(f, "d"), *e = in(f, "e");
    make_dir(d);
    make_dir(e);
    add_files(f, "s", d, 4096);
    add_phase(f, "s", RACKBENCH__RW__MODE__write);
    f->allow_one = f->dir;
    f->allow.allow_paths = &f->allow_one;
    f->allow.nallow_paths = 1;
    resolve(f);
    phase(f, 0, 1);
    assert_int_equal(rename(d, in(f, "moved")), 0);
    assert_int_equal(symlink(e, d), 0);
    assert_other_directory(f, 0, d);
    assert_int_equal(unlink(d), 0);
    assert_int_equal(rename(in(f, "moved"), d), 0);
    phase(f, 0, 1);
}

/* One that a phase has made is the one for the phases after it. */
static void scratch_stays_the_same(void **state)
{
    fixture_t *f = *state;
    add_files(f, "s", NULL, 4096);
    add_phase(f, "s", RACKBENCH__RW__MODE__write);
    resolve(f);
    phase(f, 0, 1);
    phase(f, 0, 1);
    assert_int_equal(rename(f->scratch, in(f, "moved")), 0);
    assert_other_directory(f, 0, f->scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RB_HERE(scratch_is_made_when_needed),
        RB_HERE(files_in_full_are_reused),
        RB_HERE(only_used_targets_count),
        RB_HERE(directory_must_exist),
        RB_HERE(directory_must_be_allowed),
        RB_HERE(room_is_counted_together),
        RB_HERE(some_room_is_kept),
        RB_HERE(sizes_and_names),
        RB_HERE(nothing_else_in_a_files_place),
        RB_HERE(nobody_elses_file_is_taken),
        RB_HERE(job_must_fit),
        RB_HERE(the_directory_stays_the_same),
        RB_HERE(scratch_stays_the_same),
    };
    const char *why = rb_test_isolate();
    if (why != NULL) {
        print_message("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
