#include "common/llm/trace_pack.h"

#define MAGIC "RBT1"
enum { MAGIC_BYTES = 4, SUM_BYTES = 8, REQUEST_BYTES = 6 /* at least */ };

typedef struct {
    uint8_t *data;
    size_t size, room;
} out_t;

static void put(out_t *out, uint64_t value)
{
    if (out->room - out->size < 10) {
        out->room = 2 * out->room + 4096;
        out->data = rb_realloc(out->data, out->room);
    }
    for (; value >= 0x80; value >>= 7)
        out->data[out->size++] = (uint8_t)(value | 0x80);
    out->data[out->size++] = (uint8_t)value;
}

static uint64_t zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static uint64_t checksum(const uint8_t *data, size_t size)
{
    uint64_t sum = 14695981039346656037ull;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ data[i]) * 1099511628211ull;
    return sum;
}

static void put_requests(out_t *out, const rb_trace_t *t)
{
    uint64_t due_ns = 0;
    int64_t last = 0;
    for (uint32_t i = 0; i < t->nrequests; i++) {
        const rb_trace_request_t *r = &t->requests[i];
        const uint64_t figures[] = {r->due_ns - due_ns, r->input_tokens, r->output_tokens,
                                    r->session,         r->nprompt,      r->ndecode};
        for (size_t k = 0; k < RB_LEN(figures); k++)
            put(out, figures[k]);
        due_ns = r->due_ns;
        for (uint64_t k = r->first; k < r->first + r->nprompt + r->ndecode; k++) {
            put(out, zigzag((int64_t)t->blocks[k] - last));
            last = t->blocks[k];
        }
    }
}

int rb_trace_pack(const rb_trace_t *t, uint8_t **ret_data, size_t *ret_size, rb_err_t *err)
{
    out_t out = {.data = rb_calloc(1, 4096), .size = MAGIC_BYTES, .room = 4096};
    const uint64_t head[] = {t->block_tokens, t->lengths_only, t->nrequests, t->nblocks,
                             t->distinct,     t->nsessions,    t->period_ns};
    memcpy(out.data, MAGIC, MAGIC_BYTES);
    for (size_t i = 0; i < RB_LEN(head); i++)
        put(&out, head[i]);
    put_requests(&out, t);
    uint64_t sum = checksum(out.data, out.size);
    out.data = rb_realloc(out.data, out.size + SUM_BYTES);
    for (int i = 0; i < SUM_BYTES; i++)
        out.data[out.size++] = (uint8_t)(sum >> 8 * i);
    if (out.size > RB_MAX_TRACE_PACKED) {
        free(out.data);
        return rb_err_set(err, RB_ERR_INPUT,
                          "the trace takes %zu bytes on its way to the agents, %d at most: use "
                          "fewer of its requests",
                          out.size, RB_MAX_TRACE_PACKED);
    }
    *ret_data = out.data;
    *ret_size = out.size;
    return 0;
}

typedef struct {
    const uint8_t *at, *end;
    bool failed; /* sticks; what is read from there on is 0 */
} in_t;

static uint64_t take(in_t *in, uint64_t max)
{
    uint64_t value = 0;
    for (unsigned shift = 0; !in->failed; shift += 7) {
        if (in->at == in->end || shift > 63) {
            in->failed = true;
            break;
        }
        uint8_t byte = *in->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    in->failed |= value > max;
    return in->failed ? 0 : value;
}

/* Sizes that what follows can bear out. */
static void take_head(in_t *in, rb_trace_t *t)
{
    size_t rest = (size_t)(in->end - in->at);
    t->block_tokens = (uint32_t)take(in, UINT32_MAX);
    t->lengths_only = take(in, 1) == 1;
    t->nrequests = (uint32_t)take(in, RB_MIN((size_t)RB_MAX_TRACE_REQUESTS, rest / REQUEST_BYTES));
    t->nblocks = take(in, rest);
    t->distinct = (uint32_t)take(in, rest);
    t->nsessions = (uint32_t)take(in, rest);
    t->period_ns = take(in, UINT64_MAX);
    in->failed |= t->nrequests == 0 || t->block_tokens == 0 || t->period_ns == 0;
}

static void take_blocks(in_t *in, rb_trace_t *t, const rb_trace_request_t *r, int64_t *last)
{
    for (uint64_t k = r->first; k < r->first + r->nprompt + r->ndecode && !in->failed; k++) {
        int64_t id = 0;
        in->failed |= __builtin_add_overflow(*last, unzigzag(take(in, UINT64_MAX)), &id) ||
                      id < 0 || id >= (int64_t)t->distinct;
        t->blocks[k] = (uint32_t)id;
        *last = id;
    }
}

static void take_requests(in_t *in, rb_trace_t *t)
{
    uint64_t due_ns = 0, at = 0;
    int64_t last = 0;
    t->requests = rb_calloc(t->nrequests, sizeof(*t->requests));
    t->blocks = rb_calloc(t->nblocks, sizeof(*t->blocks));
    for (uint32_t i = 0; i < t->nrequests && !in->failed; i++) {
        rb_trace_request_t *r = &t->requests[i];
        in->failed |= __builtin_add_overflow(due_ns, take(in, INT64_MAX), &due_ns);
        r->due_ns = due_ns;
        r->first = at;
        r->input_tokens = (uint32_t)take(in, UINT32_MAX);
        r->output_tokens = (uint32_t)take(in, UINT32_MAX);
        r->session = (uint32_t)take(in, t->nsessions == 0 ? 0 : t->nsessions - 1);
        r->nprompt = (uint32_t)take(in, RB_MIN(t->nblocks - at, (uint64_t)RB_MAX_TRACE_BLOCKS));
        r->ndecode =
            (uint32_t)take(in, RB_MIN(t->nblocks - at - r->nprompt, (uint64_t)RB_MAX_TRACE_BLOCKS));
        take_blocks(in, t, r, &last);
        at += r->nprompt + r->ndecode;
    }
    in->failed |= at != t->nblocks;
}

static bool is_whole(const uint8_t *data, size_t size)
{
    uint64_t sum = 0;
    if (size < MAGIC_BYTES + SUM_BYTES || size > RB_MAX_TRACE_PACKED ||
        memcmp(data, MAGIC, MAGIC_BYTES) != 0)
        return false;
    for (int i = 0; i < SUM_BYTES; i++)
        sum |= (uint64_t)data[size - SUM_BYTES + (size_t)i] << 8 * i;
    return sum == checksum(data, size - SUM_BYTES);
}

rb_trace_t *rb_trace_unpack(const void *data, size_t size, rb_err_t *err)
{
    RB_AUTO(rb_trace_destroy) rb_trace_t *t = rb_calloc(1, sizeof(*t));
    const uint8_t *bytes = data;
    if (!is_whole(bytes, size)) {
        rb_err_set(err, RB_ERR_NET, "the trace of %zu bytes is damaged: its checksum differs",
                   size);
        return NULL;
    }
    in_t in = {bytes + MAGIC_BYTES, bytes + size - SUM_BYTES, false};
    take_head(&in, t);
    if (!in.failed)
        take_requests(&in, t);
    if (in.failed || in.at != in.end) {
        rb_err_set(err, RB_ERR_NET, "the trace of %zu bytes is no trace", size);
        return NULL;
    }
    return RB_MOVE(t);
}
