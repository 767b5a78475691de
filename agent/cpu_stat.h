/* cpu_stat.h - how busy the host's CPUs were between two looks, by the kernel's own count.
 *
 * /proc/stat counts clock ticks (10 ms): an interval of a second tells percents, a shorter one
 * less. Main thread; one file, under a millisecond on a hundred CPUs. Source: proc(5);
 * Documentation/filesystems/proc.rst.
 */
#pragma once

#include "common/cpu_list.h"
#include "proto/sample.h"

typedef struct {
    uint64_t work, softirq, steal, idle; /* ticks; work holds softirq; all 0: not online */
} rb_cpu_ticks_t;

typedef struct {
    uint64_t at_ns;    /* this host's clock */
    uint64_t agent_ns; /* CPU time of this process */
    rb_cpu_ticks_t cpus[RB_MAX_CPUS];
} rb_cpu_stat_t;

/* -1: this kernel does not tell. */
int rb_cpu_stat_read(rb_cpu_stat_t *ret);
/* The lines of /proc/stat; those of CPUs alone count. -1: a line of a CPU is not as documented. */
int rb_cpu_stat_parse(const char *text, rb_cpu_stat_t *ret);
/* CPUs that were online at both looks and counted between them into ret [RB_MAX_CPUS]; how many. */
size_t rb_cpu_stat_shares(const rb_cpu_stat_t *from, const rb_cpu_stat_t *to, rb_cpu_share_t *ret);
/* Of all these CPUs together [ppm]. */
uint32_t rb_cpu_stat_steal_ppm(const rb_cpu_share_t *shares, size_t n);
