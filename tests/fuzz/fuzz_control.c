/* Any bytes as a control message, a plan or an inventory (the first byte picks); what decodes must
 * survive packing. */
#include "proto/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unpacks the payload of a packed frame; the frame itself must parse. */
static rb_frame_t parse(const rb_bytes_t *b)
{
    rb_err_t err;
    rb_frame_t frame;
    RB_ASSERT(rb_wire_parse(b->data, b->size, &frame, &err) == 0);
    return frame;
}

static void try_to_agent(const uint8_t *data, size_t size)
{
    rb_err_t err;
    rb_frame_t frame = {RB_FRAME_TO_AGENT, data, size};
    RB_AUTO(rb_to_agent_destroy) Rackbench__ToAgent *msg = rb_wire_to_agent(&frame, &err);
    if (msg == NULL)
        return;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_wire_pack_to_agent(msg);
    frame = parse(&b);
    RB_AUTO(rb_to_agent_destroy) Rackbench__ToAgent *again = rb_wire_to_agent(&frame, &err);
    RB_ASSERT(again != NULL && again->body_case == msg->body_case);
}

static void try_to_coordinator(const uint8_t *data, size_t size)
{
    rb_err_t err;
    rb_frame_t frame = {RB_FRAME_TO_COORDINATOR, data, size};
    RB_AUTO(rb_to_coordinator_destroy)
    Rackbench__ToCoordinator *msg = rb_wire_to_coordinator(&frame, &err);
    if (msg == NULL)
        return;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = rb_wire_pack_to_coordinator(msg);
    frame = parse(&b);
    RB_AUTO(rb_to_coordinator_destroy)
    Rackbench__ToCoordinator *again = rb_wire_to_coordinator(&frame, &err);
    RB_ASSERT(again != NULL && again->body_case == msg->body_case);
}

static void try_plan(const uint8_t *data, size_t size)
{
    rb_err_t err;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = rb_plan_unpack(data, size, &err);
    if (plan == NULL)
        return;
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *copy = rb_plan_copy(plan);
    RB_ASSERT(copy->n_phases == plan->n_phases && copy->n_targets == plan->n_targets);
}

static void try_inventory(const uint8_t *data, size_t size)
{
    rb_err_t err;
    RB_AUTO(rb_inventory_destroy)
    Rackbench__Inventory *inventory = rb_inventory_unpack(data, size, &err);
    if (inventory == NULL)
        return;
    RB_AUTO(rb_inventory_destroy) Rackbench__Inventory *copy = rb_inventory_copy(inventory);
    RB_ASSERT(copy->n_drives == inventory->n_drives);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const tries[])(const uint8_t *, size_t) = {try_to_agent, try_to_coordinator,
                                                             try_plan, try_inventory};
    if (size > 0)
        tries[data[0] % RB_LEN(tries)](data + 1, size - 1);
    return 0;
}
