/* load_yaml.h - YAML text to a tree of nodes that know their line and column.
 *
 * The only door to libyaml. What plans have no use for is refused by name: anchors, aliases, tags,
 * several documents, keys that are not plain words, a key given twice. Any thread; no state.
 */
#pragma once

#include "common/err.h"

enum {
    RB_MAX_PLAN_BYTES = 1024 * 1024, /* of text */
    RB_MAX_PLAN_DEPTH = 16,          /* of maps and lists in each other */
    RB_MAX_PLAN_ITEMS = 4096         /* of one map or list */
};

typedef enum { RB_NODE_SCALAR, RB_NODE_LIST, RB_NODE_MAP } rb_node_kind_t;

typedef struct rb_node rb_node_t;
struct rb_node {
    rb_node_kind_t kind;
    uint32_t line, column;         /* of the value, from 1; 0: not from a file */
    char *key;                     /* in a map; else NULL */
    uint32_t key_line, key_column; /* of the key */
    char *text;                    /* of a scalar; UTF-8 without NUL */
    bool missing;                  /* a scalar that is nothing at all: "key:" */
    size_t nitems;
    rb_node_t **items; /* [nitems] of a list or map */
};

/* The one document in text [size]. NULL and RB_ERR_INPUT: "file:line:column: what is wrong". */
rb_node_t *rb_yaml_parse(const char *text, size_t size, const char *file, rb_err_t *err);
void rb_node_destroy(rb_node_t **node);

/* "a map", "a list" or "'text'", for messages; owned by the caller. */
char *rb_node_describe(const rb_node_t *node);
