#include "common/hist.h"

#include <float.h>
#include <math.h>

/* While a histogram is empty min > max: every loop below then runs over no bucket. Only buckets
 * from min's to max's can be non-zero, so a narrow histogram of a window costs little to merge or
 * clear. */
static uint32_t first_index(const rb_hist_t *h)
{
    return rb_hist_index(h->min);
}

static uint32_t end_index(const rb_hist_t *h)
{
    return h->min > h->max ? 0 : rb_hist_index(h->max) + 1;
}

rb_hist_t *rb_hist_new(void)
{
    rb_hist_t *h = rb_calloc(1, sizeof(*h));
    h->min = UINT64_MAX;
    return h;
}

void rb_hist_destroy(rb_hist_t **h)
{
    free(*h);
    *h = NULL;
}

void rb_hist_clear(rb_hist_t *h)
{
    uint32_t first = first_index(h), end = end_index(h);
    if (first < end)
        memset(&h->buckets[first], 0, (end - first) * sizeof(h->buckets[0]));
    h->count = h->max = h->sum = 0;
    h->min = UINT64_MAX;
}

uint64_t rb_hist_lowest(uint32_t index)
{
    RB_ASSERT(index < RB_HIST_BUCKETS);
    if (index < 128)
        return index;
    return (uint64_t)(128 + (index & 127)) << ((index >> 7) - 1);
}

static uint64_t width(uint32_t index)
{
    return index < 128 ? 1 : 1ull << ((index >> 7) - 1);
}

uint64_t rb_hist_highest(uint32_t index)
{
    return rb_hist_lowest(index) + (width(index) - 1);
}

static void merge_totals(rb_hist_t *into, const rb_hist_sparse_t *from)
{
    into->count += from->count;
    into->sum += from->sum;
    into->min = RB_MIN(into->min, from->min);
    into->max = RB_MAX(into->max, from->max);
}

void rb_hist_merge(rb_hist_t *into, const rb_hist_t *from)
{
    for (uint32_t i = first_index(from), end = end_index(from); i < end; i++)
        into->buckets[i] += from->buckets[i];
    merge_totals(into, &(rb_hist_sparse_t){
                           .count = from->count,
                           .min = from->min,
                           .max = from->max,
                           .sum = from->sum,
                       });
}

static bool sparse_is_valid(const rb_hist_sparse_t *s)
{
    uint64_t total = 0;
    for (size_t i = 0; i < s->npairs; i++) {
        const rb_hist_pair_t *p = &s->pairs[i];
        if (p->index >= RB_HIST_BUCKETS || p->count == 0)
            return false;
        if (i > 0 && p->index <= s->pairs[i - 1].index)
            return false;
        if (__builtin_add_overflow(total, p->count, &total))
            return false;
    }
    if (total != s->count)
        return false;
    return s->npairs == 0 ||
           (rb_hist_index(s->min) == s->pairs[0].index &&
            rb_hist_index(s->max) == s->pairs[s->npairs - 1].index && s->min <= s->max);
}

int rb_hist_merge_sparse(rb_hist_t *into, const rb_hist_sparse_t *from)
{
    if (!sparse_is_valid(from))
        return -1;
    if (from->npairs == 0)
        return 0;
    for (size_t i = 0; i < from->npairs; i++)
        into->buckets[from->pairs[i].index] += from->pairs[i].count;
    merge_totals(into, from);
    return 0;
}

void rb_hist_to_sparse(const rb_hist_t *h, rb_hist_sparse_t *out)
{
    uint32_t first = first_index(h), end = end_index(h);
    size_t n = 0;
    for (uint32_t i = first; i < end; i++)
        n += h->buckets[i] != 0;
    *out = (rb_hist_sparse_t){.count = h->count, .min = h->min, .max = h->max, .sum = h->sum};
    if (n == 0)
        return;
    out->pairs = rb_calloc(n, sizeof(*out->pairs));
    for (uint32_t i = first; i < end; i++)
        if (h->buckets[i] != 0)
            out->pairs[out->npairs++] = (rb_hist_pair_t){.index = i, .count = h->buckets[i]};
}

void rb_hist_sparse_clear(rb_hist_sparse_t *s)
{
    free(s->pairs);
    *s = (rb_hist_sparse_t){.min = UINT64_MAX};
}

/* ceil(q * count) where the product is not off by a rounding: 0.07 * 100 is 7.000000000000001 in
 * doubles, and rank 7 is meant. */
static uint64_t rank_of(double q, uint64_t count)
{
    double exact = q * (double)count;
    double near = nearbyint(exact);
    double rank = fabs(exact - near) <= 4 * DBL_EPSILON * exact ? near : ceil(exact);
    if (rank >= (double)count)
        return count;
    return rank < 1 ? 1 : (uint64_t)rank;
}

uint64_t rb_hist_quantile(const rb_hist_t *h, double q)
{
    RB_ASSERT(q >= 0 && q <= 1);
    uint64_t rank = rank_of(q, h->count), seen = 0;
    for (uint32_t i = first_index(h), end = end_index(h); i < end; i++) {
        seen += h->buckets[i];
        if (seen >= rank)
            return RB_MIN(rb_hist_highest(i), h->max);
    }
    return h->max;
}

double rb_hist_mean(const rb_hist_t *h)
{
    return h->count == 0 ? 0 : (double)h->sum / (double)h->count;
}

static double midpoint(uint32_t index)
{
    return (double)(rb_hist_lowest(index) + width(index) / 2);
}

double rb_hist_stddev(const rb_hist_t *h)
{
    double mean = 0, squares = 0;
    uint32_t first = first_index(h), end = end_index(h);
    if (h->count == 0)
        return 0;
    for (uint32_t i = first; i < end; i++)
        mean += midpoint(i) * (double)h->buckets[i] / (double)h->count;
    for (uint32_t i = first; i < end; i++) {
        double off = midpoint(i) - mean;
        squares += off * off * (double)h->buckets[i];
    }
    return sqrt(squares / (double)h->count);
}

uint64_t rb_hist_count_above(const rb_hist_t *h, uint64_t value_ns)
{
    uint64_t n = 0;
    uint32_t first = RB_MAX(rb_hist_index(value_ns) + 1, first_index(h));
    for (uint32_t i = first, end = end_index(h); i < end; i++)
        n += h->buckets[i];
    return n;
}
