/* schema.h - reflection on the messages of a plan: which field a key means, and access to it.
 *
 * Everything here works from protobuf-c's descriptors, so a new field of rackbench.proto needs no
 * line of code. Fields of a plan are strings, bools, enums, uint32, uint64, messages and lists of
 * these. Memory is malloc's, as protobuf_c_message_free_unpacked expects. Any thread; no state.
 */
#pragma once

#include "common/base.h"
#include "rackbench.pb-c.h"

/* What the last word of a field's name says about a number. */
typedef enum { RB_NUMBER_COUNT, RB_NUMBER_NS, RB_NUMBER_BYTES, RB_NUMBER_PPM } rb_number_t;

/* A field of one message. A key that is not known gives {NULL, NULL}. */
typedef struct {
    ProtobufCMessage *msg;
    const ProtobufCFieldDescriptor *field;
} rb_slot_t;

/* A field as a plan spells it: without its unit. */
typedef struct {
    char text[64];
} rb_key_t;

/* The field called key, else the one called key plus _ns, _bytes or _ppm; NULL if none. A field
 * called `defaults` is no key: see rb_schema_defaults. */
const ProtobufCFieldDescriptor *rb_schema_field(const ProtobufCMessageDescriptor *type,
                                                const char *key);
/* The message field that takes the keys this message lacks (a phase's job keys); NULL if none. */
const ProtobufCFieldDescriptor *rb_schema_defaults(const ProtobufCMessageDescriptor *type);
bool rb_schema_is_number(const ProtobufCFieldDescriptor *field);
rb_number_t rb_schema_number(const ProtobufCFieldDescriptor *field);
rb_key_t rb_schema_key(const ProtobufCFieldDescriptor *field);
/* "write bs" (for a word of fio's), "did you mean 'iodepth'?" or "the keys here are a, b, c", the
 * first of them if there are many: owned by the caller. */
char *rb_schema_advice(const ProtobufCMessageDescriptor *type, const char *key);

/* The field that key means in msg or in its defaults (made when first needed). */
rb_slot_t rb_slot_find(ProtobufCMessage *msg, const char *key);
bool rb_slot_is_set(rb_slot_t slot); /* a list: has elements; a required number: always */
/* Room for the value: the field itself (now set), or one more element of a list, zeroed. */
void *rb_slot_push(rb_slot_t slot);
/* Pushes a new, empty message. */
ProtobufCMessage *rb_slot_push_message(rb_slot_t slot);
size_t rb_slot_count(rb_slot_t slot);           /* elements of a list; else 1 if set, 0 if not */
void *rb_slot_at(rb_slot_t slot, size_t index); /* [index < count] where the element lies */
ProtobufCMessage *rb_slot_message(rb_slot_t slot, size_t index);
uint64_t rb_slot_number(rb_slot_t slot); /* of a set uint32 or uint64 that is no list */
/* Takes field out of from into to, of the same type and unset there. */
void rb_slot_move(ProtobufCMessage *to, ProtobufCMessage *from,
                  const ProtobufCFieldDescriptor *field);
void rb_slot_clear(rb_slot_t slot); /* frees and unsets */
