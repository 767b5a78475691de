/* wire.h - a frame on the wire: 12 bytes of header, then a protobuf message or a msgpack row.
 *
 *   0  'R' 'B' 'W'   magic
 *   3  version       RB_WIRE_VERSION; another one is refused with both numbers named
 *   4  kind          rb_frame_kind_t
 *   5  0 0 0         reserved
 *   8  length        of the payload [bytes], little endian
 *
 * This header, and the refusal, stay as they are in every version: so two that do not understand
 * each other can still say so.
 *
 * The only door to protobuf-c's pack and unpack for control messages. Any thread; no state.
 */
#pragma once

#include "common/err.h"
#include "rackbench.pb-c.h"

#ifndef RB_WIRE_VERSION /* tests build a peer of another version */
#define RB_WIRE_VERSION 1
#endif
#define RB_WIRE_HEADER 12

typedef enum {
    RB_FRAME_TO_AGENT = 1,
    RB_FRAME_TO_COORDINATOR = 2,
    RB_FRAME_ROW = 3,
    RB_FRAME_REFUSAL = 4 /* of any version */
} rb_frame_kind_t;

typedef struct {
    uint8_t *data; /* owned; free with rb_bytes_clear */
    size_t size;   /* [bytes] */
} rb_bytes_t;
void rb_bytes_clear(rb_bytes_t *b);

/* A received frame. `payload` borrows from the bytes it was parsed from. */
typedef struct {
    rb_frame_kind_t kind;
    const uint8_t *payload;
    size_t size; /* [bytes] */
} rb_frame_t;

/* Checks magic, version (of a refusal any will do), kind, length (exactly the rest, at most
 * RB_MAX_FRAME). RB_ERR_NET. */
int rb_wire_parse(const void *data, size_t size, rb_frame_t *ret_frame, rb_err_t *err);

/* Message -> frame. The result is owned by the caller. */
rb_bytes_t rb_wire_pack_to_agent(const Rackbench__ToAgent *msg);
rb_bytes_t rb_wire_pack_to_coordinator(const Rackbench__ToCoordinator *msg);
rb_bytes_t rb_wire_pack_row(const void *row, size_t size);

/* The answer to a frame that was not understood, but never to a refusal. why: one sentence. */
rb_bytes_t rb_wire_pack_refusal(const char *why);
/* What the bytes of a parsed refusal say: RB_ERR_NET, with both versions and releases where they
 * differ. */
void rb_wire_refusal(const void *data, size_t size, rb_err_t *ret);

/* Frame -> message; NULL and RB_ERR_NET when it is of another kind, does not decode, has no body,
 * or holds a field or an enum value that this version does not know. */
Rackbench__ToAgent *rb_wire_to_agent(const rb_frame_t *frame, rb_err_t *err);
Rackbench__ToCoordinator *rb_wire_to_coordinator(const rb_frame_t *frame, rb_err_t *err);
void rb_to_agent_destroy(Rackbench__ToAgent **msg);
void rb_to_coordinator_destroy(Rackbench__ToCoordinator **msg);

/* A plan as bytes, for the journal's RUN row. NULL and RB_ERR_INPUT when it does not decode, as
 * above. */
rb_bytes_t rb_plan_pack(const Rackbench__Plan *plan);
Rackbench__Plan *rb_plan_unpack(const void *data, size_t size, rb_err_t *err);
Rackbench__Plan *rb_plan_copy(const Rackbench__Plan *plan);
void rb_plan_destroy(Rackbench__Plan **plan);
/* A phase alone, likewise. */
rb_bytes_t rb_phase_pack(const Rackbench__Phase *phase);
Rackbench__Phase *rb_phase_unpack(const void *data, size_t size, rb_err_t *err);
Rackbench__Phase *rb_phase_copy(const Rackbench__Phase *phase);
void rb_phase_destroy(Rackbench__Phase **phase);
Rackbench__Prepare *rb_prepare_copy(const Rackbench__Prepare *prepare);
void rb_prepare_destroy(Rackbench__Prepare **prepare);
rb_bytes_t rb_inventory_pack(const Rackbench__Inventory *inventory);
Rackbench__Inventory *rb_inventory_unpack(const void *data, size_t size, rb_err_t *err);
Rackbench__Inventory *rb_inventory_copy(const Rackbench__Inventory *inventory);
void rb_inventory_destroy(Rackbench__Inventory **inventory);
