/* What `clean` removes of the files laid out, and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/target_files.h"
#include "tests/unit/targets_fixture.h"

static void clean(void **state)
{
    fixture_t *f = *state;
    static const char *const ours[] = {"db07:7412.s.0", "db07:7412.s.17", "db07:7412.s.3.part"};
    static const char *const others[] = {"db07:7412.s2.0", "db07:7412.s.0.bak", "db07:7412.s.x",
                                         "db07.s.0",       "db07:7412.s.",      "db07:7412.t.0"};
    char path[256];
    rb_cleaned_t cleaned;
    make_dir(in(f, "deep"));
    make_dir(f->scratch);
    add_files(f, "s", NULL, UINT64_MAX / 4096 * 4096); /* would not fit: no reason not to clean */
    add_files(f, "gone", "/rb-nowhere", 4096);
    add_phase(f, "s", RACKBENCH__RW__MODE__read);
    for (size_t i = 0; i < RB_LEN(ours); i++)
        rb_test_image(fmt("@/rackbench.#", f->scratch, ours[i]), 1000);
    for (size_t i = 0; i < RB_LEN(others); i++)
        rb_test_image(fmt("@/rackbench.#", f->scratch, others[i]), 1000);
    snprintf(path, sizeof(path), "%s/rackbench.db07:7412.s.5", f->scratch);
    assert_int_equal(symlink("/tmp", path), 0);

    assert_int_equal(rb_targets_clean(&f->plan, "db07:7412", &f->allow, &cleaned, &f->err), 0);
    assert_int_equal(cleaned.files, 3);
    assert_int_equal(cleaned.bytes, 3000);
    assert_true(exists(path));
    for (size_t i = 0; i < RB_LEN(ours); i++)
        assert_false(exists(fmt("@/rackbench.#", f->scratch, ours[i])));
    for (size_t i = 0; i < RB_LEN(others); i++) {
        assert_true(exists(fmt("@/rackbench.#", f->scratch, others[i])));
        unlink(fmt("@/rackbench.#", f->scratch, others[i]));
    }
    unlink(path);
    assert_int_equal(rb_targets_clean(&f->plan, "db07:7412", &f->allow, &cleaned, &f->err), 0);
    assert_int_equal(cleaned.files, 0);
    assert_true(exists(f->scratch)); /* it did not become empty by this */
    rb_test_image(fmt("@/rackbench.#", f->scratch, ours[0]), 1000);
    assert_int_equal(rb_targets_clean(&f->plan, "db07:7412", &f->allow, &cleaned, &f->err), 0);
    assert_false(exists(f->scratch));
}

static void clean_asks_for_permission(void **state)
{
    fixture_t *f = *state;
    rb_cleaned_t cleaned;
    make_dir(in(f, "data"));
    rb_test_image(in(f, "data/rackbench.h.s.0"), 10);
    add_files(f, "s", in(f, "data"), 4096);
    assert_int_equal(rb_targets_clean(&f->plan, "h", &f->allow, &cleaned, &f->err), -1);
    assert_int_equal(f->err.code, RB_ERR_INPUT);
    assert_true(exists(in(f, "data/rackbench.h.s.0")));
}

/* What is cleaned is what was judged, even if its path leads elsewhere by now. */
static void clean_judges_what_it_opens(void **state)
{
    fixture_t *f = *state;
    rb_file_place_t place;
    rb_cleaned_t cleaned = {0};
    make_dir(in(f, "data"));
    make_dir(in(f, "other"));
    rb_test_image(in(f, "data/rackbench.h.s.0"), 10);
    rb_test_image(in(f, "other/rackbench.h.s.0"), 10);
    const Rackbench__Target *target = add_files(f, "s", in(f, "data"), 4096);
    f->allow_one = in(f, "data");
    f->allow.allow_paths = &f->allow_one;
    f->allow.nallow_paths = 1;
    assert_int_equal(rb_file_place(target, "h", &f->allow, &place, &f->err), 0);
    f->allow_one = in(f, "moved");
    assert_int_equal(rename(in(f, "data"), in(f, "moved")), 0);
    assert_int_equal(symlink(in(f, "other"), in(f, "data")), 0);
    assert_int_equal(rb_file_clean(&place, &f->allow, &cleaned, &f->err), -1);
    assert_int_equal(f->err.code, RB_ERR_INPUT);
    assert_non_null(strstr(f->err.text, "/other, which the agent does not allow"));
    assert_true(exists(in(f, "other/rackbench.h.s.0")));
    assert_int_equal(cleaned.files, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RB_HERE(clean),
        RB_HERE(clean_asks_for_permission),
        RB_HERE(clean_judges_what_it_opens),
    };
    const char *why = rb_test_isolate();
    if (why != NULL) {
        print_message("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
