/* options_rows.h - one row an option: what options.c parses and shows. Not for others. */
#pragma once

#include "coordinator/options.h"

typedef struct {
    const char *name;
    const char *value; /* NULL: a flag */
    const char *help;
    int (*take)(rb_options_t *o, const char *value, rb_err_t *err);
    rb_for_t commands;
} rb_option_row_t;

enum { RB_SIZE_OPTIONS = 29 };
extern const rb_option_row_t rb_size_options[RB_SIZE_OPTIONS]; /* of size alone */
