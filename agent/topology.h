/* topology.h - the CPUs that this process may use, and how they lie: which share a core, which a
 * NUMA node.
 *
 * From hwloc, whose only door this is, and the main thread's affinity: CPUs that are offline or
 * outside the cgroup's cpuset or the affinity are not there. Main thread; some milliseconds, more
 * on hosts with hundreds of CPUs.
 */
#pragma once

#include <sched.h>

#include "common/cpu_list.h"

typedef struct {
    uint16_t cpu;  /* as the kernel counts them */
    uint16_t core; /* CPUs of one number share a physical core */
    int16_t node;  /* NUMA node as the kernel counts them; -1: none known */
} rb_topology_cpu_t;

typedef struct {
    size_t ncpus;
    rb_topology_cpu_t cpus[RB_MAX_CPUS]; /* [ncpus], ascending */
    uint32_t nnodes;                     /* NUMA nodes that these CPUs are of */
} rb_topology_t;

typedef struct {
    const char *synthetic;    /* hwloc's description of a machine; NULL: this one */
    const cpu_set_t *allowed; /* NULL: all */
} rb_topology_opts_t;

/* Of this process. RB_ERR_INTERNAL: hwloc cannot tell. */
int rb_topology_here(rb_topology_t *ret, rb_err_t *err);
/* Of any machine, for tests. RB_ERR_INPUT: the description is none. */
int rb_topology_of(const rb_topology_opts_t *opts, rb_topology_t *ret, rb_err_t *err);
