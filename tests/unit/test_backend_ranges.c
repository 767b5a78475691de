/* What a backend does to a range without moving data, on real targets: trims and zeros. Needs root.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/backend/uring_hot.h"
#include "tests/unit/backend_rig.h"

/* What a kernel before 6.12 gets by fallback: this one has the command, so the switch is set here.
 */
static void trims_by_ioctl_come_back_too(void **state)
{
    (void)state;
    rig_t r;
    rig_init(&r, &rb_backend_uring, RB_TARGET_DEVICE, ALL_OPS);
    rig_open(&r);
    rb_uring_t *u = r.io;
    u->trims_now = u->ring.special = true;
    u->trimmed = rb_calloc(DEPTH, sizeof(*u->trimmed));
    memset(r.o.buffers[RB_OP_WRITE], 0xa5, (size_t)DEPTH * MAX);
    assert_int_equal(rw(&r, RB_OP_WRITE, 0, 0, MAX), MAX);
    const rb_io_t ios[3] = {{.offset_bytes = 0, .size_bytes = 4096, .op = RB_OP_TRIM},
                            {.offset_bytes = 65536, .size_bytes = 4096, .op = RB_OP_READ},
                            {.offset_bytes = 8192, .size_bytes = 4096, .op = RB_OP_TRIM}};
    const uint32_t slots[3] = {2, 3, 1};
    uint32_t seen = 0;
    r.b->queue(r.io, ios, slots, 3);
    assert_int_equal(r.b->wait(r.io, 1, RB_NS_PER_S), 0);
    for (int i = 0; seen != 0xe && i < 100; i++) {
        const rb_done_t *done;
        for (uint32_t n = r.b->reap(r.io, RB_BATCH, &done); n > 0; n--, done++) {
            assert_int_equal(done->res, done->slot == 3 ? 4096 : 0);
            seen |= 1u << done->slot;
        }
        assert_int_equal(r.b->wait(r.io, 1, RB_NS_PER_MS), 0);
    }
    assert_int_equal(seen, 0xe);
    assert_int_equal(rw(&r, RB_OP_READ, 0, 0, MAX), MAX);
    assert_true(holds(&r, 0, 0, 0, 4096) && holds(&r, 0, 0xa5, 4096, 8192) &&
                holds(&r, 0, 0, 8192, 12288) && holds(&r, 0, 0xa5, 12288, MAX));
    rig_close(&r);
}

static void trims_need_a_target_that_can(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err = {0};
    rig_init(&r, &rb_backend_uring, RB_TARGET_FILE, ALL_OPS);
    close(r.o.fd);
    r.o.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC); /* not open for writing */
    assert_null(r.b->open(&r.o, &err));
    assert_non_null(strstr(err.text, "the file system cannot trim (fallocate PUNCH_HOLE: "));
    assert_int_equal(err.code, RB_ERR_INPUT);
    rig_close(&r);
}

/* Ranges of a device become zeros, in sizes that change, and what lies beside them stays. The loop
 * device here is over a file system that cannot do it, so the kernel writes zeros. */
static void zeroes_take_the_place_of_data(void **state)
{
    (void)state;
    const rb_backend_t *const backends[] = {&rb_backend_uring, &rb_backend_sync};
    for (size_t i = 0; i < RB_LEN(backends); i++) {
        rig_t r;
        rig_init(&r, backends[i], RB_TARGET_DEVICE, ALL_OPS);
        rig_open(&r);
        memset(r.o.buffers[RB_OP_WRITE], 0xa5, MAX);
        assert_int_equal(rw(&r, RB_OP_WRITE, 0, 0, MAX), MAX);
        r.b->close(r.io);
        r.o.zeroes = r.o.fallback = true;
        r.o.buffers[RB_OP_WRITE] = NULL;
        rig_open(&r);
        assert_int_equal(rw(&r, RB_OP_WRITE, 0, 4096, 8192), 0);
        assert_int_equal(rw(&r, RB_OP_WRITE, 0, 32768, 512), 0);
        assert_int_equal(rw(&r, RB_OP_READ, 0, 0, MAX), MAX);
        assert_true(holds(&r, 0, 0xa5, 0, 4096) && holds(&r, 0, 0, 4096, 12288) &&
                    holds(&r, 0, 0xa5, 12288, 32768) && holds(&r, 0, 0, 32768, 33280) &&
                    holds(&r, 0, 0xa5, 33280, MAX));
        assert_true(rw(&r, RB_OP_WRITE, 0, DISK, 4096) < 0); /* beyond the end */
        rig_close(&r);
    }
}

static void zeroes_need_a_target_that_can(void **state)
{
    (void)state;
    const rb_backend_t *const backends[] = {&rb_backend_uring, &rb_backend_sync};
    for (size_t i = 0; i < RB_LEN(backends); i++) {
        rig_t r;
        rb_err_t err = {0};
        rig_init(&r, backends[i], RB_TARGET_FILE, ALL_OPS); /* on a tmpfs */
        r.o.zeroes = true;
        assert_null(r.b->open(&r.o, &err));
        assert_string_equal(err.text,
                            "the file system cannot zero a range (fallocate ZERO_RANGE: Operation "
                            "not supported); set write_mode: write or choose another directory");
        assert_int_equal(err.code, RB_ERR_INPUT);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trims_by_ioctl_come_back_too),
        cmocka_unit_test(trims_need_a_target_that_can),
        cmocka_unit_test(zeroes_take_the_place_of_data),
        cmocka_unit_test(zeroes_need_a_target_that_can),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
