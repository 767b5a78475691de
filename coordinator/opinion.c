#include "coordinator/opinion.h"

bool rb_opinion(const rb_wall_clock_t *ours, const rb_wall_clock_t *theirs, rb_opinion_t *ret)
{
    if (!ours->synchronised || !theirs->synchronised)
        return false;
    int64_t tai_ns = 0;
    if (ours->tai_s != 0 && theirs->tai_s != 0)
        tai_ns = (int64_t)(ours->tai_s - theirs->tai_s) * (int64_t)RB_NS_PER_S;
    *ret = (rb_opinion_t){ours->ahead_ns - theirs->ahead_ns + tai_ns,
                          ours->maxerror_ns + theirs->maxerror_ns};
    return true;
}

bool rb_opinion_disagrees(const rb_opinion_t *opinion, const rb_clock_estimate_t *estimate)
{
    int64_t gap_ns = opinion->offset_ns - estimate->offset_ns;
    return (uint64_t)(gap_ns < 0 ? -gap_ns : gap_ns) > opinion->bound_ns + estimate->bound_ns;
}
