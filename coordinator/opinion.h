/* opinion.h - a second opinion on an agent's clock, by what both hosts' wall clocks say. Pure.
 *
 * Our clock and an agent's are each read beside CLOCK_REALTIME. Where that is disciplined on both
 * hosts it is the same time within the sum of what the kernels hold for their errors, so the
 * difference of the two readings is the offset of the clocks: independent of the network's paths.
 * Both say TAI - UTC: TAI is compared, which no leap second moves.
 */
#pragma once

#include "common/wall_clock.h"
#include "coordinator/clocksync.h"

typedef struct {
    int64_t offset_ns; /* agent - ours */
    uint64_t bound_ns;
} rb_opinion_t;

/* False: a clock that nobody disciplines has no opinion. */
bool rb_opinion(const rb_wall_clock_t *ours, const rb_wall_clock_t *theirs, rb_opinion_t *ret);
/* They cannot both be right: further apart than both bounds together. */
bool rb_opinion_disagrees(const rb_opinion_t *opinion, const rb_clock_estimate_t *estimate);
