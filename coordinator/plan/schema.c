#include "coordinator/plan/schema.h"

#include "coordinator/plan/fio_words.h"
#include "coordinator/plan/nearest.h"

static const struct {
    const char *suffix;
    rb_number_t number;
} units[] = {{"_ns", RB_NUMBER_NS}, {"_bytes", RB_NUMBER_BYTES}, {"_ppm", RB_NUMBER_PPM}};

bool rb_schema_is_number(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_UINT64;
}

/* Index in units, or RB_LEN(units) for a plain name. */
static size_t unit_of(const ProtobufCFieldDescriptor *field)
{
    size_t n = strlen(field->name);
    for (size_t i = 0; i < RB_LEN(units); i++) {
        size_t m = strlen(units[i].suffix);
        if (rb_schema_is_number(field) && n > m &&
            strcmp(field->name + n - m, units[i].suffix) == 0)
            return i;
    }
    return RB_LEN(units);
}

rb_number_t rb_schema_number(const ProtobufCFieldDescriptor *field)
{
    size_t i = unit_of(field);
    return i < RB_LEN(units) ? units[i].number : RB_NUMBER_COUNT;
}

rb_key_t rb_schema_key(const ProtobufCFieldDescriptor *field)
{
    rb_key_t key = {0};
    size_t i = unit_of(field);
    size_t n = strlen(field->name) - (i < RB_LEN(units) ? strlen(units[i].suffix) : 0);
    RB_ASSERT(n < sizeof(key.text));
    memcpy(key.text, field->name, n);
    return key;
}

const ProtobufCFieldDescriptor *rb_schema_defaults(const ProtobufCMessageDescriptor *type)
{
    const ProtobufCFieldDescriptor *f =
        protobuf_c_message_descriptor_get_field_by_name(type, "defaults");
    return f && f->type == PROTOBUF_C_TYPE_MESSAGE ? f : NULL;
}

const ProtobufCFieldDescriptor *rb_schema_field(const ProtobufCMessageDescriptor *type,
                                                const char *key)
{
    const ProtobufCFieldDescriptor *defaults = rb_schema_defaults(type);
    const ProtobufCFieldDescriptor *exact =
        protobuf_c_message_descriptor_get_field_by_name(type, key);
    if (exact && exact != defaults)
        return exact;
    for (unsigned i = 0; i < type->n_fields; i++)
        if (&type->fields[i] != defaults && strcmp(rb_schema_key(&type->fields[i]).text, key) == 0)
            return &type->fields[i];
    return NULL;
}

/* Every key that a plan may write in a message of this type, once. */
static void each_key(const ProtobufCMessageDescriptor *type, rb_key_t *keys, size_t *n, size_t max)
{
    const ProtobufCFieldDescriptor *defaults = rb_schema_defaults(type);
    size_t before = *n;
    for (unsigned i = 0; i < type->n_fields && *n < max; i++) {
        rb_key_t key = rb_schema_key(&type->fields[i]);
        size_t k = 0;
        while (k < before && strcmp(keys[k].text, key.text) != 0)
            k++;
        if (k == before && &type->fields[i] != defaults)
            keys[(*n)++] = key;
    }
    if (defaults)
        each_key(defaults->descriptor, keys, n, max);
}

/* A list of keys that is longer than this helps nobody. */
enum { LIST_BYTES = 160 };

char *rb_schema_advice(const ProtobufCMessageDescriptor *type, const char *key)
{
    rb_key_t keys[128];
    rb_nearest_t nearest = {.word = key};
    size_t n = 0, length = 0, i = 0;
    const char *word = rb_fio_word(key);
    if (word)
        return rb_strdup(word);
    each_key(type, keys, &n, RB_LEN(keys));
    for (i = 0; i < n; i++)
        rb_nearest_try(&nearest, keys[i].text);
    if (nearest.best)
        return rb_asprintf("did you mean '%s'?", nearest.best);
    char list[LIST_BYTES + sizeof(rb_key_t) + 3] = "";
    for (i = 0; i < n && length < LIST_BYTES; i++)
        length += (size_t)sprintf(list + length, "%s%s", i ? ", " : "", keys[i].text);
    return rb_asprintf("the keys here are %s%s", list,
                       i < n ? " and more: see man rackbench-plan" : "");
}

static bool is_list(const ProtobufCFieldDescriptor *field)
{
    return field->label == PROTOBUF_C_LABEL_REPEATED;
}

static bool is_pointer(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE;
}

static size_t element_size(const ProtobufCFieldDescriptor *field)
{
    if (is_pointer(field))
        return sizeof(void *);
    if (field->type == PROTOBUF_C_TYPE_UINT64)
        return sizeof(uint64_t);
    RB_ASSERT(field->type == PROTOBUF_C_TYPE_UINT32 || field->type == PROTOBUF_C_TYPE_ENUM ||
              field->type == PROTOBUF_C_TYPE_BOOL);
    return sizeof(uint32_t); /* protobuf_c_boolean and enums are ints */
}

static void *value_at(const ProtobufCMessage *msg, const ProtobufCFieldDescriptor *field)
{
    return (char *)(uintptr_t)msg + field->offset;
}

static void *quantifier_at(const ProtobufCMessage *msg, const ProtobufCFieldDescriptor *field)
{
    return (char *)(uintptr_t)msg + field->quantifier_offset;
}

static bool has_flag(const ProtobufCFieldDescriptor *field)
{
    return field->label == PROTOBUF_C_LABEL_OPTIONAL && !is_pointer(field);
}

size_t rb_slot_count(rb_slot_t slot)
{
    if (is_list(slot.field))
        return *(size_t *)quantifier_at(slot.msg, slot.field);
    if (is_pointer(slot.field))
        return *(void **)value_at(slot.msg, slot.field) != NULL;
    return has_flag(slot.field) ? *(protobuf_c_boolean *)quantifier_at(slot.msg, slot.field) != 0
                                : 1;
}

bool rb_slot_is_set(rb_slot_t slot)
{
    return rb_slot_count(slot) > 0;
}

rb_slot_t rb_slot_find(ProtobufCMessage *msg, const char *key)
{
    const ProtobufCFieldDescriptor *field = rb_schema_field(msg->descriptor, key);
    if (field)
        return (rb_slot_t){msg, field};
    const ProtobufCFieldDescriptor *defaults = rb_schema_defaults(msg->descriptor);
    if (!defaults || !rb_schema_field(defaults->descriptor, key))
        return (rb_slot_t){NULL, NULL};
    rb_slot_t inner = {msg, defaults};
    if (!rb_slot_is_set(inner))
        rb_slot_push_message(inner);
    return rb_slot_find(rb_slot_message(inner, 0), key);
}

void *rb_slot_push(rb_slot_t slot)
{
    void *value = value_at(slot.msg, slot.field);
    if (!is_list(slot.field)) {
        if (has_flag(slot.field))
            *(protobuf_c_boolean *)quantifier_at(slot.msg, slot.field) = 1;
        return value;
    }
    size_t *count = quantifier_at(slot.msg, slot.field);
    size_t size = element_size(slot.field);
    char *items = rb_grow(*(void **)value, *count, size);
    *(void **)value = items;
    return items + (*count)++ * size;
}

ProtobufCMessage *rb_slot_push_message(rb_slot_t slot)
{
    const ProtobufCMessageDescriptor *type = slot.field->descriptor;
    ProtobufCMessage *msg = rb_calloc(1, type->sizeof_message);
    protobuf_c_message_init(type, msg);
    *(ProtobufCMessage **)rb_slot_push(slot) = msg;
    return msg;
}

void *rb_slot_at(rb_slot_t slot, size_t index)
{
    RB_ASSERT(index < rb_slot_count(slot));
    void *value = value_at(slot.msg, slot.field);
    return is_list(slot.field) ? *(char **)value + index * element_size(slot.field) : value;
}

ProtobufCMessage *rb_slot_message(rb_slot_t slot, size_t index)
{
    RB_ASSERT(slot.field->type == PROTOBUF_C_TYPE_MESSAGE);
    return *(ProtobufCMessage **)rb_slot_at(slot, index);
}

uint64_t rb_slot_number(rb_slot_t slot)
{
    void *value = rb_slot_at(slot, 0);
    return slot.field->type == PROTOBUF_C_TYPE_UINT64 ? *(uint64_t *)value : *(uint32_t *)value;
}

static void move(void *to, void *from, size_t size)
{
    memcpy(to, from, size);
    memset(from, 0, size);
}

void rb_slot_move(ProtobufCMessage *to, ProtobufCMessage *from,
                  const ProtobufCFieldDescriptor *field)
{
    size_t size = is_list(field) ? sizeof(void *) : element_size(field);
    move(value_at(to, field), value_at(from, field), size);
    if (is_list(field))
        move(quantifier_at(to, field), quantifier_at(from, field), sizeof(size_t));
    else if (has_flag(field))
        move(quantifier_at(to, field), quantifier_at(from, field), sizeof(protobuf_c_boolean));
}

void rb_slot_clear(rb_slot_t slot)
{
    const ProtobufCMessageDescriptor *type = slot.msg->descriptor;
    ProtobufCMessage *bin = rb_calloc(1, type->sizeof_message);
    protobuf_c_message_init(type, bin);
    rb_slot_move(bin, slot.msg, slot.field);
    protobuf_c_message_free_unpacked(bin, NULL);
}
