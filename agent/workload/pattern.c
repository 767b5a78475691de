#include "agent/workload/pattern.h"

#include <math.h>

#include "common/units.h"

/* Integral of x^-theta from 1, and its inverse; precise for a theta near 1 as well. */
static double integral(const rb_zipf_t *z, double x)
{
    return expm1(z->power * log(x)) * z->inverse;
}

static double integral_inverse(const rb_zipf_t *z, double u)
{
    return exp(log1p(z->power * u) * z->inverse);
}

static void set_zipf(rb_pattern_t *p, double theta)
{
    rb_zipf_t *z = &p->zipf;
    *z = (rb_zipf_t){.theta = theta, .power = 1 - theta, .inverse = 1 / (1 - theta)};
    z->last = integral(z, p->nblocks_float + 0.5);
    z->span = integral(z, 1.5) - 1 - z->last;
    z->shortcut = 2 - integral_inverse(z, integral(z, 2.5) - pow(2, -theta));
}

static void set_place(rb_pattern_t *p, const rb_pattern_opts_t *opts)
{
    const rb_distribution_t *d = opts->distribution;
    p->scattered = !d->centered;
    if (p->scattered)
        rb_permutation_init(&p->scatter, p->nblocks, opts->seed, 0);
    else
        p->base = RB_MIN((uint64_t)(d->center * p->nblocks_float), p->nblocks - 1);
}

static int set_zones(rb_pattern_t *p, const rb_pattern_opts_t *opts, rb_err_t *err)
{
    const rb_distribution_t *d = opts->distribution;
    bool sizes = d->kind == RB_DISTRIBUTION_ZONED_ABS;
    unsigned __int128 end = 0, unit = sizes ? opts->block_bytes : RB_SHARE_WHOLE_PPM;
    uint64_t first = 0;
    RB_ASSERT(unit > 0);
    for (uint32_t i = 0; i < d->nzones; i++) {
        end += sizes ? d->range_bytes[i] : (unsigned __int128)d->range_ppm[i] * p->nblocks;
        if (end / unit > p->nblocks)
            return rb_err_set(err, RB_ERR_INPUT,
                              "zone %u of zoned_abs ends beyond the region: lower its size", i + 1);
        uint64_t next = (uint64_t)(end / unit);
        if (next == first && d->access_ppm[i] > 0)
            return rb_err_set(err, RB_ERR_INPUT,
                              "zone %u of %s holds no whole block of the region: widen it", i + 1,
                              sizes ? "zoned_abs" : "zoned");
        p->zones.first[i] = first;
        p->zones.count[i] = next - first;
        first = next;
    }
    rb_share_table_init(&p->zones.table, d->access_ppm, d->nzones);
    return 0;
}

int rb_pattern_init(rb_pattern_t *p, const rb_pattern_opts_t *opts, rb_err_t *err)
{
    const rb_distribution_t *d = opts->distribution;
    RB_ASSERT(opts->nblocks > 0 && opts->nblocks <= RB_MAX_PERMUTATION);
    *p = (rb_pattern_t){
        .kind = d->kind, .nblocks = opts->nblocks, .nblocks_float = (double)opts->nblocks};
    switch (d->kind) {
    case RB_DISTRIBUTION_RANDOM:
        return 0;
    case RB_DISTRIBUTION_ZIPF:
        set_place(p, opts);
        set_zipf(p, d->value);
        return 0;
    case RB_DISTRIBUTION_PARETO:
        set_place(p, opts);
        p->pareto_power = log(d->value) / log1p(-d->value);
        return 0;
    case RB_DISTRIBUTION_NORMAL:
        /* Inside the last block at most: else a deviation below its rounding is redrawn for ever.
         */
        p->normal.mean =
            fmin((d->centered ? d->center : 0.5) * p->nblocks_float, p->nblocks_float - 0.5);
        p->normal.deviation = d->value / 100 * p->nblocks_float;
        return 0;
    case RB_DISTRIBUTION_ZONED:
    case RB_DISTRIBUTION_ZONED_ABS:
        return set_zones(p, opts, err);
    }
    rb_assert_failed("kind is one of its values", __FILE__, __LINE__);
}

/* The hat over rank k is the integral's piece around k; u is uniform under all hats. */
static inline uint64_t draw_zipf(const rb_pattern_t *p, rb_rng_t *rng)
{
    const rb_zipf_t *z = &p->zipf;
    for (;;) {
        double u = z->last + rb_rng_double(rng) * z->span;
        double x = integral_inverse(z, u);
        /* Clamped before it is a whole number: rounding can carry x beyond either end. */
        double k = floor(fmin(fmax(x + 0.5, 1), p->nblocks_float));
        if (k - x <= z->shortcut || u >= integral(z, k + 0.5) - pow(k, -z->theta))
            return (uint64_t)k - 1;
    }
}

static inline uint64_t draw_pareto(const rb_pattern_t *p, rb_rng_t *rng)
{
    uint64_t rank = (uint64_t)(p->nblocks_float * pow(rb_rng_double(rng), p->pareto_power));
    return RB_MIN(rank, p->nblocks - 1); /* the product may round up */
}

static inline uint64_t draw_normal(const rb_pattern_t *p, rb_rng_t *rng)
{
    for (;;) {
        double radius = sqrt(-2 * log1p(-rb_rng_double(rng)));
        double z = radius * cos(2 * M_PI * rb_rng_double(rng));
        double at = p->normal.mean + p->normal.deviation * z;
        if (at >= 0 && at < p->nblocks_float)
            return (uint64_t)at;
    }
}

static inline uint64_t draw_zoned(const rb_pattern_t *p, rb_rng_t *rng)
{
    uint32_t zone = rb_share_draw(&p->zones.table, rng);
    return p->zones.first[zone] + rb_rng_below(rng, p->zones.count[zone]);
}

/* Ranks to blocks, in place. */
static void place(const rb_pattern_t *p, uint64_t *blocks, uint32_t n)
{
    for (uint32_t i = 0; p->scattered && i < n; i++)
        blocks[i] = rb_permutation_at(&p->scatter, blocks[i]);
    for (uint32_t i = 0; !p->scattered && i < n; i++) {
        uint64_t to_end = p->nblocks - p->base;
        blocks[i] = blocks[i] < to_end ? blocks[i] + p->base : blocks[i] - to_end;
    }
}

void rb_pattern_next(const rb_pattern_t *p, rb_rng_t *rng, uint64_t *ret_blocks, uint32_t n)
{
    switch (p->kind) {
    case RB_DISTRIBUTION_RANDOM:
        for (uint32_t i = 0; i < n; i++)
            ret_blocks[i] = rb_rng_below(rng, p->nblocks);
        return;
    case RB_DISTRIBUTION_ZIPF:
        for (uint32_t i = 0; i < n; i++)
            ret_blocks[i] = draw_zipf(p, rng);
        place(p, ret_blocks, n);
        return;
    case RB_DISTRIBUTION_PARETO:
        for (uint32_t i = 0; i < n; i++)
            ret_blocks[i] = draw_pareto(p, rng);
        place(p, ret_blocks, n);
        return;
    case RB_DISTRIBUTION_NORMAL:
        for (uint32_t i = 0; i < n; i++)
            ret_blocks[i] = draw_normal(p, rng);
        return;
    case RB_DISTRIBUTION_ZONED:
    case RB_DISTRIBUTION_ZONED_ABS:
        for (uint32_t i = 0; i < n; i++)
            ret_blocks[i] = draw_zoned(p, rng);
        return;
    }
}
