/* csv.h - the series of a result in long form: one row per phase, window, host and operation kind.
 *
 * Host "cluster" is all hosts merged, told from a host of that name by the column `scope`. Sums of
 * the rows of part "main" equal the figures of result.json. `at_ns` counts from T0 of the phase,
 * `wall_ns` from 1970. Quoted by RFC 4180. Main thread.
 */
#pragma once

#include "coordinator/result.h"

/* RB_ERR_IO where the file cannot be written. */
int rb_report_csv(FILE *out, const rb_result_t *result, rb_err_t *err);
