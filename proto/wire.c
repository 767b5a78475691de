#include "proto/wire.h"

#include <inttypes.h>

static const uint8_t magic[3] = {'R', 'B', 'W'};

void rb_bytes_clear(rb_bytes_t *b)
{
    free(b->data);
    *b = (rb_bytes_t){0};
}

/* ---------------------------------------------------------------- header */

static uint32_t get_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static int check_header(const uint8_t *h, size_t size, rb_err_t *err)
{
    if (size < RB_WIRE_HEADER)
        return rb_err_set(err, RB_ERR_NET, "frame of %zu bytes: expected a header of %d bytes",
                          size, RB_WIRE_HEADER);
    if (memcmp(h, magic, sizeof(magic)) != 0)
        return rb_err_set(err, RB_ERR_NET,
                          "frame begins with %02x %02x %02x: expected 'RBW', as rackbench sends",
                          h[0], h[1], h[2]);
    if (h[3] != RB_WIRE_VERSION && h[4] != RB_FRAME_REFUSAL)
        return rb_err_set(err, RB_ERR_NET,
                          "frame of protocol version %u: this program speaks version %d, "
                          "use the same release on every host",
                          h[3], RB_WIRE_VERSION);
    if (h[4] < RB_FRAME_TO_AGENT || h[4] > RB_FRAME_REFUSAL)
        return rb_err_set(err, RB_ERR_NET, "frame of kind %u: expected %d to %d", h[4],
                          RB_FRAME_TO_AGENT, RB_FRAME_REFUSAL);
    if (h[5] != 0 || h[6] != 0 || h[7] != 0)
        return rb_err_set(err, RB_ERR_NET,
                          "frame with reserved bytes %02x %02x %02x: expected zeros", h[5], h[6],
                          h[7]);
    return 0;
}

int rb_wire_parse(const void *data, size_t size, rb_frame_t *ret_frame, rb_err_t *err)
{
    const uint8_t *h = data;
    if (check_header(h, size, err) != 0)
        return -1;
    uint32_t length = get_le32(h + 8);
    if (length > RB_MAX_FRAME)
        return rb_err_set(err, RB_ERR_NET, "frame says %" PRIu32 " bytes of payload: at most %d",
                          length, RB_MAX_FRAME);
    if (length != size - RB_WIRE_HEADER)
        return rb_err_set(err, RB_ERR_NET,
                          "frame says %" PRIu32 " bytes of payload: %zu bytes follow its header",
                          length, size - RB_WIRE_HEADER);
    *ret_frame = (rb_frame_t){(rb_frame_kind_t)h[4], h + RB_WIRE_HEADER, length};
    return 0;
}

static rb_bytes_t frame_new(rb_frame_kind_t kind, size_t size)
{
    RB_ASSERT(size <= RB_MAX_FRAME);
    rb_bytes_t b = {rb_calloc(1, RB_WIRE_HEADER + size), RB_WIRE_HEADER + size};
    memcpy(b.data, magic, sizeof(magic));
    b.data[3] = RB_WIRE_VERSION;
    b.data[4] = (uint8_t)kind;
    for (unsigned i = 0; i < 4; i++)
        b.data[8 + i] = (uint8_t)(size >> (8 * i));
    return b;
}

static rb_bytes_t frame_of_message(rb_frame_kind_t kind, const ProtobufCMessage *msg)
{
    rb_bytes_t b = frame_new(kind, protobuf_c_message_get_packed_size(msg));
    protobuf_c_message_pack(msg, b.data + RB_WIRE_HEADER);
    return b;
}

rb_bytes_t rb_wire_pack_to_agent(const Rackbench__ToAgent *msg)
{
    return frame_of_message(RB_FRAME_TO_AGENT, &msg->base);
}

rb_bytes_t rb_wire_pack_to_coordinator(const Rackbench__ToCoordinator *msg)
{
    return frame_of_message(RB_FRAME_TO_COORDINATOR, &msg->base);
}

rb_bytes_t rb_wire_pack_row(const void *row, size_t size)
{
    rb_bytes_t b = frame_new(RB_FRAME_ROW, size);
    if (size > 0)
        memcpy(b.data + RB_WIRE_HEADER, row, size);
    return b;
}

/* ---------------------------------------------------------------- refusals */

/* "RELEASE\nWHY", no NUL. */
rb_bytes_t rb_wire_pack_refusal(const char *why)
{
    RB_AUTO(rb_free_str) char *text = rb_asprintf("%s\n%s", RB_VERSION, why);
    size_t size = strlen(text);
    rb_bytes_t b = frame_new(RB_FRAME_REFUSAL, size);
    memcpy(b.data + RB_WIRE_HEADER, text, size);
    return b;
}

/* A piece of foreign text up to a line feed, fit to be printed. Returns what it took of it. */
static size_t take_line(char *buf, size_t room, const uint8_t *text, size_t size)
{
    size_t n = 0, at = 0;
    for (; at < size && text[at] != '\n'; at++)
        if (n + 1 < room)
            buf[n++] = text[at] >= 0x20 && text[at] < 0x7f ? (char)text[at] : '?';
    buf[n] = '\0';
    return at < size ? at + 1 : at;
}

void rb_wire_refusal(const void *data, size_t size, rb_err_t *ret)
{
    const uint8_t *h = data, *text = h + RB_WIRE_HEADER;
    size -= RB_WIRE_HEADER;
    char release[65], why[301];
    size_t at = take_line(release, sizeof(release), text, size);
    take_line(why, sizeof(why), text + at, size - at);
    if (h[3] != RB_WIRE_VERSION)
        rb_err_set(ret, RB_ERR_NET,
                   "speaks protocol version %u (release %s), this program version %d (release %s): "
                   "use the same release on every host",
                   h[3], release, RB_WIRE_VERSION, RB_VERSION);
    else
        rb_err_set(ret, RB_ERR_NET, "release %s refused what it was sent: %s", release, why);
}

/* ---------------------------------------------------------------- decoding */

static int check_message(const ProtobufCMessage *msg, rb_err_t *err);

static int check_value(const ProtobufCFieldDescriptor *f, const void *value, rb_err_t *err)
{
    if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        const ProtobufCMessage *sub = *(ProtobufCMessage *const *)value;
        return sub == NULL ? 0 : check_message(sub, err);
    }
    int number = *(const int *)value;
    if (protobuf_c_enum_descriptor_get_value(f->descriptor, number) == NULL)
        return rb_err_set(err, RB_ERR_NET, "field '%s': %d is not known to this version", f->name,
                          number);
    return 0;
}

static int check_field(const ProtobufCMessage *msg, const ProtobufCFieldDescriptor *f,
                       rb_err_t *err)
{
    const char *member = (const char *)msg + f->offset;
    const void *quantifier = (const char *)msg + f->quantifier_offset;
    if ((f->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) && *(const uint32_t *)quantifier != f->id)
        return 0;
    if (f->label != PROTOBUF_C_LABEL_REPEATED)
        return check_value(f, member, err);
    const char *items = *(const char *const *)member;
    size_t count = *(const size_t *)quantifier;
    size_t step = f->type == PROTOBUF_C_TYPE_MESSAGE ? sizeof(void *) : sizeof(int);
    for (size_t i = 0; i < count; i++)
        if (check_value(f, items + i * step, err) != 0)
            return -1;
    return 0;
}

/* protobuf-c keeps fields that it does not know, and stores whatever number it reads as an enum. A
 * plan whose new key is ignored measures something else, and our code indexes and switches by
 * enums. The schema has no recursive message, so the depth is bounded. */
static int check_message(const ProtobufCMessage *msg, rb_err_t *err)
{
    const ProtobufCMessageDescriptor *d = msg->descriptor;
    if (msg->n_unknown_fields > 0)
        return rb_err_set(err, RB_ERR_NET,
                          "%s has a field %u that this version does not know, "
                          "use the same release on every host",
                          d->short_name, msg->unknown_fields[0].tag);
    for (unsigned i = 0; i < d->n_fields; i++) {
        ProtobufCType type = d->fields[i].type;
        if (type != PROTOBUF_C_TYPE_MESSAGE && type != PROTOBUF_C_TYPE_ENUM)
            continue;
        if (check_field(msg, &d->fields[i], err) != 0)
            return -1;
    }
    return 0;
}

static void message_destroy(ProtobufCMessage **msg)
{
    if (*msg != NULL)
        protobuf_c_message_free_unpacked(*msg, NULL);
    *msg = NULL;
}

static ProtobufCMessage *message_unpack(const ProtobufCMessageDescriptor *d, const void *data,
                                        size_t size, rb_err_t *err)
{
    static const uint8_t nothing[1];
    RB_AUTO(message_destroy)
    ProtobufCMessage *msg =
        protobuf_c_message_unpack(d, NULL, size, size == 0 ? nothing : (const uint8_t *)data);
    if (msg == NULL) {
        rb_err_set(err, RB_ERR_NET, "%zu bytes do not decode as a %s message", size, d->short_name);
        return NULL;
    }
    if (check_message(msg, err) != 0) {
        rb_err_wrap(err, "%s message", d->short_name);
        return NULL;
    }
    return RB_MOVE(msg);
}

static int check_kind(const rb_frame_t *frame, rb_frame_kind_t wanted, rb_err_t *err)
{
    if (frame->kind == wanted)
        return 0;
    return rb_err_set(err, RB_ERR_NET, "frame of kind %u: expected %u here", frame->kind, wanted);
}

Rackbench__ToAgent *rb_wire_to_agent(const rb_frame_t *frame, rb_err_t *err)
{
    if (check_kind(frame, RB_FRAME_TO_AGENT, err) != 0)
        return NULL;
    RB_AUTO(rb_to_agent_destroy)
    Rackbench__ToAgent *msg = (Rackbench__ToAgent *)message_unpack(
        &rackbench__to_agent__descriptor, frame->payload, frame->size, err);
    if (msg != NULL && msg->body_case == RACKBENCH__TO_AGENT__BODY__NOT_SET) {
        rb_err_set(err, RB_ERR_NET, "ToAgent message without a body");
        return NULL;
    }
    return RB_MOVE(msg);
}

Rackbench__ToCoordinator *rb_wire_to_coordinator(const rb_frame_t *frame, rb_err_t *err)
{
    if (check_kind(frame, RB_FRAME_TO_COORDINATOR, err) != 0)
        return NULL;
    RB_AUTO(rb_to_coordinator_destroy)
    Rackbench__ToCoordinator *msg = (Rackbench__ToCoordinator *)message_unpack(
        &rackbench__to_coordinator__descriptor, frame->payload, frame->size, err);
    if (msg != NULL && msg->body_case == RACKBENCH__TO_COORDINATOR__BODY__NOT_SET) {
        rb_err_set(err, RB_ERR_NET, "ToCoordinator message without a body");
        return NULL;
    }
    return RB_MOVE(msg);
}

void rb_to_agent_destroy(Rackbench__ToAgent **msg)
{
    message_destroy((ProtobufCMessage **)msg);
}

void rb_to_coordinator_destroy(Rackbench__ToCoordinator **msg)
{
    message_destroy((ProtobufCMessage **)msg);
}

/* ---------------------------------------------------------------- blobs */

static rb_bytes_t blob_pack(const ProtobufCMessage *msg)
{
    size_t size = protobuf_c_message_get_packed_size(msg);
    rb_bytes_t b = {rb_calloc(1, size), size};
    protobuf_c_message_pack(msg, b.data);
    return b;
}

/* A blob comes from a file that the user named, not from a peer. */
static ProtobufCMessage *blob_unpack(const ProtobufCMessageDescriptor *d, const void *data,
                                     size_t size, rb_err_t *err)
{
    ProtobufCMessage *msg = message_unpack(d, data, size, err);
    if (msg == NULL)
        err->code = RB_ERR_INPUT;
    return msg;
}

static ProtobufCMessage *blob_copy(const ProtobufCMessage *msg)
{
    rb_err_t err;
    RB_AUTO(rb_bytes_clear) rb_bytes_t b = blob_pack(msg);
    ProtobufCMessage *copy = message_unpack(msg->descriptor, b.data, b.size, &err);
    RB_ASSERT(copy != NULL);
    return copy;
}

rb_bytes_t rb_plan_pack(const Rackbench__Plan *plan)
{
    return blob_pack(&plan->base);
}

Rackbench__Plan *rb_plan_unpack(const void *data, size_t size, rb_err_t *err)
{
    return (Rackbench__Plan *)blob_unpack(&rackbench__plan__descriptor, data, size, err);
}

Rackbench__Plan *rb_plan_copy(const Rackbench__Plan *plan)
{
    return (Rackbench__Plan *)blob_copy(&plan->base);
}

void rb_plan_destroy(Rackbench__Plan **plan)
{
    message_destroy((ProtobufCMessage **)plan);
}

rb_bytes_t rb_phase_pack(const Rackbench__Phase *phase)
{
    return blob_pack(&phase->base);
}

Rackbench__Phase *rb_phase_unpack(const void *data, size_t size, rb_err_t *err)
{
    return (Rackbench__Phase *)blob_unpack(&rackbench__phase__descriptor, data, size, err);
}

Rackbench__Phase *rb_phase_copy(const Rackbench__Phase *phase)
{
    return (Rackbench__Phase *)blob_copy(&phase->base);
}

void rb_phase_destroy(Rackbench__Phase **phase)
{
    message_destroy((ProtobufCMessage **)phase);
}

Rackbench__Prepare *rb_prepare_copy(const Rackbench__Prepare *prepare)
{
    return (Rackbench__Prepare *)blob_copy(&prepare->base);
}

void rb_prepare_destroy(Rackbench__Prepare **prepare)
{
    message_destroy((ProtobufCMessage **)prepare);
}

rb_bytes_t rb_inventory_pack(const Rackbench__Inventory *inventory)
{
    return blob_pack(&inventory->base);
}

Rackbench__Inventory *rb_inventory_unpack(const void *data, size_t size, rb_err_t *err)
{
    return (Rackbench__Inventory *)blob_unpack(&rackbench__inventory__descriptor, data, size, err);
}

Rackbench__Inventory *rb_inventory_copy(const Rackbench__Inventory *inventory)
{
    return (Rackbench__Inventory *)blob_copy(&inventory->base);
}

void rb_inventory_destroy(Rackbench__Inventory **inventory)
{
    message_destroy((ProtobufCMessage **)inventory);
}
