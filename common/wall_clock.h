/* wall_clock.h - this host's CLOCK_REALTIME against our clock, and what the kernel thinks of it.
 *
 * Where chrony, ntpd or PTP disciplines it, it tells how the clocks of two hosts lie to each other
 * without any message between them: a second opinion (coordinator/opinion.h). Three system calls a
 * try; any thread.
 */
#pragma once

#include "common/err.h"

typedef struct {
    int64_t ahead_ns;     /* CLOCK_REALTIME less rb_clock_now_ns */
    bool synchronised;    /* by the kernel's word: STA_UNSYNC is not set */
    uint64_t maxerror_ns; /* of CLOCK_REALTIME by the kernel, and of reading both clocks */
    int32_t tai_s;        /* TAI - UTC; 0: not known here */
} rb_wall_clock_t;

void rb_wall_clock_read(rb_wall_clock_t *ret);

/* For tests: "AHEAD,MAXERROR", two durations: from here on CLOCK_REALTIME is taken for AHEAD (with
 * or without a sign) ahead of what it is, and for synchronised within MAXERROR. NULL: as it is.
 * RB_ERR_INPUT. */
int rb_wall_clock_set_test(const char *text, rb_err_t *err);
