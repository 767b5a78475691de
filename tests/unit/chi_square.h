/* chi_square.h - do counts follow the probabilities? Pearson's test, for fixed seeds. */
#pragma once

#include <math.h>

#include "common/base.h"

/* A sum over `cells` cells lies further off than this by chance once in some 100,000 seeds. */
#define CHI_SQUARE_LIMIT 5.0

/* How far the sum of squared deviations lies above its mean, in its own standard deviations.
 * Each expected count must be 5 or more. */
static inline double chi_square_excess(const uint64_t *counts, const double *share, size_t cells)
{
    double total = 0, sum = 0, freedom = (double)(cells - 1);
    for (size_t i = 0; i < cells; i++)
        total += (double)counts[i];
    for (size_t i = 0; i < cells; i++) {
        double want = share[i] * total;
        RB_ASSERT(want >= 5);
        sum += ((double)counts[i] - want) * ((double)counts[i] - want) / want;
    }
    return (sum - freedom) / sqrt(2 * freedom);
}

/* The same for shares that are all alike; |excess|, as too even is wrong too. */
static inline double chi_square_even(const uint64_t *counts, size_t cells)
{
    double *share = rb_calloc(cells, sizeof(*share));
    for (size_t i = 0; i < cells; i++)
        share[i] = 1.0 / (double)cells;
    double excess = fabs(chi_square_excess(counts, share, cells));
    free(share);
    return excess;
}
