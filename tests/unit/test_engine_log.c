/* The log of acknowledged writes by a real engine on a loop device: each is in it, what it names is
 * read back and no more, and a block that an older write is put back into is named. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "agent/verify_log.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

enum { BS = 4096, BLOCKS = DISK / BS };

static char path[128];
static uint8_t before[DISK];

static ssize_t put(int fd, void *data, size_t size, off_t at)
{
    return pwrite(fd, data, size, at);
}

static void plan(rig_t *r, Rackbench__Rw__Mode rw)
{
    rig_init(r, loop.path, true, DISK);
    r->jobs[0].rw = rw;
    r->jobs[0].bs_bytes = BS;
    r->jobs[0].runtime_ns = 0;
    r->jobs[0].verify_log = path;
}

static void writer(rig_t *r, Rackbench__Rw__Mode rw, const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", dir, name);
    plan(r, rw);
    r->jobs[0].verify = true;
}

static void reader(rig_t *r)
{
    plan(r, RACKBENCH__RW__MODE__read);
    r->jobs[0].verify_only = true;
    r->jobs[0].continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__read;
    r->run_id = "another";
}

static rb_log_t *read_log(void)
{
    rb_err_t err = {0};
    rb_log_t *log = rb_log_read(path, &(rb_pin_t){0}, &err);
    if (log == NULL)
        fail_msg("%s", err.text);
    return log;
}

static void expect_event(const tally_t *t, size_t i, const char *kind, const char *text)
{
    assert_true(i < t->nevents);
    assert_string_equal(t->event_kind[i], kind);
    if (strstr(t->event_text[i], text) == NULL)
        fail_msg("'%s' is not in '%s'", text, t->event_text[i]);
}

/* All that the log names is read, once, and is there. */
static void expect_all(uint64_t blocks, uint32_t numjobs)
{
    rig_t r;
    tally_t t;
    char want[200];
    reader(&r);
    r.jobs[0].numjobs = numjobs;
    run_witnessed(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), blocks * BS);
    assert_int_equal(t.errors, 0);
    assert_int_equal(t.nevents, 1);
    snprintf(want, sizeof(want), "read %lu of %lu blocks that %s names: 0 of them lack", blocks,
             blocks, path);
    expect_event(&t, 0, "verify_log", want);
}

static void each_write_is_logged_and_found(void **state)
{
    (void)state;
    static const Rackbench__Rw__Mode modes[] = {RACKBENCH__RW__MODE__write,
                                                RACKBENCH__RW__MODE__randwrite};
    for (size_t i = 0; i < RB_LEN(modes); i++) {
        rig_t w;
        tally_t t;
        writer(&w, modes[i], i == 0 ? "sequential" : "random");
        w.jobs[0].numjobs = i == 0 ? 3 : 1;
        w.jobs[0].has_number_ios = true;
        w.jobs[0].number_ios = 700;
        rig_run(&w, &t);
        assert_int_equal(tally_all_bytes(&t, RB_OP_WRITE), 512 * t.kernel.op[1].sectors);
        uint64_t writes = 700 * w.jobs[0].numjobs;
        char want[100];
        snprintf(want, sizeof(want), ": %lu acknowledged writes, durable in ", writes);
        expect_event(&t, 0, "verify_log", want);
        assert_int_equal(t.nevents, 1);
        RB_AUTO(rb_log_destroy) rb_log_t *log = read_log();
        assert_int_equal(log->writes, writes);
        assert_int_equal(log->head.bs_bytes, BS);
        assert_string_equal(log->head.run_id, "run1");
        expect_all(log->of_drive[0].n, 1);
        expect_all(log->of_drive[0].n, 5);
    }
}

/* Random writes may end in another order than they began in: many at once on few blocks. */
static void writes_in_flight_together_claim_no_more_than_is_sure(void **state)
{
    (void)state;
    uint32_t less_sure = 0;
    for (int i = 0; i < 10; i++) {
        rig_t w;
        tally_t t;
        char name[32];
        snprintf(name, sizeof(name), "together%d", i);
        writer(&w, RACKBENCH__RW__MODE__randwrite, name);
        w.jobs[0].iodepth = 32;
        w.jobs[0].has_size_bytes = true;
        w.jobs[0].size_bytes = 4 * BS;
        w.jobs[0].has_number_ios = true;
        w.jobs[0].number_ios = 2000;
        w.plan.randseed = (uint64_t)i;
        rig_run(&w, &t);
        RB_AUTO(rb_log_destroy) rb_log_t *log = read_log();
        assert_int_equal(log->writes, 2000);
        expect_all(4, 1);
        for (uint64_t k = 0; k < 4; k++) {
            uint64_t sequence;
            disk_io(pread, &sequence, sizeof(sequence), (off_t)(k * BS + 32));
            assert_true(log->of_drive[0].blocks[k].sequence <= sequence);
            less_sure += log->of_drive[0].blocks[k].sequence < sequence;
        }
    }
    assert_true(less_sure > 0);
}

/* Writes twice, and puts back what was there before the second time. */
static void a_write_that_is_gone_is_named(void **state)
{
    (void)state;
    rig_t w, r;
    tally_t t;
    writer(&w, RACKBENCH__RW__MODE__write, "gone");
    w.jobs[0].has_number_ios = true;
    w.jobs[0].number_ios = 2 * BLOCKS;
    w.jobs[0].verify_log = NULL;
    rig_run(&w, &t);
    disk_io(pread, before, DISK, 0);
    w.jobs[0].verify_log = path;
    w.jobs[0].number_ios = 3 * BLOCKS;
    rig_run(&w, &t);
    expect_all(BLOCKS, 2);
    disk_io(put, before + 100 * BS, BS, 100 * BS);
    reader(&r);
    rig_run(&r, &t);
    assert_int_equal(t.errors, 1);
    expect_event(&t, 0, "verify_error",
                 "at 400 KiB (sector 800): expected sequence 2148, found a block with the older "
                 "sequence 1124");
    expect_event(&t, 2, "verify_log", "names: 1 of them lack their newest acknowledged write");
    memset(before, 0, BS);
    disk_io(put, before, BS, 7 * BS);
    r.jobs[0].numjobs = 4;
    rig_run(&r, &t);
    assert_int_equal(t.errors, 2);
}

/* The directory that the engine is told was judged, and no other. */
static void a_log_in_another_directory_is_not_made(void **state)
{
    (void)state;
    rig_t w;
    struct stat st;
    rb_err_t err = {0};
    writer(&w, RACKBENCH__RW__MODE__write, "elsewhere");
    assert_int_equal(stat(dir, &st), 0);
    rb_log_place_t logs[] = {{"/other", {st.st_dev, st.st_ino}},
                             {path, {st.st_dev, st.st_ino + 1}}};
    rb_engine_opts_t opts = {.plan = &w.plan,
                             .run_id = w.run_id,
                             .host = "h1",
                             .subjects = &w.subject,
                             .nsubjects = 1,
                             .logs = logs,
                             .nlogs = RB_LEN(logs),
                             .jobs_here = w.here};
    rb_engine_t *e = rb_engine_new(&opts, &err);
    assert_non_null(e);
    while (rb_engine_poll(e) == RB_ENGINE_PREPARING)
        usleep(1000);
    assert_int_equal(rb_engine_poll(e), RB_ENGINE_FAILED);
    assert_int_equal(rb_engine_fault(e)->code, RB_ERR_UNSAFE);
    assert_int_equal(access(path, F_OK), -1);
    rb_engine_destroy(&e);
}

/* Blocks that a later phase wrote hold newer writes, whatever their sequences. */
static void a_later_phase_is_newer(void **state)
{
    (void)state;
    rig_t w;
    tally_t t;
    Rackbench__Phase *two[2];
    writer(&w, RACKBENCH__RW__MODE__write, "later");
    rig_run(&w, &t);
    w.jobs[0].verify_log = NULL;
    w.jobs[0].has_number_ios = true;
    w.jobs[0].number_ios = 10;
    w.jobs[0].offset_bytes = 90 * BS;
    two[0] = two[1] = &w.phase;
    w.plan.phases = two;
    w.plan.n_phases = 2;
    rb_engine_opts_t opts = {.plan = &w.plan,
                             .phase = 1,
                             .run_id = w.run_id,
                             .host = "h1",
                             .subjects = &w.subject,
                             .nsubjects = 1,
                             .jobs_here = w.here};
    rb_err_t err = {0};
    rb_engine_t *e = rb_engine_new(&opts, &err);
    assert_non_null(e);
    memset(&t, 0, sizeof(t));
    rig_arm(e, &t);
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    rb_engine_destroy(&e);
    expect_all(BLOCKS, 1);
}

static rb_err_t fault_of(rig_t *r)
{
    rb_err_t err = {0};
    rb_engine_t *e = rig_engine(r, &err);
    if (e == NULL)
        return err;
    if (rig_await(e, RB_ENGINE_PREPARING, NULL) == RB_ENGINE_READY) {
        rb_engine_arm(e, rb_clock_now_ns(), 0);
        RB_ASSERT(rig_await(e, RB_ENGINE_ARMED, NULL) == RB_ENGINE_DRAINED);
    }
    err = *rb_engine_fault(e);
    rb_engine_destroy(&e);
    return err;
}

static void expect_fault(rig_t *r, rb_code_t code, const char *text)
{
    rb_err_t err = fault_of(r);
    assert_int_equal(err.code, code);
    if (strstr(err.text, text) == NULL)
        fail_msg("'%s' is not in '%s'", text, err.text);
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    rig_t w, r;
    tally_t t;
    char small[100];
    writer(&w, RACKBENCH__RW__MODE__write, "refused");
    rig_run(&w, &t);
    expect_fault(&w, RB_ERR_INPUT, "is there already");
    reader(&r);
    r.jobs[0].bs_bytes = 2 * BS;
    expect_fault(&r, RB_ERR_INPUT, "is of blocks of 4KiB; set bs to that");
    reader(&r);
    snprintf(r.subject.path, sizeof(r.subject.path), "%s", loop.image);
    r.subject.is_device = false;
    expect_fault(&r, RB_ERR_INPUT, "is of other drives (the first of 1 is /dev/loop");

    snprintf(small, sizeof(small), "%s/small", dir);
    RB_ASSERT(mkdir(small, 0755) == 0 && mount("tmpfs", small, "tmpfs", 0, "size=16k") == 0);
    writer(&w, RACKBENCH__RW__MODE__write, "small/log");
    w.jobs[0].runtime_ns = 20 * RB_NS_PER_S; /* it is stopped, not waited for */
    uint64_t start_ns = rb_clock_now_ns();
    expect_fault(&w, RB_ERR_IO, "No space left on device");
    assert_true(rb_clock_now_ns() - start_ns < 10 * RB_NS_PER_S);
    umount2(small, MNT_DETACH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_write_is_logged_and_found),
        cmocka_unit_test(writes_in_flight_together_claim_no_more_than_is_sure),
        cmocka_unit_test(a_write_that_is_gone_is_named),
        cmocka_unit_test(a_log_in_another_directory_is_not_made),
        cmocka_unit_test(a_later_phase_is_newer),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
