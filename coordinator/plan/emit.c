#include "coordinator/plan/emit.h"

#include "coordinator/plan/value.h"

typedef struct {
    FILE *f;
    int indent;
    bool dash; /* the next key is the first of a list's entry */
} out_t;

static void key(out_t *o, const ProtobufCFieldDescriptor *field)
{
    fprintf(o->f, "%*s%s%s:", o->dash ? o->indent - 2 : o->indent, "", o->dash ? "- " : "",
            rb_schema_key(field).text);
    o->dash = false;
}

static void emit_fields(out_t *o, ProtobufCMessage *msg);

/* Is it a map from names to plain values, as labels are? */
static bool is_plain_map(const ProtobufCFieldDescriptor *field)
{
    return field->label == PROTOBUF_C_LABEL_REPEATED &&
           rb_schema_field(field->descriptor, "name") &&
           rb_schema_field(field->descriptor, "value");
}

static char *text_of(ProtobufCMessage *msg, const char *key)
{
    return rb_value_yaml((rb_slot_t){msg, rb_schema_field(msg->descriptor, key)}, 0);
}

/* One value, or a list of them. */
static void emit_value(out_t *o, rb_slot_t slot)
{
    bool list = slot.field->label == PROTOBUF_C_LABEL_REPEATED;
    fputs(list ? "[" : "", o->f);
    for (size_t i = 0; i < rb_slot_count(slot); i++) {
        RB_AUTO(rb_free_str) char *text = rb_value_yaml(slot, i);
        fprintf(o->f, "%s%s", i ? ", " : "", text);
    }
    fputs(list ? "]" : "", o->f);
}

static void emit_map(out_t *o, rb_slot_t slot)
{
    key(o, slot.field);
    fputs(" {", o->f);
    for (size_t i = 0; i < rb_slot_count(slot); i++) {
        ProtobufCMessage *msg = rb_slot_message(slot, i);
        RB_AUTO(rb_free_str) char *name = text_of(msg, "name");
        /* YAML asks for the mark before a key of more than 1024 characters. */
        fprintf(o->f, "%s%s%s: ", i ? ", " : "", strlen(name) > 1000 ? "? " : "", name);
        emit_value(o, (rb_slot_t){msg, rb_schema_field(msg->descriptor, "value")});
    }
    fputs("}\n", o->f);
}

static void emit_messages(out_t *o, rb_slot_t slot)
{
    bool list = slot.field->label == PROTOBUF_C_LABEL_REPEATED;
    if (is_plain_map(slot.field)) {
        emit_map(o, slot);
        return;
    }
    key(o, slot.field);
    fputc('\n', o->f);
    for (size_t i = 0; i < rb_slot_count(slot); i++) {
        out_t inner = {.f = o->f, .indent = o->indent + (list ? 4 : 2), .dash = list};
        emit_fields(&inner, rb_slot_message(slot, i));
        if (inner.dash)
            fprintf(o->f, "%*s- {}\n", o->indent + 2, "");
    }
}

static void emit_scalars(out_t *o, rb_slot_t slot)
{
    key(o, slot.field);
    fputc(' ', o->f);
    emit_value(o, slot);
    fputc('\n', o->f);
}

static void emit_fields(out_t *o, ProtobufCMessage *msg)
{
    const ProtobufCMessageDescriptor *type = msg->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        rb_slot_t slot = {msg, &type->fields[i]};
        if (!rb_slot_is_set(slot))
            continue;
        if (slot.field == rb_schema_defaults(type))
            emit_fields(o, rb_slot_message(slot, 0)); /* its keys stand at its holder */
        else if (slot.field->type == PROTOBUF_C_TYPE_MESSAGE)
            emit_messages(o, slot);
        else
            emit_scalars(o, slot);
    }
}

char *rb_plan_emit(const Rackbench__Plan *plan)
{
    char *text = NULL;
    size_t size = 0;
    out_t o = {.f = open_memstream(&text, &size)};
    RB_ASSERT(o.f);
    emit_fields(&o, (ProtobufCMessage *)(uintptr_t)&plan->base);
    RB_ASSERT(fclose(o.f) == 0);
    return text;
}
