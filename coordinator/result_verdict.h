/* result_verdict.h - what the figures of a result mean: curves of its sweeps, drives unlike others.
 *
 * A part of coordinator/result; borrows from the fold. Pure, main thread. The verdicts themselves
 * are in coordinator/analysis.
 */
#pragma once

#include "coordinator/analysis/spread.h"
#include "coordinator/analysis/straggler.h"
#include "coordinator/analysis/sweep.h"
#include "coordinator/merge.h"

/* One kind of operation over iodepth and numjobs, all other keys of the sweep being equal. */
typedef struct {
    const char *host, *drive; /* NULL: the cluster; NULL: all of the host */
    char *where;              /* owned: the other keys, "bs 4KiB"; "": there are none */
    rb_op_t op;
    size_t npoints;
    rb_sweep_point_t *points; /* [npoints] rate [bytes/s], latencies of response */
    size_t *phases;           /* [npoints] index in rb_result_t.phases */
    double *little;           /* [npoints] X R / N; 0: not known */
    rb_consistency_t *even;   /* [npoints] by second; of drives there is no series: n is 0 */
    rb_sweep_verdict_t verdict;
} rb_result_curve_t;

/* A drive that stands out of its peers: same target, model, size and jobs. */
typedef struct {
    const char *host, *drive;
    rb_op_t op;
    size_t npeers;
    rb_peer_t figures;      /* throughput [bytes/s], mean response [ns], operations beyond */
    uint64_t beyond_ns;     /* the cluster's p99.9 of response */
    rb_straggler_t verdict; /* tail_share is of the cluster */
} rb_result_straggler_t;
