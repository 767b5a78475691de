#include "coordinator/plan/check_rules.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>

#include "common/units.h"
#include "coordinator/plan/expand.h"
#include "coordinator/plan/value.h"

int rb_rule_fail(const rb_scope_t *s, const char *key, const char *fmt, ...)
{
    char text[RB_MAX_TEXT];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    RB_AUTO(rb_free_str) char *path = rb_sweep_place(s, key);
    RB_AUTO(rb_free_str) char *point = s->phase ? rb_point_text(s->phase) : rb_strdup("");
    RB_AUTO(rb_free_str)
    char *all = rb_asprintf("%s%s%.200s%s", text, *point ? " (at the point " : "", point,
                            *point ? ")" : "");
    if (!path)
        path = rb_asprintf("%s%s%s", s->path, key && *s->path ? "." : "", key ? key : "");
    return rb_places_fail(s->places, path, all, s->err);
}

int rb_rules_ask(const rb_scope_t *s, rb_rule_t *const *rules, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rules[i](s) != 0)
            return -1;
    return 0;
}

static int out_of_range(const rb_scope_t *s, rb_slot_t slot, const rb_range_t *r)
{
    char got[RB_FMT_SIZE], min[RB_FMT_SIZE], max[RB_FMT_SIZE];
    rb_value_number(slot.field, rb_slot_number(slot), got);
    rb_value_number(slot.field, r->min, min);
    rb_value_number(slot.field, r->max, max);
    if (r->max == UINT64_MAX)
        return rb_rule_fail(s, slot.field->name, "%s: %s is out of range; at least %s is right",
                            r->key, got, min);
    return rb_rule_fail(s, slot.field->name, "%s: %s is out of range; %s to %s is right", r->key,
                        got, min, max);
}

/* Entries of a list, bytes of a text. */
static int too_many(const rb_scope_t *s, rb_slot_t slot, const rb_range_t *r)
{
    bool is_list = slot.field->label == PROTOBUF_C_LABEL_REPEATED;
    size_t n = is_list ? rb_slot_count(slot) : strlen(*(char **)rb_slot_at(slot, 0));
    if (n <= r->max)
        return 0;
    return rb_rule_fail(s, slot.field->name, "%s: %zu %s; at most %" PRIu64 " are right", r->key, n,
                        is_list ? "entries" : "bytes of text", r->max);
}

static int ask_range(const rb_scope_t *s, rb_slot_t slot, const rb_range_t *r)
{
    if (!rb_slot_is_set(slot))
        return 0;
    if (slot.field->label == PROTOBUF_C_LABEL_REPEATED ||
        slot.field->type == PROTOBUF_C_TYPE_STRING)
        return too_many(s, slot, r);
    uint64_t number = rb_slot_number(slot);
    bool is_good = number >= r->min && number <= r->max;
    return is_good || rb_value_is_auto(slot.field, number) ? 0 : out_of_range(s, slot, r);
}

int rb_ranges_ask(const rb_scope_t *s, const ProtobufCMessage *msg, const rb_range_t *ranges,
                  size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const ProtobufCFieldDescriptor *field = rb_schema_field(msg->descriptor, ranges[i].key);
        RB_ASSERT(field);
        rb_slot_t slot = {(ProtobufCMessage *)(uintptr_t)msg, field};
        if (ask_range(s, slot, &ranges[i]) != 0)
            return -1;
    }
    return 0;
}

int rb_name_ask(const rb_scope_t *s, const char *key, const char *what, const char *name)
{
    if (*name == '\0')
        return rb_rule_fail(s, key, "a %s with an empty name; name it", what);
    for (const char *p = name; *p; p++)
        if (iscntrl((unsigned char)*p))
            return rb_rule_fail(s, key, "a %s's name with a control character; leave it out", what);
    if (strchr(name, '/'))
        return rb_rule_fail(s, key, "%s '%s': a name cannot have a '/'; leave it out", what, name);
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return rb_rule_fail(s, key, "%s '%s': a name cannot be . or ..; choose another", what,
                            name);
    return 0;
}

static const char *name_at(rb_slot_t list, size_t index)
{
    ProtobufCMessage *msg = rb_slot_message(list, index);
    rb_slot_t name = {msg, rb_schema_field(msg->descriptor, "name")};
    return rb_slot_is_set(name) ? *(char **)rb_slot_at(name, 0) : "";
}

int rb_unique_ask(const rb_scope_t *s, rb_slot_t list, const char *what)
{
    for (size_t i = 0; i < rb_slot_count(list); i++) {
        RB_AUTO(rb_free_str) char *key = rb_asprintf("%s.%zu.name", list.field->name, i);
        const char *name = name_at(list, i);
        if (*name == '\0')
            return rb_rule_fail(s, key, "a %s with an empty name; name it", what);
        for (size_t j = 0; j < i; j++)
            if (strcmp(name_at(list, j), name) == 0)
                return rb_rule_fail(s, key, "two %ss are called '%s'; rename one", what, name);
    }
    return 0;
}

int rb_names_ask(const rb_scope_t *s, rb_slot_t list, const char *what)
{
    for (size_t i = 0; i < rb_slot_count(list); i++) {
        RB_AUTO(rb_free_str) char *key = rb_asprintf("%s.%zu.name", list.field->name, i);
        if (rb_name_ask(s, key, what, name_at(list, i)) != 0)
            return -1;
    }
    return rb_unique_ask(s, list, what);
}

const Rackbench__Target *rb_target_find(const Rackbench__Plan *plan, const char *name)
{
    for (size_t i = 0; i < plan->n_targets; i++)
        if (strcmp(plan->targets[i]->name, name) == 0)
            return plan->targets[i];
    return NULL;
}
