/* test_plan_rules_region.c - the rules of loops, offset_increment, start_delay and percents, each
 * broken once. */
#include "coordinator/plan/resolve.h"
#include "tests/unit/plan_fixture.h"

static const bad_plan_t bad[] = {
    {JOB("loops: 0"), "p.yaml:5:10: loops: 0 is out of range; 1 to 4294967295 is right"},
    {JOB("size: 1MiB, size_percent: 20"),
     "p.yaml:5:22: size and size_percent exclude each other; keep one"},
    {JOB("offset: 1MiB, offset_percent: 20"),
     "p.yaml:5:24: offset and offset_percent exclude each other; keep one"},
    {JOB("offset_percent: 60, size_percent: 41"),
     "p.yaml:5:30: offset_percent and size_percent make more than 100; lower one"},
    {JOB("size_percent: 101"), "p.yaml:5:10: size_percent: 101 is out of range; 1 to 100 is right"},
    {JOB("size: 1MiB, offset_increment: 1MiB, numjobs: 2"),
     "p.yaml:5:22: offset_increment says where each worker's region begins; add seq_layout: same"},
    {JOB("rw: randread, offset_increment: 100B, numjobs: 2, size: 1MiB"),
     "p.yaml:5:24: offset_increment: no multiple of 512, which direct I/O needs; round it, or set "
     "direct: false"},
    {JOB("rw: randread, offset_increment: 512MiB, numjobs: 3"),
     "p.yaml:5:9: offset: 1GiB is beyond the end of target 's', whose files have 1GiB"},
    {JOB("rw: randread, offset_increment: 512MiB, numjobs: 2, size: 600MiB"),
     "p.yaml:5:62: offset 512MiB + size 600MiB is beyond the end of target 's', whose files have "
     "1GiB; make the region smaller or the files larger"},
    {JOB("rw: randwrite, offset_increment: 1MiB, size: 1MiB, numjobs: 2, verify: true"),
     "p.yaml:5:25: offset_increment: what is verified needs a region in bytes; set offset and "
     "size"},
    {JOB("rw: write, size_percent: 50, verify: true"),
     "p.yaml:5:21: size_percent: what is verified needs a region in bytes; set offset and size"},
    {JOB("runtime: 5s, start_delay: 5s"),
     "p.yaml:5:23: start_delay: the phase is over by then; raise runtime"},
    {JOB("latency_target: 1ms, runtime: 1s, loops: 2"),
     "p.yaml:5:44: latency_target searches in steps of ramp_time and runtime; leave loops out"},
    {"targets: {s: {size: 1GiB}}\nphases:\n  - jobs: [{loops: 2, runtime: 1s}, {runtime: 1s}]\n",
     "p.yaml:3:37: job 'j0' of phase 'phase0' ends by io_size, number_ios or loops and job 'j1' by "
     "time; bound both alike, or put them in separate phases"},
};

static void test_bad(void **state)
{
    (void)state;
    expect_messages(bad, RB_LEN(bad));
}

static const char *const good[] = {
    JOB("loops: 3"),
    JOB("loops: 3, runtime: 5s"),
    JOB("offset_percent: 60, size_percent: 40"),
    JOB("rw: randread, offset_increment: 512MiB, numjobs: 2"),
    JOB("offset_increment: 1MiB, size: 1MiB, numjobs: 2, seq_layout: same"),
    JOB("offset_increment: 1MiB"),
    JOB("runtime: 5s, start_delay: 4s"),
    JOB("start_delay: 1h"),
};

static void test_good(void **state)
{
    (void)state;
    expect_good(good, RB_LEN(good));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
