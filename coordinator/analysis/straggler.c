#include "coordinator/analysis/straggler.h"

#include "coordinator/analysis/spread.h"

#include <math.h>

const char *const rb_straggler_names[RB_BYS] = {"throughput", "latency", "tail"};

#define Z_LIMIT    3.5
#define OFF_LIMIT  0.05
#define TAIL_LEAST 10

typedef struct {
    double *values, *z; /* [n] */
    double median, sum;
} column_t;

static void fill(const rb_peer_t *peers, size_t n, rb_straggler_by_t by, column_t *c)
{
    c->sum = 0;
    for (size_t i = 0; i < n; i++)
        c->sum += c->values[i] = peers[i].by[by];
    double median = rb_median(c->values, n);
    double least = by == RB_BY_TAIL ? sqrt(RB_MAX(median, 1.0)) : 0.001 * median;
    c->median = rb_robust_z(c->values, n, RB_MAX(least, 1e-9), c->z);
}

static bool stands_out(const column_t *c, size_t n, size_t i, rb_straggler_by_t by)
{
    double worse = by == RB_BY_THROUGHPUT ? -1 : 1, off = worse * (c->values[i] - c->median);
    if (c->sum <= 0 || worse * c->z[i] <= Z_LIMIT || off < OFF_LIMIT * c->median)
        return false;
    return by != RB_BY_TAIL ||
           (c->values[i] >= TAIL_LEAST && c->values[i] * (double)n >= 2 * c->sum);
}

size_t rb_stragglers(const rb_peer_t *peers, size_t n, rb_straggler_t *ret)
{
    column_t column[RB_BYS];
    size_t found = 0;
    if (n < RB_STRAGGLER_PEERS)
        return 0;
    for (rb_straggler_by_t by = 0; by < RB_BYS; by++) {
        column[by].values = rb_calloc(2 * n, sizeof(double));
        column[by].z = column[by].values + n;
        fill(peers, n, by, &column[by]);
    }
    for (size_t i = 0; i < n; i++) {
        rb_straggler_t s = {.peer = i};
        for (rb_straggler_by_t by = 0; by < RB_BYS; by++) {
            s.bits |= stands_out(&column[by], n, i, by) ? 1u << by : 0;
            s.z[by] = column[by].z[i];
            s.median[by] = column[by].median;
        }
        if (column[RB_BY_TAIL].sum > 0)
            s.tail_share = peers[i].by[RB_BY_TAIL] / column[RB_BY_TAIL].sum;
        if (s.bits != 0)
            ret[found++] = s;
    }
    for (rb_straggler_by_t by = 0; by < RB_BYS; by++)
        free(column[by].values);
    return found;
}
