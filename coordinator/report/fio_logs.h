/* fio_logs.h - the series as fio's log files, for the tools that read these. Main thread.
 *
 * A file for each phase, host and kind: PHASE.HOST_bw.STEP.log (KiB/s), and likewise iops, clat
 * (mean service time), lat (mean response time) and slat (lat - clat: from due to submission) [ns].
 * A line for each window of the measured interval and kind of operation: end of the window since T0
 * [ms], value, direction (0 read, 1 write, 2 trim), 0: the four columns that all of fio's tools
 * take. In names, what is no letter, digit or one of ._- is '_'. Source of the format: fio 3.33
 * HOWTO, "Log file formats".
 */
#pragma once

#include "coordinator/result.h"

/* Makes the directory if it is not there. RB_ERR_INPUT, RB_ERR_IO. */
int rb_report_fio_logs(const char *directory, const rb_result_t *result, rb_err_t *err);
