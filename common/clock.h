/* clock.h - the one clock of an agent or coordinator: CLOCK_MONOTONIC in nanoseconds.
 *
 * Hot (one read per turn of a worker, about 30 ns through the vDSO). Any thread.
 */
#pragma once

#include "common/err.h"

#include <time.h>

/* clock_gettime, but for rb_clock_set_test: called through here it costs no more than directly. */
typedef int rb_clock_gettime_fn(clockid_t id, struct timespec *ret);
extern rb_clock_gettime_fn *rb_clock_gettime;

static inline uint64_t rb_clock_ns(clockid_t id)
{
    struct timespec ts;
    rb_clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline uint64_t rb_clock_now_ns(void)
{
    return rb_clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t rb_clock_wall_ns(void) /* since 1970, UTC; for names and stamps only */
{
    return rb_clock_ns(CLOCK_REALTIME);
}

/* Until rb_clock_now_ns is until_ns, or a signal comes. */
void rb_clock_sleep_until(uint64_t until_ns);

/* For tests: from here on our clock is set apart by offset_ns and runs drift_ppb fast, as that of a
 * host that was booted at another time and has a quartz of its own. Before any thread is made.
 * RB_ERR_INPUT: it would show a time before 0. */
int rb_clock_set_test(int64_t offset_ns, int64_t drift_ppb, rb_err_t *err);
/* "OFFSET[,DRIFT_PPM]": a duration, then a number, each with or without a sign. RB_ERR_INPUT. */
int rb_clock_set_test_text(const char *text, rb_err_t *err);
