/* size_report.h - what `rackbench size kv` prints. Main thread. */
#pragma once

#include "coordinator/options.h"

/* RB_ERR_INPUT: a format that is not there (csv). */
int rb_report_size(FILE *out, const rb_size_t *size, rb_format_t format, rb_err_t *err);
void rb_report_size_text(FILE *out, const rb_size_t *size);
void rb_report_size_json(FILE *out, const rb_size_t *size);
