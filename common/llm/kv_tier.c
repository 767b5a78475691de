#include "common/llm/kv_tier.h"

static int check_drive(const rb_kv_plan_opts_t *o, uint32_t d, rb_err_t *err)
{
    const rb_kv_drive_t *drive = &o->place.drives[d];
    if (drive->slots == 0)
        return rb_err_set(err, RB_ERR_INPUT, "drive %u of host %u has no room for a single block",
                          d, drive->host);
    if (drive->slots > UINT32_MAX && drive->slots != RB_KV_UNLIMITED)
        return rb_err_set(err, RB_ERR_INPUT,
                          "drive %u has room for %llu blocks: at most 2^32; "
                          "take larger ones",
                          d, (unsigned long long)drive->slots);
    if (drive->slots == RB_KV_UNLIMITED && o->full)
        return rb_err_set(err, RB_ERR_INPUT,
                          "a drive without limit is never full: give a capacity");
    RB_ASSERT(drive->host < o->nhosts && drive->weight > 0);
    return 0;
}

/* How many blocks may be there at once. */
static uint64_t most_blocks(const rb_kv_place_t *place, uint64_t blocks)
{
    uint64_t slots = 0;
    for (uint32_t d = 0; d < place->ndrives; d++)
        slots += RB_MIN(place->drives[d].slots, blocks);
    return RB_MIN(slots, blocks);
}

static int check(const rb_kv_plan_opts_t *o, uint64_t blocks, rb_err_t *err)
{
    if (rb_kv_place_check(&o->place, err) != 0)
        return -1;
    for (uint32_t d = 0; d < o->place.ndrives; d++)
        if (check_drive(o, d, err) != 0)
            return -1;
    if (o->full && o->policy == RB_KV_POLICY_NONE)
        return rb_err_set(err, RB_ERR_INPUT,
                          "drives that are full, and policy none: nothing would "
                          "ever be written; use lru or fifo, or prefill: none");
    if (most_blocks(&o->place, blocks) * o->place.ways > RB_MAX_KV_SLOTS)
        return rb_err_set(err, RB_ERR_INPUT,
                          "up to %llu blocks on the drives at once: %llu at "
                          "most; take larger ones, a shorter trace or fewer loops",
                          (unsigned long long)most_blocks(&o->place, blocks),
                          (unsigned long long)(RB_MAX_KV_SLOTS / o->place.ways));
    return 0;
}

int rb_kv_tier_init(rb_kv_tier_t *t, const rb_kv_plan_opts_t *o, uint64_t blocks, rb_err_t *err)
{
    if (check(o, blocks, err) != 0)
        return -1;
    uint32_t n = o->place.ndrives;
    *t = (rb_kv_tier_t){.place = o->place, .policy = o->policy, .read = o->read, .full = o->full};
    t->unripe = n;
    t->place.drives = rb_calloc(n, sizeof(*t->place.drives));
    memcpy(t->place.drives, o->place.drives, n * sizeof(*t->place.drives));
    rb_kv_table_init(&t->table, (uint32_t)most_blocks(&t->place, blocks));
    t->pieces = rb_calloc((size_t)t->table.room * t->place.ways, sizeof(*t->pieces));
    t->links = rb_calloc((size_t)t->table.room * t->place.ways, sizeof(*t->links));
    t->shelves = rb_calloc(n, sizeof(*t->shelves));
    t->accounts = rb_calloc(n, sizeof(*t->accounts));
    for (uint32_t d = 0; d < n; d++)
        t->shelves[d].list = rb_kv_list();
    return 0;
}

void rb_kv_tier_clear(rb_kv_tier_t *t)
{
    for (uint32_t d = 0; t->shelves != NULL && d < t->place.ndrives; d++)
        free(t->shelves[d].free);
    rb_kv_table_clear(&t->table);
    free(t->place.drives);
    free(t->pieces);
    free(t->links);
    free(t->shelves);
    free(t->accounts);
    free(t->parts);
}

uint64_t rb_kv_tier_key(const rb_kv_tier_t *t, uint64_t block, uint32_t host)
{
    return t->place.rule == RB_KV_LOCAL ? (uint64_t)host << RB_KV_KEY_BITS | block : block;
}

/* ---- parts ---- */

static void push(rb_kv_tier_t *t, rb_kv_op_t op, const rb_kv_part_t *part, uint32_t piece)
{
    const rb_kv_piece_t *at = &t->pieces[piece];
    if (t->nparts == t->room) {
        t->room = t->room ? 2 * t->room : 1024;
        t->parts = rb_realloc(t->parts, t->room * sizeof(*t->parts));
    }
    rb_kv_part_t *p = &t->parts[t->nparts++];
    *p = *part;
    p->op = (uint8_t)op;
    p->piece = (uint8_t)(piece % t->place.ways);
    p->drive = at->drive;
    p->slot = at->slot;
}

static bool there(const rb_kv_tier_t *t, uint32_t piece)
{
    return t->pieces[piece].drive != RB_KV_NONE;
}

/* Which copy: of those that are there, by hash or the one whose drive has read least. */
static uint32_t copy_of(const rb_kv_tier_t *t, uint32_t entry, const rb_kv_part_t *part)
{
    uint32_t copies[RB_MAX_KV_WAYS], n = 0, first = entry * t->place.ways, best = 0;
    for (uint32_t i = 0; i < t->place.ways; i++)
        if (there(t, first + i))
            copies[n++] = first + i;
    RB_ASSERT(n > 0);
    if (t->read == RB_KV_READ_HASH)
        return copies[rb_kv_place_copy(part->block, part->request, n)];
    for (uint32_t i = 1; i < n; i++)
        if (t->accounts[t->pieces[copies[i]].drive].reads <
            t->accounts[t->pieces[copies[best]].drive].reads)
            best = i;
    return copies[best];
}

static void read_piece(rb_kv_tier_t *t, uint32_t piece, const rb_kv_part_t *part)
{
    push(t, RB_KV_PART_READ, part, piece);
    t->accounts[t->pieces[piece].drive].reads++;
}

void rb_kv_tier_read(rb_kv_tier_t *t, uint32_t entry, const rb_kv_part_t *part)
{
    if (t->place.rule == RB_KV_MIRROR) {
        read_piece(t, copy_of(t, entry, part), part);
        return;
    }
    for (uint32_t i = 0; i < t->place.ways; i++)
        read_piece(t, entry * t->place.ways + i, part);
}

void rb_kv_tier_touch(rb_kv_tier_t *t, uint32_t entry)
{
    if (t->policy != RB_KV_POLICY_LRU)
        return;
    for (uint32_t i = entry * t->place.ways; i < (entry + 1) * t->place.ways; i++)
        if (there(t, i))
            rb_kv_list_touch(&t->shelves[t->pieces[i].drive].list, t->links, i);
}

/* ---- slots ---- */

static void give_up(rb_kv_tier_t *t, uint32_t piece)
{
    rb_kv_shelf_t *shelf = &t->shelves[t->pieces[piece].drive];
    rb_kv_list_remove(&shelf->list, t->links, piece);
    *RB_PUSH(shelf->free, shelf->nfree) = t->pieces[piece].slot;
    t->pieces[piece].drive = RB_KV_NONE;
}

static void count_eviction(rb_kv_tier_t *t, uint32_t drive)
{
    rb_kv_shelf_t *shelf = &t->shelves[drive];
    t->accounts[drive].evicted++;
    t->unripe -= !shelf->evicting;
    shelf->evicting = true;
}

/* The oldest block of a drive leaves all its drives. */
static void evict_oldest(rb_kv_tier_t *t, uint32_t drive, const rb_kv_part_t *cause)
{
    uint32_t entry = t->shelves[drive].list.oldest / t->place.ways;
    rb_kv_part_t part = *cause;
    part.block = RB_KV_TIER_BLOCK(t->table.entries[entry].key);
    for (uint32_t i = entry * t->place.ways; i < (entry + 1) * t->place.ways; i++) {
        if (!there(t, i))
            continue;
        push(t, RB_KV_PART_DISCARD, &part, i);
        count_eviction(t, t->pieces[i].drive);
        give_up(t, i);
    }
    rb_kv_table_remove(&t->table, entry);
    t->evicted_blocks++;
}

static bool has_room(const rb_kv_tier_t *t, uint32_t drive)
{
    const rb_kv_shelf_t *shelf = &t->shelves[drive];
    return shelf->nfree > 0 || shelf->fresh < t->place.drives[drive].slots;
}

/* A slot of the piece's drive, which has room. */
static void take_slot(rb_kv_tier_t *t, uint32_t piece, const rb_kv_part_t *part)
{
    uint32_t drive = t->pieces[piece].drive;
    rb_kv_shelf_t *shelf = &t->shelves[drive];
    if (shelf->nfree > 0) {
        t->pieces[piece].slot = shelf->free[--shelf->nfree];
        return;
    }
    t->pieces[piece].slot = shelf->fresh++;
    t->accounts[drive].used = shelf->fresh;
    if (t->full) {
        rb_kv_part_t filler = *part;
        filler.block = RB_KV_FILLER;
        push(t, RB_KV_PART_DISCARD, &filler, piece);
        count_eviction(t, drive);
    }
}

static bool make_room(rb_kv_tier_t *t, const uint32_t *drives, uint32_t n,
                      const rb_kv_part_t *cause)
{
    for (uint32_t i = 0; i < n; i++) {
        if (has_room(t, drives[i]))
            continue;
        if (t->policy == RB_KV_POLICY_NONE)
            return false;
        evict_oldest(t, drives[i], cause);
    }
    return n > 0;
}

bool rb_kv_tier_write(rb_kv_tier_t *t, uint64_t key, uint32_t host, const rb_kv_part_t *part)
{
    uint32_t drives[RB_MAX_KV_WAYS], n = rb_kv_place(&t->place, part->block, host, drives);
    if (!make_room(t, drives, n, part))
        return false;
    uint32_t first = rb_kv_table_add(&t->table, key) * t->place.ways;
    for (uint32_t i = 0; i < t->place.ways; i++) {
        t->pieces[first + i].drive = i < n ? drives[i] : RB_KV_NONE;
        if (i >= n)
            continue;
        take_slot(t, first + i, part);
        rb_kv_list_add(&t->shelves[drives[i]].list, t->links, first + i);
        push(t, RB_KV_PART_WRITE, part, first + i);
        t->accounts[drives[i]].writes++;
    }
    return true;
}

/* ---- loss ---- */

/* A piece is gone with its drive. Copies elsewhere serve on; of a stripe nothing is left. */
static void lose_piece(rb_kv_tier_t *t, uint32_t piece)
{
    uint32_t entry = piece / t->place.ways, left = 0;
    give_up(t, piece);
    for (uint32_t i = entry * t->place.ways; i < (entry + 1) * t->place.ways; i++) {
        if (t->place.rule == RB_KV_STRIPE && there(t, i))
            give_up(t, i);
        left += there(t, i);
    }
    if (left == 0)
        rb_kv_table_remove(&t->table, entry);
}

void rb_kv_tier_lose(rb_kv_tier_t *t, uint32_t host)
{
    for (uint32_t d = 0; d < t->place.ndrives; d++) {
        if (t->place.drives[d].host != host || t->place.drives[d].lost)
            continue;
        t->place.drives[d].lost = true;
        t->unripe -= !t->shelves[d].evicting;
        t->shelves[d].evicting = true;
        while (t->shelves[d].list.oldest != RB_KV_NONE)
            lose_piece(t, t->shelves[d].list.oldest);
    }
}
