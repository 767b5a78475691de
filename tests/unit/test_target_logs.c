/* test_target_logs.c - where a plan may have a log of acknowledged writes on a host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/target_logs.h"
#include "tests/unit/targets_fixture.h"

/* Two phases: the first writes, the second reads what an earlier run wrote. */
static void plan(fixture_t *f, const char *writes, const char *reads)
{
    f->plan.n_phases = f->plan.n_targets = 0;
    add_files(f, "s", NULL, 65536);
    add_phase(f, "s", RACKBENCH__RW__MODE__write);
    add_phase(f, "s", RACKBENCH__RW__MODE__read);
    f->jobs[0].verify = f->jobs[1].verify_only = true;
    f->jobs[0].verify_log = (char *)(uintptr_t)writes;
    f->jobs[1].verify_log = (char *)(uintptr_t)reads;
    f->jobs[0].name = "w";
    f->jobs[1].name = "r";
}

static void expect_refused(fixture_t *f, const char *text)
{
    rb_err_t err = {0};
    assert_int_equal(rb_target_logs_check(&f->plan, &f->allow, &err), -1);
    assert_int_equal(err.code, RB_ERR_INPUT);
    if (strstr(err.text, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, err.text);
}

static void expect_allowed(fixture_t *f)
{
    rb_err_t err = {0};
    if (rb_target_logs_check(&f->plan, &f->allow, &err) != 0)
        fail_msg("%s", err.text);
}

static void only_where_plans_may_lay_out_files(void **state)
{
    fixture_t *f = *state;
    plan(f, in(f, "log"), NULL);
    expect_refused(f, "job 'w': verify_log: the agent does not allow directory ");
    f->allow_one = f->dir;
    f->allow.allow_paths = &f->allow_one;
    f->allow.nallow_paths = 1;
    expect_allowed(f);
    RB_ASSERT(symlink("/", in(f, "out")) == 0);
    plan(f, in(f, "out/log"), NULL);
    expect_refused(f, "the agent does not allow directory ");
    plan(f, in(f, "none/log"), NULL);
    expect_refused(f, "does not exist on this host; create it or change `verify_log`");
    plan(f, in(f, "../log"), NULL);
    expect_refused(f, "the agent does not allow directory ");
    f->allow.nallow_paths = 0;
    f->allow.embedded = true;
    plan(f, in(f, "log"), NULL);
    expect_allowed(f);
    plan(f, "log", NULL);
    expect_refused(f, "'log' is no path of a file, from / on");
    plan(f, in(f, ".."), NULL);
    expect_refused(f, "is no path of a file");
}

static void expect_pinned(const rb_log_place_t *place, const char *directory)
{
    struct stat st;
    assert_int_equal(stat(directory, &st), 0);
    assert_true(place->pin.dev == st.st_dev && place->pin.ino == st.st_ino && st.st_ino != 0);
}

static void the_scratch_directory_is_made_for_it(void **state)
{
    fixture_t *f = *state;
    rb_err_t err = {0};
    rb_log_places_t places = {0};
    char path[256];
    snprintf(path, sizeof(path), "%s/log", f->scratch);
    plan(f, path, NULL);
    expect_allowed(f);
    assert_int_equal(access(f->scratch, F_OK), -1); /* Load touches nothing */
    assert_int_equal(rb_target_logs_phase(f->plan.phases[1], &f->allow, &places, &err), 0);
    assert_int_equal(access(f->scratch, F_OK), -1);
    assert_int_equal(rb_target_logs_phase(f->plan.phases[0], &f->allow, &places, &err), 0);
    assert_int_equal(access(f->scratch, F_OK), 0);
    assert_int_equal(places.n, 1);
    assert_string_equal(places.items[0].path, path);
    expect_pinned(&places.items[0], f->scratch);
    free(places.items);
}

static void a_log_is_written_once(void **state)
{
    fixture_t *f = *state;
    rb_err_t err = {0};
    rb_log_places_t places = {0};
    const char *path = in(f, "log"), *link = in(f, "link");
    f->allow.embedded = true;
    plan(f, path, path);
    expect_allowed(f); /* the first phase will have written it */
    rb_test_image(path, 10);
    expect_refused(f, "job 'w': verify_log: ");
    expect_refused(f, "is there already, and may be the only witness");
    assert_int_equal(rb_target_logs_phase(f->plan.phases[0], &f->allow, &places, &err), -1);
    assert_int_equal(places.n, 0);
    assert_int_equal(rb_target_logs_phase(f->plan.phases[1], &f->allow, &places, &err), 0);
    assert_int_equal(places.n, 1);
    expect_pinned(&places.items[0], f->dir);
    free(places.items);
    plan(f, NULL, path);
    expect_allowed(f);
    RB_ASSERT(symlink(path, link) == 0);
    plan(f, NULL, link);
    expect_refused(f, "is no regular file; name the log itself");
    unlink(path);
    plan(f, link, NULL); /* a dangling one, too */
    expect_refused(f, "is there already");
    plan(f, NULL, path);
    expect_refused(f, "job 'r': verify_log: ");
    expect_refused(f, "does not exist on this host; name the log that a job with verify: true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_where_plans_may_lay_out_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_scratch_directory_is_made_for_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_log_is_written_once, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
