/* The worker's batches over a made-up device: how large, in which order, how many clock reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/worker.h"
#include "tests/unit/worker_rig.h"

static void a_batch_is_eight(void **state)
{
    (void)state;
    job.iodepth = 64;
    job.number_ios = 2000;
    job.runtime_ns = 0;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    add_up();
    assert_int_equal(sum[RB_PART_MAIN].ops, 2000);
    assert_int_equal(device.largest, 8);
}

/* More where the job waits for more; no clock read stands for more than eight all the same. */
static void a_batch_grows_with_the_wait(void **state)
{
    (void)state;
    uint64_t starts = 0;
    job.iodepth = 64;
    job.iodepth_batch_complete_min = 50;
    job.number_ios = 64;
    device.stall_to_ns = UINT64_MAX; /* all stay in flight, as they were submitted */
    job.runtime_ns = 100 * RB_NS_PER_MS;
    prepare(RB_NS_PER_S);
    atomic_store(&crew.give_up, true); /* and come back cancelled */
    rb_worker_loop(worker);
    assert_int_equal(device.largest, 32);
    assert_int_equal(device.deepest, 64);
    for (int i = 0; i < 64; i++)
        starts += i == 0 || device.start_ns[i] != device.start_ns[i - 1];
    assert_int_equal(starts, 8);
}

static void a_full_reap_is_accounted_for(void **state)
{
    (void)state;
    job.iodepth = 64;
    job.iodepth_batch_complete_min = 50;
    job.number_ios = 6400;
    job.runtime_ns = 0;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    add_up();
    assert_int_equal(sum[RB_PART_MAIN].ops, 6400);
    assert_int_equal(sum[RB_PART_MAIN].service.count, 6400);
    assert_int_equal(device.sent, 6400);
}

/* Drawn ahead, and taken by 1 to 5: none is lost, given twice or out of its place. */
static void what_is_drawn_ahead_keeps_its_order(void **state)
{
    (void)state;
    job.rw = RACKBENCH__RW__MODE__read;
    job.iodepth = 5;
    job.number_ios = 3001;
    job.runtime_ns = 0;
    device.service_ns = 1000;
    device.jitter_ns = 20000;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    add_up();
    assert_int_equal(sum[RB_PART_MAIN].ops, 3001);
    assert_int_equal(device.out_of_order, 0);
    assert_int_equal(device.next_bytes, 3001 * 4096);
}

/* The next worker goes on where this one stopped. */
static void nothing_shared_is_drawn_ahead(void **state)
{
    (void)state;
    job.rw = RACKBENCH__RW__MODE__read;
    job.seq_layout = RACKBENCH__SEQ_LAYOUT__KIND__shared;
    job.iodepth = 5;
    job.number_ios = 301;
    job.runtime_ns = 0;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    assert_int_equal(device.out_of_order, 0);
    assert_int_equal(atomic_load(&cursor), 301);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_batch_is_eight, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_grows_with_the_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_full_reap_is_accounted_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_drawn_ahead_keeps_its_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing_shared_is_drawn_ahead, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
