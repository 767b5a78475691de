/* kernel_stat.h - the kernel's own counters of a block device, as a witness for ours.
 *
 * Main thread; reads one sysfs file. Source: Documentation/block/stat.rst.
 */
#pragma once

#include "proto/sample.h"

typedef struct {
    rb_kernel_counter_t op[3]; /* read, write, discard */
} rb_kernel_stat_t;

/* Of the block device at path, whole or partition. RB_ERR_IO names it. */
int rb_kernel_stat_read(const char *path, rb_kernel_stat_t *ret_stat, rb_err_t *err);
