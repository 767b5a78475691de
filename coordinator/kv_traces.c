#include "coordinator/kv_traces.h"

#include "common/llm/trace_make.h"
#include "common/llm/trace_pack.h"
#include "coordinator/merge_kv.h"
#include "proto/kv_setup.h"

static int load(const Rackbench__KvCache *cache, rb_bytes_t *ret, rb_err_t *err)
{
    rb_trace_load_opts_t opts = {.max_requests = cache->requests};
    rb_kv_setup_t setup;
    if (cache->trace_format != NULL &&
        rb_trace_format_parse(cache->trace_format, &opts.format, err) < 0)
        return rb_err_wrap(err, "trace_format");
    if (rb_kv_setup(cache, &setup, err) < 0)
        return -1;
    opts.token_bytes = setup.geometry.token_bytes;
    rb_kv_setup_clear(&setup);
    RB_AUTO(rb_trace_destroy) rb_trace_t *trace = rb_trace_open(cache->trace, &opts, err);
    if (trace == NULL)
        return -1;
    return rb_trace_pack(trace, &ret->data, &ret->size, err) < 0
               ? rb_err_wrap(err, "%s", cache->trace)
               : 0;
}

rb_bytes_t *rb_kv_traces_load(const Rackbench__Plan *plan, rb_err_t *err)
{
    rb_bytes_t *traces = rb_calloc(plan->n_phases, sizeof(*traces));
    for (size_t i = 0; i < plan->n_phases; i++) {
        int job = rb_kv_job(plan->phases[i]);
        if (job < 0 || load(plan->phases[i]->jobs[job]->kv_cache, &traces[i], err) == 0)
            continue;
        rb_err_wrap(err, "phase '%s': kv_cache", plan->phases[i]->name);
        rb_kv_traces_free(traces, plan);
        return NULL;
    }
    return traces;
}

void rb_kv_traces_free(rb_bytes_t *traces, const Rackbench__Plan *plan)
{
    for (size_t i = 0; traces != NULL && i < plan->n_phases; i++)
        rb_bytes_clear(&traces[i]);
    free(traces);
}
