#include "coordinator/analysis/spread.h"

#include <math.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sorted(const double *values, size_t n)
{
    double *copy = rb_calloc(n, sizeof(*copy));
    memcpy(copy, values, n * sizeof(*copy));
    qsort(copy, n, sizeof(*copy), ascending);
    return copy;
}

double rb_median(const double *values, size_t n)
{
    RB_ASSERT(n > 0);
    double *s = sorted(values, n);
    double median = (s[(n - 1) / 2] + s[n / 2]) / 2;
    free(s);
    return median;
}

double rb_robust_z(const double *values, size_t n, double least, double *ret_z)
{
    double median = rb_median(values, n);
    for (size_t i = 0; i < n; i++)
        ret_z[i] = fabs(values[i] - median);
    double scale = RB_MAX(1.4826 * rb_median(ret_z, n), least);
    for (size_t i = 0; i < n; i++)
        ret_z[i] = (values[i] - median) / scale;
    return median;
}

static double mean_of(const double *values, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return sum / (double)n;
}

static double stddev_of(const double *values, size_t n)
{
    double mean = mean_of(values, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

rb_consistency_t rb_consistency(const double *rates, size_t n)
{
    rb_consistency_t c = {0};
    double mean = n >= 2 ? mean_of(rates, n) : 0;
    if (mean <= 0)
        return c;
    double *s = sorted(rates, n), floor = 0.9 * rb_median(rates, n);
    size_t weak = 0;
    while (weak < n && s[weak] < floor)
        weak++;
    c.n = n;
    c.cv = stddev_of(rates, n) / mean;
    c.weak = (double)weak / (double)n;
    c.low = mean_of(s, (n + 999) / 1000) / mean;
    free(s);
    return c;
}

double rb_batch_half_width(const double *rates, size_t n)
{
    enum { MOST = 10 };
    double means[MOST], t = n >= 2 * MOST ? 2.262 : 2.776; /* t(0.975) of 9 and 4 degrees */
    size_t batches = n >= 2 * MOST ? MOST : MOST / 2, each = n / batches;
    if (n < MOST)
        return 0;
    for (size_t i = 0; i < batches; i++)
        means[i] = mean_of(rates + i * each, each);
    return t * stddev_of(means, batches) / sqrt((double)batches);
}
