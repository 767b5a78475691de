/* test_plan_rules.c - every rule that a plan must keep, broken once, with its whole message. */
#include "coordinator/plan/resolve.h"
#include "tests/unit/plan_fixture.h"

static const bad_plan_t bad[] = {
    {"name: a\n", "p.yaml:1:1: the plan has no phases; add phases: [{jobs: [...]}]"},
    {"targets: {s: {size: 1GiB}}\n",
     "p.yaml:1:1: the plan has no phases; add phases: [{jobs: [...]}]"},
    {"targets: {s: {size: 1GiB}}\nphases: [{name: p}]\n",
     "p.yaml:2:10: phase 'p' has no jobs; add jobs: [{rw: randread}]"},
    {"targets: {s: {size: 1GiB}}\nphases:\n  - stop_when: {temperature: 151}\n    jobs: [{rw: "
     "read}]\n",
     "p.yaml:3:5: stop_when needs a temperature from 1 to 150 degrees Celsius, or a number of "
     "errors from 1 on, as in stop_when: {temperature: 75, errors: 10}"},
    {"targets: {s: {size: 1GiB}}\nphases:\n  - stop_when: {}\n    jobs: [{rw: read}]\n",
     "p.yaml:3:5: stop_when needs a temperature from 1 to 150 degrees Celsius, or a number of "
     "errors from 1 on, as in stop_when: {temperature: 75, errors: 10}"},
    {"targets: {s: {size: 1GiB}}\nphases:\n  - stop_when: {errors: 0}\n    jobs: [{rw: read}]\n",
     "p.yaml:3:5: stop_when needs a temperature from 1 to 150 degrees Celsius, or a number of "
     "errors from 1 on, as in stop_when: {temperature: 75, errors: 10}"},
    {"targets: {s: {size: 1GiB}}\nphases:\n  - stop_when: {temperature: 0, errors: 3}\n    jobs: "
     "[{rw: read}]\n",
     "p.yaml:3:5: stop_when needs a temperature from 1 to 150 degrees Celsius, or a number of "
     "errors from 1 on, as in stop_when: {temperature: 75, errors: 10}"},
    {"targets: {s: {size: 1GiB}}\nphases:\n  - stop_when: {errors: 2}\n    jobs: [{rw: read}]\n",
     "p.yaml:3:5: stop_when: the first error ends phase 'phase0', so 2 are never reached; add "
     "continue_on_error: all to its jobs, or say errors: 1"},
    {"targets: {s: {size: 1GiB}}\nphases: []\n",
     "p.yaml:2:1: the plan has no phases; add phases: [{jobs: [...]}]"},
    {"name: a/b\n" JOB("rw: read"),
     "p.yaml:1:1: plan 'a/b': a name cannot have a '/'; leave it out"},
    {"name: ..\n" JOB("rw: read"),
     "p.yaml:1:1: plan '..': a name cannot be . or ..; choose another"},
    {"name: \"\"\n" JOB("rw: read"), "p.yaml:1:1: a plan with an empty name; name it"},
    {JOB("target: q"), "p.yaml:5:10: unknown target 'q'; one of s is right"},
    {JOB("target: ss"), "p.yaml:5:10: unknown target 'ss'; did you mean 's'?"},
    {"targets: {a: {size: 1GiB}, b: {size: 1GiB}}\n" PHASE("rw: read"),
     "p.yaml:5:9: job 'j0' names no target; add target: one of a, b"},
    {PHASE("rw: read"), "p.yaml:4:9: job 'j0' has no target; add targets: {s: {size: 1GiB}}"},
    {PHASE("target: s"), "p.yaml:4:10: job 'j0' has no target; add targets: {s: {size: 1GiB}}"},
    {"targets: {s: {}}\n" PHASE("rw: read"), "p.yaml:1:11: target 's' needs the size of its files; "
                                             "add size: 1GiB (or devices: [...] for drives)"},
    {"targets: {s: {directory: data, size: 1GiB}}\n" PHASE("rw: read"),
     "p.yaml:1:15: directory: 'data' is relative; a path from / is right, on every host"},
    {"targets: {s: {directory: /d, devices: [/dev/sdb]}}\n" PHASE("rw: read"),
     "p.yaml:1:30: target 's' has both directory and devices; keep one"},
    {"targets: {s: {devices: /dev/sdb, size: 1GiB}}\n" PHASE("rw: read"),
     "p.yaml:1:34: target 's': files and size are for files, and this target is devices; leave "
     "them out (a job's size limits its region)"},
    {"targets: {s: {devices: /dev/sdb, files: 2}}\n" PHASE("rw: read"),
     "p.yaml:1:34: target 's': files and size are for files, and this target is devices; leave "
     "them out (a job's size limits its region)"},
    {"targets: {s: {devices: [\"\"]}}\n" PHASE("rw: read"),
     "p.yaml:1:15: devices: an empty path; leave it out"},
    {"targets: {s: {files: 0, size: 1GiB}}\n" PHASE("rw: read"),
     "p.yaml:1:15: files: 0 is out of range; 1 to 1024 is right"},
    {"targets: [{name: s, size: 1GiB}, {name: s, size: 1GiB}]\n" PHASE("rw: read"),
     "p.yaml:1:35: two targets are called 's'; rename one"},
    {"targets: {d: {devices: [\"/dev/nvme*n1\"]}}\n" PHASE("rw: randwrite"),
     "p.yaml:5:10: job 'j0' writes to the devices of target 'd', which destroys what is on them; "
     "if that is meant, add destructive: true to phase 'p'"},
    {"targets: {d: {devices: [\"/dev/nvme*n1\"]}}\nphases:\n  - name: p\n    destructive: false\n  "
     "  jobs:\n      - {rw: randrw}\n",
     "p.yaml:6:10: job 'j0' writes to the devices of target 'd', which destroys what is on them; "
     "if that is meant, add destructive: true to phase 'p'"},
    {JOB("rw: read, rwmixread: 70"), "p.yaml:5:20: rwmixread needs rw: rw or rw: randrw"},
    {JOB("rw: randrw, rwmixread: 101"),
     "p.yaml:5:22: rwmixread: 101 is out of range; 0 to 100 is right"},
    {JOB("bs: 1000"), "p.yaml:5:10: bs: 1000B is no multiple of 512, which direct I/O needs; round "
                      "it, or set direct: false"},
    {JOB("bs: 0"), "p.yaml:5:10: bs: 0B is out of range; 1B to 1GiB is right"},
    {JOB("bs: 2GiB"), "p.yaml:5:10: bs: 2GiB is out of range; 1B to 1GiB is right"},
    {JOB("offset: 100"), "p.yaml:5:10: offset: 100B is no multiple of 512, which direct I/O needs; "
                         "round it, or set direct: false"},
    {JOB("iodepth: 0"), "p.yaml:5:10: iodepth: 0 is out of range; 1 to 4096 is right"},
    {JOB("iodepth: 5000"), "p.yaml:5:10: iodepth: 5000 is out of range; 1 to 4096 is right"},
    {JOB("numjobs: 0"), "p.yaml:5:10: numjobs: 0 is out of range; 1 to 4096 is right"},
    {JOB("numjobs: 5000"), "p.yaml:5:10: numjobs: 5000 is out of range; 1 to 4096 is right"},
    {"targets: {s: {size: 1GiB, files: 4}}\n" PHASE("numjobs: 2048"),
     "p.yaml:5:10: numjobs: 2048 on each of 4 files makes 8192 workers on a host; at most 4096 are "
     "right"},
    {JOB("offset: 1GiB"),
     "p.yaml:5:10: offset: 1GiB is beyond the end of target 's', whose files have 1GiB"},
    {JOB("offset: 512MiB, size: 1GiB"),
     "p.yaml:5:26: offset 512MiB + size 1GiB is beyond the end of target 's', whose files have "
     "1GiB; make the region smaller or the files larger"},
    {JOB("size: 4KiB, bs: 8KiB"),
     "p.yaml:5:22: bs: 8KiB is more than the region of 4KiB; make it smaller"},
    {JOB("rw: read, size: 16KiB, bs: 4KiB, numjobs: 8"),
     "p.yaml:5:43: numjobs: 8 workers share the region of 16KiB, less than one bs of 4KiB each; "
     "take fewer, or seq_layout: same"},
    {JOB("ramp_time: 5s"),
     "p.yaml:5:10: ramp_time needs runtime: a phase bound by its work has no ramp"},
    {JOB("size: 0"), "p.yaml:5:10: size: 0B is out of range; 1B to 1024PiB is right"},
    {JOB("size: 1025PiB"), "p.yaml:5:10: size: 1025PiB is out of range; 1B to 1024PiB is right"},
    {JOB("offset: 1025PiB"),
     "p.yaml:5:10: offset: 1025PiB is out of range; 0B to 1024PiB is right"},
    {"targets: {s: {size: 1KiB}}\n" PHASE("rw: read"),
     "p.yaml:1:15: size: 1KiB is out of range; 4KiB to 1024PiB is right"},
    {JOB("io_size: 0"), "p.yaml:5:10: io_size: 0B is out of range; 1B to 1024PiB is right"},
    {JOB("ramp_time: 400d, runtime: 1s"),
     "p.yaml:5:10: ramp_time: 400d is out of range; 0s to 365d is right"},
    {JOB("runtime: 0"), "p.yaml:5:10: runtime: 0s is out of range; 1ms to 365d is right"},
    {JOB("runtime: 400d"), "p.yaml:5:10: runtime: 400d is out of range; 1ms to 365d is right"},
    {JOB("io_size: 1KiB"), "p.yaml:5:10: io_size is less than one bs; make it larger"},
    {JOB("number_ios: 0"),
     "p.yaml:5:10: number_ios: 0 is out of range; 1 to 1152921504606846976 is right"},
    {JOB("rate_iops: 0"), "p.yaml:5:10: rate_iops: 0 is out of range; 1 to 1000000000 is right"},
    {JOB("on: {\"\": a}"), "p.yaml:5:15: a label with an empty name; name it"},
    {JOB("on: [{name: a, value: b}, {name: a, value: c}]"),
     "p.yaml:5:37: two labels are called 'a'; rename one"},
    {JOB("name: a/b"), "p.yaml:5:10: job 'a/b': a name cannot have a '/'; leave it out"},
    {JOB("name: a}\n      - {name: a"), "p.yaml:6:10: two jobs are called 'a'; rename one"},
    {JOB("runtime: 5s}\n      - {runtime: 6s"),
     "p.yaml:6:10: jobs 'j0' and 'j1' of phase 'p' differ in runtime; give both the same, or put "
     "them in separate phases"},
    {JOB("rw: read}\n      - {runtime: 6s"),
     "p.yaml:6:10: jobs 'j0' and 'j1' of phase 'p' differ in runtime; give both the same, or put "
     "them in separate phases"},
    {JOB("runtime: 5s, ramp_time: 1s}\n      - {runtime: 5s"),
     "p.yaml:6:9: jobs 'j0' and 'j1' of phase 'p' differ in ramp_time; give both the same, or put "
     "them in separate phases"},
    {JOB("rw: read}\n  - {name: p, jobs: [{}]"),
     "p.yaml:6:6: two phases are called 'p'; rename one"},
    {"min_hosts: 2\n" JOB("rw: read"),
     "p.yaml:1:1: min_hosts needs on_host_loss: continue (with abort, no host may be lost)"},
    {"min_hosts: 0\non_host_loss: continue\n" JOB("rw: read"),
     "p.yaml:1:1: min_hosts: 0 is out of range; 1 to 4096 is right"},
    {"interval: 5ms\n" JOB("rw: read"),
     "p.yaml:1:1: interval: 5ms is out of range; 10ms to 1m is right"},
    {"interval: 2m\n" JOB("rw: read"),
     "p.yaml:1:1: interval: 2m is out of range; 10ms to 1m is right"},
    {"max_skew: 8d\n" JOB("rw: read"),
     "p.yaml:1:1: max_skew: 8d is out of range; 0s to 7d is right"},
    {"lease: 100ms\n" JOB("rw: read"),
     "p.yaml:1:1: lease: 100ms is out of range; 500ms to 10m is right"},
    {"targets: {s: {size: 1GiB}}\nphases:\n  - name: p\n    iodepth: 0\n    jobs:\n      - {rw: "
     "read}\n",
     "p.yaml:4:5: iodepth: 0 is out of range; 1 to 4096 is right"},
};

static void test_bad(void **state)
{
    (void)state;
    expect_messages(bad, RB_LEN(bad));
}

/* The nearest plans to those above that are right. */
static const char *const good[] = {
    "targets: {s: {size: 1GiB}}\n"
    "phases:\n  - {stop_when: {temperature: 150}, jobs: [{rw: read, runtime: 1s}]}\n",
    "targets: {s: {size: 1GiB}}\n"
    "phases:\n  - {stop_when: {errors: 1}, jobs: [{rw: read, runtime: 1s}]}\n",
    "targets: {s: {size: 1GiB}}\n"
    "phases:\n  - {stop_when: {errors: 9}, jobs: [{continue_on_error: read, runtime: 1s}]}\n",
    JOB("target: s"),
    JOB("bs: 1000, direct: false"),
    JOB("bs: 512, offset: 512, iodepth: 4096"),
    JOB("numjobs: 4096, rw: randread"),
    JOB("size: 512MiB, offset: 512MiB"),
    JOB("size: 8KiB, bs: 8KiB"),
    JOB("rw: read, size: 32KiB, bs: 4KiB, numjobs: 8"),
    JOB("rw: read, size: 16KiB, bs: 4KiB, numjobs: 8, seq_layout: same"),
    JOB("rw: randread, size: 16KiB, bs: 4KiB, numjobs: 8"),
    JOB("rw: rw, rwmixread: 0"),
    JOB("rw: randrw, rwmixread: 100"),
    JOB("rw: write}\n      - {rw: write"), /* writers may overlap */
    JOB("ramp_time: 5s, runtime: 1ms"),
    JOB("ramp_time: 0"),
    JOB("io_size: 4KiB, number_ios: 1, rate_iops: 1"),
    JOB("on: {topology.kubernetes.io/zone: a}"),
    JOB("name: a, runtime: 5s}\n      - {name: b, runtime: 5s"),
    "min_hosts: 2\non_host_loss: continue\n" JOB("rw: read"),
    "interval: 10ms\nlease: 500ms\nmax_skew: 0\n" JOB("rw: read"),
    "targets: {d: {devices: /dev/sdb}}\n" PHASE("rw: randread, size: 1GiB"),
    "targets: {d: {devices: /dev/sdb}}\nphases: [{destructive: true, jobs: [{rw: write}]}]\n",
    "targets: {a: {size: 1GiB}, b: {size: 1GiB}}\n" PHASE("target: b"),
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
