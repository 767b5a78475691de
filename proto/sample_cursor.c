#include "proto/sample_cursor.h"

#include <inttypes.h>
#include <stdarg.h>

typedef enum { NIL, BOOLEAN, UINT, NEGATIVE, FLOAT, STR, BIN, EXT, ARRAY, MAP, INVALID } type_t;

static const char *const type_names[] = {
    [NIL] = "nil",
    [BOOLEAN] = "a boolean",
    [UINT] = "an unsigned integer",
    [NEGATIVE] = "a negative integer",
    [FLOAT] = "a float",
    [STR] = "a string",
    [BIN] = "binary",
    [EXT] = "an extension",
    [ARRAY] = "an array",
    [MAP] = "a map",
    [INVALID] = "an invalid byte",
};

typedef struct {
    type_t type;
    uint64_t n; /* the value, or the length in bytes or elements; NEGATIVE: as two's complement */
} token_t;

/* Lead bytes 0xc0 to 0xdf: the type, and how many bytes of number follow.
 * Source: github.com/msgpack/msgpack/blob/master/spec.md, "Formats". */
static const struct {
    uint8_t type, width;
} formats[32] = {
    {NIL, 0},   {INVALID, 0}, {BOOLEAN, 0},  {BOOLEAN, 0},  {BIN, 1},      {BIN, 2},      {BIN, 4},
    {EXT, 1},   {EXT, 2},     {EXT, 4},      {FLOAT, 4},    {FLOAT, 8},    {UINT, 1},     {UINT, 2},
    {UINT, 4},  {UINT, 8},    {NEGATIVE, 1}, {NEGATIVE, 2}, {NEGATIVE, 4}, {NEGATIVE, 8}, {EXT, 0},
    {EXT, 0},   {EXT, 0},     {EXT, 0},      {EXT, 0},      {STR, 1},      {STR, 2},      {STR, 4},
    {ARRAY, 2}, {ARRAY, 4},   {MAP, 2},      {MAP, 4},
};

static RB_PRINTF(3, 4) void fail(rb_cursor_t *c, const char *field, const char *fmt, ...)
{
    if (c->failed)
        return;
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    rb_err_set(c->err, RB_ERR_NET, "field '%s': %s", field, text);
    c->failed = true;
}

static size_t left(const rb_cursor_t *c)
{
    return (size_t)(c->end - c->at);
}

/* The number after a lead byte, sign-extended for the signed formats. */
static uint64_t take_number(rb_cursor_t *c, const token_t *t, unsigned width)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < width; i++)
        n = n << 8 | *c->at++;
    if (t->type == NEGATIVE && width < 8 && n >> (8 * width - 1))
        n |= UINT64_MAX << (8 * width);
    return n;
}

/* Lead bytes 0xc0 to 0xdf. */
static token_t take_format(rb_cursor_t *c, const char *field, uint8_t lead)
{
    unsigned width = formats[lead - 0xc0].width;
    token_t t = {formats[lead - 0xc0].type, 0};
    if (left(c) < width) {
        fail(c, field, "the row ends inside of it");
        return t;
    }
    t.n = take_number(c, &t, width);
    if (t.type == NEGATIVE && t.n <= INT64_MAX)
        t.type = UINT;
    if (t.type == BOOLEAN)
        t.n = lead & 1;
    if (t.type == EXT) /* with the byte that tells its type */
        t.n = 1 + (width > 0 ? t.n : 1ull << (lead - 0xd4));
    return t;
}

static token_t take_token(rb_cursor_t *c, const char *field)
{
    if (!c->failed && left(c) == 0)
        fail(c, field, "the row ends before it");
    if (c->failed)
        return (token_t){NIL, 0};
    uint8_t lead = *c->at++;
    if (lead < 0x80)
        return (token_t){UINT, lead};
    if (lead < 0x90)
        return (token_t){MAP, lead & 0x0f};
    if (lead < 0xa0)
        return (token_t){ARRAY, lead & 0x0f};
    if (lead < 0xc0)
        return (token_t){STR, lead & 0x1f};
    if (lead >= 0xe0)
        return (token_t){NEGATIVE, UINT64_MAX << 8 | lead};
    return take_format(c, field, lead);
}

static bool expect(rb_cursor_t *c, const char *field, token_t t, type_t wanted)
{
    if (t.type != wanted)
        fail(c, field, "expected %s, got %s", type_names[wanted], type_names[t.type]);
    return !c->failed;
}

/* The bytes of a string or blob; NULL after an error. */
static const uint8_t *take_payload(rb_cursor_t *c, const char *field, size_t size, size_t max)
{
    if (!c->failed && size > max)
        fail(c, field, "%zu bytes long, at most %zu are allowed", size, max);
    if (!c->failed && size > left(c))
        fail(c, field, "the row ends inside of it");
    if (c->failed)
        return NULL;
    c->at += size;
    return c->at - size;
}

uint64_t rb_cursor_u64(rb_cursor_t *c, const char *field, uint64_t max)
{
    token_t t = take_token(c, field);
    if (!expect(c, field, t, UINT))
        return 0;
    if (t.n > max)
        fail(c, field, "%" PRIu64 " is more than %" PRIu64, t.n, max);
    return c->failed ? 0 : t.n;
}

uint32_t rb_cursor_u32(rb_cursor_t *c, const char *field, uint32_t max)
{
    return (uint32_t)rb_cursor_u64(c, field, max);
}

int64_t rb_cursor_i64(rb_cursor_t *c, const char *field, int64_t min, int64_t max)
{
    token_t t = take_token(c, field);
    if (t.type != NEGATIVE && !expect(c, field, t, UINT))
        return 0;
    if (t.type == UINT && t.n > INT64_MAX) {
        fail(c, field, "%" PRIu64 " is more than %" PRId64, t.n, max);
        return 0;
    }
    int64_t value = (int64_t)t.n;
    if (value < min || value > max)
        fail(c, field, "%" PRId64 " is not in %" PRId64 " to %" PRId64, value, min, max);
    return c->failed ? 0 : value;
}

bool rb_cursor_bool(rb_cursor_t *c, const char *field)
{
    token_t t = take_token(c, field);
    return expect(c, field, t, BOOLEAN) && t.n == 1;
}

char *rb_cursor_str(rb_cursor_t *c, const char *field, size_t max)
{
    token_t t = take_token(c, field);
    if (!expect(c, field, t, STR))
        return NULL;
    const uint8_t *data = take_payload(c, field, t.n, max);
    if (data != NULL && memchr(data, 0, t.n) != NULL)
        fail(c, field, "a NUL byte in a string");
    return c->failed ? NULL : rb_strndup((const char *)data, t.n);
}

rb_bytes_t rb_cursor_bin(rb_cursor_t *c, const char *field)
{
    rb_bytes_t b = {0};
    token_t t = take_token(c, field);
    if (!expect(c, field, t, BIN))
        return b;
    const uint8_t *data = take_payload(c, field, t.n, RB_MAX_FRAME);
    if (data == NULL || t.n == 0)
        return b;
    b = (rb_bytes_t){rb_calloc(1, t.n), t.n};
    memcpy(b.data, data, t.n);
    return b;
}

size_t rb_cursor_array(rb_cursor_t *c, const char *field, size_t max, size_t least)
{
    token_t t = take_token(c, field);
    if (!expect(c, field, t, ARRAY))
        return 0;
    if (t.n > max)
        fail(c, field, "%" PRIu64 " elements, at most %zu are allowed", t.n, max);
    else if (t.n > left(c) / least)
        fail(c, field, "the row ends inside of it");
    return c->failed ? 0 : t.n;
}

size_t rb_cursor_enter(rb_cursor_t *c, const char *field, uint32_t fields)
{
    size_t n = rb_cursor_array(c, field, SIZE_MAX, 1);
    if (!c->failed && n < fields)
        fail(c, field, "expected at least %" PRIu32 " values, got %zu", fields, n);
    return c->failed ? 0 : n - fields;
}

void rb_cursor_leave(rb_cursor_t *c, size_t more)
{
    static const char field[] = "(from a newer version)";
    while (more > 0 && !c->failed) {
        token_t t = take_token(c, field);
        more--;
        switch (t.type) {
        case STR:
        case BIN:
        case EXT:
            take_payload(c, field, t.n, SIZE_MAX);
            break;
        case ARRAY:
            more += t.n;
            break;
        case MAP:
            more += 2 * t.n;
            break;
        case INVALID:
            fail(c, field, "0xc1 is not msgpack");
            break;
        case NIL:
        case BOOLEAN:
        case UINT:
        case NEGATIVE:
        case FLOAT:
            break;
        }
    }
}

/* ---------------------------------------------------------------- histogram */

static void take_pairs(rb_cursor_t *c, const char *field, rb_hist_sparse_t *h)
{
    size_t n = rb_cursor_array(c, field, 2 * RB_HIST_BUCKETS, 1);
    if (!c->failed && (n == 0 || n % 2 != 0))
        fail(c, field, "%zu numbers do not make pairs of bucket and count", n);
    if (c->failed)
        return;
    h->npairs = n / 2;
    h->pairs = rb_calloc(h->npairs, sizeof(*h->pairs));
    uint64_t index = 0, rest = h->count;
    for (size_t i = 0; i < h->npairs && !c->failed; i++) {
        uint64_t step = rb_cursor_u64(c, field, RB_HIST_BUCKETS - 1 - index);
        index += step;
        h->pairs[i].index = (uint32_t)index;
        h->pairs[i].count = rb_cursor_u64(c, field, rest);
        rest -= h->pairs[i].count;
        if (!c->failed && ((i > 0 && step == 0) || h->pairs[i].count == 0))
            fail(c, field, "pair %zu has no step or no count", i);
    }
    if (!c->failed && rest != 0)
        fail(c, field, "its pairs lack %" PRIu64 " of %" PRIu64 " counts", rest, h->count);
}

void rb_cursor_hist(rb_cursor_t *c, const char *field, rb_hist_sparse_t *ret)
{
    enum { NIL_BYTE = 0xc0 };
    *ret = (rb_hist_sparse_t){.min = UINT64_MAX};
    if (!c->failed && left(c) > 0 && *c->at == NIL_BYTE) {
        c->at++;
        return;
    }
    size_t more = rb_cursor_enter(c, field, 5);
    uint64_t count = rb_cursor_u64(c, field, UINT64_MAX);
    uint64_t min = rb_cursor_u64(c, field, UINT64_MAX);
    uint64_t max = rb_cursor_u64(c, field, UINT64_MAX);
    uint64_t sum = rb_cursor_u64(c, field, UINT64_MAX);
    if (!c->failed && (count == 0 || min > max))
        fail(c, field, "count %" PRIu64 ", min %" PRIu64 ", max %" PRIu64 " do not go together",
             count, min, max);
    if (c->failed)
        return;
    *ret = (rb_hist_sparse_t){.count = count, .min = min, .max = max, .sum = sum};
    take_pairs(c, field, ret);
    rb_cursor_leave(c, more);
}
