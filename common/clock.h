/* clock.h - the one clock of an agent or coordinator: CLOCK_MONOTONIC in nanoseconds.
 *
 * Hot (one read per turn of a worker, about 30 ns through the vDSO). Any thread.
 */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t rb_clock_ns(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
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
