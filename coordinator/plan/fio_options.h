/* fio_options.h - every option of fio 3.33, and what becomes of it here: a row each, which drives
 * the parser. Any thread; no state.
 */
#pragma once

#include "common/base.h"

typedef enum {
    RB_FIO_ASKED, /* the mapping asks for it by its name */
    RB_FIO_COUNT, /* copied to the plan's key `text`, as the next six */
    RB_FIO_BYTES,
    RB_FIO_SECONDS,      /* a number alone is in seconds */
    RB_FIO_MICROSECONDS, /* ... in microseconds */
    RB_FIO_FLAG,
    RB_FIO_WORD,
    RB_FIO_IDLE,  /* `text` says why nothing is lost without it */
    RB_FIO_NEVER, /* no equivalent: `text` says why, or what to do */
} rb_fio_fate_t;

typedef struct {
    const char *name, *alias; /* alias may be NULL */
    rb_fio_fate_t fate;
    const char *text;
    const char *neutral; /* of RB_FIO_NEVER: values that ask for nothing, "0|none" */
} rb_fio_option_t;

/* A table ends with {0}. */
extern const rb_fio_option_t rb_fio_mapped[], rb_fio_idle[], rb_fio_never[];

/* By name or alias; NULL: fio 3.33 has none either. */
const rb_fio_option_t *rb_fio_option(const char *name);
/* "did you mean 'thread'?", or "" ; owned by the caller. */
char *rb_fio_option_advice(const char *name);
