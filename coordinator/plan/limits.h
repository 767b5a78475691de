/* limits.h - the largest plan: every bound of a number, of a list's entries and of a text's bytes,
 * in one table, by key.
 *
 * rackbench-plan(5) prints the table, and a test holds the two against each other and every row
 * against a plan at its limit and one beyond. The text itself is bounded before (load_yaml.h),
 * every text in it by RB_MAX_PLAN_STRING (value.h). Any thread; no state.
 */
#pragma once

#include "coordinator/plan/check_rules.h"

enum {
    RB_MAX_WIPES = 4096,
    RB_MAX_JOB_LABELS = 64, /* of `on` */
    RB_MAX_PASSES = 100,    /* of a precondition */
    RB_MAX_POWER_STATE = 31 /* Source: NVMe base specification, Identify Controller, NPSS */
};
#define RB_MAX_BLOCK_BYTES       RB_GIB /* the kernel moves at most 2 GiB in one operation */
#define RB_MAX_RUNTIME_NS        (365 * 24 * 3600 * RB_NS_PER_S)
#define RB_MAX_THINKTIME_NS      (24 * 3600 * RB_NS_PER_S)
#define RB_MAX_SPIN_NS           RB_NS_PER_S
#define RB_MAX_RATE_IOPS         1000000000 /* one a nanosecond, the clock's resolution */
#define RB_MAX_INTERVAL_NS       (60 * RB_NS_PER_S)
#define RB_MAX_SKEW_NS           (7 * 24 * 3600 * RB_NS_PER_S)
#define RB_MAX_LEASE_NS          (600 * RB_NS_PER_S)
#define RB_MAX_LATENCY_TARGET_NS (3600 * RB_NS_PER_S)

/* The limits of one kind of message. */
typedef struct {
    const ProtobufCMessageDescriptor *of;
    const char *path;         /* of its keys in a plan: "phases.jobs." */
    const rb_range_t *ranges; /* [nranges] */
    size_t nranges;
} rb_limits_t;

extern const rb_limits_t rb_limits[]; /* ends with {NULL} */

/* Of msg, which is at the scope: its keys, not what lies below. */
int rb_limits_ask(const rb_scope_t *s, const ProtobufCMessage *msg);
