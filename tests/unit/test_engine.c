/* The engine on real targets: loop devices with direct I/O over tmpfs, and files. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define RB_TEST_DISK_BYTES (16 * 1024 * 1024)

#include "agent/engine.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

static void all_parts_sum_up(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.phase.n_jobs = 2;
    r.jobs[0].rw = RACKBENCH__RW__MODE__randrw;
    r.jobs[0].numjobs = 2;
    for (int i = 0; i < 2; i++)
        r.jobs[i].ramp_time_ns = 125 * RIG_MS;
    run_witnessed(&r, &t);
    assert_true(t.ops[RB_PART_RAMP][RB_OP_READ] > 0 && t.ops[RB_PART_MAIN][RB_OP_READ] > 0);
    assert_true(t.ops[RB_PART_MAIN][RB_OP_WRITE] > 0);
    for (int part = 0; part < RB_PART_COUNT; part++) {
        uint64_t ops = t.ops[part][RB_OP_READ] + t.ops[part][RB_OP_WRITE];
        assert_int_equal(t.service[part], ops);
        assert_int_equal(t.response[part], ops);
    }
    assert_int_equal(t.ops[RB_PART_SETUP][RB_OP_READ], 0);
    assert_false(t.out_of_order);
    assert_int_equal(t.errors, 0);
    assert_int_equal(t.nworkers, 3);
    assert_int_equal(t.ndrives, 1);
    /* The ramp of 125 ms ends within window 2, M of 200 ms within window 6. Late wake-ups may
     * give one window to two rows, never less than all. */
    assert_true(t.covered[RB_PART_RAMP] >= 3 && t.covered[RB_PART_MAIN] >= 5);
    uint64_t unfinished = 0;
    for (size_t i = 0; i < t.nworkers; i++) {
        const rb_row_worker_t *w = &t.workers[i];
        unfinished += w->unfinished;
        assert_in_range(w->first_submit_at_ns, 0, 100 * RIG_MS);
        assert_int_equal(w->end_at_ns, 325 * RIG_MS);
        /* seen late by as much as a wake-up takes, never before it came */
        assert_in_range(w->stopped_at_ns, 325 * RIG_MS, 425 * RIG_MS);
        assert_int_equal(w->wall_ns, 200 * RIG_MS);
        assert_true(w->cpu_ns > 0 && w->cpu_ns < 300 * RIG_MS);
        assert_true(w->turn.count > 0);
        assert_false(w->finished);
    }
    assert_int_equal(unfinished,
                     t.ops[RB_PART_DRAINED][RB_OP_READ] + t.ops[RB_PART_DRAINED][RB_OP_WRITE]);
}

static void a_sampler_that_never_comes_loses_nothing(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.rows_late = true;
    r.plan.interval_ns = 10 * RIG_MS;
    r.jobs[0].ramp_time_ns = 100 * RIG_MS;
    r.jobs[0].numjobs = 2;
    run_witnessed(&r, &t);
    assert_true(t.max_span > 5);
    assert_true(t.ops[RB_PART_RAMP][RB_OP_READ] > 0 && t.ops[RB_PART_MAIN][RB_OP_READ] > 0);
    assert_int_equal(t.covered[RB_PART_RAMP], 10);
    assert_int_equal(t.covered[RB_PART_MAIN], 20);
    assert_int_equal(t.nworkers, 2);
    assert_int_equal(t.ndrives, 1);
}

static void open_loop_offers_rate_times_time(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].rate_iops = 3000;
    r.jobs[0].ramp_time_ns = 100 * RIG_MS;
    r.jobs[0].iodepth = 32;
    run_witnessed(&r, &t);
    assert_int_equal(t.workers[0].offered_ops, 600);
    uint64_t main_ops = t.ops[RB_PART_MAIN][RB_OP_READ];
    assert_in_range(main_ops, 450, 750); /* late wake-ups move some across the borders */
    /* All that came due was submitted, up to the last few before Te. */
    assert_in_range(tally_all_bytes(&t, RB_OP_READ) / 4096, 850, 900);
}

/* Each 4 KiB that was written carries its offset in its first 8 bytes, scrambled (data.c). */
static uint64_t stamped(const char *path, uint64_t size_bytes)
{
    uint64_t n = 0, stamp;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (uint64_t at = 0; at < size_bytes; at += 4096) {
        assert_int_equal(pread(fd, &stamp, sizeof(stamp), (off_t)at), sizeof(stamp));
        n += stamp == at * 0x9e3779b97f4a7c15ull;
    }
    close(fd);
    return n;
}

static void sequential_covers(int kind, uint64_t passes)
{
    rig_t r;
    tally_t t;
    assert_int_equal(truncate(loop.image, 0), 0); /* no stamp of an earlier pass */
    assert_int_equal(truncate(loop.image, DISK), 0);
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].rw = RACKBENCH__RW__MODE__write;
    r.jobs[0].bs_bytes = 16384;
    r.jobs[0].numjobs = 3;
    r.jobs[0].runtime_ns = 0;
    r.jobs[0].seq_layout = (Rackbench__SeqLayout__Kind)kind;
    run_witnessed(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_WRITE), passes * DISK);
    assert_int_equal(t.ops[RB_PART_DRAINED][RB_OP_WRITE], 0);
    assert_int_equal(stamped(loop.image, DISK), DISK / 4096);
    for (size_t i = 0; i < 3; i++)
        assert_true(t.workers[i].finished);
    assert_true(t.rows_after_all_ran > 0);
}

static void sequential_covers_the_region_once(void **state)
{
    (void)state;
    sequential_covers(RACKBENCH__SEQ_LAYOUT__KIND__region, 1);
    sequential_covers(RACKBENCH__SEQ_LAYOUT__KIND__shared, 1);
    sequential_covers(RACKBENCH__SEQ_LAYOUT__KIND__same, 3);
}

static void a_count_is_exact(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].runtime_ns = 20 * RB_NS_PER_S; /* the count comes first */
    r.jobs[0].number_ios = 777;
    r.jobs[0].numjobs = 2;
    run_witnessed(&r, &t);
    assert_int_equal(t.ops[RB_PART_MAIN][RB_OP_READ], 2 * 777);
    r.jobs[0].io_size_bytes = 100 * 4096; /* and this before the count */
    rig_run(&r, &t);
    assert_int_equal(t.ops[RB_PART_MAIN][RB_OP_READ], 2 * 100);
    assert_true(t.workers[1].finished && t.workers[1].done_at_ns >= t.workers[1].end_at_ns);
}

static void a_stop_is_heeded_at_once(void **state)
{
    (void)state;
    rig_t r;
    tally_t t = {0};
    rb_err_t err;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].runtime_ns = 3600 * RB_NS_PER_S;
    r.jobs[0].rate_iops = 1; /* blocked in its wait all the time */
    r.plan.interval_ns = 3600 * RB_NS_PER_S;
    rb_engine_t *e = rig_engine(&r, &err);
    rig_arm(e, &t);
    usleep(30000);
    uint64_t start_ns = rb_clock_now_ns();
    rb_engine_stop(e, 0);
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    assert_in_range(rb_clock_now_ns() - start_ns, 0, 100 * RIG_MS);
    assert_int_equal(rb_engine_fault(e)->code, RB_OK);
    assert_int_equal(t.ops[RB_PART_MAIN][RB_OP_READ], 1);
    rb_engine_destroy(&e);
}

static void an_io_error_ends_the_phase(void **state)
{
    (void)state;
    rig_t r;
    tally_t t = {0};
    rb_err_t err;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].runtime_ns = 3600 * RB_NS_PER_S;
    r.jobs[0].numjobs = 2;
    rb_engine_t *e = rig_engine(&r, &err);
    rig_arm(e, &t);
    usleep(50000);
    uint64_t start_ns = rb_clock_now_ns();
    assert_int_equal(truncate(loop.image, 0), 0);
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    assert_in_range(rb_clock_now_ns() - start_ns, 0, 200 * RIG_MS);
    const rb_err_t *fault = rb_engine_fault(e);
    assert_int_equal(fault->code, RB_ERR_IO);
    assert_non_null(strstr(fault->text, "read 4 KiB at "));
    assert_non_null(strstr(fault->text, loop.path));
    assert_non_null(strstr(fault->text, "Input/output error"));
    assert_true(t.errors > 0 && t.nevents > 0);
    assert_string_equal(t.event_kind[0], "io_error");
    assert_int_equal(truncate(loop.image, DISK), 0);
    rb_engine_destroy(&e);
}

static void destroy_is_quick_in_any_state(void **state)
{
    (void)state;
    for (int stage = 0; stage < 4; stage++) {
        rig_t r;
        rb_err_t err;
        rig_init(&r, loop.path, true, DISK);
        r.jobs[0].runtime_ns = 3600 * RB_NS_PER_S;
        rb_engine_t *e = rig_engine(&r, &err);
        if (stage > 0)
            assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, NULL), RB_ENGINE_READY);
        if (stage > 1) /* waiting for a far T0, and running */
            rb_engine_arm(e, rb_clock_now_ns() + (stage == 2 ? 3600 * RB_NS_PER_S : 0), 0);
        usleep(20000);
        uint64_t start_ns = rb_clock_now_ns();
        rb_engine_destroy(&e);
        assert_in_range(rb_clock_now_ns() - start_ns, 0, 300 * RIG_MS);
    }
}

static void a_stop_before_the_start_fails_the_phase(void **state)
{
    (void)state;
    rig_t r;
    tally_t t = {0};
    rb_err_t err;
    rig_init(&r, loop.path, true, DISK);
    rb_engine_t *e = rig_engine(&r, &err);
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, NULL), RB_ENGINE_READY);
    rb_engine_stop(e, 0);
    assert_int_equal(rb_engine_poll(e), RB_ENGINE_FAILED);
    assert_int_equal(rb_engine_fault(e)->code, RB_ERR_INTERRUPTED);
    rb_engine_destroy(&e);

    e = rig_engine(&r, &err);
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, NULL), RB_ENGINE_READY);
    rb_engine_arm(e, rb_clock_now_ns() + 3600 * RB_NS_PER_S, 0);
    rb_engine_stop(e, 0); /* armed, before T0: nothing was done */
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), 0);
    assert_true(t.workers[0].first_submit_at_ns == INT64_MIN);
    rb_engine_destroy(&e);
}

static void a_written_device_is_held(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err;
    int fd = open(loop.path, O_RDONLY | O_EXCL | O_CLOEXEC);
    assert_true(fd >= 0);
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].rw = RACKBENCH__RW__MODE__randwrite;
    rb_engine_t *e = rig_engine(&r, &err);
    assert_int_equal(rig_await(e, RB_ENGINE_PREPARING, NULL), RB_ENGINE_FAILED);
    assert_int_equal(rb_engine_fault(e)->code, RB_ERR_UNSAFE);
    rb_engine_destroy(&e);
    close(fd);
}

static void a_window_row_has_a_limit(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err;
    rig_init(&r, "/nowhere", false, RB_MIB);
    rb_subject_t *subjects = rb_calloc(RB_MAX_CELLS + 1, sizeof(*subjects));
    for (size_t i = 0; i <= RB_MAX_CELLS; i++)
        subjects[i] = r.subject;
    rb_engine_opts_t opts = {.plan = &r.plan,
                             .run_id = "run1",
                             .host = "h1",
                             .subjects = subjects,
                             .nsubjects = RB_MAX_CELLS + 1,
                             .jobs_here = r.here};
    assert_null(rb_engine_new(&opts, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "more than 1024 rows a window"));
    free(subjects);
}

static void more_memory_than_there_is_is_refused(void **state)
{
    (void)state;
    rig_t r;
    rb_err_t err;
    rig_init(&r, loop.path, true, DISK);
    r.jobs[0].bs_bytes = DISK / 4;
    r.jobs[0].iodepth = RB_MAX_IODEPTH;
    r.jobs[0].numjobs = 64;
    assert_null(rig_engine(&r, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "lower iodepth, numjobs or bs"));
}

static void no_job_here_is_drained_at_once(void **state)
{
    (void)state;
    rig_t r;
    tally_t t = {0};
    rb_err_t err;
    rig_init(&r, loop.path, true, DISK);
    r.here[0] = false;
    rb_engine_t *e = rig_engine(&r, &err);
    rig_arm(e, &t);
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    rb_engine_destroy(&e);
}

/* A step of a search: the number is the run's, the phase is what Prepare brought. */
static void a_step_is_run_as_it_is_given(void **state)
{
    (void)state;
    rig_t r;
    tally_t t = {0};
    rb_err_t err;
    Rackbench__Phase step;
    Rackbench__Job job, *jobs[] = {&job};
    rig_init(&r, loop.path, true, DISK);
    step = r.phase;
    job = r.jobs[0];
    step.jobs = jobs;
    job.has_rate_iops = true;
    job.rate_iops = 1000;
    rb_engine_opts_t opts = {.plan = &r.plan,
                             .phase = 7,
                             .override = &step,
                             .run_id = r.run_id,
                             .host = "h1",
                             .subjects = &r.subject,
                             .nsubjects = 1,
                             .jobs_here = r.here};
    rb_engine_t *e = rb_engine_new(&opts, &err);
    assert_non_null(e);
    rig_arm(e, &t);
    assert_int_equal(rig_await(e, RB_ENGINE_ARMED, &t), RB_ENGINE_DRAINED);
    assert_int_equal(t.workers[0].phase, 7);
    assert_int_equal(t.workers[0].offered_ops, 200);
    rb_engine_destroy(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_sum_up),
        cmocka_unit_test(a_sampler_that_never_comes_loses_nothing),
        cmocka_unit_test(open_loop_offers_rate_times_time),
        cmocka_unit_test(sequential_covers_the_region_once),
        cmocka_unit_test(a_count_is_exact),
        cmocka_unit_test(a_stop_is_heeded_at_once),
        cmocka_unit_test(an_io_error_ends_the_phase),
        cmocka_unit_test(destroy_is_quick_in_any_state),
        cmocka_unit_test(a_stop_before_the_start_fails_the_phase),
        cmocka_unit_test(a_written_device_is_held),
        cmocka_unit_test(a_window_row_has_a_limit),
        cmocka_unit_test(more_memory_than_there_is_is_refused),
        cmocka_unit_test(no_job_here_is_drained_at_once),
        cmocka_unit_test(a_step_is_run_as_it_is_given),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
