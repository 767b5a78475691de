/* sample_cursor.h - reads a msgpack row value by value; for proto/sample_*.c alone.
 *
 * msgpack's own reader allocates as much as an array header announces; this one allocates nothing
 * that the input's length does not bear out. The first error sticks: it names the field and sets
 * `failed`, every later read returns zero. Any thread; no state but the cursor.
 */
#pragma once

#include "common/cpu_list.h"
#include "proto/sample.h"

enum {
    RB_MAX_LABELS = 256,        /* of a host; also marks of a run */
    RB_MAX_ROW_TEXT = 4096,     /* bytes of a path or text */
    RB_MAX_ROW_DRIVES = 262144, /* per drives row: RB_MAX_TARGETS x RB_MAX_DRIVES */
};

typedef struct {
    const uint8_t *at, *end; /* borrowed */
    rb_err_t *err;           /* borrowed; set once `failed` */
    size_t more;             /* fields of the row that its first writers did not have */
    bool failed;
} rb_cursor_t;

/* What a row is called in errors, and how many fields at least follow kind and seq; NULL: unknown
 * kind. */
typedef struct {
    const char *name;
    uint32_t fields, added; /* added: to all that is written today; older rows lack them */
} rb_row_shape_t;
const rb_row_shape_t *rb_row_shape(uint64_t kind);

/* Is there a field that came to this kind of row later? Takes its place: it must be read next. */
static inline bool rb_cursor_more(rb_cursor_t *c)
{
    return !c->failed && c->more > 0 && c->more-- > 0;
}

/* Integers at most `max`, or within [min, max]. */
uint64_t rb_cursor_u64(rb_cursor_t *c, const char *field, uint64_t max);
uint32_t rb_cursor_u32(rb_cursor_t *c, const char *field, uint32_t max);
int64_t rb_cursor_i64(rb_cursor_t *c, const char *field, int64_t min, int64_t max);
bool rb_cursor_bool(rb_cursor_t *c, const char *field);
/* A string of at most `max` bytes, none of them NUL; NULL only after an error. The caller owns it.
 */
char *rb_cursor_str(rb_cursor_t *c, const char *field, size_t max);
rb_bytes_t rb_cursor_bin(rb_cursor_t *c, const char *field);
/* The length of an array: at most `max`, and short enough for what follows when an element takes
 * at least `least` bytes. */
size_t rb_cursor_array(rb_cursor_t *c, const char *field, size_t max, size_t least);
/* A nested record of at least `fields` values; returns how many more it has, for rb_cursor_leave.
 */
size_t rb_cursor_enter(rb_cursor_t *c, const char *field, uint32_t fields);
void rb_cursor_leave(rb_cursor_t *c, size_t more);
/* nil, or [count, min, max, sum, [index step, count, ...]]. */
void rb_cursor_hist(rb_cursor_t *c, const char *field, rb_hist_sparse_t *ret);
