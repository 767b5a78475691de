/* The engine on files: layout, reuse, a full disk, a stop in between; io-wq targets. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "tests/unit/engine_rig.h"
#include "tests/unit/scratch_disk.h"

enum { SMALL = 4 * 1024 * 1024 }; /* the file system [bytes] */

static char dir[64], path[96], part[104];

static int set_up(void **state)
{
    (void)state;
    snprintf(dir, sizeof(dir), "/tmp/rb-files-XXXXXX");
    RB_ASSERT(mkdtemp(dir) != NULL);
    RB_ASSERT(mount("none", dir, "tmpfs", 0, "size=4m") == 0);
    snprintf(path, sizeof(path), "%s/rackbench.h1.t.0", dir);
    snprintf(part, sizeof(part), "%s.part", path);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    umount(dir);
    rmdir(dir);
    return 0;
}

static void lays_out_then_reuses(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    struct stat st;
    uint64_t size = SMALL / 2 + 12345;
    rig_init(&r, path, false, size);
    r.subject.needs_layout = true;
    r.jobs[0].numjobs = 4; /* three wait for the one that writes */
    rig_run(&r, &t);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, size);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(t.nlayout, 1);
    assert_false(t.layout.reused);
    assert_int_equal(t.layout.bytes, size);
    assert_int_equal(t.layout.ops, 3);
    assert_int_equal(t.layout.service.count, 3);
    assert_int_equal(t.nkernel, 0);
    assert_true(t.ops[RB_PART_MAIN][RB_OP_READ] > 0);
    r.subject.needs_layout = false;
    rig_run(&r, &t);
    assert_true(t.layout.reused);
    assert_int_equal(t.layout.ops, 0);
    assert_int_equal(unlink(path), 0);
}

static void laid_out_data_does_not_repeat(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    uint64_t words[2][512];
    rig_init(&r, path, false, SMALL / 2);
    r.subject.needs_layout = true;
    r.jobs[0].number_ios = 1;
    rig_run(&r, &t);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(fd, words[0], 4096, 8192), 4096);
    assert_int_equal(pread(fd, words[1], 4096, 8192 + 1024 * 1024), 4096);
    close(fd);
    assert_memory_not_equal(words[0], words[1], 4096);
    for (int i = 0; i < 512; i++)
        assert_true(words[0][i] != 0);
    assert_int_equal(unlink(path), 0);
}

static void a_full_disk_is_named(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err;
    rig_init(&r, path, false, 256 * RB_MIB);
    r.subject.needs_layout = true;
    r.jobs[0].numjobs = 2;
    rb_engine_t *e = rig_engine(&r, &err);
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, NULL), RB_ENGINE_FAILED);
    char want[RB_MAX_TEXT];
    snprintf(want, sizeof(want), "lay out %s: No space left on device (wrote 4 MiB of 256 MiB)",
             path);
    assert_string_equal(rb_engine_fault(e)->text, want);
    assert_int_equal(rb_engine_fault(e)->code, RB_ERR_IO);
    uint64_t done, total;
    rb_engine_progress(e, &done, &total);
    assert_int_equal(done, 4 * RB_MIB);
    assert_int_equal(total, 256 * RB_MIB);
    rb_engine_destroy(&e);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_stop_ends_the_layout(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err;
    assert_int_equal(mount("none", dir, "tmpfs", MS_REMOUNT, "size=8g"), 0);
    rig_init(&r, path, false, 8 * RB_GIB);
    r.subject.needs_layout = true;
    rb_engine_t *e = rig_engine(&r, &err);
    uint64_t done, total;
    do {
        usleep(1000);
        rb_engine_progress(e, &done, &total);
    } while (done == 0);
    uint64_t start_ns = rb_clock_now_ns();
    rb_engine_stop(e, 0);
    assert_int_equal(rb_engine_poll(e), RB_ENGINE_FAILED);
    rb_engine_destroy(&e);
    assert_in_range(rb_clock_now_ns() - start_ns, 0, RB_NS_PER_S);
    assert_true(done < total);
    assert_int_equal(access(part, F_OK), -1);
    assert_int_equal(mount("none", dir, "tmpfs", MS_REMOUNT, "size=4m"), 0);
}

static void iowq_is_said_once(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rb_test_image(path, SMALL / 2);
    rig_init(&r, path, false, SMALL / 2); /* tmpfs takes O_DIRECT, but not RWF_NOWAIT */
    r.jobs[0].numjobs = 3;
    rig_run(&r, &t);
    assert_int_equal(t.nevents, 1);
    assert_string_equal(t.event_kind[0], "iowq");
    assert_non_null(strstr(t.event_text[0], path));
    assert_int_equal(unlink(path), 0);
}

static void a_short_read_is_an_error(void **state)
{
    (void)state;
    rig_t r;
    tally_t t = {0};
    rb_err_t err;
    rb_test_image(path, SMALL / 2 + 2048); /* the job believes that it is longer */
    rig_init(&r, path, false, SMALL / 2 + 4096);
    r.jobs[0].rw = RACKBENCH__RW__MODE__read;
    r.jobs[0].has_direct = true;
    r.jobs[0].direct = false;
    rb_engine_t *e = rig_engine(&r, &err);
    rig_arm(e, &t);
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    assert_non_null(strstr(rb_engine_fault(e)->text, "only 2048 of 4096 bytes"));
    assert_true(t.errors >= 1);
    rb_engine_destroy(&e);
    assert_int_equal(unlink(path), 0);
}

static void input_errors_name_job_and_file(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err;
    rig_init(&r, path, false, SMALL);
    r.jobs[0].bs_bytes = 1000;
    assert_null(rig_engine(&r, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "job 'j0'"));
    assert_non_null(strstr(err.text, path));
    r.jobs[0].bs_bytes = 4096;
    r.jobs[0].numjobs = RB_MAX_WORKERS + 1;
    assert_null(rig_engine(&r, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    r.jobs[0].numjobs = 1; /* and what only a worker finds out fails PREPARE */
    rb_engine_t *e = rig_engine(&r, &err);
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, NULL), RB_ENGINE_FAILED);
    assert_non_null(strstr(rb_engine_fault(e)->text, "No such file"));
    rb_engine_destroy(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lays_out_then_reuses),
        cmocka_unit_test(laid_out_data_does_not_repeat),
        cmocka_unit_test(a_full_disk_is_named),
        cmocka_unit_test(a_stop_ends_the_layout),
        cmocka_unit_test(iowq_is_said_once),
        cmocka_unit_test(a_short_read_is_an_error),
        cmocka_unit_test(input_errors_name_job_and_file),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
