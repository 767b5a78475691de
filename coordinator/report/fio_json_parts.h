/* fio_json_parts.h - what the files of fio's JSON share; nobody else includes this. */
#pragma once

#include "coordinator/report/fio_json.h"
#include "coordinator/report/json_parts.h"

enum { RB_FIO_BINS = 29 * 64 }; /* 64 a group, of which the first two are one to one */

/* fio's bin of a value, the last for all beyond it; and the value that stands for a bin [ns]. */
uint32_t rb_fio_bin(uint64_t value_ns);
uint64_t rb_fio_bin_value(uint32_t bin);

/* {"min", "max", "mean", "stddev", "N"}, with "percentile" and "bins" where there are operations.
 */
typedef enum { RB_FIO_FIGURES, RB_FIO_PERCENTILES, RB_FIO_PERCENTILES_AND_BINS } rb_fio_detail_t;
json_t *rb_fio_json_lat(const rb_hist_t *h, rb_fio_detail_t detail);
/* Sets latency_ns, latency_us and latency_ms: percent of operations by their response time. */
void rb_fio_json_set_shares(json_t *job, const rb_hist_t *h);
