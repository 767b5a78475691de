/* hist.h - latency histogram with HdrHistogram's layout at 2 significant digits.
 *
 * 128 sub-buckets an octave: a bucket is at most 1/128 = 0.78 % of its value wide, so .hlog export
 * is lossless and fio's 64-an-octave bins nest. The whole range of uint64_t nanoseconds is covered:
 * nothing is clamped. One owner at a time: no lock, no atomic.
 * Hot: rb_hist_record.
 *
 * Source: HdrHistogram (G. Tene), countsArrayIndex with subBucketCount 256, unitMagnitude 0.
 */
#pragma once

#include "common/base.h"

#define RB_HIST_BUCKETS 7424 /* (64 - 8 + 2) * 128 */

typedef struct {
    uint64_t count;
    uint64_t min; /* [ns]; UINT64_MAX while empty */
    uint64_t max; /* [ns] */
    uint64_t sum; /* [ns]; wraps after 584 years of latency */
    uint64_t buckets[RB_HIST_BUCKETS];
} rb_hist_t;

/* The same histogram as it travels: the non-empty buckets in ascending order. */
typedef struct {
    uint32_t index;
    uint64_t count;
} rb_hist_pair_t;

typedef struct {
    uint64_t count, min, max, sum; /* as in rb_hist_t */
    size_t npairs;
    rb_hist_pair_t *pairs; /* [npairs], index strictly ascending, count > 0 */
} rb_hist_sparse_t;

static inline uint32_t rb_hist_index(uint64_t value)
{
    uint64_t octave = (63u ^ (uint32_t)__builtin_clzll(value | 255u)) - 7u;
    return (uint32_t)((octave << 7) + (value >> octave));
}

static inline void rb_hist_record(rb_hist_t *h, uint64_t value_ns)
{
    uint64_t octave = (63u ^ (uint32_t)__builtin_clzll(value_ns | 255u)) - 7u;
    h->buckets[(octave << 7) + (value_ns >> octave)]++;
    h->count++;
    h->sum += value_ns;
    if (value_ns > h->max)
        h->max = value_ns;
    if (value_ns < h->min)
        h->min = value_ns;
}

rb_hist_t *rb_hist_new(void);
void rb_hist_destroy(rb_hist_t **h);
void rb_hist_clear(rb_hist_t *h);

uint64_t rb_hist_lowest(uint32_t index);  /* lowest value of a bucket [ns] */
uint64_t rb_hist_highest(uint32_t index); /* highest equivalent value of a bucket [ns] */

void rb_hist_merge(rb_hist_t *into, const rb_hist_t *from);
/* Fails with RB_ERR_INPUT semantics (returns -1, into untouched) when a pair's index is out of
 * range, the indices do not ascend, or the pair counts do not sum to `count`. */
int rb_hist_merge_sparse(rb_hist_t *into, const rb_hist_sparse_t *from);
/* Allocates out->pairs; free with rb_hist_sparse_clear. */
void rb_hist_to_sparse(const rb_hist_t *h, rb_hist_sparse_t *out);
void rb_hist_sparse_clear(rb_hist_sparse_t *s);

/* Nearest rank: the value of the ceil(q * count)-th smallest sample, as its bucket's highest
 * equivalent value, capped at max. q in [0, 1]; 0 when empty. */
uint64_t rb_hist_quantile(const rb_hist_t *h, double q);
double rb_hist_mean(const rb_hist_t *h);   /* exact: sum / count */
double rb_hist_stddev(const rb_hist_t *h); /* from bucket midpoints, as HdrHistogram does */
uint64_t rb_hist_count_above(const rb_hist_t *h, uint64_t value_ns); /* in buckets above value's */
