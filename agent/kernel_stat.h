/* kernel_stat.h - the kernel's own counters of a block device, as a witness for ours.
 *
 * Main thread; reads one sysfs file. Source: Documentation/block/stat.rst.
 */
#pragma once

#include <sys/types.h>

#include "proto/sample.h"

typedef struct {
    rb_kernel_counter_t op[3]; /* read, write, discard */
} rb_kernel_stat_t;

/* Of a block device, whole or partition; path is for the message. RB_ERR_IO names it. */
int rb_kernel_stat_read(dev_t rdev, const char *path, rb_kernel_stat_t *ret_stat, rb_err_t *err);
/* The device that path leads to now. RB_ERR_IO. */
int rb_kernel_stat_device(const char *path, dev_t *ret_rdev, rb_err_t *err);
