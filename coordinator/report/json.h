/* json.h - result.json, by interfaces.md. One of the doors to jansson (json*.c). Main thread. */
#pragma once

#include "coordinator/result.h"

/* Writes the whole document and a newline; keys in a fixed order, integers as integers. RB_ERR_IO
 * where the file cannot be written. */
int rb_report_json(FILE *out, const rb_result_t *result, rb_err_t *err);
