#include "coordinator/plan/load.h"

#include "coordinator/plan/load_fields.h"
#include "coordinator/plan/nearest.h"
#include "coordinator/plan/resolve.h"
#include "proto/wire.h"

Rackbench__Plan *rb_plan_load(const char *text, size_t size, const char *file,
                              rb_places_t **ret_places, rb_err_t *err)
{
    RB_AUTO(rb_plan_destroy) Rackbench__Plan *plan = rb_calloc(1, sizeof(*plan));
    RB_AUTO(rb_places_destroy) rb_places_t *places = rb_places_new(file);
    rackbench__plan__init(plan);
    RB_AUTO(rb_node_destroy) rb_node_t *root = rb_yaml_parse(text, size, file, err);
    if (!root)
        return NULL;
    rb_places_add(places, "", root->line, root->column);
    rb_loader_t loader = {.file = file, .places = places, .err = err};
    if (rb_load_message(&loader, root, &plan->base, "") != 0)
        return NULL;
    *ret_places = RB_MOVE(places);
    return RB_MOVE(plan);
}

/* What a path has led to so far. */
struct walk {
    ProtobufCMessage *msg;
    rb_slot_t slot; /* field NULL: the next word is a key of msg */
    char *path;     /* with indices and full field names */
};

static const char *name_of(rb_slot_t list, size_t index)
{
    ProtobufCMessage *msg = rb_slot_message(list, index);
    const ProtobufCFieldDescriptor *f = rb_schema_field(msg->descriptor, "name");
    rb_slot_t name = {msg, f};
    return f && rb_slot_is_set(name) ? *(char **)rb_slot_at(name, 0) : "";
}

static int unknown_entry(rb_slot_t list, const char *word, rb_err_t *err)
{
    rb_nearest_t nearest = {.word = word};
    size_t count = rb_slot_count(list);
    for (size_t i = 0; i < count; i++)
        rb_nearest_try(&nearest, name_of(list, i));
    if (nearest.best)
        return rb_err_set(err, RB_ERR_INPUT, "no '%.64s' in %s; did you mean '%.64s'?", word,
                          list.field->name, nearest.best);
    if (count == 0)
        return rb_err_set(err, RB_ERR_INPUT, "the plan has no %s there", list.field->name);
    return rb_err_set(err, RB_ERR_INPUT, "no '%.64s' in %s; 0 to %zu or a name is right", word,
                      list.field->name, count - 1);
}

/* Index of the entry that word means, or count. Digits are an index before they are a name. */
static size_t find_entry(rb_slot_t list, const char *word)
{
    size_t count = rb_slot_count(list), i = 0;
    if (*word && strspn(word, "0123456789") == strlen(word) && strlen(word) < 9) {
        i = strtoul(word, NULL, 10);
        if (i < count)
            return i;
    }
    for (i = 0; i < count && strcmp(name_of(list, i), word) != 0; i++)
        ;
    return i;
}

static int step_entry(struct walk *w, const char *word, rb_err_t *err)
{
    size_t i = find_entry(w->slot, word);
    if (i == rb_slot_count(w->slot))
        return unknown_entry(w->slot, word, err);
    char *path = rb_asprintf("%s.%zu", w->path, i);
    free(w->path);
    w->path = path;
    w->msg = rb_slot_message(w->slot, i);
    w->slot.field = NULL;
    return 0;
}

static int step_key(struct walk *w, const char *word, rb_err_t *err)
{
    if (w->slot.field && w->slot.field->type == PROTOBUF_C_TYPE_MESSAGE) {
        if (!rb_slot_is_set(w->slot))
            rb_slot_push_message(w->slot);
        w->msg = rb_slot_message(w->slot, 0);
    }
    rb_slot_t slot = rb_slot_find(w->msg, word);
    if (!slot.field) {
        RB_AUTO(rb_free_str) char *advice = rb_schema_advice(w->msg->descriptor, word);
        return rb_err_set(err, RB_ERR_INPUT, "unknown key '%.64s'; %s", word, advice);
    }
    char *path = rb_load_path(w->msg, slot, w->path);
    free(w->path);
    w->path = path;
    w->slot = slot;
    return 0;
}

static int step(struct walk *w, const char *word, rb_err_t *err)
{
    const ProtobufCFieldDescriptor *f = w->slot.field;
    if (f && f->type != PROTOBUF_C_TYPE_MESSAGE)
        return rb_err_set(err, RB_ERR_INPUT, "'%s' has no keys of its own; end the path there",
                          rb_schema_key(f).text);
    return f && f->label == PROTOBUF_C_LABEL_REPEATED ? step_entry(w, word, err)
                                                      : step_key(w, word, err);
}

static int walk_path(struct walk *w, char *path, rb_err_t *err)
{
    char *word;
    while ((word = strsep(&path, ".")) != NULL)
        if (step(w, word, err) != 0)
            return -1;
    if (!w->slot.field)
        return rb_err_set(err, RB_ERR_INPUT, "the path ends at an entry; go on with a key of it");
    return 0;
}

static int set_value(const struct walk *w, const char *value, const rb_loader_t *loader)
{
    RB_AUTO(rb_node_destroy)
    rb_node_t *node = rb_yaml_parse(value, strlen(value), loader->file, loader->err);
    if (!node)
        return -1;
    if (node->kind == RB_NODE_SCALAR)
        node->line = 0; /* the assignment itself is the place */
    rb_slot_clear(w->slot);
    return rb_load_slot(loader, node, w->slot, w->path);
}

int rb_plan_set(Rackbench__Plan *plan, const char *assignment, rb_places_t *places, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *origin = rb_asprintf("--set %.128s", assignment);
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment || equals[1] == '\0') {
        rb_err_set(err, RB_ERR_INPUT, "expected KEY=VALUE, as in phases.0.jobs.0.iodepth=64");
        return rb_err_wrap(err, "%s", origin);
    }
    RB_AUTO(rb_free_str) char *path = rb_strndup(assignment, (size_t)(equals - assignment));
    struct walk w = {.msg = &plan->base, .path = rb_strdup("")};
    rb_loader_t loader = {.file = origin, .err = err};
    rb_plan_name_all(plan);
    int rc = walk_path(&w, path, err);
    if (rc != 0)
        rb_err_wrap(err, "%s", origin);
    else
        rc = set_value(&w, equals + 1, &loader);
    if (rc == 0 && places)
        rb_places_add_origin(places, w.path, origin);
    free(w.path);
    return rc;
}
