#include "coordinator/result_kv.h"

#include "common/units.h"
#include "proto/kv_setup.h"

double rb_kv_hit_ratio(const rb_kv_hits_t *h)
{
    uint64_t hits = h->gpu_hits + h->dram_hits + h->drive_hits;
    return h->references > 0 ? (double)hits / (double)h->references : 0;
}

double rb_kv_token_ratio(const rb_kv_hits_t *h)
{
    return h->input_tokens > 0 ? (double)h->hit_tokens / (double)h->input_tokens : 0;
}

static void set_group(rb_result_kv_group_t *ret, const rb_join_group_t *group)
{
    ret->requests = group->restore != NULL ? group->restore->count : 0;
    ret->bytes = group->bytes;
    ret->blocks = group->blocks;
    ret->restore = group->restore;
    ret->first_layer = group->first_layer;
}

static void set_classes(const rb_join_t *join, rb_result_kv_t *kv)
{
    for (uint32_t i = 0; i < RB_JOIN_CLASSES; i++) {
        rb_result_kv_group_t *g = &kv->classes[kv->nclasses];
        bool last = i == RB_JOIN_CLASSES - 1;
        char size[RB_FMT_SIZE];
        set_group(g, rb_join_class(join, i));
        rb_fmt_bytes(size, sizeof(size), rb_join_class_bytes[last ? i - 1 : i]);
        snprintf(g->name, sizeof(g->name), "%s %s", last ? "over" : "up to", size);
        snprintf(g->key, sizeof(g->key), "%s_%llu", last ? "over" : "to",
                 (unsigned long long)rb_join_class_bytes[last ? i - 1 : i]);
        kv->nclasses += g->requests > 0;
    }
}

static void set_spreads(const rb_join_t *join, rb_result_kv_t *kv)
{
    for (uint32_t i = 0; i < RB_JOIN_SPREADS; i++) {
        rb_result_kv_group_t *g = &kv->spreads[kv->nspreads];
        unsigned from = i < 2 ? i + 1 : (1u << (i - 1)) + 1, to = 1u << i;
        set_group(g, rb_join_spread(join, i));
        if (from == to)
            snprintf(g->name, sizeof(g->name), "on %u host%s", to, to == 1 ? "" : "s");
        else
            snprintf(g->name, sizeof(g->name), "on %u to %u hosts", from, to);
        snprintf(g->key, sizeof(g->key), "hosts_%u", to);
        kv->nspreads += g->requests > 0;
    }
}

static void add_drive(rb_row_kv_drive_t *sum, const rb_row_kv_drive_t *d)
{
    sum->read_blocks += d->read_blocks;
    sum->written_blocks += d->written_blocks;
    sum->evicted_blocks += d->evicted_blocks;
    sum->waited_for_write += d->waited_for_write;
    sum->not_begun += d->not_begun;
    sum->slots += d->slots;
    sum->prefilled += d->prefilled;
    sum->slot_bytes = d->slot_bytes;
    sum->planned = d->planned;
    sum->filled = d->filled;
    sum->infinite_hits = d->infinite_hits;
    sum->infinite_tokens = d->infinite_tokens;
}

/* Bytes of a kind that a host moved in M, by its windows. */
static double moved_bytes(const rb_member_t *m, uint32_t job, rb_op_t op)
{
    double bytes = 0;
    for (size_t i = 0; i < m->ntotals; i++)
        if (m->totals[i].job == job && m->totals[i].op == op)
            bytes += (double)m->totals[i].bytes;
    return bytes;
}

static void add_host(const rb_result_kv_opts_t *o, uint32_t host, uint32_t job, rb_result_kv_t *kv)
{
    const rb_fold_phase_t *phase = &o->fold->phases[o->phase];
    const rb_member_t *m = &phase->members[host - 1];
    rb_row_kv_drive_t sum = {0};
    if (m->nkv == 0)
        return;
    rb_result_kv_host_t *h = RB_PUSH(kv->hosts, kv->nhosts);
    const rb_join_host_t *joined =
        phase->kv.join != NULL ? rb_join_host(phase->kv.join, host) : NULL;
    for (size_t i = 0; i < m->nkv; i++) {
        add_drive(&sum, &m->kv[i]);
        add_drive(&kv->sum, &m->kv[i]);
    }
    kv->drives += (uint32_t)m->nkv;
    *h = (rb_result_kv_host_t){.host = rb_fold_host_name(o->fold, host),
                               .read_blocks = sum.read_blocks,
                               .written_blocks = sum.written_blocks,
                               .evicted_blocks = sum.evicted_blocks,
                               .waited_for_write = sum.waited_for_write,
                               .not_begun = sum.not_begun};
    if (joined != NULL && joined->last > 0) {
        h->last = joined->last;
        h->late_s = (double)joined->last_late_ns / 1e9 / (double)joined->last;
    }
    if (o->seconds > 0) {
        h->restored_bytes_per_s = moved_bytes(m, job, RB_OP_READ) / o->seconds;
        h->written_bytes_per_s = moved_bytes(m, job, RB_OP_WRITE) / o->seconds;
    }
    kv->restored_bytes_per_s += h->restored_bytes_per_s;
    kv->written_bytes_per_s += h->written_bytes_per_s;
}

/* What was written is what drives would get at real size and at the trace's own speed: copies are
 * in it already. */
static void set_wear(const Rackbench__KvCache *cache, rb_result_kv_t *kv)
{
    rb_kv_setup_t setup;
    rb_err_t err;
    if (rb_kv_setup(cache, &setup, &err) < 0)
        return;
    double rated = cache->rated_bytes > 0      ? (double)cache->rated_bytes
                   : cache->capacity_bytes > 0 ? (double)cache->capacity_bytes
                                               : (double)kv->sum.slots / RB_MAX(kv->drives, 1u) *
                                                     (double)setup.geometry.full_slot_bytes;
    double scale = (double)setup.geometry.full_slot_bytes / (double)setup.geometry.slot_bytes;
    kv->scale = setup.scale;
    kv->wear_in = (rb_endurance_in_t){.bytes_per_s = kv->written_bytes_per_s * scale * 1e6 /
                                                     (double)setup.plan.speed_ppm,
                                      .duty = 1,
                                      .copies = 1,
                                      .drives = kv->drives,
                                      .rated_bytes = rated,
                                      .years = cache->has_years ? cache->years : 5};
    rb_kv_setup_clear(&setup);
    kv->has_endurance = kv->written_bytes_per_s > 0 && rated > 0;
    if (kv->has_endurance)
        kv->wear = rb_endurance(&kv->wear_in);
}

void rb_result_kv(const rb_result_kv_opts_t *o, rb_result_kv_t *ret)
{
    const Rackbench__Phase *phase = rb_fold_plan_phase(o->fold, o->phase);
    const rb_fold_phase_t *fold = &o->fold->phases[o->phase];
    int job = rb_kv_job(phase);
    rb_result_kv_t kv = {0};
    *ret = kv;
    if (job < 0)
        return;
    for (uint32_t host = 1; host <= fold->nmembers; host++)
        add_host(o, host, (uint32_t)job, &kv);
    kv.present = kv.nhosts > 0;
    kv.write = fold->kv.write;
    if (fold->kv.join != NULL) {
        rb_join_counts(fold->kv.join, &kv.counts);
        set_group(&kv.all, rb_join_all(fold->kv.join));
        set_classes(fold->kv.join, &kv);
        set_spreads(fold->kv.join, &kv);
    }
    set_wear(phase->jobs[job]->kv_cache, &kv);
    *ret = kv;
}

void rb_result_kv_clear(rb_result_kv_t *kv)
{
    free(kv->hosts);
    *kv = (rb_result_kv_t){0};
}
