/* What the engine finds wrong in what it reads, on a loop device and on files, with the kernel as
 * witness. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

enum { BS = 16 * 1024 }; /* [bytes] */

#define READ  RACKBENCH__RW__MODE__read
#define WRITE RACKBENCH__RW__MODE__write

/* One pass over the loop device, verified. */
static void plan(rig_t *r, Rackbench__Rw__Mode rw)
{
    rig_init(r, loop.path, true, DISK);
    r->jobs[0].rw = rw;
    r->jobs[0].bs_bytes = BS;
    r->jobs[0].runtime_ns = 0;
    r->jobs[0].verify = true;
}

/* To its end, whatever that is. */
static rb_err_t run(rig_t *r, tally_t *t)
{
    rb_err_t err = {0};
    memset(t, 0, sizeof(*t));
    rb_engine_t *e = rig_engine(r, &err);
    if (e == NULL)
        return err;
    rig_arm(e, t);
    RB_ASSERT(rig_await(e, RB_ENGINE_ARMED, t) == RB_ENGINE_DRAINED);
    err = *rb_engine_fault(e);
    rb_engine_destroy(&e);
    return err;
}

static void write_disk(void)
{
    rig_t r;
    tally_t t;
    plan(&r, WRITE);
    rig_run(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_WRITE), DISK);
}

static ssize_t put(int fd, void *data, size_t size, off_t at)
{
    return pwrite(fd, data, size, at);
}

static void flip_byte(off_t at)
{
    uint8_t byte;
    disk_io(pread, &byte, 1, at);
    byte ^= 0x10;
    disk_io(put, &byte, 1, at);
}

/* The one error of a run: in the fault, in the event and in the count. */
static void expect_found(const rb_err_t *fault, const tally_t *t, const char *path,
                         const char *text)
{
    char want[300];
    snprintf(want, sizeof(want), "verify: %s %s", path, text);
    assert_int_equal(fault->code, RB_ERR_IO);
    if (strncmp(fault->text, want, strlen(want)) != 0)
        assert_string_equal(fault->text, want);
    assert_true(t->errors > 0 && t->nevents > 0);
    size_t first = strcmp(t->event_kind[0], "iowq") == 0;
    assert_string_equal(t->event_kind[first], "verify_error");
    assert_string_equal(t->event_text[first], fault->text);
}

/* Reads in order, one at a time, so that the first that is wrong is the one named. */
static void expect_read(rig_t *r, const char *text)
{
    tally_t t;
    r->jobs[0].iodepth = 1;
    rb_err_t fault = run(r, &t);
    expect_found(&fault, &t, r->subject.path, text);
    assert_int_equal(t.errors, 1);
}

static void what_was_written_is_right(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {512, 4096, BS, 128 * 1024};
    for (size_t i = 0; i < RB_LEN(sizes); i++) {
        rig_t r;
        tally_t t;
        plan(&r, WRITE);
        r.jobs[0].bs_bytes = sizes[i];
        r.jobs[0].numjobs = 2;
        run_witnessed(&r, &t);
        assert_int_equal(tally_all_bytes(&t, RB_OP_WRITE), DISK);
        r.jobs[0].rw = READ;
        run_witnessed(&r, &t);
        assert_int_equal(tally_all_bytes(&t, RB_OP_READ), DISK);
        r.jobs[0].rw = RACKBENCH__RW__MODE__randread;
        r.jobs[0].iodepth = 32;
        r.jobs[0].number_ios = 500;
        r.jobs[0].ioengine = RACKBENCH__IOENGINE__KIND__io_uring;
        run_witnessed(&r, &t);
        assert_int_equal(t.ops[RB_PART_MAIN][RB_OP_READ], 1000);
        assert_int_equal(t.errors + t.nevents, 0);
    }
}

static void random_writes_are_right(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    plan(&r, RACKBENCH__RW__MODE__randwrite);
    r.jobs[0].has_norandommap = true; /* and false: every block once */
    rig_run(&r, &t);
    r.jobs[0].rw = RACKBENCH__RW__MODE__randread;
    rig_run(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), DISK);
    r.jobs[0].ioengine = RACKBENCH__IOENGINE__KIND__sync;
    r.jobs[0].iodepth = 1;
    rig_run(&r, &t);
    assert_int_equal(t.errors + t.nevents, 0);
}

static void a_damaged_byte_is_found(void **state)
{
    (void)state;
    rig_t r;
    write_disk();
    flip_byte(1024 * 1024 + 1000);
    plan(&r, READ);
    expect_read(&r, "at 1 MiB (sector 2048): found damaged data in a block with sequence 64");
    r.jobs[0].verify = false;
    r.jobs[0].verify_only = true;
    expect_read(&r, "at 1 MiB (sector 2048): found damaged data in a block with sequence 64");
    r.jobs[0].verify_only = false; /* who does not ask does not hear */
    tally_t t;
    rig_run(&r, &t);
    assert_int_equal(t.errors, 0);
}

static void swapped_blocks_are_told_apart(void **state)
{
    (void)state;
    static uint8_t a[BS], b[BS];
    rig_t r;
    tally_t t;
    write_disk();
    disk_io(pread, a, BS, 2 * BS);
    disk_io(pread, b, BS, 96 * BS);
    disk_io(put, b, BS, 2 * BS);
    disk_io(put, a, BS, 96 * BS);
    plan(&r, READ);
    r.jobs[0].continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__read;
    r.jobs[0].iodepth = 1;
    rig_run(&r, &t);
    assert_int_equal(t.errors, 2);
    assert_non_null(strstr(t.event_text[0], "at 32 KiB (sector 64): found a block written for "
                                            "offset 1536 KiB (sector 3072) with sequence 96"));
    assert_non_null(strstr(t.event_text[1], "at 1536 KiB (sector 3072): found a block written for "
                                            "offset 32 KiB (sector 64) with sequence 2"));
}

static void what_was_not_written_is_found(void **state)
{
    (void)state;
    static const char *const want = "at 2 MiB (sector 4096): found nothing that was written with "
                                    "verify";
    rig_t r;
    tally_t t;
    assert_int_equal(truncate(loop.image, 0), 0);
    assert_int_equal(truncate(loop.image, DISK), 0);
    plan(&r, WRITE);
    r.jobs[0].size_bytes = DISK / 2;
    rig_run(&r, &t);
    plan(&r, READ);
    expect_read(&r, want);
    plan(&r, WRITE); /* by a job that does not verify */
    r.jobs[0].verify = false;
    r.jobs[0].offset_bytes = DISK / 2;
    rig_run(&r, &t);
    plan(&r, READ);
    expect_read(&r, want);
}

static void another_run_is_told_apart(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    write_disk();
    plan(&r, READ);
    r.run_id = "run2";
    expect_read(&r, "at 0 B (sector 0): found a block of another run (");
    r.jobs[0].verify = false;
    r.jobs[0].verify_only = true;
    rig_run(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), DISK);
}

static void errors_may_be_counted_only(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    char want[100];
    write_disk();
    for (int i = 0; i < 12; i++)
        flip_byte((off_t)BS * (3 * i + 5) + 777);
    plan(&r, READ);
    r.jobs[0].continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__write; /* not these */
    r.jobs[0].iodepth = 1;
    rb_err_t fault = run(&r, &t);
    expect_found(&fault, &t, loop.path, "at 80 KiB (sector 160): ");
    r.jobs[0].continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__read;
    rig_run(&r, &t);
    assert_int_equal(t.errors, 12);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), DISK - 12 * BS);
    assert_int_equal(t.nevents, 11); /* ten in full, then all by kind */
    assert_string_equal(t.event_kind[9], "verify_error");
    assert_string_equal(t.event_kind[10], "io_errors");
    snprintf(want, sizeof(want), "%s: 12 x read: verify: corrupt", loop.path);
    assert_string_equal(t.event_text[10], want);
}

static void files_are_verified_too(void **state)
{
    (void)state;
    char path[96];
    rig_t r;
    tally_t t;
    snprintf(path, sizeof(path), "%s/rackbench.h1.t.0", dir);
    plan(&r, READ);
    snprintf(r.subject.path, sizeof(r.subject.path), "%s", path);
    r.subject.is_device = false;
    r.subject.needs_layout = true;
    r.jobs[0].has_direct = true; /* and false: tmpfs */
    expect_read(&r, "at 0 B (sector 0): found nothing that was written with verify");
    r.subject.needs_layout = false;
    r.jobs[0].rw = WRITE;
    r.jobs[0].iodepth = 8;
    rig_run(&r, &t);
    r.jobs[0].rw = READ;
    rig_run(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), DISK);
    assert_int_equal(t.errors, 0);
}

static void odd_blocks_are_refused(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    plan(&r, READ);
    r.jobs[0].has_direct = true; /* and false */
    r.jobs[0].bs_bytes = 1000;
    rb_err_t err = run(&r, &t);
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_string_equal(err.text, "job 'j0': verify needs blocks of one size, a multiple of 512 "
                                  "bytes; change bs");
    plan(&r, READ);
    r.jobs[0].bssplit = "4k/50:8k/50";
    assert_string_equal(run(&r, &t).text, err.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_right),
        cmocka_unit_test(random_writes_are_right),
        cmocka_unit_test(a_damaged_byte_is_found),
        cmocka_unit_test(swapped_blocks_are_told_apart),
        cmocka_unit_test(what_was_not_written_is_found),
        cmocka_unit_test(another_run_is_told_apart),
        cmocka_unit_test(errors_may_be_counted_only),
        cmocka_unit_test(files_are_verified_too),
        cmocka_unit_test(odd_blocks_are_refused),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
