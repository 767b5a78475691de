/* test_engine_region.c - loops, offset_increment, percents and start_delay, through a whole phase
 * on a disk. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

/* A job that is bound by its work. */
static void begin(rig_t *r, Rackbench__Rw__Mode rw)
{
    rig_init(r, loop.path, true, DISK);
    r->jobs[0].rw = rw;
    r->jobs[0].runtime_ns = 0;
}

static void loops_multiply_the_pass(void **state)
{
    (void)state;
    static const Rackbench__Rw__Mode modes[] = {RACKBENCH__RW__MODE__read,
                                                RACKBENCH__RW__MODE__randread};
    for (size_t i = 0; i < RB_LEN(modes); i++)
        for (int own = 0; own < 2; own++) { /* the permutation's cursor is shared */
            rig_t r;
            tally_t t;
            begin(&r, modes[i]);
            r.jobs[0].loops = 3;
            r.jobs[0].size_bytes = 256 * 1024;
            r.jobs[0].numjobs = 2;
            r.jobs[0].seq_layout = RACKBENCH__SEQ_LAYOUT__KIND__same;
            r.jobs[0].has_norandommap = i == 1 && own == 0;
            run_witnessed(&r, &t);
            assert_int_equal(tally_all_bytes(&t, RB_OP_READ), 2 * 3 * 256 * 1024);
            assert_true(t.workers[0].finished && t.workers[1].finished);
        }
}

/* Whichever comes first. */
static void loops_beside_other_bounds(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    begin(&r, RACKBENCH__RW__MODE__read);
    r.jobs[0].loops = 3;
    r.jobs[0].size_bytes = 64 * 1024;
    r.jobs[0].io_size_bytes = 100 * 1024;
    run_witnessed(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), 100 * 1024);
    r.jobs[0].io_size_bytes = 0;
    r.jobs[0].number_ios = 1000;
    r.jobs[0].runtime_ns = 20 * RB_NS_PER_S;
    run_witnessed(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), 3 * 64 * 1024);
}

/* Each worker writes its own 64 KiB, in random order and once, and nothing else. */
static void increments_set_workers_apart(void **state)
{
    (void)state;
    static uint8_t data[DISK];
    enum { PART = 64 * 1024, EVERY = 256 * 1024, WORKERS = 3 };
    static const Rackbench__Rw__Mode modes[] = {RACKBENCH__RW__MODE__write,
                                                RACKBENCH__RW__MODE__randwrite};
    for (size_t i = 0; i < RB_LEN(modes); i++) {
        rig_t r;
        tally_t t;
        memset(data, 0, sizeof(data));
        disk_io((ssize_t(*)(int, void *, size_t, off_t))pwrite, data, DISK, 0);
        begin(&r, modes[i]);
        r.jobs[0].numjobs = WORKERS;
        r.jobs[0].offset_bytes = 4096;
        r.jobs[0].size_bytes = PART;
        r.jobs[0].offset_increment_bytes = EVERY;
        r.jobs[0].seq_layout = RACKBENCH__SEQ_LAYOUT__KIND__same;
        r.jobs[0].has_norandommap = i == 1;
        run_witnessed(&r, &t);
        assert_int_equal(tally_all_bytes(&t, RB_OP_WRITE), WORKERS * PART);
        disk_io(pread, data, DISK, 0);
        for (uint64_t at = 0; at < DISK; at += 4096) {
            bool mine = at >= 4096 && (at - 4096) % EVERY < PART && (at - 4096) / EVERY < WORKERS;
            bool zero = data[at] == 0 && memcmp(data + at, data + at + 1, 4095) == 0;
            if (mine == zero)
                fail_msg("byte %llu is %s", (unsigned long long)at, zero ? "zero" : "written");
        }
    }
}

static void percents_are_of_the_drive(void **state)
{
    (void)state;
    rig_t r;
    tally_t t;
    begin(&r, RACKBENCH__RW__MODE__read);
    r.jobs[0].offset_percent = 50;
    r.jobs[0].size_percent = 25;
    run_witnessed(&r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), DISK / 4);
}

static void delays_hold_the_start(void **state)
{
    (void)state;
    static const uint64_t rates[] = {0, 1000};
    for (size_t i = 0; i < RB_LEN(rates); i++) {
        rig_t r;
        tally_t t;
        begin(&r, RACKBENCH__RW__MODE__randread);
        r.jobs[0].number_ios = 20;
        r.jobs[0].start_delay_ns = 300 * RIG_MS;
        r.jobs[0].rate_iops = rates[i];
        run_witnessed(&r, &t);
        assert_int_equal(tally_all_bytes(&t, RB_OP_READ), 20 * 4096);
        assert_int_equal(t.workers[0].first_due_at_ns, 300 * RIG_MS);
        assert_true(t.workers[0].first_submit_at_ns >= (int64_t)(300 * RIG_MS));
        assert_true(t.workers[0].first_submit_at_ns < (int64_t)(2 * RB_NS_PER_S));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(loops_multiply_the_pass, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loops_beside_other_bounds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(increments_set_workers_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(percents_are_of_the_drive, set_up, tear_down),
        cmocka_unit_test_setup_teardown(delays_hold_the_start, set_up, tear_down),
    };
    const char *why = rb_test_isolate();
    if (why != NULL) {
        print_message("skipped: %s\n", why);
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
