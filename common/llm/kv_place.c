#include "common/llm/kv_place.h"

#include "common/llm/id_map.h"
#include "common/llm/kv_words.h"

enum { LOG_BITS = 24 };

/* ---- words ---- */

static const char *const rules[] = {[RB_KV_LOCAL] = "local",
                                    [RB_KV_HASH] = "hash",
                                    [RB_KV_STRIPE] = "stripe",
                                    [RB_KV_MIRROR] = "mirror"};

static int parse_ways(char *text, rb_kv_place_t *place, rb_err_t *err)
{
    static const char *const apart[] = {[RB_KV_APART_DRIVES] = "drives",
                                        [RB_KV_APART_HOSTS] = "hosts",
                                        [RB_KV_APART_RACKS] = "racks"};
    const char *rule = rules[place->rule];
    char *rest = text, *number = strsep(&rest, ","), *end;
    unsigned long ways = strtoul(number, &end, 10);
    if (*number < '0' || *number > '9' || *end != '\0' || ways < 1 || ways > RB_MAX_KV_WAYS)
        return rb_err_set(err, RB_ERR_INPUT,
                          "\"%.60s\" drives for %s: it must be 1 to %d, as in "
                          "%s(2)",
                          number, rule, RB_MAX_KV_WAYS, rule);
    place->ways = (uint32_t)ways;
    if (rest == NULL)
        return 0;
    if (place->rule != RB_KV_MIRROR)
        return rb_err_set(err, RB_ERR_INPUT, "%s takes a number alone: %s(%lu)", rule, rule, ways);
    return RB_KV_WORD(apart, "place of copies", rest + strspn(rest, " "), &place->apart, err);
}

int rb_kv_place_parse(const char *text, rb_kv_place_t *ret, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(text);
    char *open = strchr(copy, '('), *close = open ? strchr(open, ')') : NULL;
    rb_kv_place_t place = {.ways = 1, .apart = RB_KV_APART_HOSTS};
    if (open != NULL && (close == NULL || close[1] != '\0'))
        return rb_err_set(err, RB_ERR_INPUT, "\"%.60s\" does not end in one )", text);
    if (open != NULL)
        *open = *close = '\0';
    if (RB_KV_WORD(rules, "placement", copy, &place.rule, err) != 0)
        return -1;
    bool many = place.rule == RB_KV_STRIPE || place.rule == RB_KV_MIRROR;
    if (many != (open != NULL))
        return rb_err_set(err, RB_ERR_INPUT, many ? "%s lacks its number: %s(2)" : "write %s",
                          rules[place.rule], rules[place.rule]);
    if (many && parse_ways(open + 1, &place, err) != 0)
        return -1;
    ret->rule = place.rule;
    ret->ways = place.ways;
    ret->apart = place.apart;
    return 0;
}

/* ---- where copies are apart ---- */

static uint32_t domain_of(const rb_kv_place_t *place, uint32_t drive)
{
    if (place->rule != RB_KV_MIRROR)
        return drive;
    switch (place->apart) {
    case RB_KV_APART_DRIVES:
        return drive;
    case RB_KV_APART_HOSTS:
        return place->drives[drive].host;
    case RB_KV_APART_RACKS:
        return place->drives[drive].rack;
    }
    rb_assert_failed("apart is one of its values", __FILE__, __LINE__);
}

int rb_kv_place_check(const rb_kv_place_t *place, rb_err_t *err)
{
    static const char *const names[] = {"drives", "hosts", "racks"};
    RB_AUTO(rb_id_map_clear) rb_id_map_t domains = {0};
    if (place->ndrives < 1 || place->ndrives > RB_MAX_KV_DRIVES)
        return rb_err_set(err, RB_ERR_INPUT, "%u drives: it must be 1 to %d", place->ndrives,
                          RB_MAX_KV_DRIVES);
    for (uint32_t d = 0; d < place->ndrives; d++)
        rb_id_map_number(&domains, domain_of(place, d));
    if (domains.count < place->ways)
        return rb_err_set(err, RB_ERR_INPUT, "%s(%u) needs %u %s, and there are %llu",
                          rules[place->rule], place->ways, place->ways,
                          names[place->rule == RB_KV_MIRROR ? place->apart : RB_KV_APART_DRIVES],
                          (unsigned long long)domains.count);
    return 0;
}

/* ---- rendezvous ---- */

/* -log2(u / 2^64), u > 0, in units of 2^-24, above 0: squared again and again, the mantissa gives
 * up a bit of its logarithm each time. */
static uint64_t minus_log2(uint64_t u)
{
    unsigned zeros = (unsigned)__builtin_clzll(u);
    uint64_t mantissa = u << zeros, log = 0;
    for (int i = 0; i < LOG_BITS; i++) {
        unsigned __int128 square = (unsigned __int128)mantissa * mantissa;
        unsigned bit = (unsigned)(square >> 127);
        mantissa = (uint64_t)(square >> (63 + bit));
        log = log << 1 | bit;
    }
    return ((uint64_t)(1 + zeros) << LOG_BITS) - log;
}

typedef struct {
    uint32_t drive, weight;
    uint64_t u;
} score_t;

static bool better(const score_t *a, const score_t *b)
{
    if (a->weight != b->weight) {
        uint64_t x = minus_log2(a->u) * b->weight, y = minus_log2(b->u) * a->weight;
        if (x != y)
            return x < y;
    }
    return a->u > b->u;
}

typedef struct {
    uint32_t n;
    score_t best[RB_MAX_KV_WAYS + 1]; /* one more than is asked for, while it is put in */
} ranking_t;

static void drop(ranking_t *r, uint32_t at)
{
    r->n--;
    memmove(&r->best[at], &r->best[at + 1], (r->n - at) * sizeof(*r->best));
}

/* Puts s into the ranking of the best `ways` that differ in domain. */
static void rank(ranking_t *r, const rb_kv_place_t *place, const score_t *s)
{
    if (r->n == place->ways && !better(s, &r->best[r->n - 1]))
        return;
    for (uint32_t i = 0; i < r->n; i++) {
        if (domain_of(place, r->best[i].drive) != domain_of(place, s->drive))
            continue;
        if (!better(s, &r->best[i]))
            return;
        drop(r, i);
        break;
    }
    uint32_t at = r->n;
    while (at > 0 && better(s, &r->best[at - 1]))
        at--;
    memmove(&r->best[at + 1], &r->best[at], (r->n - at) * sizeof(*r->best));
    r->best[at] = *s;
    r->n = RB_MIN(r->n + 1, place->ways);
}

uint32_t rb_kv_place(const rb_kv_place_t *place, uint64_t block, uint32_t host,
                     uint32_t drives[RB_MAX_KV_WAYS])
{
    ranking_t r = {.n = 0};
    uint64_t hash = rb_id_mix(block);
    for (uint32_t d = 0; d < place->ndrives; d++) {
        const rb_kv_drive_t *drive = &place->drives[d];
        if (drive->lost || (place->rule == RB_KV_LOCAL && drive->host != host))
            continue;
        score_t s = {d, drive->weight, rb_id_mix(hash ^ d) | 1};
        rank(&r, place, &s);
    }
    if (place->rule == RB_KV_STRIPE && r.n < place->ways)
        return 0;
    for (uint32_t i = 0; i < r.n; i++)
        drives[i] = r.best[i].drive;
    return r.n;
}

uint32_t rb_kv_place_copy(uint64_t block, uint64_t request, uint32_t n)
{
    return (uint32_t)(((unsigned __int128)rb_id_mix(rb_id_mix(block) ^ request) * n) >> 64);
}
