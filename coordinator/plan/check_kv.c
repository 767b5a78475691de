#include "coordinator/plan/check_rules.h"
#include "proto/kv_setup.h"

/* Keys that say what I/O comes when: of a KV cache the trace does. */
static const char *const other_keys[] = {
    "rwmixread",  "bssplit",        "blockalign",  "rwmixtrim",   "fsync",
    "fdatasync",  "rate_iops",      "rate",        "thinktime",   "io_size",
    "number_ios", "size",           "offset",      "verify_only", "verify_log",
    "write_mode", "latency_target", "norandommap", "seq_layout",  "random_distribution"};

static int alone(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    for (size_t i = 0; i < RB_LEN(other_keys); i++) {
        const ProtobufCFieldDescriptor *field =
            rb_schema_field(job->base.descriptor, other_keys[i]);
        RB_ASSERT(field != NULL);
        bool by_default = strcmp(other_keys[i], "offset") == 0 ? job->offset_bytes == 0
                          : strcmp(other_keys[i], "rwmixread") == 0
                              ? job->rwmixread == 50
                              : strcmp(other_keys[i], "seq_layout") == 0 &&
                                    job->seq_layout == RACKBENCH__SEQ_LAYOUT__KIND__region;
        if (rb_slot_is_set((rb_slot_t){(ProtobufCMessage *)(uintptr_t)&job->base, field}) &&
            !by_default)
            return rb_rule_fail(s, other_keys[i],
                                "%s: the trace of kv_cache says which blocks are read and written, "
                                "and when; leave it out",
                                other_keys[i]);
    }
    if (job->rw != RACKBENCH__RW__MODE__randrw)
        return rb_rule_fail(s, "rw", "rw: a kv_cache reads and writes; leave it out");
    if (job->numjobs != 1)
        return rb_rule_fail(s, "numjobs",
                            "numjobs: one worker serves a drive of a kv_cache; raise iodepth");
    return 0;
}

static int length(const rb_scope_t *s)
{
    if (s->job->kv_cache->trace == NULL)
        return rb_rule_fail(s, "kv_cache",
                            "kv_cache needs the requests: add trace: FILE, in Mooncake JSON lines "
                            "or another of the formats in rackbench-plan(5)");
    if (!s->job->has_runtime_ns)
        return rb_rule_fail(s, "kv_cache",
                            "kv_cache needs runtime: how long of the trace, at its speed, is run");
    if (s->plan->on_host_loss != RACKBENCH__PLAN__ON_HOST_LOSS__abort)
        return rb_rule_fail(s, "kv_cache",
                            "kv_cache: a host that is lost ends the run; set on_host_loss: abort");
    return 0;
}

/* One objective, so that a step keeps it or does not. */
static int find_max(const rb_scope_t *s)
{
    const Rackbench__KvFindMax *find = s->job->kv_cache->find_max;
    const Rackbench__KvSlo *slo = find != NULL ? find->slo : NULL;
    if (find == NULL)
        return 0;
    if (find->over != NULL && strcmp(find->over, "speed") != 0)
        return rb_rule_fail(s, "kv_cache",
                            "kv_cache: find_max: over: '%.40s'; speed is what is searched for",
                            find->over);
    unsigned n = slo == NULL ? 0u
                             : (slo->restore_p50_ns > 0) + 0u + (slo->restore_p90_ns > 0) +
                                   (slo->restore_p95_ns > 0) + (slo->restore_p99_ns > 0) +
                                   (slo->restore_p99_9_ns > 0);
    if (n != 1)
        return rb_rule_fail(s, "kv_cache",
                            "kv_cache: find_max has %u objectives; one is right, as in "
                            "slo: {restore_p99: 500ms}",
                            n);
    return 0;
}

int rb_check_kv(const rb_scope_t *s)
{
    rb_kv_setup_t setup;
    rb_err_t why = {0};
    size_t others = 0;
    if (s->job->kv_cache == NULL)
        return 0;
    for (size_t i = 0; i < s->phase->n_jobs; i++)
        others += s->phase->jobs[i]->kv_cache != NULL && s->phase->jobs[i] != s->job;
    if (others > 0)
        return rb_rule_fail(s, "kv_cache", "kv_cache: one job of a phase may have one");
    if (alone(s) < 0 || length(s) < 0 || find_max(s) < 0)
        return -1;
    if (rb_kv_setup(s->job->kv_cache, &setup, &why) < 0)
        return rb_rule_fail(s, "kv_cache", "kv_cache: %s", why.text);
    rb_kv_setup_clear(&setup);
    return 0;
}
