/* Any bytes as a frame: header, then what its kind says. */
#include "proto/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rb_err_t err;
    rb_frame_t frame;
    rb_row_t row;
    if (rb_wire_parse(data, size, &frame, &err) != 0)
        return 0;
    RB_AUTO(rb_to_agent_destroy) Rackbench__ToAgent *down = rb_wire_to_agent(&frame, &err);
    RB_AUTO(rb_to_coordinator_destroy)
    Rackbench__ToCoordinator *up = rb_wire_to_coordinator(&frame, &err);
    RB_ASSERT(down == NULL || up == NULL);
    if (frame.kind == RB_FRAME_REFUSAL)
        rb_wire_refusal(data, size, &err);
    if (frame.kind == RB_FRAME_ROW && rb_row_unpack(frame.payload, frame.size, &row, &err) == 0)
        rb_row_clear(&row);
    return 0;
}
