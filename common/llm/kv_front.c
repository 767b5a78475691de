#include "common/llm/kv_front.h"

void rb_kv_front_init(rb_kv_front_t *f, uint64_t gpu_blocks, uint64_t dram_blocks)
{
    *f = (rb_kv_front_t){.room = {gpu_blocks, dram_blocks}};
    for (int i = 0; i < RB_KV_FRONT_TIERS; i++)
        f->list[i] = rb_kv_list();
    if (gpu_blocks + dram_blocks == 0)
        return;
    rb_kv_table_init(&f->table, (uint32_t)(gpu_blocks + dram_blocks + 1));
    f->blocks = rb_calloc(f->table.room, sizeof(*f->blocks));
    f->links = rb_calloc(f->table.room, sizeof(*f->links));
}

void rb_kv_front_clear(rb_kv_front_t *f)
{
    rb_kv_table_clear(&f->table);
    free(f->blocks);
    free(f->links);
}

const rb_kv_front_block_t *rb_kv_front_find(const rb_kv_front_t *f, uint64_t block)
{
    uint32_t at = rb_kv_front_none(f) ? RB_KV_NONE : rb_kv_table_find(&f->table, block);
    return at == RB_KV_NONE ? NULL : &f->blocks[at];
}

static void take_from(rb_kv_front_t *f, uint32_t at)
{
    rb_kv_list_remove(&f->list[f->blocks[at].tier], f->links, at);
    f->held[f->blocks[at].tier]--;
}

static void put_into(rb_kv_front_t *f, uint32_t at, uint8_t tier)
{
    rb_kv_list_add(&f->list[tier], f->links, at);
    f->blocks[at].tier = tier;
    f->held[tier]++;
}

static uint32_t place_of(rb_kv_front_t *f, const rb_kv_front_block_t *b)
{
    uint32_t at = rb_kv_table_find(&f->table, b->block);
    if (at == RB_KV_NONE) {
        at = rb_kv_table_add(&f->table, b->block);
        f->blocks[at] = *b;
        return at;
    }
    uint8_t *flags = &f->blocks[at].flags;
    *flags |= b->flags & RB_KV_TWICE;
    if (!(b->flags & RB_KV_ANSWER))
        *flags &= (uint8_t)~RB_KV_ANSWER;
    take_from(f, at);
    return at;
}

bool rb_kv_front_touch(rb_kv_front_t *f, const rb_kv_front_block_t *b, rb_kv_front_block_t *ret_out)
{
    uint32_t at = place_of(f, b);
    for (int tier = 0; tier < RB_KV_FRONT_TIERS; tier++) {
        put_into(f, at, (uint8_t)tier);
        if (f->held[tier] <= f->room[tier])
            return false;
        at = f->list[tier].oldest;
        take_from(f, at);
    }
    *ret_out = f->blocks[at];
    rb_kv_table_remove(&f->table, at);
    return true;
}
