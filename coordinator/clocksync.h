/* clocksync.h - one agent's clock against ours: offset, drift and a bound that holds. Pure.
 *
 * A probe leaves at t1 and returns at t4 (our clock); in between the agent read t2 (its clock). The
 * read happened at some instant of [t1, t4], so agent - ours lies in [t2 - t4, t2 - t1]: each probe
 * is an interval that holds the true offset of its moment whatever the asymmetry of the path.
 * Intervals are carried to the asked moment by the drift (fitted over the window), widened by its
 * uncertainty, and intersected: the offset is the middle of what is left, the bound half its width.
 *
 * Source: interval intersection after Marzullo & Owicki 1983, as NTP uses it (RFC 5905,
 * section 11.2.1); drift limit: quartz of both ends within 100 ppm each.
 */
#pragma once

#include "common/base.h"

#define RB_CLOCK_MAX_DRIFT_PPB 200100 /* of two clocks within 100 ppm each, until measured */
#define RB_CLOCK_MIN_DRIFT_PPB 1000   /* a fitted drift is trusted no further than this */
#define RB_CLOCK_SLOT_NS       (5 * RB_NS_PER_MS) /* probes closer together improve one slot */
enum { RB_CLOCK_SLOTS = 64 };

typedef struct {
    uint64_t at_ns;       /* ours: middle of the probe */
    int64_t lo_ns, hi_ns; /* agent - ours at at_ns lies in between */
    uint64_t rtt_ns;      /* shortest round trip of the slot */
} rb_clock_slot_t;

typedef struct {
    rb_clock_slot_t slots[RB_CLOCK_SLOTS]; /* ring, oldest at head */
    size_t head, count;
    uint64_t probes;       /* ever */
    uint64_t worst_rtt_ns; /* since rb_clocksync_mark */
    bool stepped;          /* intervals contradicted each other: history was dropped */
} rb_clocksync_t;

typedef struct {
    int64_t offset_ns;        /* agent - ours, at the asked moment */
    uint64_t bound_ns;        /* |true - offset_ns| <= bound_ns */
    uint64_t rtt_ns;          /* shortest round trip in the window */
    int64_t drift_ppb;        /* + = the agent's clock runs fast */
    uint64_t drift_error_ppb; /* |true drift - drift_ppb| at most: what the bound grows by, ahead */
} rb_clock_estimate_t;

void rb_clocksync_init(rb_clocksync_t *sync);
/* t1_ns <= t4_ns in our clock; a probe with t4 < t1 is ignored. */
void rb_clocksync_add(rb_clocksync_t *sync, uint64_t t1_ns, uint64_t t2_ns, uint64_t t4_ns);
/* False before the first probe. at_ns may lie ahead. */
bool rb_clocksync_estimate(const rb_clocksync_t *sync, uint64_t at_ns, rb_clock_estimate_t *ret);
/* Begins a new span for worst_rtt_ns. */
void rb_clocksync_mark(rb_clocksync_t *sync);
