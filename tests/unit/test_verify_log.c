/* test_verify_log.c - a log of writes as it is read: whole, torn, damaged, or something else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/verify_log.h"
#include "tests/unit/scratch_disk.h"

static char dir[64], path[96];

static int set_up(void **state)
{
    (void)state;
    strcpy(dir, "/dev/shm/rb-log-XXXXXX");
    RB_ASSERT(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/log", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rb_test_remove_tree(dir);
    return 0;
}

/* A log as it grows. */
typedef struct {
    uint8_t data[1 << 20];
    size_t size, head_size;
} text_t;

static text_t text;

#define RUN 77

static void begin(void)
{
    char *drives[] = {"/dev/one", "/dev/two"};
    rb_log_head_t head = {.run = RUN,
                          .bs_bytes = 4096,
                          .phase = 3,
                          .job = 1,
                          .run_id = "abcd1234",
                          .ndrives = 2,
                          .drives = drives};
    uint8_t *data;
    rb_err_t err;
    assert_int_equal(rb_log_head_pack(&head, &data, &text.size, &err), 0);
    memcpy(text.data, data, text.size);
    text.head_size = text.size;
    free(data);
}

static void batch(const rb_log_record_t *records, uint32_t n)
{
    assert_true(text.size + RB_LOG_BATCH_HEAD + n * RB_LOG_RECORD <= sizeof(text.data));
    text.size += rb_log_batch_pack(records, n, RUN, text.size, text.data + text.size);
}

static void save(size_t size)
{
    FILE *f = fopen(path, "wbe");
    assert_non_null(f);
    assert_true(size == 0 || fwrite(text.data, size, 1, f) == 1);
    fclose(f);
}

static rb_log_t *log_of(size_t size)
{
    rb_err_t err = {0};
    save(size);
    rb_log_t *log = rb_log_read(path, &(rb_pin_t){0}, &err);
    if (log == NULL)
        fail_msg("%s", err.text);
    return log;
}

static void expect_block(const rb_log_blocks_t *b, size_t i, uint64_t offset, uint64_t sequence)
{
    assert_true(i < b->n);
    assert_int_equal(b->blocks[i].offset_bytes, offset);
    assert_int_equal(b->blocks[i].sequence, sequence);
}

static void the_newest_of_each_block_is_kept(void **state)
{
    (void)state;
    const rb_log_record_t first[] = {
        {0, {8192, 5}}, {0, {0, 6}}, {1, {8192, 9}}, {0, {8192, 4}}, {0, {1ull << 40, 7}}};
    const rb_log_record_t second[] = {{0, {8192, 8}}, {0, {0, 2}}};
    begin();
    batch(first, RB_LEN(first));
    batch(second, RB_LEN(second));
    RB_AUTO(rb_log_destroy) rb_log_t *log = log_of(text.size);
    assert_int_equal(log->head.run, RUN);
    assert_int_equal(log->head.bs_bytes, 4096);
    assert_int_equal(log->head.phase, 3);
    assert_int_equal(log->head.job, 1);
    assert_string_equal(log->head.run_id, "abcd1234");
    assert_int_equal(log->writes, 7);
    assert_int_equal(log->rest.torn_bytes, 0);
    const rb_log_blocks_t *one = rb_log_of_drive(log, "/dev/one");
    assert_int_equal(one->n, 3);
    expect_block(one, 0, 0, 6);
    expect_block(one, 1, 8192, 8);
    expect_block(one, 2, 1ull << 40, 7);
    assert_int_equal(rb_log_of_drive(log, "/dev/two")->n, 1);
    expect_block(rb_log_of_drive(log, "/dev/two"), 0, 8192, 9);
    assert_null(rb_log_of_drive(log, "/dev/on"));
}

/* Wherever a power cut ends it: whole batches, and no more. */
static void a_torn_tail_is_left_out(void **state)
{
    (void)state;
    const rb_log_record_t r[] = {{0, {0, 1}}, {0, {4096, 2}}, {1, {0, 3}}};
    size_t ends[3];
    begin();
    ends[0] = text.size;
    batch(r, 2);
    ends[1] = text.size;
    batch(r + 2, 1);
    ends[2] = text.size;
    for (size_t size = ends[0]; size <= ends[2]; size++) {
        RB_AUTO(rb_log_destroy) rb_log_t *log = log_of(size);
        size_t end = size >= ends[2] ? ends[2] : size >= ends[1] ? ends[1] : ends[0];
        assert_int_equal(log->writes, end == ends[2] ? 3 : end == ends[1] ? 2 : 0);
        assert_int_equal(log->rest.torn_bytes, size - end);
    }
}

static void expect_no_log(size_t size, const char *why)
{
    rb_err_t err = {0};
    save(size);
    rb_log_t *log = rb_log_read(path, &(rb_pin_t){0}, &err);
    assert_null(log);
    assert_int_equal(err.code, RB_ERR_INPUT);
    if (strstr(err.text, why) == NULL)
        fail_msg("'%s' is not in '%s'", why, err.text);
}

static void a_flipped_bit_costs_its_batch_alone(void **state)
{
    (void)state;
    const rb_log_record_t r[] = {{0, {0, 1}}, {0, {4096, 2}}, {1, {0, 3}}};
    begin();
    batch(r, 2);
    size_t first_end = text.size;
    batch(r + 2, 1);
    for (size_t bit = 8 * text.head_size; bit < 8 * text.size; bit++) {
        text.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        RB_AUTO(rb_log_destroy) rb_log_t *log = log_of(text.size);
        bool first = bit / 8 < first_end;
        assert_int_equal(log->writes, first ? 1 : 2);
        assert_int_equal(log->rest.lost_bytes, first ? first_end - text.head_size : 0);
        assert_int_equal(log->rest.lost_at_bytes, first ? text.head_size : 0);
        assert_int_equal(log->rest.torn_bytes, first ? 0 : text.size - first_end);
        text.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * text.head_size; bit++) {
        text.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        expect_no_log(text.size, "is no log of writes, or its head is damaged");
        text.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t size = 0; size < text.head_size; size++)
        expect_no_log(size, "is no log of writes");
}

/* n bytes at `at` of four batches that are gone, or stand there twice: what comes after the batch
 * behind them is read again. */
static void move(size_t at, size_t n, bool twice)
{
    memmove(text.data + at + (twice ? n : 0), text.data + at + (twice ? 0 : n),
            text.size - at - (twice ? 0 : n));
    text.size = twice ? text.size + n : text.size - n;
}

static void bytes_that_come_or_go_cost_their_batch(void **state)
{
    (void)state;
    const rb_log_record_t r[] = {{0, {0, 1}}, {0, {4096, 2}}, {1, {0, 3}}};
    const size_t size = RB_LOG_BATCH_HEAD + 3 * RB_LOG_RECORD;
    for (int twice = 0; twice < 2; twice++)
        for (size_t n = 1; n <= size; n++)
            for (size_t at = size; at + n <= 2 * size; at++) {
                if (!twice && n == size)
                    continue; /* a whole one is gone: the reading ends there */
                begin();
                for (int i = 0; i < 4; i++)
                    batch(r, 3);
                move(text.head_size + at, n, twice);
                RB_AUTO(rb_log_destroy) rb_log_t *log = log_of(text.size);
                uint64_t known = log->writes * RB_LOG_RECORD + log->writes / 3 * RB_LOG_BATCH_HEAD;
                if (log->writes < 9 || log->rest.lost_bytes == 0 || log->rest.torn_bytes > 0)
                    fail_msg("%zu bytes at %zu: %lu writes, %lu bytes lost, %lu torn", n, at,
                             log->writes, log->rest.lost_bytes, log->rest.torn_bytes);
                assert_int_equal(known + log->rest.lost_bytes + text.head_size, text.size);
            }
}

/* Damage twice, and far from where reading goes on: across what is looked at in one piece. */
static void each_damage_is_counted(void **state)
{
    (void)state;
    static rb_log_record_t r[RB_LOG_BATCH];
    begin();
    for (int i = 0; i < 5; i++)
        batch(r, i % 2 == 0 ? 1 : RB_LOG_BATCH);
    const size_t small = RB_LOG_BATCH_HEAD + RB_LOG_RECORD;
    const size_t large = RB_LOG_BATCH_HEAD + RB_LOG_BATCH * RB_LOG_RECORD;
    memset(text.data + text.head_size + small, 0xff, 5000);
    text.data[text.head_size + 2 * small + large + 4] ^= 1; /* a count */
    RB_AUTO(rb_log_destroy) rb_log_t *log = log_of(text.size);
    assert_int_equal(log->writes, 3);
    assert_int_equal(log->rest.lost_bytes, 2 * large);
    assert_int_equal(log->rest.lost_at_bytes, text.head_size + small);
    assert_int_equal(log->rest.torn_bytes, 0);
}

/* Whole, and where it stands it says nothing: a batch of another place, or of another run. */
static void a_batch_belongs_to_its_place(void **state)
{
    (void)state;
    const rb_log_record_t r[] = {{0, {0, 1}}, {2, {4096, 2}}};
    begin();
    text.size += rb_log_batch_pack(r, 1, RUN, text.size + 1, text.data + text.size);
    rb_log_t *log = log_of(text.size);
    assert_int_equal(log->writes, 0);
    rb_log_destroy(&log);
    begin();
    text.size += rb_log_batch_pack(r, 1, RUN + 1, text.size, text.data + text.size);
    log = log_of(text.size);
    assert_int_equal(log->writes, 0);
    rb_log_destroy(&log);
    begin();
    batch(r, 2); /* of a drive that the head does not have */
    log = log_of(text.size);
    assert_int_equal(log->writes, 0);
    assert_int_equal(log->rest.torn_bytes, text.size - text.head_size);
    rb_log_destroy(&log);
}

/* Many writes to few blocks take few places, many blocks as many as they need. */
static void memory_follows_the_blocks(void **state)
{
    (void)state;
    static rb_log_record_t r[RB_LOG_BATCH];
    for (uint64_t different = 100; different <= 40000; different *= 400) {
        uint64_t sequence = 0;
        begin();
        for (int k = 0; k < 10; k++) {
            for (uint32_t i = 0; i < RB_LOG_BATCH; i++, sequence++)
                r[i] = (rb_log_record_t){0, {(sequence * 7919 % different) * 4096, sequence}};
            batch(r, RB_LOG_BATCH);
        }
        RB_AUTO(rb_log_destroy) rb_log_t *log = log_of(text.size);
        const rb_log_blocks_t *b = rb_log_of_drive(log, "/dev/one");
        assert_int_equal(log->writes, 10 * RB_LOG_BATCH);
        assert_int_equal(b->n, different);
        assert_true(log->places <= RB_MAX(4096ull, different * 8 / 3));
        for (size_t i = 0; i < b->n; i++) {
            assert_int_equal(b->blocks[i].offset_bytes, i * 4096);
            assert_true(b->blocks[i].sequence + different >= sequence);
        }
    }
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    rb_err_t err;
    char link[128];
    snprintf(link, sizeof(link), "%s/link", dir);
    begin();
    save(text.size);
    RB_ASSERT(symlink(path, link) == 0);
    assert_null(rb_log_read(link, &(rb_pin_t){0}, &err));
    assert_non_null(strstr(err.text, "is a link; name the file itself"));
    assert_null(rb_log_read(dir, &(rb_pin_t){0}, &err));
    assert_non_null(strstr(err.text, "it is no regular file"));
    unlink(path);
    assert_null(rb_log_read(path, &(rb_pin_t){0}, &err));
    assert_non_null(strstr(err.text, "does not exist on this host"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_of_each_block_is_kept),
        cmocka_unit_test(a_torn_tail_is_left_out),
        cmocka_unit_test(a_flipped_bit_costs_its_batch_alone),
        cmocka_unit_test(bytes_that_come_or_go_cost_their_batch),
        cmocka_unit_test(each_damage_is_counted),
        cmocka_unit_test(a_batch_belongs_to_its_place),
        cmocka_unit_test(memory_follows_the_blocks),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
