/* The frame header byte by byte, and control messages through it. */
#include "proto/wire.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static rb_bytes_t hello_frame(void)
{
    Rackbench__Label label = RACKBENCH__LABEL__INIT;
    Rackbench__Label *labels[] = {&label};
    label.name = (char *)"rack";
    label.value = (char *)"r1";
    Rackbench__Hello hello = RACKBENCH__HELLO__INIT;
    hello.run_id = (char *)"k3f9";
    hello.host = (char *)"db07:7412";
    hello.lease_ns = UINT64_MAX;
    hello.n_labels = 1;
    hello.labels = labels;
    Rackbench__ToAgent msg = RACKBENCH__TO_AGENT__INIT;
    msg.body_case = RACKBENCH__TO_AGENT__BODY_HELLO;
    msg.hello = &hello;
    return rb_wire_pack_to_agent(&msg);
}

static rb_bytes_t beat_ack_frame(int state)
{
    Rackbench__BeatAck ack = RACKBENCH__BEAT_ACK__INIT;
    ack.seq = 1;
    ack.state = (Rackbench__BeatAck__State)state;
    Rackbench__ToCoordinator msg = RACKBENCH__TO_COORDINATOR__INIT;
    msg.body_case = RACKBENCH__TO_COORDINATOR__BODY_BEAT_ACK;
    msg.beat_ack = &ack;
    return rb_wire_pack_to_coordinator(&msg);
}

static void assert_refused(const rb_bytes_t *b, size_t size, const char *word)
{
    rb_err_t err = {0};
    rb_frame_t frame;
    assert_int_equal(rb_wire_parse(b->data, size, &frame, &err), -1);
    assert_int_equal(err.code, RB_ERR_NET);
    if (strstr(err.text, word) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, word);
}

static void test_hello_survives(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_frame_t frame;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = hello_frame();
    assert_int_equal(rb_wire_parse(b.data, b.size, &frame, &err), 0);
    assert_int_equal(frame.kind, RB_FRAME_TO_AGENT);
    assert_ptr_equal(frame.payload, b.data + RB_WIRE_HEADER);
    RB_AUTO(rb_to_agent_destroy) Rackbench__ToAgent *msg = rb_wire_to_agent(&frame, &err);
    assert_non_null(msg);
    assert_int_equal(msg->body_case, RACKBENCH__TO_AGENT__BODY_HELLO);
    assert_string_equal(msg->hello->host, "db07:7412");
    assert_true(msg->hello->lease_ns == UINT64_MAX);
    assert_string_equal(msg->hello->labels[0]->value, "r1");
}

static void test_header_is_as_documented(void **state)
{
    (void)state;
    static const uint8_t expected[] = {'R', 'B', 'W', 1, 3, 0, 0, 0, 2, 1, 0, 0, 0xab};
    uint8_t row[258] = {0xab};
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_wire_pack_row(row, sizeof(row));
    assert_int_equal(b.size, RB_WIRE_HEADER + sizeof(row));
    assert_memory_equal(b.data, expected, sizeof(expected));
}

static void test_each_header_byte_is_checked(void **state)
{
    (void)state;
    static const char *const words[RB_WIRE_HEADER] = {
        "'RBW'",    "'RBW'",    "'RBW'",   "version 129", "kind 129", "reserved",
        "reserved", "reserved", "payload", "payload",     "payload",  "payload"};
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = beat_ack_frame(0);
    b.data[4] = 1; /* so that the flipped kind reads 129 */
    for (unsigned i = 0; i < RB_WIRE_HEADER; i++) {
        b.data[i] ^= 0x80;
        assert_refused(&b, b.size, words[i]);
        b.data[i] ^= 0x80;
    }
}

static void test_both_versions_are_named(void **state)
{
    (void)state;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = hello_frame();
    b.data[3] = 7;
    assert_refused(&b, b.size, "version 7");
    assert_refused(&b, b.size, "version 1");
}

static void test_kinds_outside_are_refused(void **state)
{
    (void)state;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = hello_frame();
    b.data[4] = 0;
    assert_refused(&b, b.size, "kind 0");
    b.data[4] = 5;
    assert_refused(&b, b.size, "kind 5");
}

static void assert_says(const rb_bytes_t *b, const char *text)
{
    rb_err_t err = {0};
    rb_wire_refusal(b->data, b->size, &err);
    assert_int_equal(err.code, RB_ERR_NET);
    assert_string_equal(err.text, text);
}

/* The one kind that crosses versions, and that must be read whatever a stranger puts into it. */
static void test_refusal_of_any_version(void **state)
{
    (void)state;
    static const uint8_t expected[] = {'R', 'B', 'W', 1, 4, 0, 0, 0, 16, 0, 0, 0};
    rb_err_t err = {0};
    rb_frame_t frame;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_wire_pack_refusal("not\x1b[2J so");
    assert_memory_equal(b.data, expected, sizeof(expected));
    assert_int_equal(rb_wire_parse(b.data, b.size, &frame, &err), 0);
    assert_says(&b, "release " RB_VERSION " refused what it was sent: not?[2J so");
    b.data[3] = 9;
    assert_int_equal(rb_wire_parse(b.data, b.size, &frame, &err), 0);
    assert_says(&b, "speaks protocol version 9 (release " RB_VERSION
                    "), this program version 1 (release " RB_VERSION
                    "): use the same release on every host");
    assert_null(rb_wire_to_agent(&frame, &err));
    b.size = RB_WIRE_HEADER;
    assert_says(&b,
                "speaks protocol version 9 (release ), this program version 1 (release " RB_VERSION
                "): use the same release on every host");
}

static void test_length_is_exactly_the_rest(void **state)
{
    (void)state;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = hello_frame();
    for (size_t size = 0; size < b.size; size++)
        assert_refused(&b, size, size < RB_WIRE_HEADER ? "header" : "payload");
    b.data[8]--;
    assert_refused(&b, b.size, "payload");
}

static void test_largest_frame(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_frame_t frame;
    RB_AUTO(rb_bytes_clear) rb_bytes_t row = {rb_calloc(1, RB_MAX_FRAME), RB_MAX_FRAME};
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_wire_pack_row(row.data, row.size);
    assert_int_equal(rb_wire_parse(b.data, b.size, &frame, &err), 0);
    assert_int_equal(frame.size, RB_MAX_FRAME);
    b.data[8] = 1;
    b.data = rb_realloc(b.data, b.size + 1);
    assert_refused(&b, b.size + 1, "at most");
}

static void test_other_kind_is_refused(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_frame_t frame;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = hello_frame();
    assert_int_equal(rb_wire_parse(b.data, b.size, &frame, &err), 0);
    assert_null(rb_wire_to_coordinator(&frame, &err));
    assert_int_equal(err.code, RB_ERR_NET);
    RB_AUTO(rb_bytes_clear) rb_bytes_t ack = beat_ack_frame(3);
    assert_int_equal(rb_wire_parse(ack.data, ack.size, &frame, &err), 0);
    assert_null(rb_wire_to_agent(&frame, &err));
    RB_AUTO(rb_to_coordinator_destroy)
    Rackbench__ToCoordinator *msg = rb_wire_to_coordinator(&frame, &err);
    assert_non_null(msg);
    assert_int_equal(msg->beat_ack->state, RACKBENCH__BEAT_ACK__STATE__preparing);
}

static void test_no_body_is_refused(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_frame_t frame = {RB_FRAME_TO_AGENT, NULL, 0};
    assert_null(rb_wire_to_agent(&frame, &err));
    assert_non_null(strstr(err.text, "without a body"));
    frame.kind = RB_FRAME_TO_COORDINATOR;
    assert_null(rb_wire_to_coordinator(&frame, &err));
    assert_non_null(strstr(err.text, "without a body"));
}

static void test_cut_message_is_refused(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_frame_t frame;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = hello_frame();
    assert_int_equal(rb_wire_parse(b.data, b.size, &frame, &err), 0);
    while (frame.size-- > 0) {
        err.code = RB_OK;
        assert_null(rb_wire_to_agent(&frame, &err));
        assert_int_equal(err.code, RB_ERR_NET);
    }
}

static void test_unknown_enum_is_refused(void **state)
{
    (void)state;
    rb_err_t err = {0};
    rb_frame_t frame;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = beat_ack_frame(99);
    assert_int_equal(rb_wire_parse(b.data, b.size, &frame, &err), 0);
    assert_null(rb_wire_to_coordinator(&frame, &err));
    assert_string_equal(err.text,
                        "ToCoordinator message: field 'state': 99 is not known to this version");
}

static void test_unknown_field_is_refused(void **state)
{
    (void)state;
    rb_err_t err = {0};
    static const uint8_t bye[] = {0x42, 0x03, 0xf8, 0x06, 0x01}; /* bye {111: 1} */
    rb_frame_t frame = {RB_FRAME_TO_AGENT, bye, sizeof(bye)};
    assert_null(rb_wire_to_agent(&frame, &err));
    assert_int_equal(err.code, RB_ERR_NET);
    assert_non_null(strstr(err.text, "Bye has a field 111"));
}

/* A plan of one phase with one job; the mode sits three messages deep, in repeated ones. */
static rb_bytes_t plan_bytes(int mode)
{
    Rackbench__Job job = RACKBENCH__JOB__INIT;
    Rackbench__Job *jobs[] = {&job};
    job.has_rw = true;
    job.rw = (Rackbench__Rw__Mode)mode;
    Rackbench__Phase phase = RACKBENCH__PHASE__INIT;
    Rackbench__Phase *phases[] = {&phase};
    phase.jobs = jobs;
    phase.n_jobs = 1;
    Rackbench__Plan plan = RACKBENCH__PLAN__INIT;
    plan.name = (char *)"demo";
    plan.phases = phases;
    plan.n_phases = 1;
    return rb_plan_pack(&plan);
}

static void test_plan_survives_and_is_copied(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = plan_bytes(RACKBENCH__RW__MODE__randrw);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = rb_plan_unpack(b.data, b.size, &err);
    assert_non_null(plan);
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *copy = rb_plan_copy(plan);
    rb_plan_destroy(&plan);
    assert_null(plan);
    assert_string_equal(copy->name, "demo");
    assert_int_equal(copy->phases[0]->jobs[0]->rw, RACKBENCH__RW__MODE__randrw);
    RB_AUTO(rb_bytes_clear) rb_bytes_t again = rb_plan_pack(copy);
    assert_int_equal(again.size, b.size);
    assert_memory_equal(again.data, b.data, b.size);
}

static void test_bad_plan_is_bad_input(void **state)
{
    (void)state;
    rb_err_t err = {0};
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = plan_bytes(77);
    assert_null(rb_plan_unpack(b.data, b.size, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
    assert_non_null(strstr(err.text, "field 'rw': 77"));
    assert_null(rb_plan_unpack("\xff", 1, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
}

static void test_inventory_survives(void **state)
{
    (void)state;
    rb_err_t err = {0};
    Rackbench__Drive drive = RACKBENCH__DRIVE__INIT;
    Rackbench__Drive *drives[] = {&drive};
    drive.path = (char *)"/dev/nvme0n1";
    Rackbench__Inventory inventory = RACKBENCH__INVENTORY__INIT;
    inventory.n_drives = 1;
    inventory.drives = drives;
    RB_AUTO(rb_inventory_destroy)
    Rackbench__Inventory *copy = rb_inventory_copy(&inventory);
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_inventory_pack(copy);
    RB_AUTO(rb_inventory_destroy)
    Rackbench__Inventory *back = rb_inventory_unpack(b.data, b.size, &err);
    assert_non_null(back);
    assert_string_equal(back->drives[0]->path, "/dev/nvme0n1");
    assert_null(rb_inventory_unpack(b.data, b.size - 1, &err));
    assert_int_equal(err.code, RB_ERR_INPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hello_survives),
        cmocka_unit_test(test_header_is_as_documented),
        cmocka_unit_test(test_each_header_byte_is_checked),
        cmocka_unit_test(test_both_versions_are_named),
        cmocka_unit_test(test_kinds_outside_are_refused),
        cmocka_unit_test(test_refusal_of_any_version),
        cmocka_unit_test(test_length_is_exactly_the_rest),
        cmocka_unit_test(test_largest_frame),
        cmocka_unit_test(test_other_kind_is_refused),
        cmocka_unit_test(test_no_body_is_refused),
        cmocka_unit_test(test_cut_message_is_refused),
        cmocka_unit_test(test_unknown_enum_is_refused),
        cmocka_unit_test(test_unknown_field_is_refused),
        cmocka_unit_test(test_plan_survives_and_is_copied),
        cmocka_unit_test(test_bad_plan_is_bad_input),
        cmocka_unit_test(test_inventory_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
