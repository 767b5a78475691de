/* pattern.h - draws block indices in [0, nblocks) by a distribution (common/distribution.h).
 *
 * - random: uniform, without bias.
 * - zipf: P(rank r) = r^-theta / sum(k^-theta, k = 1..nblocks), exact to the rounding of a double,
 *   by rejection-inversion: no table, no sum over the blocks, at most 1.02 tries on average.
 * - pareto: rank = floor(nblocks x U^(log h / log(1 - h))), U uniform in [0, 1): fio's power law
 *   (it has nblocks - 1, which leaves the last rank out). P(rank < r) = (r / nblocks)^(log(1 - h) /
 *   log h), so the first h of the ranks get 1 - h of the accesses.
 * - normal: floor((center + deviation / 100 x Z) x nblocks), Z standard normal, drawn again while
 *   it is outside. Center is 0.5 unless given. (fio adds the mean of 12 uniform numbers, whose
 *   deviation is 8.3 %, to a uniform one as wide as `deviation`, and scatters the result.)
 * - zoned, zoned_abs: a zone by its share of the accesses, then uniform inside it.
 *
 * Where the ranks of zipf and pareto lie: scattered over the space by a bijection keyed by the seed
 * (permutation.h), so that the hot blocks are no neighbours and no block has two ranks (fio's hash
 * modulo the size gives some blocks several and some none). With a center, rank 0 is at center x
 * nblocks and the others follow upwards, around the end: hot blocks are neighbours (fio scatters
 * these too).
 *
 * Read-only after init: any number of workers, each with its own rng. No allocation, no division in
 * a draw. Hot, per draw: random 3 ns, zoned 7, pareto 15, normal 40, zipf 25 to 35; 5 more where
 * ranks are scattered (up to 30 more just above a power of two).
 *
 * Source: W. Hoermann, G. Derflinger, "Rejection-inversion to generate variates from monotone
 * discrete distributions", ACM TOMACS 6(3), 1996; G. E. P. Box, M. E. Muller, "A note on the
 * generation of random normal deviates" (1958); fio 3.33 lib/zipf.c and lib/gauss.c.
 */
#pragma once

#include "agent/workload/permutation.h"
#include "common/distribution.h"

typedef struct {
    const rb_distribution_t *distribution;
    uint64_t nblocks;     /* of the space: [1, RB_MAX_PERMUTATION] */
    uint64_t block_bytes; /* zoned_abs: its sizes are rounded down to whole blocks */
    uint64_t seed;        /* of the place of hot blocks: the same for all workers of a drive */
} rb_pattern_opts_t;

typedef struct {
    double theta;
    double power, inverse; /* 1 - theta and 1 / (1 - theta) */
    double last, span;     /* integral at nblocks + 1/2, and from there down to the first's start */
    double shortcut;       /* a draw this near below its rank is accepted at once */
} rb_zipf_t;

typedef struct {
    rb_share_table_t table;
    uint64_t first[RB_MAX_ZONES], count[RB_MAX_ZONES]; /* [blocks] */
} rb_zones_t;

typedef struct {
    rb_distribution_kind_t kind;
    uint64_t nblocks;
    double nblocks_float;
    bool scattered;
    uint64_t base; /* block of rank 0 where it is not scattered */
    rb_permutation_t scatter;
    union {
        rb_zipf_t zipf;
        double pareto_power;
        struct {
            double mean, deviation; /* [blocks] */
        } normal;
        rb_zones_t zones;
    };
} rb_pattern_t;

/* RB_ERR_INPUT: a zone that is to be accessed holds no block, or zones reach beyond the space. */
int rb_pattern_init(rb_pattern_t *p, const rb_pattern_opts_t *opts, rb_err_t *err);

/* Fills ret_blocks [n]. */
void rb_pattern_next(const rb_pattern_t *p, rb_rng_t *rng, uint64_t *ret_blocks, uint32_t n);
