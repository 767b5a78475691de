/* run_report.h - what stands at the end of a run: result.json in its directory, and the report.
 *
 * Main thread.
 */
#pragma once

#include "coordinator/merge.h"
#include "coordinator/options.h"

/* Writes result.json, over an older one if need be (whole, or not at all), and prints the report. A
 * run that never came to a phase has no table to show. */
int rb_run_report(const char *directory, const rb_fold_t *fold, const rb_options_t *options,
                  const rb_err_t *outcome, rb_err_t *err);

/* Tells how to get the rows that so many hosts may still hold. */
void rb_run_hint(const char *directory, size_t hosts);
