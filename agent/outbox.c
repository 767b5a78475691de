#include "agent/outbox.h"

void rb_outbox_init(rb_outbox_t *outbox)
{
    *outbox = (rb_outbox_t){0};
}

void rb_outbox_clear(rb_outbox_t *outbox)
{
    rb_outbox_ack(outbox, rb_outbox_last(outbox));
    free(outbox->rows);
    rb_outbox_init(outbox);
}

static void grow(rb_outbox_t *outbox)
{
    size_t capacity = outbox->capacity ? 2 * outbox->capacity : 64;
    rb_outbox_row_t *rows = rb_calloc(capacity, sizeof(*rows));
    for (size_t i = 0; i < outbox->count; i++)
        rows[i] = *rb_outbox_at(outbox, i);
    free(outbox->rows);
    outbox->rows = rows;
    outbox->capacity = capacity;
    outbox->head = 0;
}

void rb_outbox_push(rb_outbox_t *outbox, const void *row, size_t size)
{
    if (outbox->count == outbox->capacity)
        grow(outbox);
    rb_outbox_row_t *slot = &outbox->rows[(outbox->head + outbox->count) & (outbox->capacity - 1)];
    slot->data = rb_calloc(1, size);
    memcpy(slot->data, row, size);
    slot->size = size;
    outbox->count++;
    outbox->bytes += size;
}

void rb_outbox_ack(rb_outbox_t *outbox, uint64_t acked)
{
    if (acked > rb_outbox_last(outbox))
        return;
    while (outbox->acked < acked) {
        rb_outbox_row_t *slot = &outbox->rows[outbox->head];
        outbox->bytes -= slot->size;
        free(slot->data);
        outbox->head = (outbox->head + 1) & (outbox->capacity - 1);
        outbox->count--;
        outbox->acked++;
    }
}

uint64_t rb_outbox_last(const rb_outbox_t *outbox)
{
    return outbox->acked + outbox->count;
}

const rb_outbox_row_t *rb_outbox_at(const rb_outbox_t *outbox, size_t i)
{
    return &outbox->rows[(outbox->head + i) & (outbox->capacity - 1)];
}
