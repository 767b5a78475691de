/* test_block.c - the lean half of the workload: one size, uniform or sequential. */
#include "tests/unit/block_rig.h"

#include "agent/workload/block.h"

#include <math.h>

/* Takes n operations in uneven batches; counts[i] of block i, from `offset` on. */
static void count_reads(rb_block_t *b, uint64_t n, uint32_t *counts, uint64_t *ret_reads)
{
    rb_io_t ios[RB_BATCH];
    for (uint64_t done = 0; done < n;) {
        uint32_t want = (uint32_t)RB_MIN(1 + done % RB_BATCH, n - done);
        uint32_t got = b->ops->next(b, ios, want);
        assert_int_equal(got, want);
        for (uint32_t i = 0; i < got; i++) {
            uint64_t at = ios[i].offset_bytes - job.offset_bytes;
            assert_true(ios[i].offset_bytes >= job.offset_bytes);
            assert_int_equal(at % job.bs_bytes, 0);
            assert_true(at / job.bs_bytes < BLOCKS);
            counts[at / job.bs_bytes]++;
            *ret_reads += ios[i].op == RB_OP_READ;
        }
        done += got;
    }
}

static void random_is_uniform(void **state)
{
    (void)state;
    static uint32_t counts[BLOCKS];
    uint64_t reads = 0, n = 1000 * BLOCKS;
    double chi2 = 0;
    job.rw = RACKBENCH__RW__MODE__randread;
    rb_block_t b = block(0);
    count_reads(&b, n, counts, &reads);
    for (int i = 0; i < BLOCKS; i++)
        chi2 += pow(counts[i] - 1000.0, 2) / 1000.0;
    /* 999 degrees of freedom: 5 sigma is 999 +- 224. */
    assert_true(chi2 > 775 && chi2 < 1223);
    assert_int_equal(reads, n);
}

static void workers_draw_apart(void **state)
{
    (void)state;
    rb_io_t a[8], b[8];
    job.rw = RACKBENCH__RW__MODE__randwrite;
    job.numjobs = 2;
    rb_block_t first = block(0), second = block(1), again = block(0);
    first.ops->next(&first, a, 8);
    second.ops->next(&second, b, 8);
    assert_memory_not_equal(a, b, sizeof(a));
    assert_int_equal(a[0].op, RB_OP_WRITE);
    again.ops->next(&again, b, 8);
    for (int i = 0; i < 8; i++)
        assert_int_equal(a[i].offset_bytes, b[i].offset_bytes);
}

static void the_mix_holds(void **state)
{
    (void)state;
    const uint32_t percents[] = {0, 1, 30, 99, 100};
    for (size_t i = 0; i < RB_LEN(percents); i++) {
        static uint32_t counts[BLOCKS];
        uint64_t reads = 0;
        job.rw = RACKBENCH__RW__MODE__randrw;
        job.has_rwmixread = true;
        job.rwmixread = percents[i];
        rb_block_t b = block(0);
        count_reads(&b, 100000, counts, &reads);
        double p = percents[i] / 100.0;
        assert_true(fabs((double)reads - 100000 * p) <= 5 * sqrt(100000 * p * (1 - p)));
        assert_int_equal(rb_block_ops(&job), (percents[i] > 0 ? 1u << RB_OP_READ : 0) |
                                                 (percents[i] < 100 ? 1u << RB_OP_WRITE : 0));
    }
}

static void assert_covered(uint32_t workers, uint64_t each, uint32_t times)
{
    uint32_t counts[BLOCKS] = {0};
    uint64_t reads = 0;
    for (uint32_t w = 0; w < workers; w++) {
        rb_block_t b = block(w);
        count_reads(&b, each ? each : b.nblocks, counts, &reads);
    }
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(counts[i], times);
}

static void sequential_layouts_cover(void **state)
{
    (void)state;
    job.rw = RACKBENCH__RW__MODE__rw;
    job.numjobs = 7; /* does not divide the region */
    assert_covered(7, 0, 1);
    job.seq_layout = RACKBENCH__SEQ_LAYOUT__KIND__same;
    assert_covered(7, BLOCKS, 7);
    job.seq_layout = RACKBENCH__SEQ_LAYOUT__KIND__shared;
    job.numjobs = 4;
    assert_covered(4, BLOCKS / 4, 1);
    assert_covered(4, BLOCKS / 4, 1); /* the cursor goes on and wraps around */
}

static void shared_once_ends_at_the_end(void **state)
{
    (void)state;
    rb_io_t ios[RB_BATCH];
    job.seq_layout = RACKBENCH__SEQ_LAYOUT__KIND__shared;
    once = true;
    atomic_store(&cursor, BLOCKS - 3);
    rb_block_t b = block(0);
    assert_int_equal(b.ops->next(&b, ios, 8), 3);
    assert_int_equal(ios[2].offset_bytes, (BLOCKS - 1) * BS);
    assert_int_equal(b.ops->next(&b, ios, 8), 0);
}

static void sequential_is_in_order_and_wraps(void **state)
{
    (void)state;
    rb_io_t ios[RB_BATCH];
    job.rw = RACKBENCH__RW__MODE__read;
    job.offset_bytes = 8192;
    job.size_bytes = 10 * BS + 512; /* the partial block is left out */
    rb_block_t b = block(0);
    for (uint64_t i = 0; i < 24; i += 8) {
        assert_int_equal(b.ops->next(&b, ios, 8), 8);
        for (uint64_t j = 0; j < 8; j++)
            assert_int_equal(ios[j].offset_bytes, 8192 + (i + j) % 10 * BS);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    job.offset_bytes = subject.size_bytes + 512;
    assert_non_null(strstr(refused(0).text, "beyond the end"));
    job.offset_bytes = 512;
    job.size_bytes = subject.size_bytes;
    assert_non_null(strstr(refused(0).text, "beyond the end"));
    job.size_bytes = BS - 512;
    assert_non_null(strstr(refused(0).text, "holds no block"));
    job.size_bytes = 3 * BS;
    job.numjobs = 4;
    assert_non_null(strstr(refused(0).text, "4 workers"));
    job.numjobs = 1;
    job.bs_bytes = 1000;
    assert_non_null(strstr(refused(0).text, "512-byte"));
    job.bs_bytes = BS;
    job.offset_bytes = 100;
    assert_non_null(strstr(refused(0).text, "512-byte"));
    job.has_direct = true; /* buffered I/O may go anywhere */
    job.direct = false;
    assert_int_equal(block(0).base_bytes, 100);
    job.bs_bytes = 2 * RB_GIB;
    subject.size_bytes = 8 * RB_GIB;
    assert_non_null(strstr(refused(0).text, "1 GiB"));
}

/* The drive ends in the middle of a block, and a byte of no unit is left out. */
static void a_fill_takes_each_byte_once_a_pass(void **state)
{
    (void)state;
    enum { TAIL = 1536 };
    static const Rackbench__Rw__Mode modes[] = {RACKBENCH__RW__MODE__write,
                                                RACKBENCH__RW__MODE__randwrite};
    for (size_t m = 0; m < RB_LEN(modes); m++) {
        uint32_t counts[BLOCKS + 1] = {0};
        uint64_t bytes = 0, ascending = 0, last = 0;
        rb_io_t ios[RB_BATCH];
        job.rw = modes[m];
        passes = 3;
        subject.size_bytes = BLOCKS * BS + TAIL + 100;
        rb_block_t b = block(0);
        for (uint32_t got = 1, want = 1; got > 0; want = want % RB_BATCH + 1) {
            got = b.ops->next(&b, ios, want);
            for (uint32_t i = 0; i < got; i++) {
                uint64_t at = ios[i].offset_bytes / BS;
                assert_int_equal(ios[i].offset_bytes % BS, 0);
                assert_int_equal(ios[i].size_bytes, at == BLOCKS ? TAIL : BS);
                assert_int_equal(ios[i].op, RB_OP_WRITE);
                assert_int_equal(counts[at]++, bytes / (BLOCKS * BS + TAIL)); /* of each pass */
                bytes += ios[i].size_bytes;
                ascending += at == last + 1;
                last = at;
            }
        }
        assert_int_equal(bytes, 3 * (BLOCKS * BS + TAIL));
        assert_true(m == 0 ? ascending == 3 * BLOCKS : ascending < BLOCKS / 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(random_is_uniform, fresh),
        cmocka_unit_test_setup(workers_draw_apart, fresh),
        cmocka_unit_test_setup(the_mix_holds, fresh),
        cmocka_unit_test_setup(sequential_layouts_cover, fresh),
        cmocka_unit_test_setup(shared_once_ends_at_the_end, fresh),
        cmocka_unit_test_setup(sequential_is_in_order_and_wraps, fresh),
        cmocka_unit_test_setup(what_does_not_fit_is_refused, fresh),
        cmocka_unit_test_setup(a_fill_takes_each_byte_once_a_pass, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
