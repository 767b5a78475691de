/* Any bytes as what is between the mark and the checksum of a packed trace: what is read holds
 * together, and packs to what reads the same. */
#include "common/llm/trace_pack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_at(const rb_trace_t *t)
{
    uint64_t blocks = 0, last_ns = 0;
    for (uint32_t i = 0; i < t->nrequests; i++) {
        const rb_trace_request_t *r = &t->requests[i];
        RB_ASSERT(r->first == blocks && r->due_ns >= last_ns);
        RB_ASSERT(r->session == 0 || r->session < t->nsessions);
        blocks += r->nprompt + r->ndecode;
        last_ns = r->due_ns;
    }
    RB_ASSERT(blocks == t->nblocks);
    for (uint64_t k = 0; k < t->nblocks; k++)
        RB_ASSERT(t->blocks[k] < t->distinct);
}

static void put_sum(uint8_t *whole, size_t size)
{
    uint64_t sum = 14695981039346656037ull; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ whole[i]) * 1099511628211ull;
    for (size_t i = 0; i < 8; i++)
        whole[size + i] = (uint8_t)(sum >> 8 * i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    rb_err_t err;
    uint8_t *packed = NULL, *whole = rb_calloc(size + 12, 1);
    size_t packed_size = 0;
    memcpy(whole, "RBT1", 4);
    for (size_t i = 0; i < size; i++)
        whole[4 + i] = data[i];
    put_sum(whole, size + 4);
    RB_AUTO(rb_trace_destroy) rb_trace_t *t = rb_trace_unpack(whole, size + 12, &err);
    free(whole);
    if (t == NULL)
        return 0;
    look_at(t);
    if (t->distinct > t->nblocks || t->nsessions > t->nrequests)
        return 0; /* in fewer bytes they would be refused; no trace that is read is so */
    RB_ASSERT(rb_trace_pack(t, &packed, &packed_size, &err) == 0);
    RB_AUTO(rb_trace_destroy) rb_trace_t *back = rb_trace_unpack(packed, packed_size, &err);
    free(packed);
    RB_ASSERT(back != NULL && back->nrequests == t->nrequests && back->nblocks == t->nblocks);
    RB_ASSERT(memcmp(back->requests, t->requests, t->nrequests * sizeof(*t->requests)) == 0);
    return 0;
}
