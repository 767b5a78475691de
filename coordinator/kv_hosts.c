#include "coordinator/kv_hosts.h"

static const char *rack_of(const rb_kv_labels_t *labels)
{
    for (size_t i = 0; i < labels->n; i++)
        if (strcmp(labels->labels[i]->name, "rack") == 0)
            return labels->labels[i]->value;
    return NULL;
}

bool rb_kv_hosts_add(rb_kv_hosts_t *list, const Rackbench__Plan *plan, const Rackbench__Job *job,
                     const Rackbench__Loaded *loaded, const rb_kv_labels_t *labels)
{
    if (loaded == NULL || !rb_job_on_host(job, labels->n, labels->labels))
        return false;
    Rackbench__KvHost *kv = rb_calloc(1, sizeof(*kv));
    rackbench__kv_host__init(kv);
    kv->rack = (char *)(uintptr_t)rack_of(labels);
    kv->capacity_bytes = rb_calloc(loaded->n_subjects + 1, sizeof(uint64_t));
    for (size_t i = 0; i < loaded->n_subjects; i++) {
        const Rackbench__Subject *s = loaded->subjects[i];
        if (s->target < plan->n_targets && strcmp(plan->targets[s->target]->name, job->target) == 0)
            kv->capacity_bytes[kv->n_capacity_bytes++] = s->size_bytes;
    }
    *RB_PUSH(list->hosts, list->n) = kv;
    return true;
}

void rb_kv_hosts_clear(rb_kv_hosts_t *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->hosts[i]->capacity_bytes);
        free(list->hosts[i]);
    }
    free(list->hosts);
    *list = (rb_kv_hosts_t){0};
}
