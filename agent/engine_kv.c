#include "agent/engine_priv.h"
#include "proto/select.h"

int rb_engine_kv_share(rb_engine_t *e, const Rackbench__Job *job, const rb_engine_opts_t *opts,
                       rb_err_t *err)
{
    if (job->kv_cache == NULL)
        return 0;
    if (job->numjobs > 1)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': numjobs %u of a kv_cache; one worker a drive is right: raise "
                          "iodepth",
                          job->name, job->numjobs);
    rb_kv_share_opts_t o = opts->kv;
    o.cache = job->kv_cache;
    o.seed = e->plan->randseed;
    o.end_ns = rb_phase_ramp_ns(e->phase) + rb_phase_runtime_ns(e->phase);
    e->kv = rb_kv_share_new(&o, err);
    return e->kv == NULL ? rb_err_wrap(err, "job '%s'", job->name) : 0;
}

static rb_kv_row_part_t part_of(const rb_worker_t *w, const rb_kv_batch_t *b)
{
    const rb_kv_request_t *r = rb_kv_share_request(w->o.kv, b->request);
    bool writes = b->op == RB_KV_PART_WRITE;
    return (rb_kv_row_part_t){.request = b->request,
                              .part = b->part,
                              .writes = writes,
                              .due_at_ns = (int64_t)b->due_ns,
                              .first_at_ns = (int64_t)RB_MAX(b->first_ns, b->due_ns),
                              .end_at_ns = (int64_t)RB_MAX(b->end_ns, b->due_ns),
                              .bytes = b->bytes,
                              .blocks = b->nparts,
                              .drives = writes ? 1 : r->drives,
                              .hosts = writes ? 1 : r->hosts,
                              .tokens = writes ? 0 : r->tokens,
                              .failed = b->failed};
}

static void emit_parts(const rb_engine_t *e, rb_worker_t *w, rb_row_emit_fn *emit, void *ctx)
{
    rb_kv_row_part_t parts[256];
    const rb_kv_batch_t *batch = rb_kv_queue_finished(w->kv, w->kv_told);
    while (batch != NULL) {
        rb_row_t row = {.kind = RB_ROW_KV_PARTS};
        size_t n = 0;
        for (; batch != NULL && n < RB_LEN(parts);
             batch = rb_kv_queue_finished(w->kv, ++w->kv_told))
            if (batch->op != RB_KV_PART_DISCARD)
                parts[n++] = part_of(w, batch);
        row.kv_parts = (rb_row_kv_parts_t){
            e->phase_index, w->o.job_index, w->o.subject->at.target, w->o.subject->at.drive, n,
            parts};
        if (n > 0)
            emit(ctx, &row);
    }
}

void rb_engine_kv_rows(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx)
{
    for (size_t i = 0; e->kv != NULL && i < e->nworkers; i++)
        if (e->workers[i]->kv != NULL)
            emit_parts(e, e->workers[i], emit, ctx);
}

void rb_engine_kv_last(const rb_engine_t *e, rb_row_emit_fn *emit, void *ctx)
{
    for (size_t i = 0; e->kv != NULL && i < e->nworkers; i++) {
        const rb_worker_t *w = e->workers[i];
        rb_row_t row = {.kind = RB_ROW_KV_DRIVE};
        if (w->kv == NULL)
            continue;
        const rb_kv_drive_account_t *a = rb_kv_share_account(w->o.kv, w->o.kv_ordinal);
        const rb_kv_setup_t *setup = rb_kv_share_setup(w->o.kv);
        const rb_kv_cluster_t *cluster = rb_kv_share_cluster(w->o.kv);
        uint64_t slots = rb_kv_share_slots(w->o.kv, w->o.kv_ordinal);
        row.kv_drive =
            (rb_row_kv_drive_t){.phase = e->phase_index,
                                .job = w->o.job_index,
                                .target = w->o.subject->at.target,
                                .drive = w->o.subject->at.drive,
                                .read_blocks = a->reads,
                                .written_blocks = a->writes,
                                .evicted_blocks = a->evicted,
                                .waited_for_write = rb_kv_queue_waited(w->kv),
                                .not_begun = rb_kv_queue_undone(w->kv, rb_kv_share_end_ns(w->o.kv)),
                                .slots = slots,
                                .slot_bytes = setup->geometry.slot_bytes,
                                .prefilled = setup->plan.full ? slots : 0,
                                .planned = cluster->planned,
                                .filled = cluster->filled,
                                .infinite_hits = cluster->infinite_hits,
                                .infinite_tokens = cluster->infinite_tokens};
        emit(ctx, &row);
    }
}
