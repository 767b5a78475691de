#include "coordinator/clocksync.h"

typedef struct {
    int64_t ppb;
    uint64_t error_ppb;
} drift_t;

static const rb_clock_slot_t *slot_at(const rb_clocksync_t *sync, size_t i)
{
    return &sync->slots[(sync->head + i) % RB_CLOCK_SLOTS];
}

static uint64_t width(const rb_clock_slot_t *slot)
{
    return (uint64_t)(slot->hi_ns - slot->lo_ns);
}

static int64_t scale(int64_t ppb, int64_t ns)
{
    return (int64_t)((__int128)ns * ppb / 1000000000);
}

void rb_clocksync_init(rb_clocksync_t *sync)
{
    *sync = (rb_clocksync_t){0};
}

void rb_clocksync_mark(rb_clocksync_t *sync)
{
    sync->worst_rtt_ns = 0;
}

/* The slope that the middles of the oldest and the newest slot show, if they lie far enough apart
 * to beat the assumed limit. */
static drift_t drift_of(const rb_clocksync_t *sync)
{
    drift_t none = {0, RB_CLOCK_MAX_DRIFT_PPB};
    const rb_clock_slot_t *a = slot_at(sync, 0), *b = slot_at(sync, sync->count - 1);
    if (b->at_ns <= a->at_ns)
        return none;
    uint64_t span_ns = b->at_ns - a->at_ns;
    uint64_t error_ppb =
        (uint64_t)((unsigned __int128)(width(a) + width(b)) * 500000000u / span_ns) +
        RB_CLOCK_MIN_DRIFT_PPB;
    if (error_ppb >= RB_CLOCK_MAX_DRIFT_PPB)
        return none;
    int64_t rise = (b->lo_ns + b->hi_ns) / 2 - (a->lo_ns + a->hi_ns) / 2;
    int64_t ppb = (int64_t)((__int128)rise * 1000000000 / (int64_t)span_ns);
    uint64_t size_ppb = (uint64_t)(ppb < 0 ? -ppb : ppb);
    if (size_ppb <= error_ppb) /* nothing but noise: call it none, with room for what it may be */
        return (drift_t){0, RB_MIN(error_ppb + size_ppb, RB_CLOCK_MAX_DRIFT_PPB)};
    return (drift_t){ppb, error_ppb};
}

/* The slot's interval carried to at_ns. */
static rb_clock_slot_t carry(const rb_clock_slot_t *slot, drift_t drift, uint64_t at_ns)
{
    int64_t age_ns = (int64_t)(at_ns - slot->at_ns);
    int64_t slack = scale((int64_t)drift.error_ppb, age_ns < 0 ? -age_ns : age_ns) + 1;
    int64_t shift = scale(drift.ppb, age_ns);
    return (rb_clock_slot_t){at_ns, slot->lo_ns + shift - slack, slot->hi_ns + shift + slack,
                             slot->rtt_ns};
}

/* False when the slots contradict each other: a clock was stepped, or drifts beyond any limit. */
static bool intersect(const rb_clocksync_t *sync, uint64_t at_ns, rb_clock_slot_t *ret)
{
    drift_t drift = drift_of(sync);
    *ret = (rb_clock_slot_t){at_ns, INT64_MIN, INT64_MAX, UINT64_MAX};
    for (size_t i = 0; i < sync->count; i++) {
        rb_clock_slot_t c = carry(slot_at(sync, i), drift, at_ns);
        ret->lo_ns = RB_MAX(ret->lo_ns, c.lo_ns);
        ret->hi_ns = RB_MIN(ret->hi_ns, c.hi_ns);
        ret->rtt_ns = RB_MIN(ret->rtt_ns, c.rtt_ns);
    }
    return ret->lo_ns <= ret->hi_ns;
}

static void push(rb_clocksync_t *sync, rb_clock_slot_t slot)
{
    if (sync->count == RB_CLOCK_SLOTS) {
        sync->head = (sync->head + 1) % RB_CLOCK_SLOTS;
        sync->count--;
    }
    sync->slots[(sync->head + sync->count++) % RB_CLOCK_SLOTS] = slot;
}

/* Within a slot of time both ends of the interval are improved separately: the quickest way out and
 * the quickest way back need not belong to the same probe. */
static void tighten(rb_clock_slot_t *into, rb_clock_slot_t probe)
{
    rb_clock_slot_t c = carry(&probe, (drift_t){0, RB_CLOCK_MAX_DRIFT_PPB}, into->at_ns);
    rb_clock_slot_t both = {into->at_ns, RB_MAX(into->lo_ns, c.lo_ns), RB_MIN(into->hi_ns, c.hi_ns),
                            RB_MIN(into->rtt_ns, probe.rtt_ns)};
    if (both.lo_ns <= both.hi_ns)
        *into = both;
    else
        *into = probe;
}

void rb_clocksync_add(rb_clocksync_t *sync, uint64_t t1_ns, uint64_t t2_ns, uint64_t t4_ns)
{
    if (t4_ns < t1_ns)
        return;
    /* The agent read its clock up to half a round trip away from the middle. */
    int64_t slack_ns = scale(RB_CLOCK_MAX_DRIFT_PPB, (int64_t)(t4_ns - t1_ns) / 2) + 1;
    rb_clock_slot_t probe = {t1_ns + (t4_ns - t1_ns) / 2, (int64_t)(t2_ns - t4_ns) - slack_ns,
                             (int64_t)(t2_ns - t1_ns) + slack_ns, t4_ns - t1_ns};
    sync->probes++;
    sync->worst_rtt_ns = RB_MAX(sync->worst_rtt_ns, t4_ns - t1_ns);
    rb_clock_slot_t *newest =
        sync->count ? &sync->slots[(sync->head + sync->count - 1) % RB_CLOCK_SLOTS] : NULL;
    if (newest != NULL && probe.at_ns < newest->at_ns + RB_CLOCK_SLOT_NS)
        tighten(newest, probe);
    else
        push(sync, probe);
    rb_clock_slot_t rest;
    if (!intersect(sync, probe.at_ns, &rest)) {
        sync->head = sync->count = 0;
        sync->stepped = true;
        push(sync, probe);
    }
}

bool rb_clocksync_estimate(const rb_clocksync_t *sync, uint64_t at_ns, rb_clock_estimate_t *ret)
{
    rb_clock_slot_t rest;
    if (sync->count == 0 || !intersect(sync, at_ns, &rest))
        return false;
    drift_t drift = drift_of(sync);
    *ret = (rb_clock_estimate_t){rest.lo_ns + (rest.hi_ns - rest.lo_ns) / 2, (width(&rest) + 1) / 2,
                                 rest.rtt_ns, drift.ppb, drift.error_ppb};
    return true;
}
