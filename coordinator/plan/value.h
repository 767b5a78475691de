/* value.h - one scalar of a plan: text to field and back. The field's type and unit pick the
 * parser.
 *
 * Any thread; no state.
 */
#pragma once

#include "common/err.h"
#include "coordinator/plan/schema.h"

/* Longest string in a plan: a path. [bytes] */
#define RB_MAX_PLAN_STRING 4095

/* Sets the field, or appends to it if it is a list. RB_ERR_INPUT says what is wrong and what would
 * be right, without key or place. */
int rb_value_parse(rb_slot_t slot, const char *text, rb_err_t *err);

/* Is the number a word, `interval: auto`? It is 0 in the plan. */
bool rb_value_is_auto(const ProtobufCFieldDescriptor *field, uint64_t number);

/* A number as its field spells it: "1m30s", "4KiB", "16". Exact: rb_value_parse reads it back.
 * Writes into buf [RB_FMT_SIZE] and returns it. */
const char *rb_value_number(const ProtobufCFieldDescriptor *field, uint64_t number, char *buf);

/* Element index of a scalar field as YAML: quoted where YAML needs it, plain ASCII or UTF-8. Exact.
 * Owned by the caller. */
char *rb_value_yaml(rb_slot_t slot, size_t index);
