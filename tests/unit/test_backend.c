/* The backends on real targets: loop devices with direct I/O over tmpfs, and files. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/backend/nvme_format.h"
#include "agent/backend/sync.h"
#include "agent/backend/uring.h"
#include "agent/backend/uring_cmd.h"
#include "agent/backend/uring_hot.h"
#include "tests/unit/backend_rig.h"

/* Each kind of operation, in sizes that change from one to the next in the same slot. */
static void does_all(const rb_backend_t *b, rb_target_kind_t kind)
{
    rig_t r;
    rig_init(&r, b, kind, ALL_OPS);
    rig_open(&r);
    uint32_t slot = r.o.iodepth - 1;
    memset(r.o.buffers[RB_OP_WRITE] + (size_t)slot * MAX, 0xa5, MAX);
    assert_int_equal(rw(&r, RB_OP_WRITE, slot, 8192, 16384), 16384);
    assert_int_equal(rw(&r, RB_OP_WRITE, slot, 65536, 4096), 4096);
    assert_int_equal(perform(&r, slot, (rb_io_t){.op = RB_OP_SYNC}), 0);
    assert_int_equal(perform(&r, slot, (rb_io_t){.op = RB_OP_SYNC, .flags = RB_IO_DATASYNC}), 0);
    assert_int_equal(rw(&r, RB_OP_READ, slot, 4096, 32768), 32768);
    assert_true(holds(&r, slot, 0, 0, 4096) && holds(&r, slot, 0xa5, 4096, 20480) &&
                holds(&r, slot, 0, 20480, 32768));
    assert_int_equal(rw(&r, RB_OP_TRIM, slot, 8192, 8192), 0);
    assert_int_equal(rw(&r, RB_OP_READ, slot, 4096, 65536), 65536);
    assert_true(holds(&r, slot, 0, 0, 12288) && holds(&r, slot, 0xa5, 12288, 20480) &&
                holds(&r, slot, 0xa5, 61440, 65536));
    assert_int_equal(rw(&r, RB_OP_TRIM, slot, 0, 131072), 0);
    /* Beyond the end: a device gives nothing to read and takes nothing to write. */
    assert_int_equal(rw(&r, RB_OP_READ, slot, DISK - 4096, 8192), 4096);
    assert_int_equal(r.told.n, 0);
    rig_close(&r);
}

static void each_backend_does_each_operation(void **state)
{
    (void)state;
    does_all(&rb_backend_uring, RB_TARGET_DEVICE);
    does_all(&rb_backend_uring, RB_TARGET_FILE);
    does_all(&rb_backend_sync, RB_TARGET_DEVICE);
    does_all(&rb_backend_sync, RB_TARGET_FILE);
}

static void a_submission_thread_does_all_too(void **state)
{
    (void)state;
    rig_t r;
    rig_init(&r, &rb_backend_uring, RB_TARGET_DEVICE, ALL_OPS);
    r.o.sqthread_poll = true;
    rig_open(&r);
    assert_true(((rb_uring_t *)r.io)->ring.ring.flags & IORING_SETUP_SQPOLL);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(
            rw(&r, i % 3 == 0 ? RB_OP_WRITE : RB_OP_READ, i % DEPTH, i % 512 * 4096, 4096), 4096);
    usleep(1200000); /* the thread has gone to sleep by now */
    assert_int_equal(rw(&r, RB_OP_READ, 0, 0, 4096), 4096);
    assert_int_equal(r.told.n, 0);
    rig_close(&r);
}

static void polling_is_refused_by_name(void **state)
{
    (void)state;
    const rb_backend_t *const backends[] = {&rb_backend_uring, &rb_backend_sync};
    const char *const why[] = {
        "the target does not support polled I/O: reads complete with EOPNOTSUPP",
        "hipri: Linux since 5.19 does not poll for synchronous I/O"};
    const char *const remedy[] = {"drop hipri", "take ioengine: io_uring, drop hipri"};
    for (size_t i = 0; i < RB_LEN(backends); i++) {
        rig_t r;
        rb_err_t err = {0};
        char want[300];
        rig_init(&r, backends[i], RB_TARGET_DEVICE, READS);
        r.o.hipri = true;
        assert_null(r.b->open(&r.o, &err));
        snprintf(want, sizeof(want), "%s; %s or set fallback: allow", why[i], remedy[i]);
        assert_string_equal(err.text, want);
        assert_int_equal(err.code, RB_ERR_INPUT);
        r.o.fallback = true;
        rig_open(&r);
        assert_int_equal(r.told.n, 1);
        snprintf(want, sizeof(want), "%s: completions come by interrupt", why[i]);
        assert_string_equal(r.told.text[0], want);
        assert_int_equal(rw(&r, RB_OP_READ, 0, 0, 4096), 4096);
        rig_close(&r);
    }
}

static void a_polled_ring_takes_no_trims(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err = {0};
    rig_init(&r, &rb_backend_uring, RB_TARGET_DEVICE, ALL_OPS);
    r.o.hipri = true;
    assert_null(r.b->open(&r.o, &err));
    assert_non_null(
        strstr(err.text, "the job trims, syncs or zeroes; drop hipri or set fallback: allow"));
    rig_close(&r);
}

static void a_wait_is_for_min_and_no_longer(void **state)
{
    (void)state;
    rig_t r;
    const rb_done_t *done;
    const uint32_t slots[DEPTH] = {0, 1, 2, 3};
    rb_io_t ios[DEPTH];
    rig_init(&r, &rb_backend_uring, RB_TARGET_DEVICE, READS);
    rig_open(&r);
    for (uint32_t i = 0; i < DEPTH; i++)
        ios[i] = (rb_io_t){.offset_bytes = i * 4096, .size_bytes = 4096, .op = RB_OP_READ};
    for (int i = 0; i < 100; i++) {
        r.b->queue(r.io, ios, slots, DEPTH);
        assert_int_equal(r.b->wait(r.io, DEPTH, 10 * RB_NS_PER_S), 0);
        /* In two parts where the ring of completions ends between them. */
        uint32_t n = r.b->reap(r.io, RB_BATCH, &done);
        while (n < DEPTH)
            n += r.b->reap(r.io, RB_BATCH, &done);
    }
    uint64_t start_ns = rb_clock_now_ns();
    assert_int_equal(r.b->wait(r.io, 1, 20 * RB_NS_PER_MS), 0); /* nothing is in flight */
    assert_in_range(rb_clock_now_ns() - start_ns, 20 * RB_NS_PER_MS, 2 * RB_NS_PER_S);
    assert_int_equal(r.b->reap(r.io, RB_BATCH, &done), 0);
    rig_close(&r);
}

/* A worker whose batches are always full never waits. */
static void a_submission_alone_shows_what_is_complete(void **state)
{
    (void)state;
    rig_t r;
    const rb_done_t *done;
    const rb_io_t io = {.size_bytes = 4096, .op = RB_OP_READ};
    const uint32_t slot = 1;
    rig_init(&r, &rb_backend_uring, RB_TARGET_DEVICE, READS);
    rig_open(&r);
    for (int i = 0; i < 100; i++) {
        uint64_t until_ns = rb_clock_now_ns() + 10 * RB_NS_PER_S;
        r.b->queue(r.io, &io, &slot, 1);
        do
            assert_int_equal(r.b->submit(r.io), 0);
        while (r.b->reap(r.io, RB_BATCH, &done) == 0 && rb_clock_now_ns() < until_ns);
        assert_true(rb_clock_now_ns() < until_ns);
        assert_int_equal(done->res, 4096);
    }
    rig_close(&r);
}

static void passthrough_needs_an_nvme_drive(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err = {0};
    rig_init(&r, &rb_backend_uring_cmd, RB_TARGET_DEVICE, READS);
    assert_null(r.b->open(&r.o, &err));
    assert_non_null(strstr(err.text, "/dev/ng0n1"));
    assert_int_equal(err.code, RB_ERR_INPUT);
    rig_close(&r);
}

static void the_format_of_a_namespace(void **state)
{
    (void)state;
    uint8_t identify[RB_NVME_IDENTIFY_BYTES] = {0};
    uint32_t shift = 0;
    rb_err_t err = {0};
    identify[25] = 1;       /* two formats */
    identify[128 + 2] = 9;  /* 0: 512 bytes */
    identify[132 + 2] = 12; /* 1: 4096 bytes */
    assert_int_equal(rb_nvme_block_shift(identify, &shift, &err), 0);
    assert_int_equal(shift, 9);
    identify[26] = 1;
    assert_int_equal(rb_nvme_block_shift(identify, &shift, &err), 0);
    assert_int_equal(shift, 12);
    identify[132] = 8;
    assert_int_equal(rb_nvme_block_shift(identify, &shift, &err), -1);
    assert_non_null(strstr(err.text, "8 bytes of metadata a block"));
    identify[25] = 17; /* more than 16: two more bits of the index */
    identify[26] = 0x21;
    identify[128 + 17 * 4 + 2] = 12;
    assert_int_equal(rb_nvme_block_shift(identify, &shift, &err), 0);
    identify[128 + 17 * 4 + 2] = 8;
    assert_int_equal(rb_nvme_block_shift(identify, &shift, &err), -1);
    assert_non_null(strstr(err.text, "2^8 bytes"));
}

static void the_commands_of_a_controller(void **state)
{
    (void)state;
    uint8_t identify[RB_NVME_IDENTIFY_BYTES] = {[520] = 0x08, [521] = 0x01};
    assert_true(rb_nvme_commands(identify) & RB_NVME_WRITE_ZEROES);
    assert_false(rb_nvme_commands(identify) & RB_NVME_DATASET_MANAGEMENT);
    identify[520] = 0x04;
    assert_int_equal(rb_nvme_commands(identify), 0x100 | RB_NVME_DATASET_MANAGEMENT);
}

/* Of this process. */
static uint64_t huge_bytes(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/status", "re");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL)
        sscanf(line, "HugetlbPages: %llu", &kib);
    fclose(f);
    return kib * 1024;
}

/* The system's number of huge pages is changed for as long as the test runs. */
static void huge_pages_are_counted(void **state)
{
    (void)state;
    const char *const nr = "/proc/sys/vm/nr_hugepages";
    long long had = 0;
    FILE *f = fopen(nr, "re");
    rb_err_t err = {0};
    size_t bytes = 1ull << 40;
    assert_true(f != NULL && fscanf(f, "%lld", &had) == 1);
    fclose(f);
    assert_null(rb_buffer_new_huge(&bytes, &err));
    assert_non_null(strstr(err.text, "huge pages of "));
    assert_non_null(strstr(err.text, " are missing (sysctl vm.nr_hugepages)"));
    assert_int_equal(bytes, 1ull << 40);
    rb_test_put(nr, had + 4);
    bytes = RB_MIB;
    uint64_t used_bytes = 0;
    uint8_t *p = rb_buffer_new_huge(&bytes, &err);
    if (p != NULL) {
        assert_int_equal(bytes % (2 * RB_MIB), 0);
        memset(p, 1, bytes);
        used_bytes = huge_bytes();
        rb_buffer_free(p, bytes);
    }
    rb_test_put(nr, had);
    assert_non_null(p);
    assert_int_equal(used_bytes, bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_backend_does_each_operation),
        cmocka_unit_test(a_submission_thread_does_all_too),
        cmocka_unit_test(polling_is_refused_by_name),
        cmocka_unit_test(a_polled_ring_takes_no_trims),
        cmocka_unit_test(a_wait_is_for_min_and_no_longer),
        cmocka_unit_test(a_submission_alone_shows_what_is_complete),
        cmocka_unit_test(passthrough_needs_an_nvme_drive),
        cmocka_unit_test(the_format_of_a_namespace),
        cmocka_unit_test(the_commands_of_a_controller),
        cmocka_unit_test(huge_pages_are_counted),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
