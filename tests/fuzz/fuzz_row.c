/* Any bytes as a row; one that decodes must pack, decode and pack again to the same bytes. */
#include "proto/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rb_err_t err;
    rb_row_kind_t kind = (rb_row_kind_t)0;
    uint64_t seq = 0;
    RB_AUTO(rb_row_clear) rb_row_t row;
    int peeked = rb_row_peek(data, size, &kind, &seq, &err);
    if (rb_row_unpack(data, size, &row, &err) != 0)
        return 0;
    RB_ASSERT(peeked == 0 && kind == row.kind && seq == row.seq);
    RB_AUTO(rb_bytes_clear) rb_bytes_t first = rb_row_pack(&row);
    RB_AUTO(rb_row_clear) rb_row_t again;
    RB_ASSERT(rb_row_unpack(first.data, first.size, &again, &err) == 0);
    RB_AUTO(rb_bytes_clear) rb_bytes_t second = rb_row_pack(&again);
    RB_ASSERT(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    return 0;
}
