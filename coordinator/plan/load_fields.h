/* load_fields.h - YAML nodes into a message's fields, by reflection.
 *
 * Shared by load (whole plans) and its overrides. Any thread; no state.
 */
#pragma once

#include "coordinator/plan/load_yaml.h"
#include "coordinator/plan/place.h"
#include "coordinator/plan/schema.h"

typedef struct {
    const char *file;    /* as it stands in messages */
    rb_places_t *places; /* gets the place of every value; NULL: nobody asks */
    rb_err_t *err;
} rb_loader_t;

/* RB_ERR_INPUT "file:line:column: " and what is wrong; the message is then half filled. path is
 * msg's own in the plan, "" for the plan. */
int rb_load_message(const rb_loader_t *loader, const rb_node_t *node, ProtobufCMessage *msg,
                    const char *path);
/* Sets or appends to one field, which is at path. */
int rb_load_slot(const rb_loader_t *loader, const rb_node_t *node, rb_slot_t slot,
                 const char *path);
/* The path of the field that rb_slot_find gave for a key of msg; owned by the caller. */
char *rb_load_path(const ProtobufCMessage *msg, rb_slot_t slot, const char *path);
