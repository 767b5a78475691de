/* test_block_mix.c - reads, writes, trims and syncs, and what is refused. */
#include "tests/unit/block_rig.h"

#include "agent/workload/block_next.h"

#include <math.h>

static void trims_have_their_share(void **state)
{
    (void)state;
    const struct {
        Rackbench__Rw__Mode rw;
        uint32_t rwmixtrim, rwmixread;
        double read, write, trim;
    } rows[] = {
        {RACKBENCH__RW__MODE__randrw, 20, 70, 0.56, 0.24, 0.2},
        {RACKBENCH__RW__MODE__rw, 1, 50, 0.495, 0.495, 0.01},
        {RACKBENCH__RW__MODE__randwrite, 30, 0, 0, 0.7, 0.3},
        {RACKBENCH__RW__MODE__randrw, 40, 100, 0.6, 0, 0.4},
        {RACKBENCH__RW__MODE__randrw, 100, 50, 0, 0, 1},
        {RACKBENCH__RW__MODE__trim, 0, 0, 0, 0, 1},
        {RACKBENCH__RW__MODE__randtrim, 0, 0, 0, 0, 1},
        {RACKBENCH__RW__MODE__randread, 20, 0, 1, 0, 0}, /* a job that reads destroys nothing */
    };
    job.has_rwmixtrim = job.has_rwmixread = true;
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        job.rw = rows[i].rw;
        job.rwmixtrim = rows[i].rwmixtrim;
        job.rwmixread = rows[i].rwmixread;
        tally_t t = tally(0, MANY);
        const double want[] = {rows[i].read, rows[i].write, rows[i].trim};
        for (int op = 0; op < 3; op++) {
            double p = want[op], off = fabs((double)t.ops[op] - MANY * p);
            if (off > 5 * sqrt(MANY * p * (1 - p)))
                fail_msg("row %zu: %llu of op %d", i, (unsigned long long)t.ops[op], op);
            assert_int_equal(rb_block_ops(&job) >> op & 1, p > 0);
        }
    }
}

typedef struct {
    uint64_t writes, syncs, every;
    rb_io_flags_t flags;
} spacing_t;

static void space(void *self, const rb_io_t *io)
{
    spacing_t *s = self;
    if (io->op == RB_OP_WRITE)
        assert_true(++s->writes <= s->every);
    if (io->op != RB_OP_SYNC)
        return;
    assert_int_equal(s->writes, s->every);
    assert_int_equal(io->size_bytes, 0);
    assert_int_equal(io->offset_bytes, 0);
    assert_int_equal(io->flags, s->flags);
    s->writes = 0;
    s->syncs++;
}

static void syncs_come_after_n_writes(void **state)
{
    (void)state;
    const uint32_t every[] = {1, 5, 8, 100};
    for (size_t i = 0; i < RB_LEN(every); i++) {
        spacing_t s = {.every = every[i]};
        job.rw = RACKBENCH__RW__MODE__write;
        job.has_fsync = true;
        job.fsync = every[i];
        assert_int_equal(rb_block_ops(&job), 1u << RB_OP_WRITE | 1u << RB_OP_SYNC);
        rb_block_t b = block(0);
        take(&b, 10100, space, &s);
        assert_int_equal(s.syncs, 10100 / (every[i] + 1));
    }
    spacing_t s = {.every = 7, .flags = RB_IO_DATASYNC};
    job.rw = RACKBENCH__RW__MODE__randrw;
    job.fsync = 0;
    job.has_fdatasync = true;
    job.fdatasync = 7;
    rb_block_t b = block(0);
    take(&b, 10000, space, &s);
    assert_true(s.syncs > 600 && s.syncs < 720); /* of 9300 others half are writes */
    job.rw = RACKBENCH__RW__MODE__randread;
    assert_int_equal(rb_block_ops(&job), 1u << RB_OP_READ);
    assert_ptr_equal(block(0).ops, &rb_block_random_ops);
}

/* SYNCs take no block, whoever gives the blocks out. */
static void layouts_cover_with_trims_and_syncs(void **state)
{
    (void)state;
    tally_t t = {0};
    job.rw = RACKBENCH__RW__MODE__rw;
    job.has_rwmixtrim = job.has_fsync = once = true;
    job.rwmixtrim = 30;
    job.fsync = 3;
    job.numjobs = 4;
    for (int layout = 0; layout < 3; layout++) {
        job.seq_layout = (Rackbench__SeqLayout__Kind)layout;
        for (uint32_t w = 0; w < 4; w++) {
            rb_block_t b = block(w);
            assert_ptr_equal(b.ops, &rb_block_any_ops);
            uint64_t want = layout == RACKBENCH__SEQ_LAYOUT__KIND__shared ? BLOCKS / 4 : b.nblocks;
            for (uint64_t got = 0; got < want;) {
                rb_io_t io;
                assert_int_equal(b.ops->next(&b, &io, 1), 1);
                count(&t, &io);
                got += io.op != RB_OP_SYNC;
            }
        }
    }
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(t.blocks[i], 1 + 4 + 1);
    assert_true(t.ops[RB_OP_TRIM] > 1500 && t.ops[RB_OP_SYNC] > 600);
    rb_block_t b = block(0); /* the shared cursor is at the end now, and a batch is cut there */
    atomic_store(&cursor, BLOCKS - 1);
    tally_t end = {0};
    take(&b, 100, count, &end);
    assert_int_equal(end.ops[RB_OP_READ] + end.ops[RB_OP_WRITE] + end.ops[RB_OP_TRIM], 1);
}

static void simple_jobs_stay_lean(void **state)
{
    (void)state;
    for (int rw = 0; rw <= RACKBENCH__RW__MODE__randtrim; rw++) {
        job.rw = (Rackbench__Rw__Mode)rw;
        const rb_workload_t *ops = block(0).ops;
        bool random = rw == RACKBENCH__RW__MODE__randread || rw == RACKBENCH__RW__MODE__randwrite ||
                      rw == RACKBENCH__RW__MODE__randrw || rw == RACKBENCH__RW__MODE__randtrim;
        assert_ptr_equal(ops, random ? &rb_block_random_ops : &rb_block_sequential_ops);
        assert_int_equal(block(0).bs_bytes, BS);
    }
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    job.rw = RACKBENCH__RW__MODE__randrw;
    job.random_distribution = "zipf";
    assert_non_null(strstr(refused(0).text, "random_distribution: zipf lacks its theta"));
    job.random_distribution = "zoned_abs:50/8M:50/8M"; /* of 4 MB */
    assert_non_null(strstr(refused(0).text, "on /dev/x: zone 1 of zoned_abs ends beyond"));
    job.random_distribution = NULL;
    job.has_direct = true; /* direct: false, but a trim moves whole blocks */
    job.bs_bytes = 1000;
    assert_int_equal(block(0).bs_bytes, 1000);
    job.rwmixtrim = 1;
    assert_non_null(strstr(refused(0).text, "512-byte blocks of /dev/x"));
    fresh(state);
    job.rw = RACKBENCH__RW__MODE__randrw;
    job.blockalign_bytes = 1000;
    assert_non_null(strstr(refused(0).text, "512-byte blocks of /dev/x"));
    job.blockalign_bytes = 0;
    job.bssplit = "4k/50:5000/50";
    assert_non_null(strstr(refused(0).text, "512-byte blocks of /dev/x"));
    job.bssplit = "4k/50:2G/50";
    assert_non_null(strstr(refused(0).text, "1 GiB"));
    job.bssplit = "4k/50:8M/50";
    assert_non_null(strstr(refused(0).text, "holds no block of 8 MiB"));
    job.bssplit = "4k/50";
    assert_non_null(strstr(refused(0).text, "bssplit: the percentages"));
    fresh(state);
    job.rw = RACKBENCH__RW__MODE__randread;
    job.has_direct = job.has_norandommap = true;
    job.bs_bytes = 1;
    subject.size_bytes = 1ull << 49;
    assert_non_null(strstr(refused(0).text, "more than 2^48 blocks"));
    job.norandommap = true;
    job.random_distribution = "zipf:0.9";
    assert_non_null(strstr(refused(0).text, "more than 2^48 blocks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(trims_have_their_share, fresh),
        cmocka_unit_test_setup(syncs_come_after_n_writes, fresh),
        cmocka_unit_test_setup(layouts_cover_with_trims_and_syncs, fresh),
        cmocka_unit_test_setup(simple_jobs_stay_lean, fresh),
        cmocka_unit_test_setup(what_cannot_be_is_refused, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
