/* placement.h - which CPUs each worker of a phase runs on.
 *
 * Pure: facts about the CPUs, the drives and the jobs in, a set of CPUs for each worker out. Any
 * thread; workers x CPUs steps.
 *
 * - list, split: what the plan names and this process may use; split: one CPU each, in turn.
 * - auto: one CPU each. No CPU gets two while another is free; then by preference: not in another
 *   job's list, of the drive's NUMA node, of a core without a worker, not of the core that the
 *   agent's main thread was on. The first workers of all drives choose before the second ones, so
 *   that drives share what is short. More workers than CPUs: none is bound.
 * - near: all CPUs of the drive's node, where the host has several nodes and this one as many cores
 *   as workers that want it; else any.
 *
 * Interrupts are not considered: which CPU serves a drive's queue follows the CPU that submits
 * (blk-mq), so that a worker near its drive has its interrupts there, too.
 */
#pragma once

#include "agent/topology.h"
#include "proto/sample.h"

typedef struct {
    rb_place_how_t how;        /* as asked for */
    const rb_cpu_list_t *list; /* of LIST and SPLIT; borrowed for the call */
    uint32_t ordinal;          /* among the workers of its job on this host */
    uint32_t number;           /* among those on its drive */
    int32_t node;              /* NUMA node of the drive; -1: not known */
} rb_place_want_t;

typedef struct {
    rb_place_how_t how; /* as it came out */
    cpu_set_t cpus;     /* all that are allowed for ANY */
    uint32_t ncpus;
    int32_t cpu;  /* the one; -1: several */
    int32_t node; /* that all of them are of; -1: several */
    int32_t drive_node;
} rb_place_t;

typedef struct {
    const rb_topology_t *topology;
    int32_t main_cpu;             /* that the main thread is on; -1: not known */
    const rb_place_want_t *wants; /* [n] */
    size_t n;
} rb_placement_opts_t;

/* Fills places [n]. RB_ERR_INPUT: a list names no CPU that is allowed here; *ret_at says whose. */
int rb_placement_choose(const rb_placement_opts_t *opts, rb_place_t *places, size_t *ret_at,
                        rb_err_t *err);

/* A set as 0-3,8 into buf [size], cut with "..." where it is longer. */
const char *rb_placement_cpus(const cpu_set_t *set, char *buf, size_t size);

/* The calling thread to its CPUs, what it allocates from here on near them. RB_ERR_INTERNAL: the
 * kernel refuses. */
int rb_placement_apply(const rb_place_t *place, rb_err_t *err);
