/* kv_table.h - blocks by key, and lists of them by age: what every tier of KV is made of.
 *
 * A table gives out entries [0, room) for keys; a list orders entries, oldest first, by links that
 * its owner keeps. One owner. All memory is taken at the begin: 20 bytes an entry. Hot: some 10 ns
 * a call where the entry is in cache.
 */
#pragma once

#include "common/llm/id_map.h"

#define RB_KV_NONE UINT32_MAX

typedef struct {
    uint64_t key;
    uint32_t next; /* of its bucket, or of the free ones */
} rb_kv_entry_t;

typedef struct {
    rb_kv_entry_t *entries; /* [room] */
    uint32_t *buckets;      /* [mask + 1] */
    uint32_t mask, room, used;
    uint32_t free; /* first of those that were taken back */
} rb_kv_table_t;

void rb_kv_table_init(rb_kv_table_t *t, uint32_t room);
void rb_kv_table_clear(rb_kv_table_t *t);
uint32_t rb_kv_table_find(const rb_kv_table_t *t, uint64_t key); /* RB_KV_NONE */
/* key is not there, and room is (asserted). */
uint32_t rb_kv_table_add(rb_kv_table_t *t, uint64_t key);
void rb_kv_table_remove(rb_kv_table_t *t, uint32_t entry);

typedef struct {
    uint32_t older, newer;
} rb_kv_link_t;

typedef struct {
    uint32_t oldest, newest;
} rb_kv_list_t;

static inline rb_kv_list_t rb_kv_list(void)
{
    return (rb_kv_list_t){RB_KV_NONE, RB_KV_NONE};
}

static inline void rb_kv_list_add(rb_kv_list_t *list, rb_kv_link_t *links, uint32_t at)
{
    links[at] = (rb_kv_link_t){list->newest, RB_KV_NONE};
    *(list->newest == RB_KV_NONE ? &list->oldest : &links[list->newest].newer) = at;
    list->newest = at;
}

static inline void rb_kv_list_remove(rb_kv_list_t *list, rb_kv_link_t *links, uint32_t at)
{
    rb_kv_link_t l = links[at];
    *(l.older == RB_KV_NONE ? &list->oldest : &links[l.older].newer) = l.newer;
    *(l.newer == RB_KV_NONE ? &list->newest : &links[l.newer].older) = l.older;
}

static inline void rb_kv_list_touch(rb_kv_list_t *list, rb_kv_link_t *links, uint32_t at)
{
    if (list->newest == at)
        return;
    rb_kv_list_remove(list, links, at);
    rb_kv_list_add(list, links, at);
}
