/* report_rows.h - what the tests of the reports share. */
#pragma once

#include "tests/unit/result_rows.h"

#include "coordinator/report/text.h"

typedef int write_fn(FILE *out, const rb_result_t *result, rb_err_t *err);

static inline int write_text(FILE *out, const rb_result_t *result, rb_err_t *err)
{
    return rb_report_text(out, result, &(rb_report_opts_t){.units = RB_UNITS_BINARY}, err);
}

/* Not inlined: gcc 12 then takes open_memstream's buffer for the variable that points to it. */
__attribute__((noinline)) static char *written(const rb_fold_t *fold, write_fn *write)
{
    rb_err_t err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    RB_AUTO(rb_result_destroy) rb_result_t *result = rb_result_new(fold, &err);
    if (result == NULL || write(out, result, &err) < 0)
        fail_msg("%s", err.text);
    fclose(out);
    return text;
}
