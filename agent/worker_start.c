#include "agent/worker_start.h"

#include "common/clock.h"

#define SPIN_NS (200 * RB_NS_PER_US)
#define NAP_NS  (50 * RB_NS_PER_MS) /* longest without a look at stop_ns */

/* A thread that the kernel makes for the first submission (io-wq) must not inherit it. */
void rb_start_raise(rb_start_t *start)
{
    struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    start->policy = sched_getscheduler(0);
    bool ordinary = start->policy == SCHED_OTHER || start->policy == SCHED_BATCH;
    start->raised = ordinary && sched_getparam(0, &start->param) == 0 &&
                    sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &lowest) == 0;
}

void rb_start_done(rb_start_t *start)
{
    if (start->raised)
        sched_setscheduler(0, start->policy | SCHED_RESET_ON_FORK, &start->param);
    start->raised = false;
}

bool rb_start_await(rb_crew_t *crew, uint64_t t0_ns)
{
    uint64_t now_ns, wake_ns = t0_ns - SPIN_NS;
    while ((now_ns = rb_clock_now_ns()) < wake_ns) {
        if (atomic_load(&crew->stop_ns) <= t0_ns)
            return false;
        rb_clock_sleep_until(RB_MIN(wake_ns, now_ns + NAP_NS));
    }
    while (rb_clock_now_ns() < t0_ns)
        ;
    return atomic_load(&crew->stop_ns) > t0_ns;
}
