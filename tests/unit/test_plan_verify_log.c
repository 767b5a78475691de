/* test_plan_verify_log.c - the rules of verify_log, each broken once, with its whole message; and
 * how large a log may get. */
#include "coordinator/plan/log_size.h"
#include "coordinator/plan/resolve.h"
#include "tests/unit/plan_fixture.h"

#define MODES                                                                                      \
    "verify_log goes with verify: true in a job that writes, which keeps the log, or with "        \
    "verify_only: true, which reads it; add one of them"
#define ONE_WORKER                                                                                 \
    "verify_log needs each block to be written by one worker alone; set numjobs: 1, or rw: write " \
    "with seq_layout: region"
#define WRITER "rw: write, target: s, verify: true, verify_log: /l"

/* Two jobs of one phase, and two phases of one job each. */
#define BESIDE(a, b)                                                                               \
    "targets: {s: {size: 1GiB}, u: {size: 1GiB}}\nphases:\n  - name: p\n    jobs:\n      - {" a    \
    "}\n      - {" b "}\n"
#define AFTER(a, b)                                                                                \
    "targets: {s: {size: 1GiB}, u: {size: 1GiB}}\nphases:\n  - name: p\n    jobs: [{" a            \
    "}]\n  - jobs: [{" b "}]\n"

static const bad_plan_t bad[] = {
    {JOB("rw: write, verify: true, verify_log: log"),
     "p.yaml:5:35: verify_log: 'log' is no path of a file on the agent's host; one from / on, "
     "shorter than 512 bytes, is right"},
    {JOB("rw: write, verify: true, verify_log: /dir/"),
     "p.yaml:5:35: verify_log: '/dir/' is no path of a file on the agent's host; one from / on, "
     "shorter than 512 bytes, is right"},
    {JOB("rw: write, verify: true, verify_log: \"\""),
     "p.yaml:5:35: verify_log: '' is no path of a file on the agent's host; one from / on, "
     "shorter than 512 bytes, is right"},
    {JOB("rw: write, verify_log: /l"), "p.yaml:5:21: " MODES},
    {JOB("rw: read, verify_log: /l"), "p.yaml:5:20: " MODES},
    {AFTER("rw: write, target: s, verify: true", "target: s, verify: true, verify_log: /l"),
     "p.yaml:5:38: " MODES},
    {JOB("rw: randwrite, numjobs: 2, verify: true, verify_log: /l"), "p.yaml:5:51: " ONE_WORKER},
    {JOB("rw: randwrite, norandommap: false, numjobs: 2, verify: true, verify_log: /l"),
     "p.yaml:5:71: " ONE_WORKER},
    {JOB("rw: write, seq_layout: shared, numjobs: 2, verify: true, verify_log: /l"),
     "p.yaml:5:67: " ONE_WORKER},
    {BESIDE(WRITER, "rw: randwrite, target: s"),
     "p.yaml:5:46: verify_log: job 'j1' writes target 's' in the same phase; put it in a phase of "
     "its own, or give it another target"},
    {BESIDE(WRITER, "rw: write, target: u, verify: true, verify_log: /l"),
     "p.yaml:6:46: verify_log: job 'j0' of phase 'p' writes the same file; name another one"},
    {AFTER(WRITER, WRITER),
     "p.yaml:5:49: verify_log: job 'j0' of phase 'p' writes the same file; name another one"},
    {JOB("size: 1MiB, verify_only: true, verify_log: /l"),
     "p.yaml:5:10: verify_only with verify_log reads the blocks that the log names, wherever they "
     "are; leave out size"},
    {JOB("offset: 1MiB, verify_only: true, verify_log: /l"),
     "p.yaml:5:10: verify_only with verify_log reads the blocks that the log names, wherever they "
     "are; leave out offset"},
    {JOB("rw: write, runtime: 1s, latency_target: 2ms, verify: true, verify_log: /l"),
     "p.yaml:5:69: verify_log: the latency_target of job 'j0' runs the phase in steps, and a log "
     "is "
     "of one; put this job in a phase of its own, or leave one out"},
};

static const char *const good[] = {
    JOB("runtime: 1s, latency_target: 2ms, verify_only: true, verify_log: /l"),
    JOB("rw: randwrite, verify: true, verify_log: /l"),
    JOB("rw: write, numjobs: 4, iodepth: 8, verify: true, verify_log: /var/log/l"),
    JOB("rw: write, seq_layout: shared, offset: 1MiB, verify: true, verify_log: /l"),
    JOB("rw: randread, numjobs: 4, verify_only: true, verify_log: /l"),
    BESIDE(WRITER, "rw: write, target: u, verify: true, verify_log: /m"),
    BESIDE(WRITER, "rw: read, target: s"),
    AFTER(WRITER, "target: s, verify_only: true, verify_log: /l"),
};

static void rules_are_kept(void **state)
{
    (void)state;
    expect_messages(bad, RB_LEN(bad));
    expect_good(good, RB_LEN(good));
}

static void expect_size(const char *text, uint64_t writes, const char *said)
{
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = resolved_plan(text);
    const Rackbench__Job *job = plan->phases[0]->jobs[0];
    char buf[1024];
    assert_int_equal(rb_log_writes(plan, job), writes);
    rb_log_size_text(plan, job, buf, sizeof(buf));
    const char *each = "verify_log /l of job 'j0': 24 bytes a write, and 16 a batch, of which "
                       "there are at most 100 a second";
    assert_int_equal(strncmp(buf, each, strlen(each)), 0);
    assert_string_equal(buf + strlen(each), said);
}

#define LOGGED ", verify: true, verify_log: /l"

static void a_size_is_said_where_it_is_known(void **state)
{
    (void)state;
    expect_size(JOB("rw: write" LOGGED), 262144, ": 262144 writes, 6 MiB and batches on each host");
    expect_size(JOB("rw: write, bs: 1MiB, size: 64MiB, numjobs: 2" LOGGED), 64,
                ": 64 writes, 1536 B and batches on each host");
    expect_size(JOB("rw: write, numjobs: 2, number_ios: 500" LOGGED), 1000,
                ": 1000 writes, 23.4 KiB and batches on each host");
    expect_size(JOB("rw: randwrite, io_size: 1MiB, number_ios: 500, runtime: 1m" LOGGED), 256,
                ": 256 writes, 6 KiB and batches on each host");
    expect_size(JOB("rw: randwrite, rate_iops: 100, ramp_time: 5s, runtime: 5s" LOGGED), 1001,
                ": 1001 writes, 23.5 KiB and batches on each host");
    expect_size(JOB("rw: randwrite, rate: 1MiB, runtime: 2s" LOGGED), 513,
                ": 513 writes, 12.0 KiB and batches on each host");
    expect_size("targets: {s: {size: 1GiB, files: 3}}\n" PHASE("rw: write, number_ios: 10" LOGGED),
                10, ": 30 writes, 720 B and batches on each host");
    expect_size(JOB("rw: randwrite, runtime: 5s" LOGGED), 0, "");
    expect_size("targets: {d: {devices: /dev/sdb}}\nphases:\n  - destructive: true\n    jobs: "
                "[{rw: write, number_ios: 10" LOGGED "}]\n",
                10, ": 10 writes, 240 B and batches for each drive");
    expect_size("targets: {d: {devices: /dev/sdb}}\nphases:\n  - destructive: true\n    jobs: "
                "[{rw: write" LOGGED "}]\n",
                0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_kept),
        cmocka_unit_test(a_size_is_said_where_it_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
