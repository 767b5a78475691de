/* Which drives of a phase are not like their peers: measurement.md 8. */
#include "coordinator/result_parts.h"

/* A drive that did operations of a kind, and what makes it a peer of others. */
typedef struct {
    uint32_t host, target;
    uint64_t jobs, size_bytes; /* bit j: it did them for job j */
    const char *drive, *model; /* model: "" where nobody knows */
    uint64_t ops, sum_ns;
    rb_peer_t figures;
    bool judged;
} drive_t;

typedef struct {
    const rb_fold_t *fold;
    rb_result_phase_t *phase;
    rb_op_t op;
    uint64_t beyond_ns; /* 0: too few operations lie beyond */
    size_t ndrives;
    drive_t *drives;
} field_t;

static uint64_t count_beyond(const rb_hist_sparse_t *h, uint64_t value_ns)
{
    uint64_t n = 0;
    uint32_t last = rb_hist_index(value_ns);
    for (size_t i = 0; i < h->npairs; i++)
        n += h->pairs[i].index > last ? h->pairs[i].count : 0;
    return n;
}

static void add_total(const field_t *f, const rb_total_t *t, drive_t *drive)
{
    drive->jobs |= 1ull << t->job;
    drive->ops += t->ops;
    drive->sum_ns += t->response.sum;
    drive->figures.by[RB_BY_THROUGHPUT] += (double)t->bytes / f->phase->seconds;
    if (f->beyond_ns > 0)
        drive->figures.by[RB_BY_TAIL] += (double)count_beyond(&t->response, f->beyond_ns);
}

static void add_drive(field_t *f, uint32_t host, const rb_drive_ref_t *ref)
{
    const rb_member_t *m = &f->fold->phases[f->phase->index].members[host - 1];
    const Rackbench__Drive *known = rb_fold_identity(f->fold, host, ref->path);
    drive_t drive = {.host = host,
                     .target = ref->target,
                     .size_bytes = ref->size_bytes,
                     .drive = ref->path,
                     .model = known != NULL && known->model != NULL ? known->model : ""};
    for (size_t i = 0; i < m->ntotals; i++)
        if (m->totals[i].op == f->op && m->totals[i].target == ref->target &&
            m->totals[i].drive == ref->drive)
            add_total(f, &m->totals[i], &drive);
    if (drive.jobs == 0)
        return;
    if (drive.ops > 0)
        drive.figures.by[RB_BY_LATENCY] = (double)drive.sum_ns / (double)drive.ops;
    *RB_PUSH(f->drives, f->ndrives) = drive;
}

static bool are_peers(const drive_t *a, const drive_t *b)
{
    return a->target == b->target && a->jobs == b->jobs && a->size_bytes == b->size_bytes &&
           strcmp(a->model, b->model) == 0;
}

/* All that are like drives[first]. */
static void judge_peers(field_t *f, size_t first)
{
    size_t n = 0;
    size_t *index = rb_calloc(f->ndrives, sizeof(*index));
    rb_peer_t *peers = rb_calloc(f->ndrives, sizeof(*peers));
    rb_straggler_t *found = rb_calloc(f->ndrives, sizeof(*found));
    for (size_t i = first; i < f->ndrives; i++) {
        if (!are_peers(&f->drives[first], &f->drives[i]))
            continue;
        f->drives[i].judged = true;
        peers[n] = f->drives[i].figures;
        index[n++] = i;
    }
    size_t nfound = rb_stragglers(peers, n, found);
    for (size_t i = 0; i < nfound; i++) {
        const drive_t *d = &f->drives[index[found[i].peer]];
        *RB_PUSH(f->phase->stragglers, f->phase->nstragglers) =
            (rb_result_straggler_t){.host = rb_fold_host_name(f->fold, d->host),
                                    .drive = d->drive,
                                    .op = f->op,
                                    .npeers = n,
                                    .figures = d->figures,
                                    .beyond_ns = f->beyond_ns,
                                    .verdict = found[i]};
    }
    free(index);
    free(peers);
    free(found);
}

/* The share of the tail is that of the cluster's, other kinds of drives included. */
static void share_tail(const field_t *f, size_t from)
{
    double sum = 0;
    for (size_t i = 0; i < f->ndrives; i++)
        sum += f->drives[i].figures.by[RB_BY_TAIL];
    for (size_t i = from; i < f->phase->nstragglers; i++) {
        rb_result_straggler_t *s = &f->phase->stragglers[i];
        s->verdict.tail_share = sum > 0 ? s->figures.by[RB_BY_TAIL] / sum : 0;
    }
}

static void judge_op(field_t *f)
{
    enum { P99_9 = 4 }; /* in rb_quantiles */
    const rb_fold_phase_t *p = &f->fold->phases[f->phase->index];
    const rb_lat_t *response = &f->phase->cluster.op[f->op].response;
    size_t before = f->phase->nstragglers;
    f->beyond_ns = response->uncertain[P99_9] ? 0 : response->quantile_ns[P99_9];
    for (uint32_t host = 1; host <= p->nmembers; host++) {
        const rb_member_t *m = &p->members[host - 1];
        for (size_t d = 0; m->takes_part && !m->lost && d < m->ndrives; d++)
            add_drive(f, host, &m->drives[d]);
    }
    for (size_t i = 0; i < f->ndrives; i++)
        if (!f->drives[i].judged)
            judge_peers(f, i);
    share_tail(f, before);
    free(f->drives);
}

void rb_result_stragglers(const rb_fold_t *fold, rb_result_phase_t *phase)
{
    for (rb_op_t op = RB_OP_READ; op <= RB_OP_TRIM && phase->seconds > 0; op++)
        if (phase->cluster.op[op].ops > 0)
            judge_op(&(field_t){.fold = fold, .phase = phase, .op = op});
}
