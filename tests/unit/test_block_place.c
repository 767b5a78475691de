/* test_block_place.c - where operations go and how large they are, all through next(). */
#include "tests/unit/block_rig.h"

#include "agent/workload/block_next.h"
#include "tests/unit/chi_square.h"

/* ---- where ---- */

static void assert_shares(const uint64_t *counts, const double *share, size_t cells)
{
    double excess = chi_square_excess(counts, share, cells);
    if (excess >= CHI_SQUARE_LIMIT)
        fail_msg("%g sigma off", excess);
}

static void distributions_reach_the_operations(void **state)
{
    (void)state;
    double share[100], sum = 0;
    job.rw = RACKBENCH__RW__MODE__randread;
    job.size_bytes = 100 * BS;
    job.offset_bytes = 10 * BS;
    for (int i = 0; i < 100; i++)
        sum += pow(i + 1, -1.2);
    for (int i = 0; i < 100; i++)
        share[i] = pow(i + 1, -1.2) / sum;
    job.random_distribution = "zipf:1.2:0";
    assert_shares(tally(0, MANY).blocks, share, 100);
    for (int i = 0; i < 100; i++)
        share[i] = i < 10 ? 0.06 : 0.4 / 90;
    job.random_distribution = "zoned:60/10:40/90";
    assert_shares(tally(0, MANY).blocks, share, 100);
    job.random_distribution = "random";
    assert_ptr_equal(block(0).ops, &rb_block_random_ops);
    job.has_blockalign_bytes = true;
    job.blockalign_bytes = BS;
    assert_true(chi_square_even(tally(0, MANY).blocks, 100) < CHI_SQUARE_LIMIT);
}

static size_t hottest(const tally_t *t)
{
    size_t best = 0;
    for (size_t i = 0; i < BLOCKS; i++)
        best = t->blocks[i] > t->blocks[best] ? i : best;
    return best;
}

static void workers_agree_on_hot_blocks(void **state)
{
    (void)state;
    job.rw = RACKBENCH__RW__MODE__randwrite;
    job.random_distribution = "zipf:1.2";
    tally_t a = tally(0, 20000), b = tally(1, 20000);
    assert_int_equal(hottest(&a), hottest(&b));
    assert_memory_not_equal(&a, &b, sizeof(a)); /* but draw on their own */
}

static void permute(uint32_t workers, uint64_t size_bytes, uint64_t offset_bytes)
{
    uint64_t nblocks = size_bytes / BS;
    job.rw = RACKBENCH__RW__MODE__randrw;
    job.has_norandommap = true;
    job.numjobs = workers;
    job.size_bytes = size_bytes;
    job.offset_bytes = offset_bytes;
    rb_block_t b[3];
    for (uint32_t w = 0; w < workers; w++)
        b[w] = block(w);
    for (uint64_t pass = 1; pass <= 3; pass++) {
        tally_t t = {0};
        for (uint64_t i = 0; i < nblocks;) { /* in turns of uneven length */
            uint64_t n = RB_MIN(1 + i % 5, nblocks - i);
            assert_int_equal(take(&b[i % workers], n, count, &t), n);
            i += n;
        }
        for (uint64_t i = 0; i < BLOCKS; i++)
            assert_int_equal(t.blocks[i], i < nblocks);
    }
}

static void permutation_covers_once_per_pass(void **state)
{
    permute(1, 999 * BS, 0);
    fresh(state);
    permute(3, 999 * BS, 0);
    fresh(state);
    permute(3, 512 * BS, 100 * BS);
    fresh(state);
    permute(1, BS, 0);
}

static void keep_offset(void *self, const rb_io_t *io)
{
    uint64_t **at = self;
    *(*at)++ = io->offset_bytes;
}

static void passes_differ(void **state)
{
    (void)state;
    static uint64_t offsets[2 * BLOCKS];
    uint64_t *at = offsets;
    job.rw = RACKBENCH__RW__MODE__randread;
    job.has_norandommap = true;
    rb_block_t b = block(0);
    take(&b, 2 * BLOCKS, keep_offset, &at);
    uint32_t same = 0, ascending = 0;
    for (int i = 0; i < BLOCKS; i++) {
        same += offsets[i] == offsets[BLOCKS + i];
        ascending += offsets[i] < offsets[i + 1];
    }
    assert_true(same < 20);
    assert_true(ascending > 400 && ascending < 600);
}

static void permutation_once_ends_with_the_pass(void **state)
{
    (void)state;
    tally_t t = {0};
    job.rw = RACKBENCH__RW__MODE__randread;
    job.has_norandommap = once = true;
    rb_block_t a = block(0), b = block(1);
    assert_int_equal(take(&a, 300, count, &t), 300);
    assert_int_equal(take(&b, 2 * BLOCKS, count, &t), BLOCKS - 300);
    assert_int_equal(take(&a, 10, count, &t), 0);
    for (int i = 0; i < BLOCKS; i++)
        assert_int_equal(t.blocks[i], 1);
}

/* ---- how large ---- */

typedef struct {
    uint64_t sizes[RB_OP_COUNT][3]; /* of 4, 16 and 64 KiB */
    uint64_t next_bytes;            /* sequential: where the last one ended */
    uint64_t wraps;
} sizes_t;

static void count_size(void *self, const rb_io_t *io)
{
    sizes_t *s = self;
    assert_true(io->size_bytes == 4096 || io->size_bytes == 16384 || io->size_bytes == 65536);
    s->sizes[io->op][io->size_bytes == 4096 ? 0 : io->size_bytes == 16384 ? 1 : 2]++;
    assert_int_equal(io->offset_bytes % (io->op == RB_OP_READ ? 4096 : 16384), 0);
    assert_true(io->offset_bytes + io->size_bytes <= job.size_bytes);
}

static void bssplit_keeps_its_shares(void **state)
{
    (void)state;
    static sizes_t s;
    const double read[3] = {0.6, 0.3, 0.1}, write[2] = {0.75, 0.25};
    job.rw = RACKBENCH__RW__MODE__randrw;
    job.has_bs_bytes = false;
    job.bssplit = "4k/60:16k/30:64k/10,16k/75:64k/25";
    job.has_rwmixtrim = true;
    job.rwmixtrim = 20;
    job.size_bytes = 1 << 20;
    rb_block_t b = block(0);
    assert_int_equal(b.bs_bytes, 65536);
    take(&b, MANY, count_size, &s);
    assert_shares(s.sizes[RB_OP_READ], read, 3);
    assert_shares(s.sizes[RB_OP_WRITE] + 1, write, 2);
    assert_shares(s.sizes[RB_OP_TRIM] + 1, write, 2); /* trims have the sizes of writes */
    assert_int_equal(s.sizes[RB_OP_WRITE][0] + s.sizes[RB_OP_TRIM][0], 0);
    job.rw = RACKBENCH__RW__MODE__randread;
    job.bssplit = "4k,64k";
    assert_int_equal(block(0).bs_bytes, 4096); /* what does not come needs no buffer */
}

static void starts_are_all_used(void **state)
{
    (void)state;
    job.rw = RACKBENCH__RW__MODE__randread;
    job.has_bs_bytes = false;
    job.bssplit = "4k/50:64k/50";
    tally_t t = tally(0, MANY);
    assert_true(chi_square_even(t.blocks, BLOCKS - 15) < CHI_SQUARE_LIMIT);
    job.has_bs_bytes = job.has_blockalign_bytes = true; /* and those of blockalign */
    job.bssplit = NULL;
    job.bs_bytes = 65536;
    job.blockalign_bytes = 4096;
    t = tally(0, MANY);
    assert_true(chi_square_even(t.blocks, BLOCKS - 15) < CHI_SQUARE_LIMIT);
}

static void follow(void *self, const rb_io_t *io)
{
    sizes_t *s = self;
    if (io->offset_bytes != s->next_bytes) {
        assert_int_equal(io->offset_bytes, job.offset_bytes);
        assert_true(s->next_bytes + io->size_bytes > job.offset_bytes + job.size_bytes);
        s->wraps++;
    }
    s->next_bytes = io->offset_bytes + io->size_bytes;
    assert_true(s->next_bytes <= job.offset_bytes + job.size_bytes);
}

static void sequential_sizes_follow_each_other(void **state)
{
    (void)state;
    sizes_t s = {0};
    job.rw = RACKBENCH__RW__MODE__write;
    job.has_bs_bytes = false;
    job.bssplit = "4k/60:16k/30:64k/10";
    job.offset_bytes = s.next_bytes = 8192;
    job.size_bytes = 16 * 65536;
    rb_block_t b = block(0);
    assert_int_equal(b.nblocks * b.bs_bytes, job.size_bytes); /* a pass */
    take(&b, 10000, follow, &s);
    assert_true(s.wraps > 10);
    job.numjobs = 2; /* each its half */
    b = block(1);
    job.size_bytes /= 2;
    job.offset_bytes = s.next_bytes = 8192 + job.size_bytes;
    s.wraps = 0;
    take(&b, 10000, follow, &s);
    assert_true(s.wraps > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(distributions_reach_the_operations, fresh),
        cmocka_unit_test_setup(workers_agree_on_hot_blocks, fresh),
        cmocka_unit_test_setup(permutation_covers_once_per_pass, fresh),
        cmocka_unit_test_setup(passes_differ, fresh),
        cmocka_unit_test_setup(permutation_once_ends_with_the_pass, fresh),
        cmocka_unit_test_setup(bssplit_keeps_its_shares, fresh),
        cmocka_unit_test_setup(starts_are_all_used, fresh),
        cmocka_unit_test_setup(sequential_sizes_follow_each_other, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
