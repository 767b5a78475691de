#include "coordinator/plan/load_yaml.h"

#include <yaml.h>

#define BOM "\xef\xbb\xbf" /* some editors begin UTF-8 with it */

typedef struct {
    yaml_parser_t parser;
    const char *text; /* [size] */
    size_t size;
    const char *file;
    rb_err_t *err;
} reader_t;

void rb_node_destroy(rb_node_t **node)
{
    rb_node_t *n = *node;
    if (!n)
        return;
    for (size_t i = 0; i < n->nitems; i++)
        rb_node_destroy(&n->items[i]);
    free(n->items);
    free(n->key);
    free(n->text);
    free(n);
    *node = NULL;
}

char *rb_node_describe(const rb_node_t *node)
{
    switch (node->kind) {
    case RB_NODE_SCALAR:
        return node->missing ? rb_strdup("nothing") : rb_asprintf("'%.64s'", node->text);
    case RB_NODE_LIST:
        return rb_strdup("a list");
    case RB_NODE_MAP:
        break;
    }
    return rb_strdup("a map");
}

static int fail(const reader_t *r, yaml_mark_t mark, const char *text)
{
    return rb_err_set(r->err, RB_ERR_INPUT, "%s:%zu:%zu: %s", r->file, mark.line + 1,
                      mark.column + 1, text);
}

/* libyaml gives no mark for bytes that it cannot read, only their offset. */
static int fail_bytes(const reader_t *r)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < r->parser.problem_offset && i < r->size; i++) {
        mark.column = r->text[i] == '\n' ? 0 : mark.column + 1;
        mark.line += r->text[i] == '\n';
    }
    return fail(r, mark, "not UTF-8 text without control characters; save the file as UTF-8");
}

static int fail_syntax(const reader_t *r)
{
    const yaml_parser_t *p = &r->parser;
    if (p->error == YAML_READER_ERROR)
        return fail_bytes(r);
    if (p->error == YAML_MEMORY_ERROR)
        return fail(r, p->mark, "too deeply nested");
    size_t at = p->problem_mark.index;
    const char *problem = p->problem ? p->problem : "unknown problem";
    bool tab = at < r->size && r->text[at] == '\t' && !strstr(problem, "tab");
    RB_AUTO(rb_free_str)
    char *text = rb_asprintf("not valid YAML: %s%s%s%s", p->context ? p->context : "",
                             p->context ? ": " : "", problem,
                             tab ? " (a tab; YAML indents with spaces)" : "");
    return fail(r, p->problem_mark, text);
}

static void delete_event(yaml_event_t *event)
{
    yaml_event_delete(event); /* zeroes it: harmless when repeated */
}

static int next(reader_t *r, yaml_event_t *event)
{
    delete_event(event);
    return yaml_parser_parse(&r->parser, event) ? 0 : fail_syntax(r);
}

static int refuse_extras(const reader_t *r, const yaml_event_t *e, const yaml_char_t *anchor,
                         const yaml_char_t *tag)
{
    if (anchor)
        return fail(r, e->start_mark, "anchors (&name) are not supported; write the value out");
    if (tag)
        return fail(r, e->start_mark, "tags (!name) are not supported; leave it out");
    return 0;
}

static rb_node_t *new_node(const yaml_event_t *e, rb_node_kind_t kind)
{
    rb_node_t *n = rb_calloc(1, sizeof(*n));
    n->kind = kind;
    n->line = (uint32_t)e->start_mark.line + 1;
    n->column = (uint32_t)e->start_mark.column + 1;
    return n;
}

static rb_node_t *read_scalar(const reader_t *r, const yaml_event_t *e)
{
    const char *value = (const char *)e->data.scalar.value;
    if (refuse_extras(r, e, e->data.scalar.anchor, e->data.scalar.tag) != 0)
        return NULL;
    if (strlen(value) != e->data.scalar.length) {
        fail(r, e->start_mark, "a text with a NUL character; leave it out");
        return NULL;
    }
    rb_node_t *n = new_node(e, RB_NODE_SCALAR);
    n->text = rb_strdup(value);
    n->missing = *value == '\0' && e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    return n;
}

static int compare_keys(const void *a, const void *b)
{
    const rb_node_t *x = *(rb_node_t *const *)a, *y = *(rb_node_t *const *)b;
    int order = strcmp(x->key, y->key);
    if (order == 0)
        order = (x->key_line > y->key_line) - (x->key_line < y->key_line);
    return order ? order : (x->key_column > y->key_column) - (x->key_column < y->key_column);
}

static int refuse_duplicates(const reader_t *r, const rb_node_t *map)
{
    if (map->nitems == 0)
        return 0;
    rb_node_t **sorted = rb_calloc(map->nitems, sizeof(*sorted));
    memcpy(sorted, map->items, map->nitems * sizeof(*sorted));
    qsort(sorted, map->nitems, sizeof(*sorted), compare_keys);
    size_t i = 1;
    while (i < map->nitems && strcmp(sorted[i - 1]->key, sorted[i]->key) != 0)
        i++;
    const rb_node_t *first = sorted[i - 1], *again = i < map->nitems ? sorted[i] : NULL;
    free(sorted);
    if (!again)
        return 0;
    return rb_err_set(r->err, RB_ERR_INPUT,
                      "%s:%u:%u: key '%.64s' is given twice (first in line %u); remove one",
                      r->file, again->key_line, again->key_column, again->key, first->key_line);
}

static int read_node(reader_t *r, yaml_event_t *e, unsigned depth, rb_node_t **ret_node);

/* *e is the key's event, and the value's when this returns. */
static int read_key(reader_t *r, yaml_event_t *e, rb_node_t *holder)
{
    if (e->type != YAML_SCALAR_EVENT && e->type != YAML_ALIAS_EVENT)
        return fail(r, e->start_mark, "a list or map as a key; a plain word is right");
    RB_AUTO(rb_node_destroy) rb_node_t *key = NULL;
    if (read_node(r, e, 0, &key) != 0)
        return -1;
    holder->key = RB_MOVE(key->text);
    holder->key_line = key->line;
    holder->key_column = key->column;
    return next(r, e);
}

static int read_item(reader_t *r, yaml_event_t *e, unsigned depth, rb_node_t *into)
{
    RB_AUTO(rb_node_destroy) rb_node_t *item = NULL;
    rb_node_t holder = {0};
    int rc = into->kind == RB_NODE_MAP ? read_key(r, e, &holder) : 0;
    if (rc == 0)
        rc = read_node(r, e, depth, &item);
    if (rc != 0) {
        free(holder.key);
        return -1;
    }
    item->key = holder.key;
    item->key_line = holder.key_line;
    item->key_column = holder.key_column;
    *RB_PUSH(into->items, into->nitems) = RB_MOVE(item);
    return 0;
}

static int read_items(reader_t *r, yaml_event_t *e, unsigned depth, rb_node_t *into)
{
    if (depth >= RB_MAX_PLAN_DEPTH)
        return fail(r, e->start_mark, "more than 16 maps and lists in each other");
    for (;;) {
        if (next(r, e) != 0)
            return -1;
        if (e->type == YAML_SEQUENCE_END_EVENT || e->type == YAML_MAPPING_END_EVENT)
            return into->kind == RB_NODE_MAP ? refuse_duplicates(r, into) : 0;
        if (into->nitems >= RB_MAX_PLAN_ITEMS)
            return fail(r, e->start_mark, "more than 4096 entries in one map or list");
        if (read_item(r, e, depth + 1, into) != 0)
            return -1;
    }
}

static rb_node_t *read_collection(reader_t *r, yaml_event_t *e, unsigned depth)
{
    bool map = e->type == YAML_MAPPING_START_EVENT;
    yaml_char_t *anchor = map ? e->data.mapping_start.anchor : e->data.sequence_start.anchor;
    yaml_char_t *tag = map ? e->data.mapping_start.tag : e->data.sequence_start.tag;
    if (refuse_extras(r, e, anchor, tag) != 0)
        return NULL;
    RB_AUTO(rb_node_destroy) rb_node_t *n = new_node(e, map ? RB_NODE_MAP : RB_NODE_LIST);
    if (read_items(r, e, depth, n) != 0)
        return NULL;
    return RB_MOVE(n);
}

static int read_node(reader_t *r, yaml_event_t *e, unsigned depth, rb_node_t **ret_node)
{
    if (e->type == YAML_ALIAS_EVENT)
        return fail(r, e->start_mark,
                    "aliases (*name) are not supported; write the value out, or quote the text");
    *ret_node = e->type == YAML_SCALAR_EVENT ? read_scalar(r, e) : read_collection(r, e, depth);
    return *ret_node ? 0 : -1;
}

/* The events before the first node: stream and document start. */
static int read_start(reader_t *r, yaml_event_t *e)
{
    if (next(r, e) != 0 || next(r, e) != 0)
        return -1;
    if (e->type == YAML_STREAM_END_EVENT)
        return fail(r, (yaml_mark_t){0}, "the file is empty");
    return next(r, e);
}

static int read_end(reader_t *r, yaml_event_t *e)
{
    if (next(r, e) != 0 || next(r, e) != 0)
        return -1;
    if (e->type != YAML_STREAM_END_EVENT)
        return fail(r, e->start_mark, "a second YAML document; one in a file is right");
    return 0;
}

static rb_node_t *read_document(reader_t *r)
{
    RB_AUTO(rb_node_destroy) rb_node_t *root = NULL;
    RB_AUTO(delete_event) yaml_event_t e = {0};
    if (read_start(r, &e) != 0 || read_node(r, &e, 0, &root) != 0 || read_end(r, &e) != 0)
        return NULL;
    return RB_MOVE(root);
}

rb_node_t *rb_yaml_parse(const char *text, size_t size, const char *file, rb_err_t *err)
{
    if (size > RB_MAX_PLAN_BYTES) {
        rb_err_set(err, RB_ERR_INPUT, "%s: %zu bytes of text; at most 1 MiB is right", file, size);
        return NULL;
    }
    if (size >= strlen(BOM) && memcmp(text, BOM, strlen(BOM)) == 0) {
        text += strlen(BOM);
        size -= strlen(BOM);
    }
    reader_t r = {.text = text, .size = size, .file = file, .err = err};
    RB_ASSERT(yaml_parser_initialize(&r.parser));
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, size);
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    rb_node_t *root = read_document(&r);
    yaml_parser_delete(&r.parser);
    return root;
}
