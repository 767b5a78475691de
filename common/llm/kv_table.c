#include "common/llm/kv_table.h"

void rb_kv_table_init(rb_kv_table_t *t, uint32_t room)
{
    uint64_t buckets = 1;
    while (buckets < room)
        buckets *= 2;
    *t = (rb_kv_table_t){.mask = (uint32_t)(buckets - 1), .room = room, .free = RB_KV_NONE};
    t->entries = rb_calloc(room, sizeof(*t->entries));
    t->buckets = rb_calloc(buckets, sizeof(*t->buckets));
    memset(t->buckets, 0xff, buckets * sizeof(*t->buckets)); /* RB_KV_NONE */
}

void rb_kv_table_clear(rb_kv_table_t *t)
{
    free(t->entries);
    free(t->buckets);
    *t = (rb_kv_table_t){0};
}

static uint32_t *bucket_of(const rb_kv_table_t *t, uint64_t key)
{
    return &t->buckets[rb_id_mix(key) & t->mask];
}

uint32_t rb_kv_table_find(const rb_kv_table_t *t, uint64_t key)
{
    uint32_t at = *bucket_of(t, key);
    while (at != RB_KV_NONE && t->entries[at].key != key)
        at = t->entries[at].next;
    return at;
}

uint32_t rb_kv_table_add(rb_kv_table_t *t, uint64_t key)
{
    uint32_t at = t->free, *bucket = bucket_of(t, key);
    if (at != RB_KV_NONE)
        t->free = t->entries[at].next;
    else
        at = t->used++;
    RB_ASSERT(at < t->room);
    t->entries[at] = (rb_kv_entry_t){key, *bucket};
    *bucket = at;
    return at;
}

void rb_kv_table_remove(rb_kv_table_t *t, uint32_t entry)
{
    uint32_t *at = bucket_of(t, t->entries[entry].key);
    while (*at != entry)
        at = &t->entries[*at].next;
    *at = t->entries[entry].next;
    t->entries[entry].next = t->free;
    t->free = entry;
}
