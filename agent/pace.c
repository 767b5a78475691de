#include "agent/pace.h"

void rb_pace_init(rb_pace_t *p, uint64_t rate_iops, uint64_t start_ns)
{
    RB_ASSERT(rate_iops > 0);
    *p = (rb_pace_t){.start_ns = start_ns,
                     .rate_iops = rate_iops,
                     .due_ns = start_ns,
                     .step_ns = RB_NS_PER_S / rate_iops,
                     .step_rest = RB_NS_PER_S % rate_iops};
}

uint64_t rb_pace_due_before(const rb_pace_t *p, uint64_t at_ns)
{
    if (at_ns <= p->start_ns)
        return 0;
    unsigned __int128 scaled = (unsigned __int128)(at_ns - p->start_ns) * p->rate_iops;
    return (uint64_t)((scaled + RB_NS_PER_S - 1) / RB_NS_PER_S);
}
