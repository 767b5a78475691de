/* drive_node.h - the NUMA node that a drive or a file is near.
 *
 * By sysfs: the nearest numa_node above the device; a partition has its disk's, a loop device that
 * of what it lies on, dm, md and a multipath NVMe namespace that of their parts if these agree, a
 * file that of the device under its file system. Main thread; well under a millisecond.
 */
#pragma once

#include "common/base.h"

/* Of a block device, an NVMe namespace's character device (/dev/ng0n1), a file or, where there is
 * no such file yet, its directory. -1: not known (the kernel says so on hosts with one node), or
 * several (btrfs, overlay). */
int32_t rb_drive_node(const char *path);
/* Of a block device's directory in sysfs; apart for tests. */
int32_t rb_drive_node_of_dir(const char *dir);
