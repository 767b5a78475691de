/* Every kind of row there and back at its limits, cut anywhere and changed anywhere. */
#include "tests/unit/sample_rows.h"

/* Packs the decoded row again: every field of every kind must have come back. */
static void test_every_kind_survives(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_LEN(kinds); i++) {
        rb_row_t row = sample_row(kinds[i]);
        RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
        RB_AUTO(rb_bytes_clear) rb_bytes_t first = rb_row_pack(&row);
        RB_AUTO(rb_bytes_clear) rb_bytes_t second = rb_row_pack(&back);
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.data, second.data, first.size);
    }
}

static void test_signed_values(void **state)
{
    (void)state;
    static const int64_t values[] = {0,         127,    -1,     -32,        -33,       -128,
                                     -129,      -32768, -32769, INT32_MIN,  INT32_MAX, INT64_MIN,
                                     INT64_MAX, 128,    65536,  -2147483649};
    for (size_t i = 0; i < RB_LEN(values); i++) {
        rb_row_t row = sample_row(RB_ROW_CLOCK);
        row.clock.offset_ns = values[i];
        RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
        assert_true(back.clock.offset_ns == values[i]);
        assert_true(back.clock.drift_ppb == INT64_MAX);
    }
}

static void test_blobs_and_strings(void **state)
{
    (void)state;
    rb_row_t row = sample_row(RB_ROW_RUN);
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    assert_int_equal(back.run.plan.size, 2);
    assert_memory_equal(back.run.plan.data, "\0\xff", 2);
    assert_int_equal(back.run.nmarks, 2);
    assert_string_equal(back.run.marks[0], "generation=gen15");
    assert_string_equal(back.run.marks[1], "");
    row.run.plan = (rb_bytes_t){0};
    row.run.name = NULL; /* packs as "" */
    RB_AUTO(rb_row_clear) rb_row_t empty = there_and_back(&row);
    assert_int_equal(empty.run.plan.size, 0);
    assert_string_equal(empty.run.name, "");
}

static void test_texts_at_their_limit(void **state)
{
    (void)state;
    RB_AUTO(rb_free_str) char *text = rb_calloc(1, 4097);
    memset(text, 'x', 4096);
    rb_row_t row = sample_row(RB_ROW_EVENT);
    row.event.text = text;
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    assert_string_equal(back.event.text, text);
}

static void test_full_histogram(void **state)
{
    (void)state;
    rb_hist_sparse_t full = {RB_HIST_BUCKETS, 0,
                             UINT64_MAX,      1,
                             RB_HIST_BUCKETS, rb_calloc(RB_HIST_BUCKETS, sizeof(rb_hist_pair_t))};
    for (uint32_t i = 0; i < RB_HIST_BUCKETS; i++)
        full.pairs[i] = (rb_hist_pair_t){i, 1};
    rb_row_t row = sample_row(RB_ROW_LAYOUT);
    row.layout.service = full;
    RB_AUTO(rb_row_clear) rb_row_t back = there_and_back(&row);
    assert_hist_equal(&back.layout.service, &full);
    rb_hist_sparse_clear(&full);
}

static void test_peek(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_row_kind_t kind;
    uint64_t seq;
    for (size_t i = 0; i < RB_LEN(kinds); i++) {
        rb_row_t row = sample_row(kinds[i]);
        row.seq = 1000 + i;
        RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_row_pack(&row);
        assert_int_equal(rb_row_peek(b.data, b.size, &kind, &seq, &err), 0);
        assert_int_equal(kind, kinds[i]);
        assert_int_equal(seq, 1000 + i);
    }
    assert_int_equal(rb_row_peek("", 0, &kind, &seq, &err), -1);
    assert_int_equal(err.code, RB_ERR_NET);
}

/* The copy is of the exact size, so that a sanitizer sees a read behind it. */
static void test_cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_LEN(kinds); i++) {
        rb_row_t row = sample_row(kinds[i]);
        RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_row_pack(&row);
        for (size_t size = 0; size < b.size; size++) {
            rb_err_t err = {0};
            RB_AUTO(rb_row_clear) rb_row_t back;
            RB_AUTO(rb_bytes_clear) rb_bytes_t cut = {rb_calloc(1, size), size};
            memcpy(cut.data, b.data, size);
            assert_int_equal(rb_row_unpack(cut.data, cut.size, &back, &err), -1);
            assert_int_equal(err.code, RB_ERR_NET);
            assert_int_equal(back.kind, 0);
        }
    }
}

/* A changed byte must never crash; most are noticed, a changed number cannot be. */
static void test_every_byte_changed(void **state)
{
    (void)state;
    for (size_t i = 0; i < RB_LEN(kinds); i++) {
        rb_row_t row = sample_row(kinds[i]);
        RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_row_pack(&row);
        for (size_t at = 0; at < b.size; at++) {
            for (unsigned value = 0; value < 256; value++) {
                uint8_t old = b.data[at];
                rb_err_t err = {0};
                RB_AUTO(rb_row_clear) rb_row_t back;
                b.data[at] = (uint8_t)value;
                (void)rb_row_unpack(b.data, b.size, &back, &err);
                b.data[at] = old;
            }
        }
    }
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(rb_op_names[RB_OP_TRIM], "trim");
    assert_string_equal(rb_op_names[RB_OP_SYNC], "sync");
    assert_string_equal(rb_part_names[RB_PART_SETUP], "setup");
    assert_string_equal(rb_part_names[RB_PART_DRAINED], "drained");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_survives),
        cmocka_unit_test(test_signed_values),
        cmocka_unit_test(test_blobs_and_strings),
        cmocka_unit_test(test_texts_at_their_limit),
        cmocka_unit_test(test_full_histogram),
        cmocka_unit_test(test_peek),
        cmocka_unit_test(test_cut_at_every_byte),
        cmocka_unit_test(test_every_byte_changed),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
