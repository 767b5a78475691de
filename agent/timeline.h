/* timeline.h - the common clock of a phase as this host's clock shows it. Pure.
 *
 * ARM tells where T0 lies on this host's clock and how fast that runs. Both are estimates of a
 * moment: over 14 days a drift that is wrong by 1 ppm comes to 1.2 s. So each Beat of a running
 * phase tells where an instant lies now, and what is ahead is reckoned from there. What lies behind
 * is read off the line between T0 and that instant: both ends of it are right.
 */
#pragma once

#include "common/base.h"

typedef struct {
    uint64_t t0_ns;      /* T0 on this host's clock */
    uint64_t told_at_ns; /* the instant told last: since T0 on the common clock, */
    uint64_t told_ns;    /* and on this host's */
    int64_t drift_ppb;   /* from there on: + = this clock runs fast */
} rb_timeline_t;

/* |drift_ppb| above this is taken for this: 1000 ppm. */
#define RB_TIMELINE_MAX_DRIFT_PPB 1000000
/* What is told may be off by this beside the drift: a machine was suspended meanwhile. */
#define RB_TIMELINE_MAX_STEP_NS (3600 * RB_NS_PER_S)

rb_timeline_t rb_timeline_new(uint64_t t0_ns, int64_t drift_ppb);
/* at_ns since T0 on the common clock is local_ns on this one. False: it is older than what is
 * known, or cannot be; nothing changes. */
bool rb_timeline_tell(rb_timeline_t *line, uint64_t at_ns, uint64_t local_ns, int64_t drift_ppb);

/* A time since T0 on the common clock, on this host's clock. */
uint64_t rb_timeline_local_ns(const rb_timeline_t *line, uint64_t at_ns);
/* And back; negative before T0. */
int64_t rb_timeline_at_ns(const rb_timeline_t *line, uint64_t local_ns);
