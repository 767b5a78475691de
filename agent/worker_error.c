#include "agent/worker_error.h"

uint32_t rb_worker_errors_tolerated(const Rackbench__Job *job)
{
    uint32_t reads = 1u << RB_OP_READ;
    uint32_t writes = 1u << RB_OP_WRITE | 1u << RB_OP_TRIM | 1u << RB_OP_SYNC;
    switch (job->continue_on_error) {
    case RACKBENCH__CONTINUE_ON_ERROR__KIND__none:
        return 0;
    case RACKBENCH__CONTINUE_ON_ERROR__KIND__read:
        return reads;
    case RACKBENCH__CONTINUE_ON_ERROR__KIND__write:
        return writes;
    case RACKBENCH__CONTINUE_ON_ERROR__KIND__all:
        return reads | writes;
    case _RACKBENCH__CONTINUE_ON_ERROR__KIND_IS_INT_SIZE:
        break;
    }
    rb_assert_failed("continue_on_error is one of its kinds", __FILE__, __LINE__);
}

static bool is_kind(const rb_error_kind_t *kind, const rb_io_error_t *error)
{
    return kind->op == error->op && kind->res == RB_MIN(error->res, 0) &&
           kind->verdict == error->found.verdict;
}

static void count(rb_worker_errors_t *e, const rb_io_error_t *error)
{
    uint32_t i = 0;
    while (i < e->nkinds && !is_kind(&e->kinds[i], error))
        i++;
    if (i == RB_MAX_ERROR_KINDS)
        i--;
    else if (i == e->nkinds)
        e->kinds[e->nkinds++] =
            (rb_error_kind_t){error->op, RB_MIN(error->res, 0), error->found.verdict, 0};
    e->kinds[i].count++;
}

bool rb_worker_errors_add(rb_worker_errors_t *e, const rb_io_error_t *error)
{
    count(e, error);
    if (e->nfirst < RB_MAX_IO_ERRORS)
        e->first[e->nfirst++] = *error;
    if (error->op < RB_OP_COUNT && e->tolerated & 1u << error->op)
        return false;
    if (!e->failed)
        e->fatal = *error;
    e->failed = true;
    return true;
}
