#include "common/llm/id_map.h"

enum { FIRST_SLOTS = 1024 };

void rb_id_map_clear(rb_id_map_t *map)
{
    free(map->slots);
    *map = (rb_id_map_t){0};
}

static rb_id_map_slot_t *find(const rb_id_map_t *map, uint64_t key)
{
    uint64_t at = rb_id_mix(key) & map->mask;
    while (map->slots[at].used && map->slots[at].key != key)
        at = (at + 1) & map->mask;
    return &map->slots[at];
}

static void grow(rb_id_map_t *map)
{
    rb_id_map_t old = *map;
    uint64_t n = old.slots ? 2 * (old.mask + 1) : FIRST_SLOTS;
    map->slots = rb_calloc(n, sizeof(*map->slots));
    map->mask = n - 1;
    for (uint64_t i = 0; old.slots && i <= old.mask; i++)
        if (old.slots[i].used)
            *find(map, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint32_t *rb_id_map_at(rb_id_map_t *map, uint64_t key)
{
    if (map->slots == NULL || 4 * (map->count + 1) > 3 * (map->mask + 1))
        grow(map);
    rb_id_map_slot_t *slot = find(map, key);
    if (!slot->used) {
        *slot = (rb_id_map_slot_t){.key = key, .value = RB_ID_MAP_NEW, .used = true};
        map->count++;
    }
    return &slot->value;
}

uint32_t rb_id_map_number(rb_id_map_t *map, uint64_t key)
{
    uint32_t *value = rb_id_map_at(map, key);
    if (*value == RB_ID_MAP_NEW)
        *value = (uint32_t)(map->count - 1);
    return *value;
}
