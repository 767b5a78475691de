/* cgroup.h - what the control groups that this process is in leave it: memory and CPU time.
 *
 * Of version 1 and 2, where they are mounted at /sys/fs/cgroup; the group itself and all above it,
 * as each of them limits. Any thread; a few small files. Source: Documentation/admin-guide/
 * cgroup-v2.rst (memory.max, cpu.max), cgroup-v1/memory.rst (limit_in_bytes, usage_in_bytes,
 * memory.stat), scheduler/sched-bwc.rst (cfs_quota_us).
 */
#pragma once

#include "common/base.h"

/* root: "" or, for a test, where another /proc and /sys begin. */

/* The smallest room below a limit [bytes]: what the page cache holds and nobody uses counts as
 * free. UINT64_MAX: no limit. */
uint64_t rb_cgroup_memory_room_bytes(const char *root);
/* The smallest CPU quota, in CPUs; 0: none. */
double rb_cgroup_cpus(const char *root);
