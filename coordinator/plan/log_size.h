/* log_size.h - how large the log of acknowledged writes of a job may get, for `rackbench check`.
 * Pure. */
#pragma once

#include "proto/wire.h"

enum {
    RB_LOG_WRITE_BYTES = 24, /* as agent/verify_log.h has it, as the next two */
    RB_LOG_BATCH_BYTES = 16,
    RB_LOG_BATCHES_PER_S = 100
};

/* Writes of a job on one drive or file, all its workers together; 0: not known from the plan alone
 * (bound by time without a rate, or by a device's size). */
uint64_t rb_log_writes(const Rackbench__Plan *plan, const Rackbench__Job *job);

/* "verify_log /var/log/w of job 'j0': 24 bytes a write, ...". Writes into buf [size] and returns
 * it. */
const char *rb_log_size_text(const Rackbench__Plan *plan, const Rackbench__Job *job, char *buf,
                             size_t size);
