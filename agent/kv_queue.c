#include "agent/kv_queue.h"

#include "agent/kv_queue_priv.h"

static void push(rb_kv_queue_t *q, rb_kv_list_t *list, uint32_t index)
{
    q->batches[index].next = RB_KV_NONE;
    if (list->head == RB_KV_NONE)
        list->head = index;
    else
        q->batches[list->tail].next = index;
    list->tail = index;
}

static uint32_t pop(rb_kv_queue_t *q, rb_kv_list_t *list)
{
    uint32_t index = list->head;
    list->head = q->batches[index].next;
    return index;
}

/* What goes on goes first: it was due before those behind it. */
static void go_on(rb_kv_queue_t *q, uint32_t index)
{
    rb_kv_batch_t *batch = &q->batches[index];
    batch->state = RB_KV_ACTIVE;
    batch->next = q->active.head;
    if (q->active.head == RB_KV_NONE)
        q->active.tail = index;
    q->active.head = index;
}

static void begin(rb_kv_queue_t *q, uint32_t index)
{
    rb_kv_batch_t *batch = &q->batches[index];
    if (batch->op == RB_KV_PART_READ)
        q->servers[batch->server].under_way++;
    batch->state = RB_KV_ACTIVE;
    push(q, &q->active, index);
}

static void fall_due(rb_kv_queue_t *q, uint64_t now_ns)
{
    for (; q->at < q->nbatches && q->batches[q->order[q->at]].due_ns <= now_ns; q->at++) {
        uint32_t index = q->order[q->at], server = q->batches[index].server;
        bool reads = q->batches[index].op == RB_KV_PART_READ;
        if (reads && q->o.per_server > 0 && q->servers[server].under_way >= q->o.per_server)
            push(q, &q->servers[server].waiting, index);
        else
            begin(q, index);
    }
}

/* The part whose turn it is in a batch, and the number of its I/O. */
static uint32_t current(const rb_kv_queue_t *q, const rb_kv_batch_t *batch, uint32_t *ret_step)
{
    if (batch->op == RB_KV_PART_DISCARD) {
        *ret_step = 0;
        return batch->first_part + (uint32_t)batch->cursor;
    }
    if (!q->o.by_layer) {
        *ret_step = (uint32_t)(batch->cursor % q->steps);
        return batch->first_part + (uint32_t)(batch->cursor / q->steps);
    }
    uint64_t row = (uint64_t)batch->nparts * q->cuts, rest = batch->cursor % row;
    *ret_step = (uint32_t)(batch->cursor / row) * q->cuts + (uint32_t)(rest % q->cuts);
    return batch->first_part + (uint32_t)(rest / q->cuts);
}

/* Is a batch not to go on? Then it is out of the list, in its new state. */
static bool stays(rb_kv_queue_t *q, rb_kv_batch_t *batch, uint32_t part)
{
    if (batch->cursor == batch->total) {
        batch->state = RB_KV_GIVEN;
        q->given++;
    } else if (q->items[part].blocked) {
        batch->state = RB_KV_BLOCKED;
    } else if (batch->op == RB_KV_PART_READ && q->o.inflight_per_request > 0 &&
               batch->inflight >= q->o.inflight_per_request) {
        batch->state = RB_KV_LIMITED;
    } else {
        return false;
    }
    pop(q, &q->active);
    return true;
}

static uint32_t give(const rb_kv_queue_t *q, rb_kv_batch_t *batch, uint32_t part, uint32_t step,
                     rb_kv_io_t *ret)
{
    const rb_kv_item_t *item = &q->items[part];
    uint64_t bytes = q->o.geometry->slot_bytes, at = 0;
    if (batch->op != RB_KV_PART_DISCARD)
        at = rb_kv_queue_step(q, step, &bytes);
    batch->cursor++;
    if (bytes == 0)
        return 0;
    batch->inflight++;
    uint32_t writer = q->tenures[item->tenure].writer;
    *ret = (rb_kv_io_t){.due_ns = batch->due_ns,
                        .offset_bytes = item->slot * q->o.geometry->slot_bytes + at,
                        .size_bytes = bytes,
                        .block = item->block,
                        .sequence = writer == RB_KV_NONE ? 0 : writer + 1ull,
                        .part = part,
                        .step = step,
                        .piece = item->piece,
                        .op = batch->op};
    return 1;
}

uint32_t rb_kv_queue_take(rb_kv_queue_t *q, uint64_t now_ns, rb_kv_io_t *ret, uint32_t n)
{
    uint32_t taken = 0;
    fall_due(q, now_ns);
    while (taken < n && q->active.head != RB_KV_NONE) {
        rb_kv_batch_t *batch = &q->batches[q->active.head];
        uint32_t step = 0, part = 0;
        if (batch->cursor < batch->total)
            part = current(q, batch, &step);
        if (!stays(q, batch, part))
            taken += give(q, batch, part, step, ret + taken);
    }
    return taken;
}

/* Its slot is ready for a part. */
static void unblock(rb_kv_queue_t *q, uint32_t part)
{
    q->items[part].blocked = false;
    uint32_t index = q->items[part].batch, step;
    rb_kv_batch_t *batch = &q->batches[index];
    if (batch->state == RB_KV_BLOCKED && current(q, batch, &step) == part)
        go_on(q, index);
}

static void part_done(rb_kv_queue_t *q, const rb_kv_item_t *item, uint64_t now_ns)
{
    rb_kv_tenure_t *tenure = &q->tenures[item->tenure];
    if (!tenure->written) {
        tenure->written = true;
        for (uint32_t i = tenure->reads; i != RB_KV_NONE; i = q->items[i].next) {
            q->waited += q->batches[q->items[i].batch].due_ns < now_ns;
            unblock(q, i);
        }
    }
    if (--tenure->open == 0 && tenure->write != RB_KV_NONE)
        unblock(q, tenure->write);
}

static void batch_done(rb_kv_queue_t *q, rb_kv_batch_t *batch, uint64_t now_ns)
{
    uint32_t n = atomic_load_explicit(&q->nfinished, memory_order_relaxed);
    batch->end_ns = now_ns;
    q->finished[n] = (uint32_t)(batch - q->batches);
    atomic_store_explicit(&q->nfinished, n + 1, memory_order_release);
    if (batch->op != RB_KV_PART_READ)
        return;
    q->servers[batch->server].under_way--;
    if (q->servers[batch->server].waiting.head != RB_KV_NONE)
        begin(q, pop(q, &q->servers[batch->server].waiting));
}

void rb_kv_queue_done(rb_kv_queue_t *q, const rb_kv_done_t *done)
{
    rb_kv_item_t *item = &q->items[done->part];
    rb_kv_batch_t *batch = &q->batches[item->batch];
    batch->inflight--;
    batch->failed += done->failed;
    batch->part = done->phase;
    if ((batch->op == RB_KV_PART_DISCARD || done->step / q->cuts < q->o.first_ios) &&
        --batch->first_left == 0)
        batch->first_ns = done->now_ns;
    if (--item->left == 0)
        part_done(q, item, done->now_ns);
    if (--batch->left == 0)
        batch_done(q, batch, done->now_ns);
    else if (batch->state == RB_KV_LIMITED)
        go_on(q, item->batch);
}

uint64_t rb_kv_queue_due_ns(const rb_kv_queue_t *q)
{
    return q->at < q->nbatches ? q->batches[q->order[q->at]].due_ns : UINT64_MAX;
}

bool rb_kv_queue_empty(const rb_kv_queue_t *q)
{
    return q->given == q->nbatches;
}

uint64_t rb_kv_queue_ios(const rb_kv_queue_t *q)
{
    uint64_t ios = 0;
    for (size_t i = 0; i < q->nbatches; i++)
        ios += q->batches[i].op == RB_KV_PART_DISCARD ? q->batches[i].nparts
                                                      : (uint64_t)q->batches[i].nparts * q->ios;
    return ios;
}

uint64_t rb_kv_queue_undone(const rb_kv_queue_t *q, uint64_t end_ns)
{
    uint64_t parts = 0;
    for (size_t i = 0; i < q->nbatches; i++)
        if (q->batches[i].left > 0 && q->batches[i].due_ns < end_ns)
            parts += q->batches[i].nparts;
    return parts;
}

uint64_t rb_kv_queue_waited(const rb_kv_queue_t *q)
{
    return q->waited;
}

const rb_kv_batch_t *rb_kv_queue_finished(const rb_kv_queue_t *q, uint32_t at)
{
    if (at >= atomic_load_explicit(&q->nfinished, memory_order_acquire))
        return NULL;
    return &q->batches[q->finished[at]];
}
