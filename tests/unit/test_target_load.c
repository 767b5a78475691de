/* What a plan does to a target, and how far its drives are looked at. */
#include "agent/target_load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_what_changes_a_drive_asks_for_signatures(void **state)
{
    (void)state;
    static char mine[] = "t", other[] = "u";
    Rackbench__Job job = RACKBENCH__JOB__INIT, *jobs[] = {&job};
    Rackbench__Phase phase = RACKBENCH__PHASE__INIT, *phases[] = {&phase};
    Rackbench__Plan plan = RACKBENCH__PLAN__INIT;
    job.target = mine;
    job.rw = RACKBENCH__RW__MODE__randread;
    phase.n_jobs = plan.n_phases = 1;
    phase.jobs = jobs;
    plan.phases = phases;
    assert_int_equal(rb_look_in_plan(&plan, mine), RB_DRIVE_USES);
    job.has_power_state = true;
    assert_int_equal(rb_load_in_plan(&plan, mine), RB_LOAD_READ);
    assert_int_equal(rb_look_in_plan(&plan, mine), RB_DRIVE_SIGNATURES);
    assert_int_equal(rb_look_in_plan(&plan, other), RB_DRIVE_USES);
    job.has_power_state = false;
    job.rw = RACKBENCH__RW__MODE__rw;
    assert_int_equal(rb_look_in_plan(&plan, mine), RB_DRIVE_SIGNATURES);
    assert_int_equal(rb_look_in_plan(&plan, other), RB_DRIVE_USES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_changes_a_drive_asks_for_signatures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
