#include "agent/worker_window.h"

#include "agent/buffer.h"

static void clear_window(rb_window_t *win)
{
    for (int op = 0; op < RB_OP_COUNT; op++) {
        rb_op_stat_t *s = win->ops[op];
        if (s == NULL)
            continue;
        s->ops = s->bytes = s->errors = s->inflight = s->oldest_inflight_ns = 0;
        rb_hist_clear(&s->service);
        rb_hist_clear(&s->response);
    }
}

/* All of it is zero. */
static void fault_in(rb_hist_t *h)
{
    volatile uint64_t *buckets = h->buckets;
    uint32_t end = rb_hist_index(RB_AT_HAND_NS);
    for (uint32_t i = 0; i < end; i += RB_BUFFER_ALIGN / sizeof(h->buckets[0]))
        buckets[i] = 0;
    buckets[end] = 0;
    rb_hist_clear(h);
}

rb_hist_t *rb_window_hist_new(void)
{
    rb_hist_t *h = rb_buffer_new_lazy(sizeof(*h));
    fault_in(h);
    return h;
}

static void fault_in_window(rb_window_t *win)
{
    for (int op = 0; op < RB_OP_COUNT; op++) {
        if (win->ops[op] == NULL)
            continue;
        fault_in(&win->ops[op]->service);
        fault_in(&win->ops[op]->response);
    }
}

void rb_windows_init(rb_windows_t *w, uint32_t ops)
{
    size_t nops = (size_t)__builtin_popcount(ops), n = 0;
    memset(w, 0, sizeof(*w));
    w->stats_bytes = nops * RB_WINDOWS * sizeof(*w->stats);
    w->stats = rb_buffer_new_lazy(w->stats_bytes);
    for (int i = 0; i < RB_WINDOWS; i++) {
        for (int op = 0; op < RB_OP_COUNT; op++)
            w->slots[i].ops[op] = ops & 1u << op ? &w->stats[n++] : NULL;
        fault_in_window(&w->slots[i]);
    }
}

void rb_windows_clear(rb_windows_t *w)
{
    rb_buffer_free(w->stats, w->stats_bytes);
    memset(w, 0, sizeof(*w));
}

/* Changes of part that may still come. */
static uint64_t changes_left(rb_part_t part)
{
    switch (part) {
    case RB_PART_SETUP:
    case RB_PART_RAMP:
        return 2;
    case RB_PART_MAIN:
        return 1;
    case RB_PART_DRAINED:
    case RB_PART_COUNT:
        break;
    }
    return 0;
}

bool rb_windows_room(const rb_windows_t *w, rb_part_t part)
{
    uint64_t published = atomic_load_explicit(&w->published, memory_order_relaxed);
    /* Acquire: the sampler's clearing comes before the worker's filling. */
    uint64_t consumed = atomic_load_explicit(&w->consumed, memory_order_acquire);
    uint64_t unread = published + 1 - consumed;
    return unread + 1 + changes_left(part) <= RB_WINDOWS;
}

void rb_windows_publish(rb_windows_t *w)
{
    uint64_t published = atomic_load_explicit(&w->published, memory_order_relaxed);
    atomic_store_explicit(&w->published, published + 1, memory_order_release);
}

const rb_window_t *rb_windows_peek(const rb_windows_t *w)
{
    uint64_t consumed = atomic_load_explicit(&w->consumed, memory_order_relaxed);
    if (consumed == atomic_load_explicit(&w->published, memory_order_acquire))
        return NULL;
    return &w->slots[consumed % RB_WINDOWS];
}

void rb_windows_consume(rb_windows_t *w)
{
    uint64_t consumed = atomic_load_explicit(&w->consumed, memory_order_relaxed);
    clear_window(&w->slots[consumed % RB_WINDOWS]);
    atomic_store_explicit(&w->consumed, consumed + 1, memory_order_release);
}
