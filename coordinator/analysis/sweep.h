/* sweep.h - what a sweep over iodepth and numjobs shows: peak, knee, cliffs, latencies.
 *
 * Pure; any thread. Points may come in any order. A point that is client_bound is no drive's figure
 * and takes part in nothing here.
 *
 * Source of every definition: measurement.md 7 ("sweeps") and 4 ("whose limit was it").
 */
#pragma once

#include "common/base.h"

typedef struct {
    uint32_t iodepth, numjobs; /* outstanding I/O (OIO) is their product */
    double rate;               /* throughput, all points in one unit */
    double half_width;         /* of the rate's 95 % interval; 0: not known */
    double mean_ns, p99_ns;    /* latency; 0: not known */
    bool client_bound;
} rb_sweep_point_t;

typedef enum { RB_AXIS_IODEPTH, RB_AXIS_NUMJOBS } rb_sweep_axis_t;
extern const char *const rb_axis_names[2]; /* "iodepth", "numjobs" */

/* Throughput that falls below 0.85 x the best so far along one axis, outside both intervals. All
 * are indices of points. */
typedef struct {
    rb_sweep_axis_t axis;
    size_t best, onset, lowest; /* the edge, the first below it, the deepest */
    double depth;               /* 1 - lowest / best */
    size_t recovery;            /* the first that is back at 0.85 x best; RB_NO_POINT */
} rb_cliff_t;

#define RB_NO_POINT SIZE_MAX

typedef struct {
    size_t peak; /* the highest rate; of equals the lower latency, then the smaller OIO */
    /* The smallest OIO whose best point has 95 % of the peak, as has every larger one tested up to
     * the peak's. */
    size_t knee;
    size_t qd1;                   /* iodepth 1, numjobs 1 */
    size_t worst_mean, worst_p99; /* the largest of each */
    size_t ncliffs;
    rb_cliff_t *cliffs; /* [ncliffs] */
} rb_sweep_verdict_t;

/* RB_NO_POINT where there is none. Clear it in the end. */
void rb_sweep_judge(const rb_sweep_point_t *points, size_t n, rb_sweep_verdict_t *ret_verdict);
void rb_sweep_verdict_clear(rb_sweep_verdict_t *verdict);
