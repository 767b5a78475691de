/* test_verify.c - the verdict on blocks that were damaged, torn, misdirected, lost or never
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/verify.h"
#include "common/rng.h"

enum { BLOCK = 4096, SECTORS = BLOCK / RB_VERIFY_SECTOR };

#define RUN    0x1234567890abcdefull
#define OFFSET (812 * RB_GIB)

static const rb_verify_t verify = {.run = RUN, .interval_bytes = BLOCK};
static const rb_verify_place_t place = {.offset_bytes = OFFSET, .sequence = 7};

static void fill(uint8_t *block, size_t size_bytes, uint64_t seed)
{
    rb_rng_t rng;
    rb_rng_seed(&rng, seed, 0, 0);
    for (size_t i = 0; i < size_bytes; i++)
        block[i] = (uint8_t)rb_rng_next(&rng);
}

/* The block as a write of that run, place and sequence leaves it. */
static void written(uint8_t *block, uint64_t run, uint64_t offset_bytes, uint64_t sequence)
{
    rb_verify_t v = {.run = run, .interval_bytes = BLOCK};
    fill(block, BLOCK, offset_bytes + sequence);
    rb_verify_stamp(&v, block, BLOCK, &(rb_verify_place_t){offset_bytes, sequence, 0});
}

static rb_verify_found_t check(const uint8_t *block)
{
    rb_verify_found_t found;
    rb_verdict_t verdict = rb_verify_check(&verify, block, BLOCK, &place, &found);
    assert_int_equal(verdict, found.verdict);
    return found;
}

static void assert_text(const rb_verify_found_t *found, const char *text)
{
    char buf[RB_VERIFY_TEXT];
    assert_string_equal(rb_verify_text(found, buf, sizeof(buf)), text);
}

static void test_what_was_written_is_ok(void **state)
{
    (void)state;
    static const uint64_t intervals[] = {512, 1024, 4096, 12 * 1024, 96 * 1024};
    static uint8_t buffer[96 * 1024];
    for (size_t i = 0; i < RB_LEN(intervals); i++) {
        rb_verify_t v = {.run = RUN, .interval_bytes = intervals[i]};
        for (size_t size = intervals[i]; size <= sizeof(buffer); size += intervals[i]) {
            fill(buffer, size, size);
            rb_verify_stamp(&v, buffer, size, &place);
            assert_int_equal(rb_verify_check(&v, buffer, size, &place, NULL), RB_VERIFY_OK);
        }
    }
}

static void test_a_newer_write_is_ok(void **state)
{
    (void)state;
    uint8_t block[BLOCK];
    written(block, RUN, OFFSET, 8);
    rb_verify_found_t found = check(block);
    assert_int_equal(found.verdict, RB_VERIFY_OK);
    assert_text(&found, "at 812 GiB (sector 1702887424): expected sequence 7, found a whole block "
                        "with sequence 8");
}

/* Wherever it is: data, tag, hash, each field of the header. */
static void test_every_flipped_bit_is_corrupt(void **state)
{
    (void)state;
    static const size_t sizes[] = {512, 1024, 2048};
    uint8_t block[2048];
    for (size_t s = 0; s < RB_LEN(sizes); s++) {
        rb_verify_t v = {.run = RUN, .interval_bytes = sizes[s]};
        fill(block, sizes[s], 1);
        rb_verify_stamp(&v, block, sizes[s], &place);
        for (size_t bit = 0; bit < 8 * sizes[s]; bit++) {
            block[bit / 8] ^= (uint8_t)(1 << bit % 8);
            rb_verdict_t verdict = rb_verify_check(&v, block, sizes[s], &place, NULL);
            if (verdict != RB_VERIFY_CORRUPT)
                fail_msg("bit %zu of %zu bytes: %s", bit, sizes[s], rb_verdict_names[verdict]);
            block[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_int_equal(rb_verify_check(&v, block, sizes[s], &place, NULL), RB_VERIFY_OK);
    }
}

static void test_corrupt_says_what_is_damaged(void **state)
{
    (void)state;
    uint8_t block[BLOCK];
    written(block, RUN, OFFSET, 7);
    block[1000] ^= 1;
    rb_verify_found_t found = check(block);
    assert_text(&found,
                "at 812 GiB (sector 1702887424): expected sequence 7, found damaged data in a "
                "block with sequence 7");
    block[1000] ^= 1;
    block[33] ^= 1;
    found = check(block);
    assert_text(&found, "at 812 GiB (sector 1702887424): expected sequence 7, found a block whose "
                        "header is damaged and whose data are whole");
    block[33] ^= 1;
    fill(block + 5 * RB_VERIFY_SECTOR, 2 * RB_VERIFY_SECTOR, 99);
    found = check(block);
    assert_int_equal(found.verdict, RB_VERIFY_CORRUPT);
    assert_text(&found,
                "at 812 GiB (sector 1702887424): expected sequence 7, found a block with "
                "sequence 7 of which 2 sectors of 512 bytes, the first 2560 bytes into the block, "
                "are of no write of this run: they are damaged, or still as they were before the "
                "run");
}

/* The first sectors of one write and the rest of another, cut at each place. */
static void check_torn(const uint8_t *head, const uint8_t *tail, uint64_t head_sequence,
                       uint64_t tail_sequence)
{
    uint8_t block[BLOCK];
    for (size_t cut = 1; cut < SECTORS; cut++) {
        memcpy(block, head, BLOCK);
        memcpy(block + cut * RB_VERIFY_SECTOR, tail + cut * RB_VERIFY_SECTOR,
               BLOCK - cut * RB_VERIFY_SECTOR);
        rb_verify_found_t found = check(block);
        assert_int_equal(found.verdict, RB_VERIFY_TORN);
        assert_int_equal(found.bad_sector, cut);
        assert_int_equal(found.bad_sectors, SECTORS - cut);
        assert_int_equal(found.sequence, head_sequence);
        assert_int_equal(found.bad_sequence, tail_sequence);
    }
}

static void test_parts_of_two_writes_are_torn(void **state)
{
    (void)state;
    uint8_t new[BLOCK], old[BLOCK], other_run[BLOCK], zeros[BLOCK] = {0};
    written(new, RUN, OFFSET, 7);
    written(old, RUN, OFFSET, 3);
    written(other_run, RUN + 1, OFFSET, 7);
    check_torn(new, old, 7, 3);
    check_torn(old, new, 3, 7);
    check_torn(new, other_run, 7, 7);
    check_torn(other_run, new, 7, 7);
    check_torn(new, zeros, 7, UINT64_MAX);
}

static void test_one_foreign_sector_in_the_middle_is_torn(void **state)
{
    (void)state;
    uint8_t block[BLOCK], old[BLOCK];
    written(block, RUN, OFFSET, 7);
    written(old, RUN, OFFSET, 3);
    memcpy(block + 5 * RB_VERIFY_SECTOR, old + 5 * RB_VERIFY_SECTOR, RB_VERIFY_SECTOR);
    rb_verify_found_t found = check(block);
    assert_int_equal(found.verdict, RB_VERIFY_TORN);
    assert_text(&found, "at 812 GiB (sector 1702887424): expected sequence 7, found a torn block: "
                        "sector +5 (the first of 1 such) is of a write with sequence 3, the one "
                        "before is of a write with sequence 7");
}

/* Only the end of the first write to a place reached the drive. */
static void test_a_missing_head_is_torn(void **state)
{
    (void)state;
    uint8_t block[BLOCK];
    for (size_t cut = 1; cut < SECTORS; cut++) {
        for (int zero = 0; zero < 2; zero++) {
            written(block, RUN, OFFSET, 7);
            if (zero)
                memset(block, 0, cut * RB_VERIFY_SECTOR);
            else
                fill(block, cut * RB_VERIFY_SECTOR, 99);
            rb_verify_found_t found = check(block);
            assert_int_equal(found.verdict, RB_VERIFY_TORN);
            assert_int_equal(found.sequence, 7);
            assert_int_equal(found.bad_sector, 0);
        }
    }
}

static void test_a_block_of_another_offset_is_misplaced(void **state)
{
    (void)state;
    uint8_t block[BLOCK];
    written(block, RUN, 4096, 3);
    rb_verify_found_t found = check(block);
    assert_int_equal(found.verdict, RB_VERIFY_MISPLACED);
    assert_text(&found,
                "at 812 GiB (sector 1702887424): expected sequence 7, found a block written "
                "for offset 4 KiB (sector 8) with sequence 3");
}

static void test_a_block_of_another_run_is_foreign(void **state)
{
    (void)state;
    uint8_t block[BLOCK];
    written(block, 0xabc, OFFSET, 9);
    rb_verify_found_t found = check(block);
    assert_int_equal(found.verdict, RB_VERIFY_FOREIGN);
    assert_text(&found, "at 812 GiB (sector 1702887424): expected sequence 7, found a block of "
                        "another run (0000000000000abc) with sequence 9");
}

static void test_an_older_block_is_stale(void **state)
{
    (void)state;
    uint8_t block[BLOCK];
    written(block, RUN, OFFSET, 6);
    rb_verify_found_t found = check(block);
    assert_int_equal(found.verdict, RB_VERIFY_STALE);
    assert_text(&found,
                "at 812 GiB (sector 1702887424): expected sequence 7, found a block with the "
                "older sequence 6");
}

static void test_what_nobody_stamped_is_unwritten(void **state)
{
    (void)state;
    uint8_t block[BLOCK] = {0};
    rb_verify_found_t found = check(block);
    assert_int_equal(found.verdict, RB_VERIFY_UNWRITTEN);
    assert_text(&found, "at 812 GiB (sector 1702887424): expected sequence 7, found nothing that "
                        "was written with verify");
    fill(block, BLOCK, 5);
    assert_int_equal(check(block).verdict, RB_VERIFY_UNWRITTEN);
    written(block, RUN + 1, OFFSET, 7);
    memset(block, 0, RB_VERIFY_SECTOR);
    assert_int_equal(check(block).verdict, RB_VERIFY_UNWRITTEN);
    /* zeros at offset 0, where a zeroed header would name the right place */
    memset(block, 0, BLOCK);
    rb_verify_place_t start = {0};
    assert_int_equal(rb_verify_check(&verify, block, BLOCK, &start, NULL), RB_VERIFY_UNWRITTEN);
}

static void test_the_first_bad_interval_is_named(void **state)
{
    (void)state;
    uint8_t buffer[8 * BLOCK];
    rb_verify_found_t found;
    fill(buffer, sizeof(buffer), 1);
    rb_verify_stamp(&verify, buffer, sizeof(buffer), &place);
    buffer[5 * BLOCK + 100] ^= 1;
    memset(buffer + 6 * BLOCK, 0, BLOCK);
    rb_verify_check(&verify, buffer, sizeof(buffer), &place, &found);
    assert_int_equal(found.verdict, RB_VERIFY_CORRUPT);
    assert_int_equal(found.expected.offset_bytes, OFFSET + 5 * BLOCK);
    assert_int_equal(found.expected.sequence, 7);
}

/* A region was written with another block size before, or after. */
static rb_verdict_t check_length(uint64_t run, uint64_t length_bytes, uint64_t sequence)
{
    uint8_t buffer[2 * BLOCK];
    rb_verify_t v = {.run = run, .interval_bytes = length_bytes};
    fill(buffer, sizeof(buffer), 1);
    rb_verify_stamp(&v, buffer, sizeof(buffer), &(rb_verify_place_t){OFFSET, sequence, 0});
    return rb_verify_check(&verify, buffer, BLOCK, &place, NULL);
}

static void test_blocks_of_another_length(void **state)
{
    (void)state;
    for (uint64_t length = BLOCK / 2; length <= 2 * BLOCK; length *= 4) {
        assert_int_equal(check_length(RUN, length, 3), RB_VERIFY_STALE);
        assert_int_equal(check_length(RUN, length, 9), RB_VERIFY_CORRUPT);
        assert_int_equal(check_length(RUN + 1, length, 9), RB_VERIFY_FOREIGN);
    }
}

static void test_any_run_will_do(void **state)
{
    (void)state;
    static const rb_verify_t any = {.run = RB_VERIFY_ANY_RUN, .interval_bytes = BLOCK};
    uint8_t block[BLOCK];
    rb_verify_found_t found;
    written(block, RUN + 1, OFFSET, 7);
    assert_int_equal(rb_verify_check(&any, block, BLOCK, &place, NULL), RB_VERIFY_OK);
    for (size_t bit = 0; bit < 8 * BLOCK; bit++) {
        block[bit / 8] ^= (uint8_t)(1 << bit % 8);
        rb_verdict_t verdict = rb_verify_check(&any, block, BLOCK, &place, &found);
        bool run_is_damaged = bit / 8 >= 16 && bit / 8 < 24;
        if (verdict != RB_VERIFY_CORRUPT && !(run_is_damaged && verdict == RB_VERIFY_TORN))
            fail_msg("bit %zu: %s", bit, rb_verdict_names[verdict]);
        assert_int_equal(found.header_damaged, bit / 8 >= 8 && bit / 8 < 48 && !run_is_damaged);
        block[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    written(block, RUN + 1, 4096, 7);
    assert_int_equal(rb_verify_check(&any, block, BLOCK, &place, NULL), RB_VERIFY_MISPLACED);
    written(block, RUN + 1, OFFSET, 7);
    memset(block, 0, RB_VERIFY_SECTOR);
    assert_int_equal(rb_verify_check(&any, block, BLOCK, &place, NULL), RB_VERIFY_TORN);
    memset(block, 0, BLOCK);
    rb_verify_check(&any, block, BLOCK, &(rb_verify_place_t){OFFSET, 0, 0}, &found);
    assert_text(&found, "at 812 GiB (sector 1702887424): found nothing that was written with "
                        "verify");
}

static void test_run_is_of_its_id_and_never_zero(void **state)
{
    (void)state;
    assert_int_equal(rb_verify_run("a-1"), rb_verify_run("a-1"));
    assert_int_not_equal(rb_verify_run("a-1"), rb_verify_run("a-2"));
    assert_int_not_equal(rb_verify_run(""), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_was_written_is_ok),
        cmocka_unit_test(test_a_newer_write_is_ok),
        cmocka_unit_test(test_every_flipped_bit_is_corrupt),
        cmocka_unit_test(test_corrupt_says_what_is_damaged),
        cmocka_unit_test(test_parts_of_two_writes_are_torn),
        cmocka_unit_test(test_one_foreign_sector_in_the_middle_is_torn),
        cmocka_unit_test(test_a_missing_head_is_torn),
        cmocka_unit_test(test_a_block_of_another_offset_is_misplaced),
        cmocka_unit_test(test_a_block_of_another_run_is_foreign),
        cmocka_unit_test(test_an_older_block_is_stale),
        cmocka_unit_test(test_what_nobody_stamped_is_unwritten),
        cmocka_unit_test(test_the_first_bad_interval_is_named),
        cmocka_unit_test(test_blocks_of_another_length),
        cmocka_unit_test(test_any_run_will_do),
        cmocka_unit_test(test_run_is_of_its_id_and_never_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
