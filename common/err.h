/* err.h - the one way an error travels: a code and one sentence, filled where it is known.
 *
 * A fallible function returns 0 or -1 (constructors: pointer or NULL) and fills `err`. Who adds
 * knowledge wraps it; main prints it once. Hot paths return -errno and never use this.
 */
#pragma once

#include "common/base.h"

/* The exit status of the programs, by interfaces.md. */
typedef enum {
    RB_OK = 0,
    RB_ERR_INPUT = 1,    /* plan, argument, host list, missing directory */
    RB_ERR_UNSAFE = 2,   /* the guard refused */
    RB_ERR_NET = 3,      /* network, protocol, clock, strict_skew */
    RB_ERR_IO = 4,       /* I/O, full disk, verify */
    RB_ERR_LOST = 5,     /* a host was lost */
    RB_ERR_INTERNAL = 6, /* our fault */
    RB_ERR_INTERRUPTED = 130
} rb_code_t;

typedef struct {
    rb_code_t code;
    char text[504];
} rb_err_t;

/* Sets code and text; returns -1 so that `return rb_err_set(...)` reads well. */
int rb_err_set(rb_err_t *err, rb_code_t code, const char *fmt, ...) RB_PRINTF(3, 4);
/* Puts "prefix: " before the text; returns -1. */
int rb_err_wrap(rb_err_t *err, const char *fmt, ...) RB_PRINTF(2, 3);
/* Sets the text to "fmt: strerror(errnum)"; ENOENT, ENOTDIR, EINVAL and EACCES are RB_ERR_INPUT,
 * the rest RB_ERR_IO. */
int rb_err_errno(rb_err_t *err, int errnum, const char *fmt, ...) RB_PRINTF(3, 4);
