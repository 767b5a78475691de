#include "tests/sim/sim.h"

/* Of what happens at one instant (a process that wakes up), messages come first, then the rest. */
static uint64_t rank(const sim_event_t *e)
{
    return e->kind == SIM_TO_AGENT || e->kind == SIM_TO_COORDINATOR ? 0 : 1;
}

static bool before(const sim_event_t *a, const sim_event_t *b)
{
    if (a->at_ns != b->at_ns)
        return a->at_ns < b->at_ns;
    if (rank(a) != rank(b))
        return rank(a) < rank(b);
    return a->order < b->order;
}

static void swap(sim_event_t *a, sim_event_t *b)
{
    sim_event_t t = *a;
    *a = *b;
    *b = t;
}

void sim_postpone(sim_t *sim, sim_event_t event)
{
    sim_queue_t *q = &sim->queue;
    *RB_PUSH(q->heap, q->count) = event;
    for (size_t i = q->count - 1; i > 0 && before(&q->heap[i], &q->heap[(i - 1) / 2]);
         i = (i - 1) / 2)
        swap(&q->heap[i], &q->heap[(i - 1) / 2]);
}

void sim_push(sim_t *sim, sim_event_t event)
{
    event.order = sim->queue.order++;
    sim_postpone(sim, event);
}

bool sim_pop(sim_t *sim, sim_event_t *ret)
{
    sim_queue_t *q = &sim->queue;
    if (q->count == 0)
        return false;
    *ret = q->heap[0];
    q->heap[0] = q->heap[--q->count];
    for (size_t i = 0, least = 0;; i = least) {
        for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < q->count; child++)
            if (before(&q->heap[child], &q->heap[least]))
                least = child;
        if (least == i)
            return true;
        swap(&q->heap[i], &q->heap[least]);
    }
}

void sim_queue_clear(sim_queue_t *queue)
{
    for (size_t i = 0; i < queue->count; i++)
        rb_bytes_clear(&queue->heap[i].frame);
    free(queue->heap);
    *queue = (sim_queue_t){0};
}
