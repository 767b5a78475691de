#include "agent/kv_queue_priv.h"

rb_kv_queue_t *rb_kv_queue_new(const rb_kv_queue_opts_t *opts)
{
    const rb_kv_geometry_t *g = opts->geometry;
    RB_ASSERT(opts->first_ios > 0 && opts->first_ios <= g->piece_ios);
    rb_kv_queue_t *q = rb_calloc(1, sizeof(*q));
    uint64_t longest = opts->io_size_bytes > 0 ? opts->io_size_bytes : g->piece_io_bytes;
    q->o = *opts;
    q->cuts = (uint32_t)((g->piece_io_bytes + longest - 1) / longest);
    q->steps = g->piece_ios * q->cuts;
    for (uint32_t step = 0; step < q->steps; step++) {
        uint64_t bytes = 0;
        rb_kv_queue_step(q, step, &bytes);
        q->ios += bytes > 0;
        q->first_ios += bytes > 0 && step / q->cuts < opts->first_ios;
    }
    q->servers = rb_calloc(RB_MAX(opts->nservers, 1u), sizeof(q->servers[0]));
    for (uint32_t i = 0; i < opts->nservers; i++)
        q->servers[i].waiting.head = q->servers[i].waiting.tail = RB_KV_NONE;
    q->active.head = q->active.tail = RB_KV_NONE;
    return q;
}

void rb_kv_queue_destroy(rb_kv_queue_t **q)
{
    if (*q == NULL)
        return;
    free((*q)->items);
    free((*q)->batches);
    free((*q)->tenures);
    free((*q)->slots);
    free((*q)->order);
    free((*q)->servers);
    free((*q)->finished);
    free(*q);
    *q = NULL;
}

/* What the slot held when the run began counts as written. */
static uint32_t tenure_new(rb_kv_queue_t *q, uint32_t slot, bool written)
{
    rb_kv_tenure_t *tenure = RB_PUSH(q->tenures, q->ntenures);
    *tenure = (rb_kv_tenure_t){
        .write = RB_KV_NONE, .writer = RB_KV_NONE, .reads = RB_KV_NONE, .written = written};
    q->slots[slot] = (uint32_t)q->ntenures;
    return (uint32_t)q->ntenures - 1;
}

static void grow_slots(rb_kv_queue_t *q, uint32_t slot)
{
    size_t n = RB_MAX(q->nslots, (size_t)1024);
    while (n <= slot)
        n *= 2;
    if (n == q->nslots)
        return;
    q->slots = rb_realloc(q->slots, n * sizeof(q->slots[0]));
    memset(q->slots + q->nslots, 0, (n - q->nslots) * sizeof(q->slots[0]));
    q->nslots = n;
}

/* Puts the item at the end of what its slot is to see. */
static void chain(rb_kv_queue_t *q, uint32_t index, bool reads)
{
    rb_kv_item_t *item = &q->items[index];
    grow_slots(q, item->slot);
    bool held = q->slots[item->slot] != 0;
    uint32_t before = held ? q->slots[item->slot] - 1 : RB_KV_NONE;
    if (!reads) {
        if (held) {
            q->tenures[before].write = index;
            item->blocked = true;
        }
        item->tenure = tenure_new(q, item->slot, false);
        q->tenures[item->tenure].writer = index;
    } else {
        item->tenure = held ? before : tenure_new(q, item->slot, true);
        rb_kv_tenure_t *tenure = &q->tenures[item->tenure];
        item->blocked = !tenure->written;
        item->next = tenure->reads;
        tenure->reads = index;
    }
    q->tenures[item->tenure].open++;
}

static rb_kv_batch_t *batch_of(rb_kv_queue_t *q, const rb_kv_part_t *part, uint32_t server)
{
    rb_kv_batch_t *last = q->nbatches > 0 ? &q->batches[q->nbatches - 1] : NULL;
    if (last != NULL && last->request == part->request && last->op == part->op &&
        last->due_ns == part->due_ns)
        return last;
    rb_kv_batch_t *batch = RB_PUSH(q->batches, q->nbatches);
    batch->due_ns = part->due_ns;
    batch->request = part->request;
    batch->server = server;
    batch->op = part->op;
    batch->first_part = (uint32_t)q->nitems;
    batch->next = RB_KV_NONE;
    return batch;
}

int rb_kv_queue_add(rb_kv_queue_t *q, const rb_kv_part_t *part, uint32_t server, rb_err_t *err)
{
    RB_ASSERT(server < RB_MAX(q->o.nservers, 1u));
    if (part->op == RB_KV_PART_DISCARD && !q->o.discards)
        return 0;
    if (q->nitems == RB_MAX_KV_PARTS)
        return rb_err_set(err, RB_ERR_INPUT,
                          "more than %d blocks to read and write on one drive: a shorter trace, "
                          "fewer loops or more drives are right",
                          RB_MAX_KV_PARTS);
    bool discard = part->op == RB_KV_PART_DISCARD;
    rb_kv_batch_t *batch = batch_of(q, part, server);
    uint32_t index = (uint32_t)q->nitems;
    *RB_PUSH(q->items, q->nitems) = (rb_kv_item_t){.block = part->block,
                                                   .batch = (uint32_t)(batch - q->batches),
                                                   .slot = part->slot,
                                                   .next = RB_KV_NONE,
                                                   .left = discard ? 1 : q->ios,
                                                   .piece = part->piece};
    chain(q, index, part->op == RB_KV_PART_READ);
    batch->nparts++;
    batch->total += discard ? 1 : q->steps;
    batch->left += discard ? 1 : q->ios;
    batch->first_left += discard ? 1 : q->first_ios;
    batch->bytes += q->o.geometry->slot_bytes;
    return 0;
}

static int by_due(const void *a, const void *b, void *batches)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const rb_kv_batch_t *x = (const rb_kv_batch_t *)batches + i;
    const rb_kv_batch_t *y = (const rb_kv_batch_t *)batches + j;
    if (x->due_ns != y->due_ns)
        return x->due_ns < y->due_ns ? -1 : 1;
    return i < j ? -1 : 1;
}

void rb_kv_queue_seal(rb_kv_queue_t *q)
{
    free(q->slots);
    q->slots = NULL;
    q->nslots = 0;
    q->order = rb_calloc(RB_MAX(q->nbatches, (size_t)1), sizeof(uint32_t));
    q->finished = rb_calloc(RB_MAX(q->nbatches, (size_t)1), sizeof(uint32_t));
    for (uint32_t i = 0; i < q->nbatches; i++)
        q->order[i] = i;
    qsort_r(q->order, q->nbatches, sizeof(uint32_t), by_due, q->batches);
}
