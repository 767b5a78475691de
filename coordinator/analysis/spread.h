/* spread.h - how values lie around their middle: medians, the noise of a series, its weak moments.
 *
 * Pure; any thread. Cost: a sort of what is given.
 */
#pragma once

#include "common/base.h"

/* Of n > 0 values in any order. */
double rb_median(const double *values, size_t n);

/* A tool of robust statistics: deviations from the median over 1.4826 x MAD, which is the standard
 * deviation where values are normal. `least` > 0 is the scale where peers agree better than that.
 * z: [n]. Returns the median. Source: B. Iglewicz, D. Hoaglin, How to Detect and Handle Outliers
 * (1993), "modified z-score". */
double rb_robust_z(const double *values, size_t n, double least, double *ret_z);

/* How even a rate was. Source: measurement.md 7; issue of the sweep's verdicts. */
typedef struct {
    size_t n;    /* values; 0: not known, fewer than 2 */
    double cv;   /* standard deviation / mean */
    double weak; /* share of values under 90 % of the median */
    double low;  /* mean of the slowest 0.1 % (at least one) / mean */
} rb_consistency_t;
rb_consistency_t rb_consistency(const double *rates, size_t n);

/* Half the width of the 95 % interval of the mean of a series, by the means of 10 batches, or 5;
 * 0: fewer than 10 values, not known. Source: batch means with Student's t (A. Law, Simulation
 * Modeling and Analysis, 9.5.3). */
double rb_batch_half_width(const double *rates, size_t n);
