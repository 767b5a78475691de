#include "agent/worker_hung.h"

void rb_hung_init(rb_hung_t *h, uint32_t iodepth)
{
    memset(h, 0, sizeof(*h));
    h->iodepth = iodepth;
    h->told_ns = rb_calloc(iodepth, sizeof(*h->told_ns));
}

void rb_hung_clear(rb_hung_t *h)
{
    free(h->told_ns);
    h->told_ns = NULL;
}

uint32_t rb_hung_look(rb_hung_t *h, const rb_slot_t *slots, uint64_t now_ns)
{
    uint32_t before = atomic_load_explicit(&h->found, memory_order_relaxed), found = before;
    for (uint32_t i = 0; i < h->iodepth && found < RB_MAX_HUNG; i++) {
        const rb_slot_t *s = &slots[i];
        if (s->submit_ns == 0 || s->submit_ns + RB_HUNG_NS > now_ns ||
            s->submit_ns == h->told_ns[i])
            continue;
        h->told_ns[i] = s->submit_ns;
        h->ops[found++] = (rb_hung_op_t){.at_ns = now_ns,
                                         .age_ns = now_ns - s->submit_ns,
                                         .offset_bytes = s->offset_bytes,
                                         .size_bytes = s->size_bytes,
                                         .op = s->op};
    }
    atomic_store_explicit(&h->found, found, memory_order_release);
    return found - before;
}

const rb_hung_op_t *rb_hung_take(rb_hung_t *h)
{
    if (h->taken == atomic_load_explicit(&h->found, memory_order_acquire))
        return NULL;
    return &h->ops[h->taken++];
}
