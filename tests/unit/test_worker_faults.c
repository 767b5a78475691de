/* What a worker does about errors and hung operations, over a made-up device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/worker.h"
#include "tests/unit/worker_rig.h"

static rb_io_error_t failed(rb_op_t op, int32_t res)
{
    return (rb_io_error_t){.at_ns = 1, .size_bytes = 4096, .op = op, .res = res};
}

static void the_policy_says_who_goes_on(void **state)
{
    (void)state;
    const uint32_t reads = 1u << RB_OP_READ;
    const uint32_t writes = 1u << RB_OP_WRITE | 1u << RB_OP_TRIM | 1u << RB_OP_SYNC;
    const uint32_t want[] = {0, reads, writes, reads | writes};
    for (int kind = 0; kind < 4; kind++) {
        job.continue_on_error = (Rackbench__ContinueOnError__Kind)kind;
        rb_worker_errors_t e = {.tolerated = rb_worker_errors_tolerated(&job)};
        assert_int_equal(e.tolerated, want[kind]);
        for (rb_op_t op = RB_OP_READ; op < RB_OP_COUNT; op++) {
            rb_io_error_t error = failed(op, -EIO);
            assert_int_equal(rb_worker_errors_add(&e, &error), !(want[kind] & 1u << op));
        }
        rb_io_error_t broken = failed(RB_OP_COUNT, -EBADF); /* whatever the policy */
        assert_true(rb_worker_errors_add(&e, &broken));
        assert_int_equal(e.fatal.op, kind == 3   ? RB_OP_COUNT
                                     : kind == 1 ? RB_OP_WRITE
                                                 : RB_OP_READ);
    }
}

static void errors_are_counted_by_kind(void **state)
{
    (void)state;
    rb_worker_errors_t e = {.tolerated = UINT32_MAX};
    for (int32_t i = 0; i < 100; i++) {
        const rb_io_error_t errors[] = {failed(RB_OP_READ, -EIO), failed(RB_OP_WRITE, -EIO),
                                        failed(RB_OP_READ, 512 * i), failed(RB_OP_TRIM, -1 - i)};
        for (size_t j = 0; j < RB_LEN(errors); j++)
            assert_false(rb_worker_errors_add(&e, &errors[j]));
    }
    assert_int_equal(e.nfirst, RB_MAX_IO_ERRORS);
    assert_int_equal(e.nkinds, RB_MAX_ERROR_KINDS);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(e.kinds[i].count, 100);
    assert_int_equal(e.kinds[2].res, 0); /* too short, however long it was */
    assert_int_equal(e.kinds[RB_MAX_ERROR_KINDS - 1].count, 100 - (RB_MAX_ERROR_KINDS - 4));
    assert_false(e.failed);
}

static void tolerated_errors_do_not_stop_it(void **state)
{
    (void)state;
    device.fail_each = 10;
    device.fail_with = 512; /* as good as an error: too short */
    device.service_ns = 10 * RB_NS_PER_US;
    job.continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__read;
    job.number_ios = 1000;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    add_up();
    const rb_worker_errors_t *e = &worker->account.errors;
    assert_int_equal(sum[RB_PART_MAIN].errors, 100);
    assert_int_equal(sum[RB_PART_MAIN].ops, 900);
    assert_int_equal(sum[RB_PART_MAIN].bytes, 900 * 4096);
    assert_int_equal(sum[RB_PART_MAIN].service.count, 900);
    assert_int_equal(e->nfirst, RB_MAX_IO_ERRORS);
    assert_int_equal(e->first[9].res, 512);
    assert_int_equal(e->nkinds, 1);
    assert_int_equal(e->kinds[0].count, 100);
    assert_false(e->failed);
    assert_true(worker->account.finished);
    assert_true(atomic_load(&crew.stop_ns) == UINT64_MAX);
}

static void errors_of_another_kind_do_stop_it(void **state)
{
    (void)state;
    device.fail_at = 21;
    job.continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__write;
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    assert_true(worker->account.errors.failed);
    assert_int_equal(worker->account.errors.fatal.res, -EIO);
    assert_int_equal(atomic_load(&crew.stop_ns), worker->account.errors.fatal.at_ns);
}

static rb_slot_t slot_of(uint64_t submit_ns, uint64_t offset_bytes)
{
    return (rb_slot_t){
        .submit_ns = submit_ns, .offset_bytes = offset_bytes, .size_bytes = 4096, .op = RB_OP_READ};
}

static void a_hung_operation_is_told_once(void **state)
{
    (void)state;
    rb_hung_t h;
    const uint64_t s = RB_NS_PER_S;
    rb_slot_t slots[3] = {slot_of(s, 0), slot_of(0, 0), slot_of(2 * s, 8192)};
    rb_hung_init(&h, 3);
    rb_hung_look(&h, slots, 3 * s - 1);
    assert_null(rb_hung_take(&h));
    rb_hung_look(&h, slots, 3 * s);
    const rb_hung_op_t *op = rb_hung_take(&h);
    assert_int_equal(op->offset_bytes, 0);
    assert_int_equal(op->age_ns, 2 * s);
    assert_null(rb_hung_take(&h));
    rb_hung_look(&h, slots, 4 * s);
    op = rb_hung_take(&h);
    assert_int_equal(op->offset_bytes, 8192);
    assert_null(rb_hung_take(&h));
    slots[0] = slot_of(5 * s, 4096); /* the next operation in that slot hangs too */
    rb_hung_look(&h, slots, 8 * s);
    op = rb_hung_take(&h);
    assert_int_equal(op->offset_bytes, 4096);
    assert_int_equal(op->age_ns, 3 * s);
    for (uint64_t i = 0; i < 100; i++) {
        slots[0].submit_ns++;
        rb_hung_look(&h, slots, 8 * s);
    }
    for (int i = 0; i < RB_MAX_HUNG - 3; i++)
        assert_non_null(rb_hung_take(&h));
    assert_null(rb_hung_take(&h));
    rb_hung_clear(&h);
}

static void it_is_told_while_it_hangs(void **state)
{
    (void)state;
    job.runtime_ns = 2700 * RB_NS_PER_MS;
    prepare(500 * RB_NS_PER_MS);
    device.stall_from_ns = t0_ns + 100 * RB_NS_PER_MS;
    device.stall_to_ns = t0_ns + 2600 * RB_NS_PER_MS;
    rb_worker_loop(worker);
    for (int i = 0; i < 2; i++) { /* iodepth 2 */
        const rb_hung_op_t *op = rb_hung_take(&worker->hung);
        assert_non_null(op);
        /* At the window's border of 2.5 s. */
        assert_in_range(op->at_ns - t0_ns, 2500 * RB_NS_PER_MS, 2600 * RB_NS_PER_MS);
        assert_in_range(op->age_ns, 2350 * RB_NS_PER_MS, 2500 * RB_NS_PER_MS);
    }
    assert_null(rb_hung_take(&worker->hung));
}

static void a_wait_may_be_for_many(void **state)
{
    (void)state;
    job.iodepth = 16;
    job.iodepth_batch_complete_min = 12;
    job.number_ios = 1003; /* at the end fewer are in flight than that */
    prepare(RB_NS_PER_S);
    rb_worker_loop(worker);
    add_up();
    assert_int_equal(device.wait_min, 12);
    assert_int_equal(sum[RB_PART_MAIN].ops, 1003);
}

static void depths_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_backend_t one_at_a_time = made_up;
    rb_worker_opts_t o = {.crew = &crew,
                          .subject = &subject,
                          .job = &job,
                          .cursor = &cursor,
                          .backend = &one_at_a_time,
                          .interval_ns = RB_NS_PER_S};
    one_at_a_time.max_iodepth = 1;
    one_at_a_time.name = "sync";
    assert_null(rb_worker_new(&o, &err));
    assert_string_equal(err.text, "job 'j': ioengine: sync does one operation at a time; set "
                                  "iodepth: 1 and raise numjobs for more");
    job.iodepth = 1;
    job.iodepth_batch_complete_min = 2;
    assert_null(rb_worker_new(&o, &err));
    assert_non_null(strstr(err.text, "iodepth_batch_complete_min 2 is more than its iodepth 1"));
}

/* The plan comes from outside: what a coordinator should have refused is no reason to abort. */
static void schedules_that_cannot_be_are_refused(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_worker_opts_t o = {.crew = &crew,
                          .subject = &subject,
                          .job = &job,
                          .cursor = &cursor,
                          .backend = &made_up,
                          .interval_ns = RB_NS_PER_S};
    job.rate_bytes = 1ull << 62;
    assert_null(rb_worker_new(&o, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_string_equal(err.text,
                        "job 'j': a rate of 4611686018427387904; less than 2^62 is right");
    job.rate_bytes = 0;
    job.rate_iops = UINT64_MAX;
    assert_null(rb_worker_new(&o, &err));
    job.rate_iops = 0;
    job.thinktime_ns = UINT64_MAX;
    assert_null(rb_worker_new(&o, &err));
    assert_non_null(strstr(err.text, "at most a day is right"));
    job.thinktime_ns = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_policy_says_who_goes_on, set_up, tear_down),
        cmocka_unit_test(errors_are_counted_by_kind),
        cmocka_unit_test_setup_teardown(tolerated_errors_do_not_stop_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_of_another_kind_do_stop_it, set_up, tear_down),
        cmocka_unit_test(a_hung_operation_is_told_once),
        cmocka_unit_test_setup_teardown(it_is_told_while_it_hangs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wait_may_be_for_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(depths_that_do_not_fit_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(schedules_that_cannot_be_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
