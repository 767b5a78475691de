#include "agent/think.h"

void rb_think_init(rb_think_t *t, uint64_t time_ns, uint32_t blocks, uint32_t iodepth)
{
    RB_ASSERT(time_ns > 0 && time_ns <= RB_THINK_MAX_NS && blocks > 0 && iodepth > 0);
    *t = (rb_think_t){.time_ns = time_ns,
                      .blocks = blocks,
                      .size = iodepth,
                      .queue = rb_calloc(iodepth, sizeof(uint32_t)),
                      .count = rb_calloc(iodepth, sizeof(uint32_t))};
}

void rb_think_clear(rb_think_t *t)
{
    free(t->queue);
    free(t->count);
    *t = (rb_think_t){0};
}

static bool pauses(rb_think_t *t, const rb_slot_t *slots, uint32_t slot)
{
    if (slots[slot].op == RB_OP_SYNC || ++t->count[slot] < t->blocks)
        return false;
    t->count[slot] = 0;
    return true;
}

uint32_t rb_think_pause(rb_think_t *t, rb_slot_t *slots, uint32_t *freed, uint32_t n,
                        uint64_t now_ns)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = freed[i];
        if (!pauses(t, slots, slot)) {
            freed[left++] = slot;
            continue;
        }
        slots[slot].due_ns = now_ns + t->time_ns;
        t->queue[(t->first + t->n++) % t->size] = slot;
    }
    return left;
}

void rb_think_hold(rb_think_t *t, const uint32_t *slots, uint32_t n)
{
    RB_ASSERT(t->n == 0 && n <= t->size);
    memcpy(t->queue, slots, n * sizeof(*slots));
    t->n = n;
}

uint32_t rb_think_wake(rb_think_t *t, const rb_slot_t *slots, uint32_t *ret_slots, uint64_t now_ns)
{
    uint32_t n = 0;
    while (rb_think_due_ns(t, slots) <= now_ns) {
        ret_slots[n++] = t->queue[t->first];
        t->first = (t->first + 1) % t->size;
        t->n--;
    }
    return n;
}
