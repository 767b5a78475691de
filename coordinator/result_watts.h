/* result_watts.h - power that the user read, over the measured interval of a phase. Pure.
 *
 * A part of coordinator/result; borrows from the fold. Main thread.
 *
 * Between two readings power is taken to go straight from one to the next. Energy = its integral
 * over the part of M that lies between readings; mean = energy / that part; readings that cover
 * nothing (one, or all at an end) give their plain mean and no energy. Stamps are held against the
 * coordinator's wall clock at T0.
 * IOPS/W and bytes/s per W = the rate over M / mean, of drives and chassis alone: a package is
 * not the storage, and what a PDU feeds beside it is not known (measurement.md 12).
 */
#pragma once

#include "coordinator/merge.h"

typedef struct {
    const char *host; /* NULL: all hosts of the phase together */
    rb_power_scope_t scope;
    size_t nsummed;   /* > 0: of all together, the sum of so many hosts' */
    size_t nreadings; /* in M */
    double watts;
    double joules, seconds; /* of the part of M between readings; 0: there is none */
    bool has_rates;
    double iops_per_watt, bytes_per_s_per_watt;
} rb_result_watts_t;
