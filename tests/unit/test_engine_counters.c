/* The kernel's counters are those of the drive that is used, wherever its path leads by now. Needs
 * root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

/* Reads 64 KiB over a link that leads to /dev/null as soon as the drive is open. */
static void run_and_move(rig_t *r, tally_t *t, const char *link)
{
    rb_err_t err = {0};
    RB_ASSERT(symlink(loop.path, link) == 0);
    rb_engine_t *e = rig_engine(r, &err);
    assert_non_null(e);
    memset(t, 0, sizeof(*t));
    rig_arm(e, t);
    RB_ASSERT(unlink(link) == 0 && symlink("/dev/null", link) == 0);
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, t), RB_ENGINE_DRAINED);
    rb_engine_rows(e, tally_row, t);
    if (rb_engine_fault(e)->code != RB_OK)
        fail_msg("%s", rb_engine_fault(e)->text);
    rb_engine_destroy(&e);
    RB_ASSERT(unlink(link) == 0);
}

static void counters_stay_with_the_drive(void **state)
{
    (void)state;
    char link[128];
    snprintf(link, sizeof(link), "%s/drive", dir);
    for (int pinned = 0; pinned < 2; pinned++) {
        rig_t r;
        tally_t t;
        struct stat st;
        rig_init(&r, link, true, DISK);
        r.jobs[0].rw = RACKBENCH__RW__MODE__read;
        r.jobs[0].bs_bytes = 4096;
        r.jobs[0].has_number_ios = true;
        r.jobs[0].number_ios = 16;
        assert_int_equal(fstat(loop.fd, &st), 0);
        r.subject.pinned_dev = pinned ? st.st_rdev : 0;
        r.subject.pinned_ino = pinned ? 1 : 0;
        run_and_move(&r, &t, link);
        assert_int_equal(tally_all_bytes(&t, RB_OP_READ), 65536);
        assert_int_equal(t.nkernel, 1);
        assert_true(512 * t.kernel.op[0].sectors >= 65536); /* an inventory may read, too */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counters_stay_with_the_drive, set_up, tear_down),
    };
    const char *why = rb_test_isolate();
    if (why != NULL) {
        print_message("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
