/* cpu_list.h - a list of CPUs as Linux and fio write it: 0-3,8.
 *
 * Pure: the coordinator checks a plan by it, the agent pins by it. Any thread.
 */
#pragma once

#include "common/err.h"

enum { RB_MAX_CPUS = 1024 }; /* of glibc's cpu_set_t */

typedef struct {
    uint32_t n;
    uint16_t cpu[RB_MAX_CPUS]; /* [n], ascending, each once */
} rb_cpu_list_t;

/* RB_ERR_INPUT, *ret untouched; the place is the caller's to put before the message. */
int rb_cpu_list_parse(const char *text, rb_cpu_list_t *ret, rb_err_t *err);
