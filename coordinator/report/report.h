/* report.h - one result in the format that was asked for. Main thread. */
#pragma once

#include "coordinator/options.h"
#include "coordinator/result.h"

/* RB_ERR_IO where the file cannot be written. */
int rb_report(FILE *out, const rb_result_t *result, const rb_options_t *options, rb_err_t *err);
