/* When a worker that verifies or logs holds writes back, over a made-up device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/mman.h>
#include <cmocka.h>

#include "agent/worker_verify.h"
#include "tests/unit/worker_rig.h"

/* 600 verified writes to a region of that many blocks, eight at a time. */
static void write_region(uint64_t blocks)
{
    int fd = memfd_create("subject", 0); /* only opened; ends with the program */
    assert_true(fd >= 0);
    snprintf(subject.at.path, sizeof(subject.at.path), "/proc/self/fd/%d", fd);
    device.service_ns = 10 * RB_NS_PER_US;
    job.rw = RACKBENCH__RW__MODE__write;
    job.iodepth = 8;
    job.runtime_ns = 0;
    job.has_number_ios = true;
    job.number_ios = 600;
    job.has_size_bytes = true;
    job.size_bytes = blocks * 4096;
    job.verify = true;
    atomic_store(&cursor, 0);
}

static void run(void)
{
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    assert_true(worker->account.finished);
    assert_int_equal(device.sent, 600);
}

static void writes_to_a_small_region_wait(void **state)
{
    (void)state;
    write_region(3);
    run();
    assert_int_equal(device.deepest, 3);
}

static void a_pass_of_a_permutation_ends_before_the_next(void **state)
{
    (void)state;
    write_region(5);
    job.rw = RACKBENCH__RW__MODE__randwrite;
    job.has_norandommap = true; /* and false */
    run();
    assert_int_equal(device.deepest, 5);
}

static void a_region_that_is_large_enough_costs_no_depth(void **state)
{
    (void)state;
    write_region(50);
    run();
    assert_int_equal(device.deepest, 8);
}

static void who_does_not_verify_does_not_wait(void **state)
{
    (void)state;
    write_region(3);
    job.verify = false;
    run();
    assert_int_equal(device.deepest, 8);
}

/* What failed is in flight no more. */
static void a_write_that_failed_holds_nothing_back(void **state)
{
    (void)state;
    write_region(3);
    device.fail_each = 5;
    job.continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__all;
    run();
    assert_int_equal(worker->account.errors.kinds[0].count, 120);
}

/* Each completion must find a place: those in flight have theirs first. */
static void a_full_log_holds_back(void **state)
{
    (void)state;
    rb_worker_t *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);
    rb_log_ring_t *ring = aligned_alloc(64, (sizeof(*ring) + 63) / 64 * 64);
    assert_true(w != NULL && ring != NULL);
    memset(w, 0, sizeof(*w));
    memset(ring, 0, sizeof(*ring));
    w->order_end = UINT64_MAX;
    w->ring = ring;
    w->inflight = 5;
    assert_int_equal(rb_worker_room(w, 8), 8);
    atomic_store(&ring->head, RB_LOG_RING - 13);
    assert_int_equal(rb_worker_room(w, 8), 8);
    assert_int_equal(w->account.log_waits, 0);
    atomic_store(&ring->head, RB_LOG_RING - 12);
    assert_int_equal(rb_worker_room(w, 8), 7);
    atomic_store(&ring->head, RB_LOG_RING - 5);
    assert_int_equal(rb_worker_room(w, 8), 0);
    w->inflight = 0;
    assert_int_equal(rb_worker_room(w, 8), 5);
    atomic_store(&ring->head, RB_LOG_RING);
    assert_int_equal(rb_worker_room(w, 8), 0);
    assert_int_equal(w->account.log_waits, 4);
    atomic_store(&ring->tail, 1);
    assert_int_equal(rb_worker_room(w, 8), 1);
    free(ring);
    free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(writes_to_a_small_region_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_pass_of_a_permutation_ends_before_the_next, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_region_that_is_large_enough_costs_no_depth, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(who_does_not_verify_does_not_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_write_that_failed_holds_nothing_back, set_up, tear_down),
        cmocka_unit_test(a_full_log_holds_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
