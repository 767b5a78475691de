/* The outbox: rows leave in order, only by acknowledgement, whatever the ring does meanwhile. */
#include "agent/outbox.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void push(rb_outbox_t *box, uint32_t value)
{
    rb_outbox_push(box, &value, sizeof(value));
}

static uint32_t value_at(const rb_outbox_t *box, size_t i)
{
    uint32_t value;
    assert_int_equal(rb_outbox_at(box, i)->size, sizeof(value));
    memcpy(&value, rb_outbox_at(box, i)->data, sizeof(value));
    return value;
}

static void test_numbers_from_one(void **state)
{
    (void)state;
    rb_outbox_t box;
    rb_outbox_init(&box);
    assert_int_equal(rb_outbox_last(&box), 0);
    push(&box, 11);
    push(&box, 12);
    assert_int_equal(rb_outbox_last(&box), 2);
    rb_outbox_ack(&box, 1);
    assert_int_equal(rb_outbox_last(&box), 2);
    assert_int_equal(box.count, 1);
    assert_int_equal(value_at(&box, 0), 12);
    rb_outbox_clear(&box);
    assert_int_equal(rb_outbox_last(&box), 0);
    assert_int_equal(box.bytes, 0);
}

static void test_foreign_acknowledgements_change_nothing(void **state)
{
    (void)state;
    rb_outbox_t box;
    rb_outbox_init(&box);
    push(&box, 1);
    push(&box, 2);
    rb_outbox_ack(&box, 3); /* never made */
    assert_int_equal(box.count, 2);
    rb_outbox_ack(&box, 2);
    rb_outbox_ack(&box, 1); /* late */
    assert_int_equal(box.count, 0);
    assert_int_equal(rb_outbox_last(&box), 2);
    rb_outbox_clear(&box);
}

/* Pushes and acknowledgements interleaved, so that the ring wraps and grows while wrapped. */
static void test_order_across_growth(void **state)
{
    (void)state;
    rb_outbox_t box;
    uint32_t made = 0;
    rb_outbox_init(&box);
    for (uint32_t round = 1; round < 60; round++) {
        for (uint32_t i = 0; i < round; i++)
            push(&box, ++made);
        rb_outbox_ack(&box, box.acked + round / 2);
        assert_int_equal(rb_outbox_last(&box), made);
        assert_int_equal(box.bytes, box.count * sizeof(uint32_t));
        for (size_t i = 0; i < box.count; i++)
            assert_int_equal(value_at(&box, i), box.acked + 1 + i);
    }
    assert_true(box.count > 512);
    rb_outbox_clear(&box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_from_one),
        cmocka_unit_test(test_foreign_acknowledgements_change_nothing),
        cmocka_unit_test(test_order_across_growth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
