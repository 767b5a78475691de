#include "coordinator/plan/load_fields.h"

#include "coordinator/plan/value.h"

/* Puts the place before the text that err holds. */
static int wrap(const rb_loader_t *l, uint32_t line, uint32_t column)
{
    if (line == 0)
        return rb_err_wrap(l->err, "%s", l->file);
    return rb_err_wrap(l->err, "%s:%u:%u", l->file, line, column);
}

static int expected(const rb_loader_t *l, const rb_node_t *node, const char *what, const char *key)
{
    RB_AUTO(rb_free_str) char *got = rb_node_describe(node);
    rb_err_set(l->err, RB_ERR_INPUT, "%s%sexpected %s, got %s", key ? key : "", key ? ": " : "",
               what, got);
    return wrap(l, node->line, node->column);
}

static void note_place(const rb_loader_t *l, const rb_node_t *node, const char *path)
{
    if (!l->places)
        return;
    if (node->key)
        rb_places_add(l->places, path, node->key_line, node->key_column);
    else
        rb_places_add(l->places, path, node->line, node->column);
}

static int load_scalar(const rb_loader_t *l, const rb_node_t *node, rb_slot_t slot)
{
    rb_key_t key = rb_schema_key(slot.field);
    if (node->kind != RB_NODE_SCALAR || node->missing)
        return expected(l, node, "one value", key.text);
    if (rb_value_parse(slot, node->text, l->err) == 0)
        return 0;
    rb_err_wrap(l->err, "%s", key.text);
    return wrap(l, node->line, node->column);
}

static int load_scalars(const rb_loader_t *l, const rb_node_t *node, rb_slot_t slot,
                        const char *path)
{
    if (node->kind != RB_NODE_LIST)
        return load_scalar(l, node, slot);
    for (size_t i = 0; i < node->nitems; i++) {
        RB_AUTO(rb_free_str) char *inner = rb_asprintf("%s.%zu", path, i);
        note_place(l, node->items[i], inner);
        if (load_scalar(l, node->items[i], slot) != 0)
            return -1;
    }
    return 0;
}

/* A map's key is its value's `name`. */
static int load_name(const rb_loader_t *l, const rb_node_t *node, ProtobufCMessage *msg)
{
    rb_slot_t name = {msg, rb_schema_field(msg->descriptor, "name")};
    if (rb_value_parse(name, node->key, l->err) == 0)
        return 0;
    return wrap(l, node->key_line, node->key_column);
}

static int load_messages(const rb_loader_t *l, const rb_node_t *node, rb_slot_t slot,
                         const char *path)
{
    const ProtobufCMessageDescriptor *type = slot.field->descriptor;
    bool named = node->kind == RB_NODE_MAP && rb_schema_field(type, "name");
    if (!named && node->kind != RB_NODE_LIST)
        return expected(l, node, "a map or a list", rb_schema_key(slot.field).text);
    for (size_t i = 0; i < node->nitems; i++) {
        RB_AUTO(rb_free_str) char *inner = rb_asprintf("%s.%zu", path, i);
        ProtobufCMessage *msg = rb_slot_push_message(slot);
        note_place(l, node->items[i], inner);
        if (named && load_name(l, node->items[i], msg) != 0)
            return -1;
        if (rb_load_message(l, node->items[i], msg, inner) != 0)
            return -1;
    }
    return 0;
}

int rb_load_slot(const rb_loader_t *l, const rb_node_t *node, rb_slot_t slot, const char *path)
{
    bool list = slot.field->label == PROTOBUF_C_LABEL_REPEATED;
    note_place(l, node, path);
    if (slot.field->type != PROTOBUF_C_TYPE_MESSAGE)
        return list ? load_scalars(l, node, slot, path) : load_scalar(l, node, slot);
    if (list)
        return load_messages(l, node, slot, path);
    return rb_load_message(l, node, rb_slot_push_message(slot), path);
}

char *rb_load_path(const ProtobufCMessage *msg, rb_slot_t slot, const char *path)
{
    return rb_asprintf("%s%s%s%s", path, *path ? "." : "", slot.msg == msg ? "" : "defaults.",
                       slot.field->name);
}

static int load_key(const rb_loader_t *l, const rb_node_t *node, ProtobufCMessage *msg,
                    const char *path)
{
    rb_slot_t slot = rb_slot_find(msg, node->key);
    if (!slot.field) {
        RB_AUTO(rb_free_str) char *advice = rb_schema_advice(msg->descriptor, node->key);
        rb_err_set(l->err, RB_ERR_INPUT, "unknown key '%.64s'; %s", node->key, advice);
        return wrap(l, node->key_line, node->key_column);
    }
    if (rb_slot_is_set(slot)) {
        rb_err_set(l->err, RB_ERR_INPUT, "'%s' is set by an earlier key already; remove one",
                   rb_schema_key(slot.field).text);
        return wrap(l, node->key_line, node->key_column);
    }
    RB_AUTO(rb_free_str) char *inner = rb_load_path(msg, slot, path);
    return rb_load_slot(l, node, slot, inner);
}

/* Only a text can be seen to be missing; the schema test allows no other required fields. */
static int check_required(const rb_loader_t *l, const rb_node_t *node, ProtobufCMessage *msg)
{
    for (unsigned i = 0; i < msg->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *f = &msg->descriptor->fields[i];
        if (f->label != PROTOBUF_C_LABEL_REQUIRED || rb_slot_is_set((rb_slot_t){msg, f}))
            continue;
        rb_err_set(l->err, RB_ERR_INPUT, "the key '%s' is missing", f->name);
        return wrap(l, node->line, node->column);
    }
    return 0;
}

int rb_load_message(const rb_loader_t *l, const rb_node_t *node, ProtobufCMessage *msg,
                    const char *path)
{
    const ProtobufCFieldDescriptor *value = rb_schema_field(msg->descriptor, "value");
    bool values = value && value->label == PROTOBUF_C_LABEL_REPEATED && node->kind == RB_NODE_LIST;
    if ((node->kind == RB_NODE_SCALAR && value && !node->missing) || values) {
        RB_AUTO(rb_free_str) char *inner = rb_asprintf("%s.value", path);
        if (rb_load_slot(l, node, (rb_slot_t){msg, value}, inner) != 0)
            return -1;
    } else if (node->kind != RB_NODE_MAP && !node->missing) {
        return expected(l, node, "a map of keys", node->key);
    }
    for (size_t i = 0; node->kind == RB_NODE_MAP && i < node->nitems; i++)
        if (load_key(l, node->items[i], msg, path) != 0)
            return -1;
    return check_required(l, node, msg);
}
