/* Any bytes as a file of requests: what is read holds together, also in blocks of another size. */
#include "common/llm/trace_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(rb_trace_t *trace)
{
    rb_trace_stats_t s;
    rb_trace_stats(trace, &s);
    RB_ASSERT(s.distinct <= trace->distinct);
    uint64_t blocks = 0, last_ns = 0;
    for (uint32_t i = 0; i < trace->nrequests; i++) {
        const rb_trace_request_t *r = &trace->requests[i];
        RB_ASSERT(r->first + r->nprompt + r->ndecode <= trace->nblocks);
        RB_ASSERT(r->due_ns >= last_ns && r->session < trace->nsessions);
        last_ns = r->due_ns;
        blocks += r->nprompt + r->ndecode;
    }
    RB_ASSERT(blocks == trace->nblocks);
    for (uint64_t k = 0; k < trace->nblocks; k++)
        RB_ASSERT(trace->blocks[k] < trace->distinct);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const rb_trace_load_opts_t opts = {.token_bytes = 4096, .max_requests = 100};
    rb_err_t err;
    RB_AUTO(rb_trace_destroy)
    rb_trace_t *trace = rb_trace_read("fuzz", (const char *)data, size, &opts, &err);
    if (trace == NULL)
        return 0;
    look_at(trace);
    static const uint32_t tokens[] = {256, 16, 64};
    for (size_t i = 0; i < RB_LEN(tokens) && trace->nblocks < 100000; i++)
        if (rb_trace_reblock(trace, tokens[i], &err) == 0)
            look_at(trace);
    if (trace->nblocks < 100000 && rb_trace_decode(trace, &err) == 0)
        look_at(trace);
    return 0;
}
