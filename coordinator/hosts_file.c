#include "coordinator/hosts_file.h"

#include <errno.h>

#include "coordinator/plan/load_yaml.h"
#include "coordinator/plan/nearest.h"
#include "proto/keys.h"

typedef struct {
    const char *file;
    rb_hostlist_t *list;
    rb_err_t *err;
} reader_t;

/* Puts the place before what err says. */
static int wrap(const reader_t *r, const rb_node_t *node)
{
    return rb_err_wrap(r->err, "%s:%u:%u", r->file, node->line, node->column);
}

static int expected(const reader_t *r, const rb_node_t *node, const char *what)
{
    RB_AUTO(rb_free_str) char *got = rb_node_describe(node);
    rb_err_set(r->err, RB_ERR_INPUT, "expected %s, got %s", what, got);
    return wrap(r, node);
}

static int unknown_key(const reader_t *r, const rb_node_t *node, const char *const *keys, size_t n)
{
    rb_nearest_t nearest = {.word = node->key};
    char list[64] = "";
    for (size_t i = 0, length = 0; i < n; i++) {
        rb_nearest_try(&nearest, keys[i]);
        length +=
            (size_t)snprintf(list + length, sizeof(list) - length, "%s%s", i ? ", " : "", keys[i]);
    }
    if (nearest.best)
        rb_err_set(r->err, RB_ERR_INPUT, "unknown key '%.64s'; did you mean '%s'?", node->key,
                   nearest.best);
    else
        rb_err_set(r->err, RB_ERR_INPUT, "unknown key '%.64s'; the keys here are %s", node->key,
                   list);
    return rb_err_wrap(r->err, "%s:%u:%u", r->file, node->key_line, node->key_column);
}

/* Finds the keys of a map: ret[i] is the value of keys[i], or NULL. */
static int take_keys(const reader_t *r, const rb_node_t *map, const char *const *keys, size_t n,
                     const rb_node_t **ret)
{
    for (size_t i = 0; i < map->nitems; i++) {
        size_t k = 0;
        while (k < n && strcmp(keys[k], map->items[i]->key) != 0)
            k++;
        if (k == n)
            return unknown_key(r, map->items[i], keys, n);
        ret[k] = map->items[i];
    }
    return 0;
}

static rb_hostlist_t *parse_expression(const reader_t *r, const rb_node_t *node)
{
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    if (node->kind != RB_NODE_SCALAR || node->missing) {
        expected(r, node, "a host");
        return NULL;
    }
    if (rb_hostlist_parse(list, node->text, r->err) != 0) {
        wrap(r, node);
        return NULL;
    }
    return RB_MOVE(list);
}

static int add_labels(const reader_t *r, const rb_node_t *labels, size_t host)
{
    for (size_t i = 0; i < labels->nitems; i++) {
        const rb_node_t *label = labels->items[i];
        if (label->kind != RB_NODE_SCALAR || label->missing)
            return expected(r, label, "a label's value");
        if (rb_hostlist_label(r->list, host, label->key, label->text, r->err) != 0)
            return wrap(r, label);
    }
    return 0;
}

/* addresses: NULL, or as many as names. */
static int add_hosts(const reader_t *r, const rb_node_t *entry, rb_hostlist_t *names,
                     const rb_hostlist_t *addresses, const rb_node_t *labels)
{
    for (size_t i = 0; i < names->nitems; i++) {
        const rb_hostlist_item_t *at = addresses ? &addresses->items[i] : &names->items[i];
        if (rb_hostlist_add(r->list, names->items[i].name, at->address, at->port, r->err) != 0)
            return wrap(r, entry);
        rb_hostlist_item_t *added = &r->list->items[r->list->nitems - 1];
        added->key = RB_MOVE(names->items[i].key);
        if (labels && add_labels(r, labels, r->list->nitems - 1) != 0)
            return -1;
    }
    return 0;
}

static int read_entry(const reader_t *r, const rb_node_t *entry)
{
    enum { NAME, ADDRESS, LABELS, KEY, N };
    static const char *const keys[N] = {"name", "address", "labels", "key"};
    const rb_node_t *values[N] = {NULL};
    if (entry->kind != RB_NODE_MAP)
        return expected(r, entry, "a map: {name: node01}");
    if (take_keys(r, entry, keys, N, values) != 0)
        return -1;
    if (!values[NAME])
        return expected(r, entry, "a host with the key 'name'");
    if (values[KEY] && (values[KEY]->kind != RB_NODE_SCALAR || !rb_key_valid(values[KEY]->text)))
        return expected(r, values[KEY], "a public key of 64 hexadecimal digits");
    if (values[LABELS] && values[LABELS]->kind != RB_NODE_MAP)
        return expected(r, values[LABELS], "a map: {rack: r1}");
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *names = parse_expression(r, values[NAME]);
    if (!names)
        return -1;
    if (values[KEY] && names->nitems > 1) {
        rb_err_set(r->err, RB_ERR_INPUT, "one key for %zu hosts; each agent has a key of its own",
                   names->nitems);
        return wrap(r, values[KEY]);
    }
    if (values[KEY])
        names->items[0].key = rb_strdup(values[KEY]->text);
    if (!values[ADDRESS])
        return add_hosts(r, entry, names, NULL, values[LABELS]);
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *addresses = parse_expression(r, values[ADDRESS]);
    if (!addresses)
        return -1;
    if (addresses->nitems != names->nitems) {
        rb_err_set(r->err, RB_ERR_INPUT, "%zu addresses for %zu names; as many of each are right",
                   addresses->nitems, names->nitems);
        return wrap(r, values[ADDRESS]);
    }
    return add_hosts(r, entry, names, addresses, values[LABELS]);
}

static int read_hosts(const reader_t *r, const rb_node_t *root)
{
    static const char *const keys[] = {"hosts"};
    const rb_node_t *hosts = NULL;
    if (root->kind != RB_NODE_MAP)
        return expected(r, root, "hosts: [{name: node01}, ...]");
    if (take_keys(r, root, keys, 1, &hosts) != 0)
        return -1;
    if (!hosts || hosts->kind != RB_NODE_LIST || hosts->nitems == 0)
        return expected(r, hosts ? hosts : root, "hosts: [{name: node01}, ...]");
    for (size_t i = 0; i < hosts->nitems; i++)
        if (read_entry(r, hosts->items[i]) != 0)
            return -1;
    return 0;
}

static void close_file(FILE **f)
{
    if (*f)
        fclose(*f);
}

/* One byte more than the limit is read, for the parser to refuse. */
static char *read_file(const char *path, size_t *ret_size, rb_err_t *err)
{
    RB_AUTO(close_file) FILE *f = fopen(path, "re");
    if (!f) {
        rb_err_errno(err, errno, "host list %s", path);
        return NULL;
    }
    RB_AUTO(rb_free_str) char *text = rb_calloc(RB_MAX_PLAN_BYTES + 1, 1);
    *ret_size = fread(text, 1, RB_MAX_PLAN_BYTES + 1, f);
    if (ferror(f)) {
        rb_err_errno(err, errno, "host list %s", path);
        return NULL;
    }
    return RB_MOVE(text);
}

rb_hostlist_t *rb_hosts_parse(const char *text, size_t size, const char *file, rb_err_t *err)
{
    RB_AUTO(rb_node_destroy) rb_node_t *root = rb_yaml_parse(text, size, file, err);
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    reader_t r = {.file = file, .list = list, .err = err};
    if (!root || read_hosts(&r, root) != 0)
        return NULL;
    return RB_MOVE(list);
}

static rb_hostlist_t *load_file(const char *path, rb_err_t *err)
{
    size_t size = 0;
    RB_AUTO(rb_free_str) char *text = read_file(path, &size, err);
    return text ? rb_hosts_parse(text, size, path, err) : NULL;
}

static bool ends_in(const char *text, const char *suffix)
{
    size_t n = strlen(text), m = strlen(suffix);
    return n >= m && strcmp(text + n - m, suffix) == 0;
}

rb_hostlist_t *rb_hosts_load(const char *spec, rb_err_t *err)
{
    if (ends_in(spec, ".yaml") || ends_in(spec, ".yml"))
        return load_file(spec, err);
    RB_AUTO(rb_hostlist_destroy) rb_hostlist_t *list = rb_hostlist_new();
    if (rb_hostlist_parse(list, spec, err) != 0)
        return NULL;
    return RB_MOVE(list);
}
