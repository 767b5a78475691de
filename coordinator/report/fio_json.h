/* fio_json.h - the result as fio writes its own, for the tools that read that. Main thread.
 *
 * Two shapes. Without a host: that of `fio --client`, client_stats with an entry for each phase,
 * host and job, and "All clients" last: operations and bytes of all phases, over the sum of their
 * measured time, and percentiles of the merged histograms; the measured interval
 * counts, and nothing before or after it. With one: `jobs`, as of fio on that
 * host.
 *
 * clat is service time (submission to completion), lat is response time (due to completion), and
 * slat is not measured: its N is 0. Percentiles and bins are fio's 64 an octave, which ours nest
 * in. usr_cpu is all of the workers' CPU time, user's and system's, as they tell no less. What fio
 * has and nobody here measures (ctx, minf, iodepth_level, ...) is absent; bw_mean and its like have
 * 0 samples. Source of the layout: fio 3.33, fio 3.42 for clients; of the bins: its stat.h.
 */
#pragma once

#include "coordinator/result.h"

typedef enum { RB_FIO_JSON, RB_FIO_JSON_PLUS } rb_fio_json_t; /* plus: with bins */

/* host: NULL, or its name. RB_ERR_INPUT where no such host took part, RB_ERR_IO where out cannot be
 * written. */
int rb_report_fio_json(FILE *out, const rb_result_t *result, rb_fio_json_t kind, const char *host,
                       rb_err_t *err);
