#include "coordinator/merge_kv.h"
#include "coordinator/run_priv.h"

static const char *rack_of(const rb_run_host_t *host)
{
    for (size_t i = 0; i < host->opts->nlabels; i++)
        if (strcmp(host->opts->labels[i]->name, "rack") == 0)
            return host->opts->labels[i]->value;
    return NULL;
}

/* The drives of a job on a host: NULL if it takes no part. */
static Rackbench__KvHost *host_new(const rb_run_t *run, const rb_run_host_t *host,
                                   const Rackbench__Job *job)
{
    if (host->link != LINK_UP || host->loaded == NULL ||
        !rb_job_on_host(job, host->opts->nlabels, host->opts->labels))
        return NULL;
    const Rackbench__Loaded *loaded = host->loaded->loaded;
    Rackbench__KvHost *kv = rb_calloc(1, sizeof(*kv));
    rackbench__kv_host__init(kv);
    kv->rack = (char *)(uintptr_t)rack_of(host);
    kv->capacity_bytes = rb_calloc(loaded->n_subjects + 1, sizeof(uint64_t));
    for (size_t i = 0; i < loaded->n_subjects; i++) {
        const Rackbench__Subject *s = loaded->subjects[i];
        if (s->target < run->opts.plan->n_targets &&
            strcmp(run->opts.plan->targets[s->target]->name, job->target) == 0)
            kv->capacity_bytes[kv->n_capacity_bytes++] = s->size_bytes;
    }
    return kv;
}

void rb_run_kv_fill(const rb_run_t *run, const rb_run_host_t *host, Rackbench__Prepare *prepare)
{
    const Rackbench__Phase *phase = rb_run_phase(run);
    int job = rb_kv_job(phase);
    if (job < 0 || run->opts.traces == NULL)
        return;
    const rb_bytes_t *trace = &run->opts.traces[run->plan_phase];
    prepare->has_kv_trace = prepare->has_kv_host = true;
    prepare->kv_trace = (ProtobufCBinaryData){trace->size, trace->data};
    prepare->kv_hosts = rb_calloc(run->opts.nhosts, sizeof(Rackbench__KvHost *));
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        Rackbench__KvHost *kv = host_new(run, &run->hosts[i], phase->jobs[job]);
        if (kv == NULL)
            continue;
        if (&run->hosts[i] == host)
            prepare->kv_host = (uint32_t)prepare->n_kv_hosts;
        prepare->kv_hosts[prepare->n_kv_hosts++] = kv;
    }
}

void rb_run_kv_clear(Rackbench__Prepare *prepare)
{
    for (size_t i = 0; i < prepare->n_kv_hosts; i++) {
        free(prepare->kv_hosts[i]->capacity_bytes);
        free(prepare->kv_hosts[i]);
    }
    free(prepare->kv_hosts);
}
