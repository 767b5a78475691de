/* Rows written by hand, byte by byte: the layout is as documented, and bad rows are refused by
 * name. */
#include "proto/sample.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void assert_row_refused(const char *bytes, size_t size, const char *text)
{
    rb_err_t err = {0};
    rb_row_t row;
    assert_int_equal(rb_row_unpack(bytes, size, &row, &err), -1);
    assert_int_equal(err.code, RB_ERR_NET);
    assert_string_equal(err.text, text);
}
#define REFUSED(bytes, text) assert_row_refused(bytes, sizeof(bytes) - 1, text)

static void test_layout_of_bytes(void **state)
{
    (void)state;
    static const char expected[] = "\x98\x01\x11" /* window, seq 17 */
                                   "\x02\x02\x05\x01\xc3"
                                   "\x91\x9b\x00\x01\x02\x01\x03\xcd\x30\x00\x00\x02\x07\xc0"
                                   "\x95\x03\x05\x09\x15\x94\x05\x02\x04\x01";
    rb_hist_pair_t two[] = {{5, 2}, {9, 1}};
    rb_hist_sparse_t no_hist = {.min = UINT64_MAX};
    rb_cell_t cell = {0, 1, 2, RB_OP_WRITE, 3, 12288, 0, 2, 7, no_hist, {3, 5, 9, 21, 2, two}};
    rb_row_t row = {.kind = RB_ROW_WINDOW, .seq = 17};
    row.window = (rb_row_window_t){2, RB_PART_MAIN, 5, 1, true, 1, &cell};
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_row_pack(&row);
    assert_int_equal(b.size, sizeof(expected) - 1);
    assert_memory_equal(b.data, expected, b.size);
}

static void test_unknown_kind(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_row_kind_t kind;
    uint64_t seq;
    REFUSED("\x93\x63\x01\x00", "row kind 99 is not known to this version");
    REFUSED("\x92\x00\x01", "row kind 0 is not known to this version");
    assert_int_equal(rb_row_peek("\x93\x63\x01\x00", 4, &kind, &seq, &err), -1);
    assert_string_equal(err.text, "row kind 99 is not known to this version");
}

static void test_errors_name_row_and_field(void **state)
{
    (void)state;
    REFUSED("\x86\x01\x11", "field 'row': expected an array, got a map");
    REFUSED("\x98\x01\x11\xa1x\x02\x05\x01\xc3\x90",
            "window row 17: field 'phase': expected an unsigned integer, got a string");
    REFUSED("\x98\x01\x11\x02\x09\x05\x01\xc3\x90",
            "window row 17: field 'part': 9 is more than 3");
    REFUSED("\x98\x01\x11\x02\x02\x05\x00\xc3\x90",
            "window row 17: field 'span': 0 is not in 1 to 4294967295");
    REFUSED("\x98\x01\x11\x02\x02\x05\x01\x01\x90",
            "window row 17: field 'all_running': expected a boolean, got an unsigned integer");
    REFUSED("\x98\x01\x11\x02\x02\x05\x01\xc3\x91\x9b\x00\x01\x02\x01\xcb\0\0\0\0\0\0\0\0",
            "window row 17: cell 0: field 'ops': expected an unsigned integer, got a float");
    REFUSED("\x96\x01\x11\x02\x02\x05\x01", "window row 17: expected at least 6 fields, got 4");
    REFUSED("\x98\x01\x11\x02\x02\x05\x01\xc3\x90\x00", "window row 17: 1 bytes follow its end");
    REFUSED("\x96\x04\x01\x00\x00\xa2\x00y\xa0",
            "event row 1: field 'kind': a NUL byte in a string");
    REFUSED("\x96\x04\x01\xfe\x00\xa1x\xa0", "event row 1: field 'phase': -2 is not in -1 to 4095");
}

static void test_integers_of_any_width(void **state)
{
    (void)state;
    rb_err_t err = {0};
    /* a clock row whose unsigned values stand in signed formats, as other writers may do */
    static const char bytes[] = "\x98\x42\x01\x01\xd0\x05\xd3\xff\xff\xff\xff\xff\xff\xff\xfe"
                                "\xd1\x01\x00\xd2\x00\x01\x00\x00\xcf\0\0\0\0\0\0\0\7";
    RB_AUTO(rb_row_clear) rb_row_t row;
    if (rb_row_unpack(bytes, sizeof(bytes) - 1, &row, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(row.clock.at_ns, 5);
    assert_true(row.clock.offset_ns == -2 && row.clock.drift_ppb == 7);
    assert_true(row.clock.bound_ns == 256 && row.clock.rtt_ns == 65536);
    REFUSED("\x98\x42\x01\x01\xd0\xfb\0\0\0\0",
            "clock row 1: field 'at_ns': expected an unsigned integer, got a negative integer");
    REFUSED("\x98\x42\x01\x01\x05\xcf\x80\0\0\0\0\0\0\0\0\0\0",
            "clock row 1: field 'offset_ns': "
            "9223372036854775808 is more than 9223372036854775807");
}

static void test_announced_sizes_are_not_believed(void **state)
{
    (void)state;
    REFUSED("\x98\x01\x11\x02\x02\x05\x01\xc3\xdd\x00\x00\x04\x00",
            "window row 17: field 'cells': the row ends inside of it");
    REFUSED("\x98\x01\x11\x02\x02\x05\x01\xc3\xdd\x00\x00\x04\x01",
            "window row 17: field 'cells': 1025 elements, at most 1024 are allowed");
    REFUSED("\x96\x04\x01\x00\x00\xdb\xff\xff\xff\xff",
            "event row 1: field 'kind': 4294967295 bytes long, at most 255 are allowed");
    REFUSED("\x96\x41\x01\x01\xa0\xc6\x00\xff\xff\xff",
            "host row 1: field 'inventory': the row ends inside of it");
    REFUSED("\x94\x05\x01\x00\xdd\x00\x00\x00\xff",
            "drives row 1: field 'drives': the row ends inside of it");
}

/* A layout row up to its histogram. */
#define LAYOUT "\x9a\x06\x01\x00\x00\x00\xc2\x00\x00\x00"
#define HIST   "layout row 1: field 'service': "

static void test_histograms_are_checked(void **state)
{
    (void)state;
    REFUSED(LAYOUT "\x95\x00\x01\x01\x01\x90", HIST "count 0, min 1, max 1 do not go together");
    REFUSED(LAYOUT "\x95\x01\x02\x01\x01\x92\x01\x01",
            HIST "count 1, min 2, max 1 do not go together");
    REFUSED(LAYOUT "\x95\x01\x01\x01\x01\x90",
            HIST "0 numbers do not make pairs of bucket and count");
    REFUSED(LAYOUT "\x95\x01\x01\x01\x01\x91\x01",
            HIST "1 numbers do not make pairs of bucket and count");
    REFUSED(LAYOUT "\x95\x02\x01\x01\x01\x92\x01\x01", HIST "its pairs lack 1 of 2 counts");
    REFUSED(LAYOUT "\x95\x01\x01\x01\x01\x92\x01\x02", HIST "2 is more than 1");
    REFUSED(LAYOUT "\x95\x02\x01\x01\x01\x94\x01\x01\x00\x01",
            HIST "pair 1 has no step or no count");
    REFUSED(LAYOUT "\x95\x02\x01\x01\x01\x94\x01\x00\x01\x02",
            HIST "pair 0 has no step or no count");
    REFUSED(LAYOUT "\x95\x01\x01\x01\x01\x92\xcd\x1d\x00\x01", HIST "7424 is more than 7423");
    REFUSED(LAYOUT "\x95\x02\x01\x01\x01\x94\xcd\x1c\xff\x01\x01\x01", HIST "1 is more than 0");
    REFUSED(LAYOUT "\x94\x01\x01\x01\x01", HIST "expected at least 5 values, got 4");
}

static void test_newer_fields_are_skipped(void **state)
{
    (void)state;
    /* run end with more fields: one of every msgpack type, some of them nested */
    static const char bytes[] = "\xdc\x00\x19\x46\x05\xa4"
                                "done\x00\x01\xa0"
                                "\xc0\xc2\x82\x01\x91\x02\xa1x\x03\xca\0\0\0\0\xcb\0\0\0\0\0\0\0\0"
                                "\xc4\x01z\xc7\x02\x05zz\xd4\x01z\xd8\x01zzzzzzzzzzzzzzzz\xd9\x01z"
                                "\xd0\x80\xd3\0\0\0\0\0\0\0\1\xcf\0\0\0\0\0\0\0\1\xe0\x93\x90\x90"
                                "\x01\x80\xde\x00\x01\x01\x01\xdd\0\0\0\0\xd5\x01zz";
    rb_err_t err = {0};
    RB_AUTO(rb_row_clear) rb_row_t row;
    if (rb_row_unpack(bytes, sizeof(bytes) - 1, &row, &err) != 0)
        fail_msg("%s", err.text);
    assert_string_equal(row.run_end.status, "done");
    assert_int_equal(row.seq, 5);
    REFUSED("\x97\x46\x05\xa0\x00\x01\xa0\xc1",
            "run end row 5: field '(from a newer version)': 0xc1 is not msgpack");
}

static void test_newer_cell_fields_are_skipped(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(rb_row_clear) rb_row_t row;
    static const char bytes[] = "\x98\x01\x11\x02\x02\x05\x01\xc3\x92"
                                "\x9c\x00\x01\x02\x01\x03\x00\x00\x02\x07\xc0\xc0\x93\x01\x02\x03"
                                "\x9b\x00\x01\x02\x02\x04\x00\x00\x02\x07\xc0\xc0";
    assert_int_equal(rb_row_unpack(bytes, sizeof(bytes) - 1, &row, &err), 0);
    assert_int_equal(row.window.cells[0].ops, 3);
    assert_int_equal(row.window.cells[1].ops, 4);
    assert_int_equal(row.window.cells[1].op, RB_OP_TRIM);
}

/* What an older writer did not have is empty, and what follows in the bytes is not taken for it. */
static void test_older_worker_rows_are_read(void **state)
{
    (void)state;
#define WORKER(fields)                                                                             \
    "\xdc\x00" fields "\x02\x01\x00\x01\x02\x03\x04\x05\x06\x07\x08\xc3\x00\x00\x09\x0a\x00\xc0"
#define LATE "\x95\x01\x04\x04\x04\x92\x04\x01"
    rb_err_t err = {0};
    RB_AUTO(rb_row_clear) rb_row_t row;
    static const char older[] = WORKER("\x12"), today[] = WORKER("\x13") LATE;
    static const char newer[] = WORKER("\x14") LATE "\x07";
    assert_int_equal(rb_row_unpack(older, sizeof(older) - 1, &row, &err), 0);
    assert_int_equal(row.worker.wall_ns, 10);
    assert_int_equal(row.worker.lateness.count, 0);
    assert_true(row.worker.lateness.min == UINT64_MAX);
    assert_int_equal(rb_row_unpack(today, sizeof(today) - 1, &row, &err), 0);
    assert_int_equal(row.worker.lateness.count, 1);
    rb_row_clear(&row);
    assert_int_equal(rb_row_unpack(newer, sizeof(newer) - 1, &row, &err), 0);
    assert_int_equal(row.worker.lateness.max, 4);
    REFUSED(WORKER("\x13") "\x05",
            "worker row 1: field 'lateness': expected an array, got an unsigned integer");
    REFUSED(WORKER("\x12") LATE, "worker row 1: 8 bytes follow its end");
    rb_row_clear(&row);
}

/* What an older writer did not know has a value of its own. */
static void test_older_rows_are_read(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(rb_row_clear) rb_row_t end, worker;
    static const char phase_end[] = "\x96\x44\x05\x00\x07\xc2\x90";
    assert_int_equal(rb_row_unpack(phase_end, sizeof(phase_end) - 1, &end, &err), 0);
    assert_int_equal(end.phase_end.te_at_ns, 7);
    assert_null(end.phase_end.reason);
    REFUSED("\x95\x44\x05\x00\x07\xc2", "phase end row 5: expected at least 4 fields, got 3");
    static const char of_worker[] = "\xdc\x00\x12\x02\x01\0\0\0\0\0\0\0\x09\x07\xc2\0\0\0\0\0"
                                    "\xc0";
    assert_int_equal(rb_row_unpack(of_worker, sizeof(of_worker) - 1, &worker, &err), 0);
    assert_int_equal(worker.worker.done_at_ns, 9);
    assert_int_equal(worker.worker.stopped_at_ns, 7); /* when it ended */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout_of_bytes),
        cmocka_unit_test(test_unknown_kind),
        cmocka_unit_test(test_errors_name_row_and_field),
        cmocka_unit_test(test_integers_of_any_width),
        cmocka_unit_test(test_announced_sizes_are_not_believed),
        cmocka_unit_test(test_histograms_are_checked),
        cmocka_unit_test(test_newer_fields_are_skipped),
        cmocka_unit_test(test_newer_cell_fields_are_skipped),
        cmocka_unit_test(test_older_worker_rows_are_read),
        cmocka_unit_test(test_older_rows_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
