/* outbox.h - rows that the coordinator has not acknowledged yet: bounded, in order, numbered
 * from 1. Pure. */
#pragma once

#include "common/base.h"

typedef struct {
    uint8_t *data; /* owned */
    size_t size;   /* [bytes] */
} rb_outbox_row_t;

typedef struct {
    rb_outbox_row_t *rows; /* ring of `capacity` (a power of two), the oldest at head */
    size_t capacity, head, count;
    uint64_t acked; /* rows up to this one are gone */
    size_t bytes;   /* held */
} rb_outbox_t;

void rb_outbox_init(rb_outbox_t *outbox);
void rb_outbox_clear(rb_outbox_t *outbox); /* frees all rows; numbering starts again at 1 */
/* Copies the row; its number is acked + count after the call. */
void rb_outbox_push(rb_outbox_t *outbox, const void *row, size_t size);
/* Frees rows up to `acked`; a number beyond what exists is ignored. */
void rb_outbox_ack(rb_outbox_t *outbox, uint64_t acked);
uint64_t rb_outbox_last(const rb_outbox_t *outbox); /* number of the newest row; 0: none yet */
/* i in [0, count): the row numbered acked + 1 + i; borrowed. */
const rb_outbox_row_t *rb_outbox_at(const rb_outbox_t *outbox, size_t i);
