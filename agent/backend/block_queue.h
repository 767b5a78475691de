/* block_queue.h - what the kernel says about the queue of a drive, in sysfs. Not hot. */
#pragma once

#include "common/base.h"

/* A number from /sys/block/X/queue of the drive that fd is open on, is a partition of, or has its
 * file on; 0: there is no such drive or attribute. */
uint64_t rb_block_queue(int fd, const char *attribute);
