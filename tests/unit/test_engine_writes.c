/* How writes are done, through a whole phase on a real target: ranges of zeros, hints about the
 * life of data. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

static void fill_disk(void)
{
    enum { CHUNK = 65536 };
    uint8_t data[CHUNK];
    memset(data, 0xa5, sizeof(data));
    for (off_t at = 0; at < DISK; at += CHUNK)
        disk_io((ssize_t(*)(int, void *, size_t, off_t))pwrite, data, sizeof(data), at);
}

static bool all_are(uint8_t byte, off_t from, size_t size)
{
    uint8_t *data = rb_calloc(size, 1);
    disk_io(pread, data, size, from);
    bool same = true;
    for (size_t i = 0; i < size; i++)
        same &= data[i] == byte;
    free(data);
    return same;
}

static void zeroes_count_as_writes(void **state)
{
    (void)state;
    const Rackbench__Ioengine__Kind engines[] = {RACKBENCH__IOENGINE__KIND__io_uring,
                                                 RACKBENCH__IOENGINE__KIND__sync};
    for (size_t i = 0; i < RB_LEN(engines); i++) {
        rig_t r;
        tally_t t;
        fill_disk();
        rig_init(&r, loop.path, true, DISK);
        Rackbench__Job *job = &r.jobs[0];
        job->rw = RACKBENCH__RW__MODE__write;
        job->write_mode = RACKBENCH__WRITE_MODE__KIND__zeroes;
        job->fallback = RACKBENCH__FALLBACK__KIND__allow;
        job->ioengine = engines[i];
        job->iodepth = i == 0 ? 8 : 1;
        job->offset_bytes = RB_MIB;
        job->size_bytes = RB_MIB;
        job->runtime_ns = 0;
        rig_run(&r, &t);
        assert_int_equal(t.ops[RB_PART_MAIN][RB_OP_WRITE], 256);
        assert_int_equal(t.bytes[RB_PART_MAIN][RB_OP_WRITE], RB_MIB);
        assert_int_equal(t.errors, 0);
        assert_true(all_are(0, RB_MIB, RB_MIB));
        assert_true(all_are(0xa5, 0, RB_MIB) && all_are(0xa5, 2 * RB_MIB, RB_MIB));
        bool told = false;
        for (size_t k = 0; k < t.nevents; k++)
            told |= strcmp(t.event_kind[k], "iowq") == 0 &&
                    strstr(t.event_text[k], "write_mode: zeroes goes by fallocate") != NULL;
        assert_int_equal(told, i == 0);
    }
}

/* A device node keeps its hint, of an earlier test as well. */
static void forget_hint(const char *path)
{
    uint64_t hint = RWH_WRITE_LIFE_NOT_SET;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_SET_RW_HINT, &hint), 0);
    close(fd);
}

static uint64_t hint_of(const char *path)
{
    uint64_t hint = UINT64_MAX;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GET_RW_HINT, &hint), 0);
    close(fd);
    return hint;
}

/* There while the phase runs, gone behind it. */
static void a_hint_is_for_the_phase(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rig_t r;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].rw = RACKBENCH__RW__MODE__randwrite;
    r.jobs[0].numjobs = 2;
    r.jobs[0].has_write_hint = true;
    r.jobs[0].write_hint = RACKBENCH__WRITE_HINT__KIND__extreme;
    forget_hint(loop.path);
    rb_engine_t *e = rig_engine(&r, &err);
    assert_non_null(e);
    rig_arm(e, NULL);
    assert_int_equal(hint_of(loop.path), RWH_WRITE_LIFE_EXTREME);
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, NULL), RB_ENGINE_DRAINED);
    rb_engine_destroy(&e);
    assert_int_equal(hint_of(loop.path), RWH_WRITE_LIFE_NOT_SET);
    r.jobs[0].write_hint = RACKBENCH__WRITE_HINT__KIND__none;
    e = rig_engine(&r, &err);
    rig_arm(e, NULL);
    assert_int_equal(hint_of(loop.path), RWH_WRITE_LIFE_NONE);
    rb_engine_destroy(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeroes_count_as_writes),
        cmocka_unit_test(a_hint_is_for_the_phase),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
