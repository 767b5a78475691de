/* Stale blocks that the engine finds on a loop device: an older write of the same job put back by
 * hand. Needs root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/engine.h"
#include "tests/unit/disk_rig.h"
#include "tests/unit/engine_rig.h"

enum { BS = 4096, BLOCKS = DISK / BS };

static uint8_t first_pass[DISK];

static ssize_t put(int fd, void *data, size_t size, off_t at)
{
    return pwrite(fd, data, size, at);
}

/* A job that writes `blocks` blocks, verified. */
static void writer(rig_t *r, uint64_t blocks)
{
    rig_init(r, loop.path, true, DISK);
    r->jobs[0].rw = RACKBENCH__RW__MODE__write;
    r->jobs[0].bs_bytes = BS;
    r->jobs[0].runtime_ns = 0;
    r->jobs[0].has_number_ios = true;
    r->jobs[0].number_ios = blocks;
    r->jobs[0].verify = true;
}

static void permuted(rig_t *r)
{
    r->jobs[0].rw = RACKBENCH__RW__MODE__randwrite;
    r->jobs[0].has_norandommap = true; /* and false */
}

static void shared(rig_t *r)
{
    r->jobs[0].has_seq_layout = true;
    r->jobs[0].seq_layout = RACKBENCH__SEQ_LAYOUT__KIND__shared;
}

/* The same job writes one pass, which is kept, and then that many blocks from the start: what it
 * writes is a matter of the plan alone. */
static void write_twice(rig_t *r, uint64_t blocks)
{
    tally_t t;
    r->jobs[0].number_ios = BLOCKS / r->jobs[0].numjobs;
    rig_run(r, &t);
    disk_io(pread, first_pass, DISK, 0);
    r->jobs[0].number_ios = blocks;
    rig_run(r, &t);
}

static void put_back(uint64_t block)
{
    disk_io(put, first_pass + block * BS, BS, (off_t)(block * BS));
}

static void reader(rig_t *r, Rackbench__Rw__Mode rw)
{
    rig_init(r, loop.path, true, DISK);
    r->jobs[0].rw = rw;
    r->jobs[0].bs_bytes = BS;
    r->jobs[0].runtime_ns = 0;
    r->jobs[0].verify = true;
    r->jobs[0].continue_on_error = RACKBENCH__CONTINUE_ON_ERROR__KIND__read;
    if (rw != RACKBENCH__RW__MODE__randread)
        return;
    r->jobs[0].has_norandommap = true; /* and false */
}

static void expect_right(rig_t *r)
{
    tally_t t;
    rig_run(r, &t);
    assert_int_equal(tally_all_bytes(&t, RB_OP_READ), DISK);
    assert_int_equal(t.errors + t.nevents, 0);
}

/* One block, once: in the count and in the event, with where it is and what should be there. */
static void expect_stale(rig_t *r, uint64_t block, uint64_t expected, uint64_t found)
{
    tally_t t;
    char want[200];
    snprintf(want, sizeof(want),
             "(sector %lu): expected sequence %lu, found a block with the older sequence %lu",
             block * BS / 512, expected, found);
    rig_run(r, &t);
    assert_int_equal(t.errors, 1);
    assert_int_equal(t.nevents, 2);
    assert_string_equal(t.event_kind[0], "verify_error");
    if (strstr(t.event_text[0], want) == NULL)
        fail_msg("'%s' is not in '%s'", want, t.event_text[0]);
    assert_non_null(strstr(t.event_text[1], ": 1 x read: verify: stale"));
}

static const Rackbench__Rw__Mode reads[] = {RACKBENCH__RW__MODE__read,
                                            RACKBENCH__RW__MODE__randread};

static void an_old_block_of_a_sequential_job_is_found(void **state)
{
    (void)state;
    rig_t w, r;
    for (size_t i = 0; i < RB_LEN(reads); i++) {
        writer(&w, 0);
        write_twice(&w, 2 * BLOCKS);
        reader(&r, reads[i]);
        expect_right(&r);
        put_back(3);
        expect_stale(&r, 3, BLOCKS + 3, 3);
    }
}

/* It stopped in the middle of its second pass: what it had yet to write is no fault. */
static void of_half_a_pass_the_half_is_found(void **state)
{
    (void)state;
    rig_t w, r;
    for (size_t i = 0; i < RB_LEN(reads); i++)
        for (int how = 0; how < 2; how++) {
            writer(&w, 0);
            if (how == 1)
                shared(&w);
            write_twice(&w, BLOCKS + BLOCKS / 2);
            reader(&r, reads[i]);
            r.jobs[0].numjobs = 3;
            expect_right(&r);
            put_back(BLOCKS - 1); /* not written again */
            expect_right(&r);
            put_back(BLOCKS / 2 - 5);
            expect_stale(&r, BLOCKS / 2 - 5, BLOCKS + BLOCKS / 2 - 5, BLOCKS / 2 - 5);
        }
}

static void each_worker_of_a_job_has_its_own_counter(void **state)
{
    (void)state;
    rig_t w, r;
    writer(&w, 0);
    w.jobs[0].numjobs = 4;
    w.jobs[0].fsync = 7;
    write_twice(&w, BLOCKS / 2);
    reader(&r, RACKBENCH__RW__MODE__read);
    expect_right(&r);
    put_back(BLOCKS / 4 + 2); /* the second worker's third */
    expect_stale(&r, BLOCKS / 4 + 2, BLOCKS / 4 + 2, 2);
}

/* The block that the first pass wrote `nth`. */
static uint64_t block_written(uint64_t nth)
{
    for (uint64_t i = 0; i < BLOCKS; i++) {
        uint64_t sequence;
        memcpy(&sequence, first_pass + i * BS + 32, sizeof(sequence));
        if (sequence == nth)
            return i;
    }
    fail_msg("write %lu is nowhere", nth);
    return 0;
}

static void an_old_block_of_a_permutation_is_found(void **state)
{
    (void)state;
    rig_t w, r;
    for (size_t i = 0; i < RB_LEN(reads); i++) {
        uint64_t sequence, block, old;
        writer(&w, 0);
        permuted(&w);
        write_twice(&w, BLOCKS + BLOCKS / 2);
        reader(&r, reads[i]);
        expect_right(&r);
        block = block_written(9);
        for (uint64_t nth = 9;; block = block_written(++nth)) { /* one that came again */
            disk_io(pread, &sequence, sizeof(sequence), (off_t)(block * BS + 32));
            if (sequence >= BLOCKS)
                break;
        }
        memcpy(&old, first_pass + block * BS + 32, sizeof(old));
        put_back(block);
        expect_stale(&r, block, sequence, old);
    }
}

/* Nothing is said of a job whose order leaves it open, nor while somebody writes. */
static void without_an_order_nothing_is_claimed(void **state)
{
    (void)state;
    rig_t w, r;
    tally_t t;
    writer(&w, 0);
    permuted(&w);
    w.jobs[0].numjobs = 2;
    write_twice(&w, 3 * BLOCKS);
    put_back(7);
    reader(&r, RACKBENCH__RW__MODE__read);
    expect_right(&r);

    writer(&w, 0);
    write_twice(&w, 2 * BLOCKS);
    put_back(3);
    reader(&r, RACKBENCH__RW__MODE__read);
    r.phase.n_jobs = 2;
    r.jobs[1].rw = RACKBENCH__RW__MODE__write;
    r.jobs[1].has_number_ios = true;
    r.jobs[1].number_ios = 1;
    r.jobs[1].offset_bytes = DISK - BS;
    r.jobs[1].runtime_ns = 0;
    r.jobs[1].verify = true;
    rig_run(&r, &t);
    assert_int_equal(t.errors, 0);
}

/* Of a region that is smaller than what may be in flight, too. */
static void no_write_overtakes_one_to_the_same_block(void **state)
{
    (void)state;
    rig_t w, r;
    tally_t t;
    for (int how = 0; how < 3; how++) {
        writer(&w, 3000);
        w.jobs[0].has_size_bytes = true;
        w.jobs[0].size_bytes = 3 * BS;
        w.jobs[0].iodepth = 32;
        if (how == 1)
            permuted(&w);
        if (how == 2)
            shared(&w);
        rig_run(&w, &t);
        assert_int_equal(tally_all_bytes(&t, RB_OP_WRITE), 3000 * BS);
        reader(&r, RACKBENCH__RW__MODE__read);
        r.jobs[0].has_size_bytes = true;
        r.jobs[0].size_bytes = 3 * BS;
        rig_run(&r, &t);
        assert_int_equal(tally_all_bytes(&t, RB_OP_READ), 3 * BS);
        assert_int_equal(t.errors + t.nevents, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_block_of_a_sequential_job_is_found),
        cmocka_unit_test(of_half_a_pass_the_half_is_found),
        cmocka_unit_test(each_worker_of_a_job_has_its_own_counter),
        cmocka_unit_test(an_old_block_of_a_permutation_is_found),
        cmocka_unit_test(without_an_order_nothing_is_claimed),
        cmocka_unit_test(no_write_overtakes_one_to_the_same_block),
    };
    const char *reason = rb_test_isolate();
    if (reason != NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
