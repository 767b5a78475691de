#include "coordinator/merge_parts.h"

int rb_kv_job(const Rackbench__Phase *phase)
{
    for (size_t i = 0; i < phase->n_jobs; i++)
        if (phase->jobs[i]->kv_cache != NULL)
            return (int)i;
    return -1;
}

static void begin(rb_fold_kv_t *kv, const Rackbench__KvCache *cache)
{
    rb_join_opts_t opts = {.scale = 1, .prefill_tokens_per_s = cache->prefill_tokens_per_s};
    const char *slash = cache->scale == NULL ? NULL : strchr(cache->scale, '/');
    if (slash != NULL)
        opts.scale = (uint32_t)strtoul(slash + 1, NULL, 10);
    kv->join = rb_join_new(&opts);
}

static void add_write(rb_fold_kv_t *kv, const rb_kv_row_part_t *part)
{
    if (part->part != RB_PART_MAIN)
        return;
    if (kv->write == NULL)
        kv->write = rb_hist_new();
    rb_hist_record(kv->write, (uint64_t)(part->end_at_ns - part->due_at_ns));
    kv->written_bytes += part->bytes;
}

int rb_fold_kv_parts(rb_fold_t *fold, uint32_t host, const rb_row_kv_parts_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL || rb_fold_check_place(fold, row->phase, row->job, row->target, err) < 0)
        return -1;
    const Rackbench__Job *job = rb_fold_plan_phase(fold, row->phase)->jobs[row->job];
    if (job->kv_cache == NULL)
        return rb_err_set(err, RB_ERR_NET, "KV PARTS row of job '%s', which has no kv_cache",
                          job->name);
    if (phase->kv.join == NULL)
        begin(&phase->kv, job->kv_cache);
    rb_member_name_drive(rb_fold_member(phase, host), fold, row->target, row->drive);
    for (size_t i = 0; i < row->nparts; i++)
        if (row->parts[i].writes)
            add_write(&phase->kv, &row->parts[i]);
        else
            rb_join_add(phase->kv.join, host, &row->parts[i]);
    return 0;
}

int rb_fold_kv_drive(rb_fold_t *fold, uint32_t host, const rb_row_kv_drive_t *row, rb_err_t *err)
{
    rb_fold_phase_t *phase = rb_fold_phase(fold, row->phase, err);
    if (phase == NULL || rb_fold_check_place(fold, row->phase, row->job, row->target, err) < 0)
        return -1;
    rb_member_t *m = rb_fold_member(phase, host);
    rb_member_name_drive(m, fold, row->target, row->drive);
    *RB_PUSH(m->kv, m->nkv) = *row;
    return 0;
}

void rb_fold_kv_clear(rb_fold_kv_t *kv)
{
    rb_join_destroy(&kv->join);
    rb_hist_destroy(&kv->write);
}
