/* kv_hosts.h - the hosts that a job's KV cache lies on, and their drives, as the planner takes
 * them. Main thread; pure.
 */
#pragma once

#include "proto/select.h"

typedef struct {
    size_t n;
    Rackbench__Label *const *labels; /* [n] */
} rb_kv_labels_t;

typedef struct {
    size_t n;
    Rackbench__KvHost **hosts; /* [n] */
} rb_kv_hosts_t;

/* Adds a host that takes part in the job, with the job's drives among what it has loaded. false: it
 * takes no part. Labels are borrowed for as long as the list lives. */
bool rb_kv_hosts_add(rb_kv_hosts_t *list, const Rackbench__Plan *plan, const Rackbench__Job *job,
                     const Rackbench__Loaded *loaded, const rb_kv_labels_t *labels);
void rb_kv_hosts_clear(rb_kv_hosts_t *list);
