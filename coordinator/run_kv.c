#include "coordinator/kv_hosts.h"
#include "coordinator/merge_kv.h"
#include "coordinator/run_priv.h"

void rb_run_kv_fill(const rb_run_t *run, const rb_run_host_t *host, Rackbench__Prepare *prepare)
{
    const Rackbench__Phase *phase = rb_run_phase(run);
    rb_kv_hosts_t list = {0};
    int job = rb_kv_job(phase);
    if (job < 0 || run->opts.traces == NULL)
        return;
    const rb_bytes_t *trace = &run->opts.traces[run->plan_phase];
    prepare->has_kv_trace = prepare->has_kv_host = true;
    prepare->kv_trace = (ProtobufCBinaryData){trace->size, trace->data};
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const rb_run_host_t *other = &run->hosts[i];
        if (other->link != LINK_UP || other->loaded == NULL)
            continue;
        rb_kv_labels_t labels = {other->opts->nlabels, other->opts->labels};
        if (rb_kv_hosts_add(&list, run->opts.plan, phase->jobs[job], other->loaded->loaded,
                            &labels) &&
            other == host)
            prepare->kv_host = (uint32_t)list.n - 1;
    }
    prepare->kv_hosts = list.hosts;
    prepare->n_kv_hosts = list.n;
}

void rb_run_kv_clear(Rackbench__Prepare *prepare)
{
    rb_kv_hosts_t list = {prepare->n_kv_hosts, prepare->kv_hosts};
    rb_kv_hosts_clear(&list);
}
