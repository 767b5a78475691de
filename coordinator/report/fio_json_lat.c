#include "coordinator/report/fio_json_parts.h"

enum { BITS = 6, ONE_TO_ONE = 2 << BITS };

uint32_t rb_fio_bin(uint64_t value_ns)
{
    if (value_ns < ONE_TO_ONE)
        return (uint32_t)value_ns;
    uint32_t shift = 63u - (uint32_t)__builtin_clzll(value_ns) - BITS;
    uint32_t bin = (shift << BITS) + (uint32_t)(value_ns >> shift);
    return RB_MIN(bin, (uint32_t)RB_FIO_BINS - 1);
}

uint64_t rb_fio_bin_value(uint32_t bin)
{
    if (bin < ONE_TO_ONE)
        return bin;
    uint32_t shift = (bin >> BITS) - 1;
    uint64_t lowest = (uint64_t)((1u << BITS) + (bin & ((1u << BITS) - 1))) << shift;
    return lowest + (1ull << shift) / 2;
}

/* Counts by fio's bins; ours, 128 an octave, nest in them. */
static void rebin(const rb_hist_t *h, uint64_t counts[RB_FIO_BINS])
{
    memset(counts, 0, RB_FIO_BINS * sizeof(*counts));
    for (uint32_t i = 0; i < RB_HIST_BUCKETS; i++)
        if (h->buckets[i] > 0)
            counts[rb_fio_bin(rb_hist_lowest(i))] += h->buckets[i];
}

/* The bin of the nearest rank. */
static uint32_t bin_at(const uint64_t counts[RB_FIO_BINS], uint64_t total, uint32_t per_10k)
{
    unsigned __int128 want = ((unsigned __int128)total * per_10k + 9999) / 10000;
    uint64_t seen = 0;
    for (uint32_t i = 0; i < RB_FIO_BINS; i++) {
        seen += counts[i];
        if (seen >= want && seen > 0)
            return i;
    }
    return RB_FIO_BINS - 1;
}

static json_t *percentiles(const uint64_t counts[RB_FIO_BINS], uint64_t total)
{
    static const uint32_t list[] = {100,  500,  1000, 2000, 3000, 4000, 5000, 6000, 7000,
                                    8000, 9000, 9500, 9900, 9950, 9990, 9995, 9999};
    json_t *o = json_object();
    for (size_t i = 0; i < RB_LEN(list); i++) {
        char key[32];
        snprintf(key, sizeof(key), "%u.%02u0000", list[i] / 100, list[i] % 100);
        json_object_set_new(o, key, rb_json_u64(rb_fio_bin_value(bin_at(counts, total, list[i]))));
    }
    return o;
}

static json_t *bins(const uint64_t counts[RB_FIO_BINS])
{
    json_t *o = json_object();
    for (uint32_t i = 0; i < RB_FIO_BINS; i++) {
        char key[32];
        if (counts[i] == 0)
            continue;
        snprintf(key, sizeof(key), "%llu", (unsigned long long)rb_fio_bin_value(i));
        json_object_set_new(o, key, rb_json_u64(counts[i]));
    }
    return o;
}

json_t *rb_fio_json_lat(const rb_hist_t *h, rb_fio_detail_t detail)
{
    uint64_t counts[RB_FIO_BINS];
    json_t *o = json_object();
    json_object_set_new(o, "min", rb_json_u64(h->count > 0 ? h->min : 0));
    json_object_set_new(o, "max", rb_json_u64(h->max));
    json_object_set_new(o, "mean", json_real(rb_hist_mean(h)));
    json_object_set_new(o, "stddev", json_real(rb_hist_stddev(h)));
    json_object_set_new(o, "N", rb_json_u64(h->count));
    if (h->count == 0 || detail == RB_FIO_FIGURES)
        return o;
    rebin(h, counts);
    json_object_set_new(o, "percentile", percentiles(counts, h->count));
    if (detail == RB_FIO_PERCENTILES_AND_BINS)
        json_object_set_new(o, "bins", bins(counts));
    return o;
}

/* A share is of operations from one bound up to the next; the last bound of a unit is the first of
 * the next unit. */
void rb_fio_json_set_shares(json_t *job, const rb_hist_t *h)
{
    static const char *const names[] = {"latency_ns", "latency_us", "latency_ms"};
    static const uint32_t bounds[] = {2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000, 0};
    uint64_t below_ns = 0, unit_ns = 1;
    for (size_t n = 0; n < RB_LEN(names); n++, unit_ns *= 1000) {
        json_t *o = json_object();
        size_t last = n + 1 < RB_LEN(names) ? 10 : RB_LEN(bounds);
        for (size_t i = 0; i < last; i++) {
            uint64_t end_ns = bounds[i] > 0 ? bounds[i] * unit_ns : UINT64_MAX, ops = 0;
            char key[16];
            for (uint32_t b = rb_hist_index(below_ns); b < RB_HIST_BUCKETS; b++) {
                uint64_t lowest = rb_hist_lowest(b);
                ops += lowest >= below_ns && lowest < end_ns ? h->buckets[b] : 0;
                if (lowest >= end_ns)
                    break;
            }
            snprintf(key, sizeof(key), bounds[i] > 0 ? "%u" : ">=2000", bounds[i]);
            json_object_set_new(
                o, key, json_real(h->count > 0 ? 100.0 * (double)ops / (double)h->count : 0));
            below_ns = end_ns;
        }
        json_object_set_new(job, names[n], o);
    }
}
