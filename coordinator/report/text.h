/* text.h - the result as people read it: at most 100 columns, every figure with its unit.
 *
 * Latencies are of response unless the line says service. "~" before a quantile: fewer than 10
 * operations beyond it; ">": operations still in flight at the end could raise it. Main thread.
 */
#pragma once

#include "common/units.h"
#include "coordinator/result.h"

typedef struct {
    rb_units_t units;   /* MiB/s or MB/s */
    uint32_t quantiles; /* bit i: a column for rb_quantiles[i]; 0: p50 p90 p99 p99.9 p99.99 */
} rb_report_opts_t;

/* RB_ERR_IO where the file cannot be written. */
int rb_report_text(FILE *out, const rb_result_t *result, const rb_report_opts_t *opts,
                   rb_err_t *err);
