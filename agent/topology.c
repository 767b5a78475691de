#include "agent/topology.h"

#include <errno.h>
#include <hwloc.h>

static void destroy(hwloc_topology_t *topology)
{
    if (*topology != NULL)
        hwloc_topology_destroy(*topology);
}

/* A node of memory alone (HBM, CXL) spans the CPUs of another, which has the smaller number. */
static int16_t node_of(hwloc_topology_t topology, unsigned cpu)
{
    unsigned best = INT16_MAX;
    for (hwloc_obj_t o = NULL;
         (o = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, o)) != NULL;)
        if (hwloc_bitmap_isset(o->cpuset, cpu) && o->os_index < best)
            best = o->os_index;
    return best == INT16_MAX ? -1 : (int16_t)best;
}

static bool has_node(const rb_topology_t *t, int16_t node)
{
    for (size_t i = 0; i < t->ncpus; i++)
        if (t->cpus[i].node == node)
            return true;
    return false;
}

static void add_cpu(hwloc_topology_t topology, unsigned cpu, rb_topology_t *t)
{
    hwloc_obj_t pu = hwloc_get_pu_obj_by_os_index(topology, cpu);
    if (pu == NULL)
        return;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    rb_topology_cpu_t at = {.cpu = (uint16_t)cpu,
                            .core = (uint16_t)(core != NULL ? core : pu)->logical_index,
                            .node = node_of(topology, cpu)};
    t->nnodes += at.node >= 0 && !has_node(t, at.node);
    t->cpus[t->ncpus++] = at;
}

static int load(const rb_topology_opts_t *opts, hwloc_topology_t *ret)
{
    if (hwloc_topology_init(ret) < 0) {
        *ret = NULL;
        return -1;
    }
    if (opts->synthetic != NULL && hwloc_topology_set_synthetic(*ret, opts->synthetic) < 0)
        return -1;
    return hwloc_topology_load(*ret);
}

int rb_topology_of(const rb_topology_opts_t *opts, rb_topology_t *ret, rb_err_t *err)
{
    __attribute__((cleanup(destroy))) hwloc_topology_t topology = NULL;
    if (load(opts, &topology) < 0)
        return rb_err_set(err, opts->synthetic != NULL ? RB_ERR_INPUT : RB_ERR_INTERNAL,
                          "the topology of the CPUs cannot be read: %s", strerror(errno));
    *ret = (rb_topology_t){0};
    for (unsigned cpu = 0; cpu < RB_MAX_CPUS; cpu++)
        if (opts->allowed == NULL || CPU_ISSET(cpu, opts->allowed))
            add_cpu(topology, cpu, ret);
    if (ret->ncpus == 0)
        return rb_err_set(err, RB_ERR_INTERNAL, "none of the CPUs is allowed to this process");
    return 0;
}

int rb_topology_here(rb_topology_t *ret, rb_err_t *err)
{
    cpu_set_t allowed;
    /* Fails where the kernel counts more CPUs than a cpu_set_t: then those that fit. */
    bool known = sched_getaffinity(0, sizeof(allowed), &allowed) == 0;
    rb_topology_opts_t opts = {.allowed = known ? &allowed : NULL};
    return rb_topology_of(&opts, ret, err);
}
