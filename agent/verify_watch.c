#include "agent/verify_watch.h"

typedef struct {
    uint64_t due; /* the next write to it */
    uint64_t offset_bytes, sequence;
} held_t;

typedef struct {
    uint64_t run;
    rb_verify_writer_t of;
    uint64_t newest, length_bytes;
    uint32_t nheld;
    held_t held[RB_WATCH_HELD]; /* by due */
} writer_t;

struct rb_watch {
    uint32_t n, last, taken; /* last: looked up; taken: those before it hold nothing stale */
    uint64_t unknown;
    uint16_t slots[2 * RB_WATCH_WRITERS]; /* hashed: 1 + index in writers; 0: free */
    writer_t writers[RB_WATCH_WRITERS];
};

rb_watch_t *rb_watch_new(void)
{
    return rb_calloc(1, sizeof(rb_watch_t));
}

size_t rb_watch_bytes(void)
{
    return sizeof(rb_watch_t);
}

void rb_watch_destroy(rb_watch_t **watch)
{
    free(*watch);
    *watch = NULL;
}

static bool is_of(const writer_t *w, uint64_t run, const rb_verify_writer_t *of)
{
    return w->run == run && w->of.worker == of->worker && w->of.job == of->job &&
           w->of.phase == of->phase && w->of.order.kind == of->order.kind &&
           w->of.order.period == of->order.period && w->of.order.seed == of->order.seed;
}

static uint64_t hash(uint64_t run, const rb_verify_writer_t *of)
{
    uint64_t h = run ^ of->worker ^ (uint64_t)of->job << 20 ^ (uint64_t)of->phase << 40;
    return (h * 0x9e3779b97f4a7c15ull) >> 32;
}

/* NULL: there is no room for one more. */
static writer_t *writer_of(rb_watch_t *w, uint64_t run, const rb_verify_writer_t *of)
{
    if (w->n > 0 && is_of(&w->writers[w->last], run, of))
        return &w->writers[w->last];
    size_t at = hash(run, of) % RB_LEN(w->slots);
    while (w->slots[at] != 0 && !is_of(&w->writers[w->slots[at] - 1], run, of))
        at = (at + 1) % RB_LEN(w->slots);
    if (w->slots[at] == 0) {
        if (w->n == RB_WATCH_WRITERS)
            return NULL;
        w->writers[w->n] = (writer_t){.run = run, .of = *of};
        w->slots[at] = (uint16_t)++w->n;
    }
    w->last = w->slots[at] - 1u;
    return &w->writers[w->last];
}

static void drop(writer_t *w, uint32_t i)
{
    memmove(&w->held[i], &w->held[i + 1], (--w->nheld - i) * sizeof(w->held[0]));
}

/* What was read of a block before does not count any more. */
static void drop_block(writer_t *w, uint64_t offset_bytes)
{
    for (uint32_t i = 0; i < w->nheld; i++)
        if (w->held[i].offset_bytes == offset_bytes)
            drop(w, i);
}

static void hold(writer_t *w, const held_t *block)
{
    uint32_t i;
    if (w->nheld == RB_WATCH_HELD && block->due >= w->held[RB_WATCH_HELD - 1].due)
        return;
    drop_block(w, block->offset_bytes);
    w->nheld = RB_MIN(w->nheld, RB_WATCH_HELD - 1u);
    for (i = w->nheld++; i > 0 && w->held[i - 1].due > block->due; i--)
        w->held[i] = w->held[i - 1];
    w->held[i] = *block;
}

static void tell(const writer_t *w, const held_t *block, rb_verify_found_t *ret_found)
{
    *ret_found = (rb_verify_found_t){
        .verdict = RB_VERIFY_STALE,
        .expected = {block->offset_bytes, rb_order_newest(&w->of.order, block->sequence, w->newest),
                     w->of.phase},
        .length_bytes = w->length_bytes,
        .run = w->run,
        .offset_bytes = block->offset_bytes,
        .sequence = block->sequence,
        .header_length_bytes = w->length_bytes,
        .writer = w->of};
}

bool rb_watch_see(rb_watch_t *watch, rb_verify_found_t *found)
{
    held_t block = {rb_order_next(&found->writer.order, found->sequence), found->offset_bytes,
                    found->sequence};
    if (block.due == UINT64_MAX)
        return true;
    writer_t *w = writer_of(watch, found->run, &found->writer);
    if (w == NULL) {
        watch->unknown++;
        return true;
    }
    w->length_bytes = found->length_bytes;
    w->newest = RB_MAX(w->newest, block.sequence);
    if (block.due > w->newest) {
        hold(w, &block);
        return true;
    }
    drop_block(w, block.offset_bytes);
    tell(w, &block, found);
    return false;
}

void rb_watch_merge(rb_watch_t *watch, const rb_watch_t *other)
{
    watch->unknown += other->unknown;
    watch->taken = 0;
    for (uint32_t i = 0; i < other->n; i++) {
        const writer_t *from = &other->writers[i];
        writer_t *to = writer_of(watch, from->run, &from->of);
        if (to == NULL) {
            watch->unknown++;
            continue;
        }
        to->length_bytes = from->length_bytes;
        to->newest = RB_MAX(to->newest, from->newest);
        for (uint32_t k = 0; k < from->nheld; k++)
            hold(to, &from->held[k]);
    }
}

bool rb_watch_take(rb_watch_t *watch, rb_verify_found_t *ret_found)
{
    for (; watch->taken < watch->n; watch->taken++) {
        writer_t *w = &watch->writers[watch->taken];
        if (w->nheld == 0 || w->held[0].due > w->newest)
            continue;
        tell(w, &w->held[0], ret_found);
        drop(w, 0);
        return true;
    }
    return false;
}

uint64_t rb_watch_unknown(const rb_watch_t *watch)
{
    return watch->unknown;
}
