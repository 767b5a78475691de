#include "coordinator/join.h"

const uint64_t rb_join_class_bytes[RB_JOIN_CLASSES - 1] = {64 * RB_MIB, 512 * RB_MIB, 4 * RB_GIB};

/* A request of which some parts are there. */
typedef struct {
    uint32_t request; /* its number + 1; 0: empty */
    uint32_t parts, drives, hosts;
    uint32_t tokens;
    uint32_t host; /* whose part completed last, and when; */
    int64_t end_ns;
    int64_t others_ns; /* when the last of another host did; INT64_MIN: there is none */
    int64_t due_ns, first_ns, begun_ns;
    rb_part_t part; /* of the phase, in which the last completed */
    uint64_t bytes, blocks;
    bool failed;
} open_t;

struct rb_join {
    rb_join_opts_t o;
    open_t *table; /* [size] open addressing, linear probing */
    size_t size, nopen;
    rb_join_group_t all, by_class[RB_JOIN_CLASSES], by_spread[RB_JOIN_SPREADS];
    rb_join_host_t *hosts;
    size_t nhosts;
    rb_join_counts_t counts;
};

rb_join_t *rb_join_new(const rb_join_opts_t *opts)
{
    rb_join_t *join = rb_calloc(1, sizeof(*join));
    join->o = *opts;
    join->o.scale = RB_MAX(opts->scale, 1u);
    join->size = 1024;
    join->table = rb_calloc(join->size, sizeof(*join->table));
    return join;
}

static void group_clear(rb_join_group_t *group)
{
    rb_hist_destroy(&group->restore);
    rb_hist_destroy(&group->first_layer);
}

void rb_join_destroy(rb_join_t **join)
{
    if (*join == NULL)
        return;
    group_clear(&(*join)->all);
    for (uint32_t i = 0; i < RB_JOIN_CLASSES; i++)
        group_clear(&(*join)->by_class[i]);
    for (uint32_t i = 0; i < RB_JOIN_SPREADS; i++)
        group_clear(&(*join)->by_spread[i]);
    free((*join)->table);
    free((*join)->hosts);
    free(*join);
    *join = NULL;
}

static size_t home(const rb_join_t *join, uint32_t request)
{
    return (request * 0x9e3779b97f4a7c15ull >> 20) & (join->size - 1);
}

/* Where the request is, or would be. */
static open_t *find(const rb_join_t *join, uint32_t request)
{
    size_t i = home(join, request);
    while (join->table[i].request != 0 && join->table[i].request != request)
        i = (i + 1) & (join->size - 1);
    return &join->table[i];
}

/* Closes the gap, so that no search ends at it early. */
static void take_out(rb_join_t *join, open_t *entry)
{
    size_t mask = join->size - 1, gap = (size_t)(entry - join->table);
    for (size_t i = (gap + 1) & mask; join->table[i].request != 0; i = (i + 1) & mask) {
        if (((i - home(join, join->table[i].request)) & mask) < ((i - gap) & mask))
            continue;
        join->table[gap] = join->table[i];
        gap = i;
    }
    join->table[gap] = (open_t){0};
    join->nopen--;
}

static void grow(rb_join_t *join)
{
    open_t *old = join->table;
    size_t n = join->size;
    join->size *= 2;
    join->table = rb_calloc(join->size, sizeof(*join->table));
    for (size_t i = 0; i < n; i++)
        if (old[i].request != 0)
            *find(join, old[i].request) = old[i];
    free(old);
}

static void give_up_oldest(rb_join_t *join)
{
    open_t *oldest = NULL;
    for (size_t i = 0; i < join->size; i++)
        if (join->table[i].request != 0 &&
            (oldest == NULL || join->table[i].due_ns < oldest->due_ns))
            oldest = &join->table[i];
    take_out(join, oldest);
    join->counts.given_up++;
}

static open_t *entry_of(rb_join_t *join, const rb_kv_row_part_t *part)
{
    open_t *entry = find(join, part->request + 1);
    if (entry->request != 0)
        return entry;
    if (join->nopen == RB_MAX_JOIN_OPEN)
        give_up_oldest(join);
    else if (2 * (join->nopen + 1) > join->size)
        grow(join);
    entry = find(join, part->request + 1);
    *entry = (open_t){.request = part->request + 1,
                      .drives = part->drives,
                      .hosts = part->hosts,
                      .tokens = part->tokens,
                      .end_ns = INT64_MIN,
                      .others_ns = INT64_MIN,
                      .first_ns = INT64_MIN,
                      .begun_ns = part->end_at_ns,
                      .due_ns = part->due_at_ns};
    join->nopen++;
    return entry;
}

static void note_end(open_t *entry, uint32_t host, const rb_kv_row_part_t *part)
{
    int64_t end_ns = part->end_at_ns;
    if (end_ns >= entry->end_ns)
        entry->part = part->part;
    if (host == entry->host) {
        entry->end_ns = RB_MAX(entry->end_ns, end_ns);
    } else if (end_ns > entry->end_ns) {
        entry->others_ns = entry->end_ns;
        entry->host = host;
        entry->end_ns = end_ns;
    } else {
        entry->others_ns = RB_MAX(entry->others_ns, end_ns);
    }
}

static rb_join_host_t *host_of(rb_join_t *join, uint32_t host)
{
    while (join->nhosts <= host)
        (void)RB_PUSH(join->hosts, join->nhosts);
    return &join->hosts[host];
}

static void record(rb_join_group_t *group, const open_t *entry)
{
    if (group->restore == NULL) {
        group->restore = rb_hist_new();
        group->first_layer = rb_hist_new();
    }
    rb_hist_record(group->restore, (uint64_t)(entry->end_ns - entry->due_ns));
    rb_hist_record(group->first_layer, (uint64_t)(entry->first_ns - entry->due_ns));
    group->bytes += entry->bytes;
    group->blocks += entry->blocks;
}

static rb_join_group_t *class_of(rb_join_t *join, const open_t *entry)
{
    uint32_t i = 0;
    while (i < RB_JOIN_CLASSES - 1 && entry->bytes > rb_join_class_bytes[i] / join->o.scale)
        i++;
    return &join->by_class[i];
}

static rb_join_group_t *spread_of(rb_join_t *join, const open_t *entry)
{
    uint32_t i = 0;
    while (i < RB_JOIN_SPREADS - 1 && entry->hosts > 1u << i)
        i++;
    return &join->by_spread[i];
}

static bool slower(const rb_join_t *join, const open_t *entry)
{
    uint64_t rate = join->o.prefill_tokens_per_s;
    return rate > 0 && (double)(entry->end_ns - entry->due_ns) >
                           (double)entry->tokens / (double)rate * (double)RB_NS_PER_S;
}

static void complete(rb_join_t *join, const open_t *entry)
{
    rb_join_counts_t *c = &join->counts;
    if (entry->part != RB_PART_MAIN) {
        c->outside++;
        return;
    }
    c->requests++;
    c->slower += slower(join, entry);
    c->late_parts_ns = RB_MAX(c->late_parts_ns, (uint64_t)(entry->end_ns - entry->begun_ns));
    record(&join->all, entry);
    record(class_of(join, entry), entry);
    record(spread_of(join, entry), entry);
    if (entry->others_ns == INT64_MIN)
        return;
    rb_join_host_t *host = host_of(join, entry->host);
    host->last++;
    host->last_late_ns += (uint64_t)(entry->end_ns - entry->others_ns);
}

void rb_join_add(rb_join_t *join, uint32_t host, const rb_kv_row_part_t *part)
{
    rb_join_host_t *h = host_of(join, host);
    h->parts++;
    h->bytes += part->bytes;
    open_t *entry = entry_of(join, part);
    note_end(entry, host, part);
    entry->due_ns = RB_MIN(entry->due_ns, part->due_at_ns);
    entry->first_ns = RB_MAX(entry->first_ns, part->first_at_ns);
    entry->begun_ns = RB_MIN(entry->begun_ns, part->end_at_ns);
    entry->bytes += part->bytes;
    entry->blocks += part->blocks;
    join->counts.failed += part->failed > 0 && !entry->failed;
    entry->failed |= part->failed > 0;
    if (++entry->parts < entry->drives)
        return;
    open_t whole = *entry;
    take_out(join, entry);
    complete(join, &whole);
}

const rb_join_group_t *rb_join_all(const rb_join_t *join)
{
    return &join->all;
}

const rb_join_group_t *rb_join_class(const rb_join_t *join, uint32_t i)
{
    return &join->by_class[i];
}

const rb_join_group_t *rb_join_spread(const rb_join_t *join, uint32_t i)
{
    return &join->by_spread[i];
}

const rb_join_host_t *rb_join_host(const rb_join_t *join, uint32_t host)
{
    return host < join->nhosts && join->hosts[host].parts > 0 ? &join->hosts[host] : NULL;
}

void rb_join_counts(const rb_join_t *join, rb_join_counts_t *ret)
{
    *ret = join->counts;
    ret->open = join->nopen;
}
