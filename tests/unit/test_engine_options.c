/* The engine's options on real targets, through a whole phase: what is done, told and refused.
 * Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <glob.h>
#include <cmocka.h>

#define RB_TEST_DISK_BYTES (16 * 1024 * 1024)

#include "agent/engine.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

/* For ThreadSanitizer: liburing unmaps a ring behind its back, so a worker's ring that lies where
 * another worker's refused ring was looks shared. */
const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void)
{
    return "race:agent/backend/uring";
}

static rb_err_t refused(rig_t *r)
{
    rb_err_t err = {0};
    rb_engine_t *e = rig_engine(r, &err);
    if (e == NULL)
        return err;
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, NULL), RB_ENGINE_FAILED);
    err = *rb_engine_fault(e);
    rb_engine_destroy(&e);
    return err;
}

static void one_at_a_time(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].rw = RACKBENCH__RW__MODE__randrw;
    r.jobs[0].ioengine = RACKBENCH__IOENGINE__KIND__sync;
    rb_err_t err = refused(&r);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "job 'j0': ioengine: sync does one operation at a time"));
    r.jobs[0].iodepth = 1;
    r.jobs[0].numjobs = 2;
    run_witnessed(&r, &t);
    assert_true(t.ops[RB_PART_MAIN][RB_OP_READ] > 100 && t.ops[RB_PART_MAIN][RB_OP_WRITE] > 100);
    assert_int_equal(t.nevents, 0);
}

static void trims_and_syncs_are_counted(void **state)
{
    (void)state;
    const Rackbench__Ioengine__Kind engines[] = {RACKBENCH__IOENGINE__KIND__io_uring,
                                                 RACKBENCH__IOENGINE__KIND__sync};
    for (size_t i = 0; i < RB_LEN(engines); i++) {
        rig_t r;
        tally_t t;
        rig_init(&r, loop.path, true, DISK);
        r.jobs[0].rw = RACKBENCH__RW__MODE__randrw;
        r.jobs[0].ioengine = engines[i];
        r.jobs[0].iodepth = i == 0 ? 8 : 1;
        r.jobs[0].rwmixtrim = 30;
        r.jobs[0].fdatasync = 10;
        r.jobs[0].runtime_ns = 0;
        r.jobs[0].number_ios = 2000;
        run_witnessed(&r, &t);
        const uint64_t *ops = t.ops[RB_PART_MAIN];
        assert_int_equal(ops[RB_OP_READ] + ops[RB_OP_WRITE] + ops[RB_OP_TRIM], 2000);
        assert_in_range(ops[RB_OP_TRIM], 500, 700);
        assert_in_range(ops[RB_OP_SYNC], ops[RB_OP_WRITE] / 10 - 1, ops[RB_OP_WRITE] / 10);
        assert_int_equal(t.bytes[RB_PART_MAIN][RB_OP_TRIM], 4096 * ops[RB_OP_TRIM]);
        assert_int_equal(t.bytes[RB_PART_MAIN][RB_OP_SYNC], 0);
        assert_int_equal(t.response[RB_PART_MAIN], 2000 + ops[RB_OP_SYNC]);
        assert_true(t.workers[0].finished);
    }
}

static void a_limit_counts_bytes_of_any_size(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].bssplit = "4k/50:64k/50";
    r.jobs[0].runtime_ns = 20 * RB_NS_PER_S; /* the limit comes first */
    r.jobs[0].io_size_bytes = 8 * RB_MIB;
    run_witnessed(&r, &t);
    uint64_t bytes = t.bytes[RB_PART_MAIN][RB_OP_READ], ops = t.ops[RB_PART_MAIN][RB_OP_READ];
    assert_in_range(bytes, 8 * RB_MIB, 8 * RB_MIB + 65536 - 4096);
    assert_true(bytes / ops > 20000 && bytes / ops < 50000);
}

static void a_schedule_for_one_at_a_time(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].ioengine = RACKBENCH__IOENGINE__KIND__sync;
    r.jobs[0].iodepth = 1;
    r.jobs[0].rate_iops = 500;
    run_witnessed(&r, &t);
    assert_int_equal(t.workers[0].offered_ops, 100);
    assert_in_range(tally_all_bytes(&t, RB_OP_READ) / 4096, 90, 100);
    assert_true(t.workers[0].turn.count < 2000); /* it sleeps in between */
}

/* Threads of this process with a name that begins so. */
static int threads(const char *name)
{
    glob_t found = {0};
    int n = 0;
    glob("/proc/self/task/*/comm", 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char comm[32] = "";
        FILE *f = fopen(found.gl_pathv[i], "re");
        n += f != NULL && fgets(comm, sizeof(comm), f) != NULL &&
             strncmp(comm, name, strlen(name)) == 0;
        if (f != NULL)
            fclose(f);
    }
    globfree(&found);
    return n;
}

static void a_submission_thread(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].rw = RACKBENCH__RW__MODE__randrw;
    r.jobs[0].sqthread_poll = true;
    r.jobs[0].iodepth = 32;
    r.jobs[0].numjobs = 2;
    rb_err_t err;
    rb_engine_t *e = rig_engine(&r, &err);
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, NULL), RB_ENGINE_READY);
    for (int i = 0; threads("iou-sqp-") < 2 && i < 500; i++)
        usleep(10000); /* a new thread gives itself its name when it first runs */
    assert_int_equal(threads("iou-sqp-"), 2);
    rb_engine_destroy(&e);
    run_witnessed(&r, &t);
    assert_true(t.ops[RB_PART_MAIN][RB_OP_READ] > 100 && t.ops[RB_PART_MAIN][RB_OP_WRITE] > 100);
    assert_int_equal(t.nevents, 0);
}

static void what_is_refused_is_named(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    char want[300];
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].hipri = true;
    r.jobs[0].numjobs = 2;
    snprintf(want, sizeof(want),
             "job 'j0' on %s: the target does not support polled I/O: reads complete with "
             "EOPNOTSUPP; drop hipri or set fallback: allow",
             loop.path);
    rb_err_t err = refused(&r);
    assert_string_equal(err.text, want);
    assert_int_equal(err.code, RB_ERR_INPUT);
    r.jobs[0].fallback = RACKBENCH__FALLBACK__KIND__allow;
    run_witnessed(&r, &t); /* the polled read of PREPARE is not in the kernel's counters */
    assert_true(t.ops[RB_PART_MAIN][RB_OP_READ] > 100);
    assert_int_equal(t.nevents, 1); /* of two workers */
    assert_string_equal(t.event_kind[0], "fallback");
    snprintf(want, sizeof(want),
             "job 'j0' on %s: the target does not support polled I/O: reads complete with "
             "EOPNOTSUPP: completions come by interrupt",
             loop.path);
    assert_string_equal(t.event_text[0], want);
}

static void huge_pages_are_refused_by_number(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].iomem = RACKBENCH__IOMEM__KIND__mmaphuge;
    r.jobs[0].bs_bytes = 1024 * 1024;
    r.jobs[0].iodepth = 1024; /* more than this machine has in huge pages */
    rb_err_t err = refused(&r);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "need 512 huge pages of 2048 KiB"));
    assert_non_null(strstr(err.text, "set iomem: mmap or set fallback: allow"));
    r.jobs[0].bs_bytes = 4096;
    r.jobs[0].iodepth = 8;
    r.jobs[0].fallback = RACKBENCH__FALLBACK__KIND__allow;
    run_witnessed(&r, &t); /* with them or without */
    assert_true(t.ops[RB_PART_MAIN][RB_OP_READ] > 100);
}

static void waiting_for_many_is_told(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.phase.n_jobs = 2;
    for (int i = 0; i < 2; i++) {
        r.jobs[i].numjobs = 2;
        r.jobs[i].iodepth_batch_complete_min = 4;
    }
    run_witnessed(&r, &t);
    assert_int_equal(t.nevents, 2); /* one a job */
    assert_string_equal(t.event_kind[0], "batched_reap");
    assert_non_null(strstr(t.event_text[0], "job 'j0': a wait is for 4 completions"));
    assert_non_null(strstr(t.event_text[1], "job 'j1'"));
}

static void a_phase_outlives_its_errors(void **state)
{
    (void)state;
    rig_t r;
    tally_t t = {0};
    rb_err_t err;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__read;
    r.jobs[0].runtime_ns = 300 * RIG_MS;
    rb_engine_t *e = rig_engine(&r, &err);
    rig_arm(e, &t);
    usleep(100000);
    assert_int_equal(truncate(loop.image, DISK / 2), 0); /* half of all reads fail from here on */
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    assert_int_equal(truncate(loop.image, DISK), 0);
    assert_int_equal(rb_engine_fault(e)->code, RB_OK);
    assert_int_equal(t.workers[0].end_at_ns, 300 * RIG_MS);
    assert_true(t.errors > 10);
    assert_int_equal(t.nevents, 11); /* ten in full, then all by kind */
    assert_string_equal(t.event_kind[9], "io_error");
    assert_string_equal(t.event_kind[10], "io_errors");
    char want[200];
    snprintf(want, sizeof(want), "%s: %lu x read: Input/output error", loop.path, t.errors);
    assert_string_equal(t.event_text[10], want);
    rb_engine_destroy(&e);
}

/* Reads from a pipe into which nobody writes: nothing hangs more surely. */
static void what_hangs_is_told_while_it_hangs(void **state)
{
    (void)state;
    rig_t r;
    tally_t t = {0};
    rb_err_t err;
    char pipe[96], data[8192] = "";
    snprintf(pipe, sizeof(pipe), "%s/pipe", dir);
    assert_int_equal(mkfifo(pipe, 0600), 0);
    int fd = open(pipe, O_RDWR | O_CLOEXEC);
    rig_init(&r, pipe, false, DISK);
    r.jobs[0].has_direct = true; /* and false */
    r.jobs[0].iodepth = 2;
    r.jobs[0].number_ios = 2;
    r.plan.interval_ns = 500 * RIG_MS;
    r.jobs[0].runtime_ns = 0;
    rb_engine_t *e = rig_engine(&r, &err);
    uint64_t t0_ns = rig_arm(e, &t);
    while (t.nevents < 2) {
        struct pollfd p = {.fd = rb_engine_fd(e), .events = POLLIN};
        poll(&p, 1, 1000);
        assert_int_equal(rb_engine_poll(e), RB_ENGINE_ARMED);
        rb_engine_rows(e, tally_row, &t);
        assert_true(rb_clock_now_ns() < t0_ns + 20 * RB_NS_PER_S);
    }
    char want[200];
    snprintf(want, sizeof(want), " of %s: not complete after 2.", pipe);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(t.event_kind[i], "io_hung");
        assert_non_null(strstr(t.event_text[i], "read of 4096 bytes at offset "));
        assert_non_null(strstr(t.event_text[i], want));
    }
    assert_int_equal(write(fd, data, sizeof(data)), sizeof(data));
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    assert_int_equal(t.ops[RB_PART_MAIN][RB_OP_READ], 2);
    assert_int_equal(t.nevents, 2);
    rb_engine_destroy(&e);
    close(fd);
}

static void passthrough_is_for_nvme(void **state)
{
    (void)state;
    rig_t r;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].ioengine = RACKBENCH__IOENGINE__KIND__io_uring_cmd;
    assert_non_null(strstr(refused(&r).text, "needs an NVMe drive's character device"));
    rig_init(&r, "/dev/zero", true, DISK); /* and the other way round */
    assert_non_null(
        strstr(refused(&r).text, "open /dev/zero: it is no block device; set ioengine"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(trims_and_syncs_are_counted),
        cmocka_unit_test(a_limit_counts_bytes_of_any_size),
        cmocka_unit_test(a_schedule_for_one_at_a_time),
        cmocka_unit_test(a_submission_thread),
        cmocka_unit_test(what_is_refused_is_named),
        cmocka_unit_test(huge_pages_are_refused_by_number),
        cmocka_unit_test(waiting_for_many_is_told),
        cmocka_unit_test(a_phase_outlives_its_errors),
        cmocka_unit_test(what_hangs_is_told_while_it_hangs),
        cmocka_unit_test(passthrough_is_for_nvme),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
