#include "coordinator/kv_forecast.h"

#include <inttypes.h>

#include "common/llm/trace_pack.h"
#include "common/units.h"
#include "coordinator/merge_kv.h"

void rb_kv_forecast_destroy(rb_kv_forecast_t **forecast)
{
    rb_kv_forecast_t *f = *forecast;
    if (f == NULL)
        return;
    rb_kv_setup_clear(&f->setup);
    free(f->hosts);
    free(f);
    *forecast = NULL;
}

static void count(rb_kv_forecast_host_t *host, rb_kv_op_t op)
{
    switch (op) {
    case RB_KV_PART_READ:
        host->reads++;
        break;
    case RB_KV_PART_WRITE:
        host->writes++;
        break;
    case RB_KV_PART_DISCARD:
        host->evicted++;
        break;
    }
}

/* What comes due from T0 to the end of the phase. */
static int plan_hosts(rb_kv_forecast_t *f, const rb_trace_t *trace, rb_err_t *err)
{
    rb_kv_step_t step;
    uint64_t end_ns = rb_phase_ramp_ns(f->phase) + rb_phase_runtime_ns(f->phase);
    const rb_kv_place_t *place = &f->setup.plan.place;
    RB_AUTO(rb_kv_plan_destroy)
    rb_kv_plan_t *plan = rb_kv_plan_new(&f->setup.plan, trace, err);
    if (plan == NULL)
        return -1;
    while (rb_kv_plan_step(plan, &step) && step.due_ns < end_ns) {
        f->account = *rb_kv_plan_account(plan);
        for (size_t i = 0; i < step.nparts; i++)
            if (step.parts[i].due_ns < end_ns)
                count(&f->hosts[place->drives[step.parts[i].drive].host],
                      (rb_kv_op_t)step.parts[i].op);
    }
    return 0;
}

static int fill(rb_kv_forecast_t *f, const rb_bytes_t *bytes, uint64_t seed,
                const rb_kv_hosts_t *hosts, rb_err_t *err)
{
    const Rackbench__KvCache *kv = f->job->kv_cache;
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = rb_trace_unpack(bytes->data, bytes->size, err);
    if (trace == NULL || rb_kv_setup(kv, &f->setup, err) < 0 ||
        rb_kv_setup_trace(&f->setup, trace, seed, err) < 0)
        return -1;
    rb_trace_stats(trace, &f->trace);
    if (hosts == NULL || hosts->n == 0)
        return 0;
    f->nhosts = hosts->n;
    f->hosts = rb_calloc(f->nhosts, sizeof(*f->hosts));
    if (rb_kv_setup_hosts(&f->setup, kv, hosts->n, hosts->hosts, err) < 0)
        return -1;
    return plan_hosts(f, trace, err);
}

rb_kv_forecast_t *rb_kv_forecast_new(const Rackbench__Phase *phase, const rb_bytes_t *trace,
                                     uint64_t seed, const rb_kv_hosts_t *hosts, rb_err_t *err)
{
    RB_AUTO(rb_kv_forecast_destroy) rb_kv_forecast_t *f = rb_calloc(1, sizeof(*f));
    f->phase = phase;
    f->job = phase->jobs[rb_kv_job(phase)];
    if (fill(f, trace, seed, hosts, err) != 0) {
        rb_err_wrap(err, "phase '%s': kv_cache", phase->name);
        return NULL;
    }
    return RB_MOVE(f);
}

/* ---- in words ---- */

static double ratio(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static void print_sizes(FILE *out, const rb_kv_forecast_t *f)
{
    char token[RB_FMT_SIZE], layer[RB_FMT_SIZE], block[RB_FMT_SIZE], io[RB_FMT_SIZE];
    char slot[RB_FMT_SIZE];
    const rb_kv_geometry_t *g = &f->setup.geometry;
    const char *model = f->job->kv_cache->model;
    fprintf(out,
            "phase %s: KV of %s: a token %s, a block of %u tokens %s, %s of a layer; on a drive %u "
            "I/O%s of %s in a slot of %s",
            f->phase->name, model != NULL ? model : "a custom model",
            rb_fmt_bytes(token, sizeof(token), g->token_bytes), g->tokens_per_block,
            rb_fmt_bytes(block, sizeof(block), g->block_bytes),
            rb_fmt_bytes(layer, sizeof(layer), g->layer_bytes), g->piece_ios,
            g->piece_ios == 1 ? "" : "s", rb_fmt_bytes(io, sizeof(io), g->piece_io_bytes),
            rb_fmt_bytes(slot, sizeof(slot), g->slot_bytes));
    if (f->setup.scale > 1)
        fprintf(out, ", SCALED 1/%u", f->setup.scale);
    fprintf(out,
            "\n    trace: %" PRIu64 " requests in %.0f s, %" PRIu64 " references to %" PRIu64
            " distinct blocks; an infinite cache hits %.4f\n",
            f->trace.requests, f->trace.seconds, f->trace.references, f->trace.distinct,
            ratio(f->trace.infinite_hits, f->trace.references));
}

void rb_kv_forecast_print(FILE *out, const rb_kv_forecast_t *f, const char *const *names)
{
    const rb_kv_account_t *a = &f->account;
    print_sizes(out, f);
    if (f->nhosts == 0)
        return;
    fprintf(out,
            "    predicted: %" PRIu64
            " requests come due, hit ratio %.4f of blocks, %.4f of tokens, "
            "%.4f on drives\n",
            a->requests, ratio(a->gpu_hits + a->dram_hits + a->drive_hits, a->references),
            ratio(a->hit_tokens, a->input_tokens), ratio(a->drive_hits, a->references));
    for (size_t i = 0; i < f->nhosts; i++)
        fprintf(out,
                "    predicted %s: %" PRIu64 " slots read, %" PRIu64 " written, %" PRIu64
                " put out\n",
                names[i], f->hosts[i].reads, f->hosts[i].writes, f->hosts[i].evicted);
}
