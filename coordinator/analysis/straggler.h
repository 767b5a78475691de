/* straggler.h - which of many drives of one kind is not like the others.
 *
 * Pure; any thread. Cost: a few sorts of n values.
 *
 * A drive straggles by throughput, by mean latency, or by its share of the operations beyond the
 * cluster's p99.9, where its robust z is beyond 3.5 to the worse side and it is at least 5 % off
 * the median. Peers that agree to better than 0.1 % count as 0.1 % apart. Of the tail two things
 * more are asked, as few operations lie there: counts scatter by their square root at the least,
 * and the drive must hold 10 operations and twice what would be its share.
 *
 * Source: measurement.md 8.
 */
#pragma once

#include "common/base.h"

enum { RB_STRAGGLER_PEERS = 4 }; /* fewer are no crowd to stand out of */

typedef enum { RB_BY_THROUGHPUT, RB_BY_LATENCY, RB_BY_TAIL, RB_BYS } rb_straggler_by_t;
extern const char *const rb_straggler_names[RB_BYS]; /* "throughput", "latency", "tail" */

typedef struct {
    double by[RB_BYS]; /* rate, mean [ns], operations beyond p99.9 */
} rb_peer_t;

typedef struct {
    size_t peer;   /* index */
    unsigned bits; /* 1 << rb_straggler_by_t: by what */
    double z[RB_BYS], median[RB_BYS];
    double tail_share; /* of the operations of all peers beyond p99.9; 0: there are none */
} rb_straggler_t;

/* Into ret [n], those that straggle, in the order given; returns how many. Fewer peers than
 * RB_STRAGGLER_PEERS: none. What all peers have as 0 is not asked. */
size_t rb_stragglers(const rb_peer_t *peers, size_t n, rb_straggler_t *ret);
