#include "coordinator/plan/limits.h"

int rb_check_precondition(const rb_scope_t *s)
{
    const Rackbench__Precondition *p = s->phase->precondition;
    if (s->phase->fill != NULL)
        return rb_rule_fail(s, "fill",
                            "fill is what a precondition makes; write precondition: "
                            "{passes: 2}");
    if (p == NULL)
        return s->phase->has_recondition
                   ? rb_rule_fail(s, "recondition",
                                  "recondition without a precondition; add "
                                  "precondition: {passes: 2}, or leave it out")
                   : 0;
    rb_scope_t inner = *s;
    snprintf(inner.path, sizeof(inner.path), "%.40s.precondition", s->path);
    if (rb_limits_ask(&inner, &p->base) != 0)
        return -1;
    bool fills = p->rw == RACKBENCH__RW__MODE__write || p->rw == RACKBENCH__RW__MODE__randwrite;
    if (p->has_rw && !fills)
        return rb_rule_fail(&inner, "rw", "precondition: rw: write or randwrite is right");
    if (p->bs_bytes % RB_SECTOR_BYTES != 0)
        return rb_rule_fail(&inner, "bs_bytes", "precondition: bs is no multiple of 512");
    return 0;
}

static bool same_hosts(const Rackbench__Job *a, const Rackbench__Job *b)
{
    bool same = a->n_on == b->n_on;
    for (size_t i = 0; same && i < a->n_on; i++)
        same = strcmp(a->on[i]->name, b->on[i]->name) == 0 &&
               strcmp(a->on[i]->value, b->on[i]->value) == 0;
    return same;
}

int rb_check_filled(const rb_scope_t *s)
{
    const Rackbench__Phase *phase = s->phase;
    if (phase->precondition == NULL || phase->precondition->passes == 0)
        return 0;
    if (!phase->precondition->has_bs_bytes && phase->jobs[0]->bssplit != NULL)
        return rb_rule_fail(s, "precondition",
                            "precondition needs a bs where the job has a "
                            "bssplit: add bs: 128KiB");
    for (size_t i = 1; i < phase->n_jobs; i++)
        for (size_t k = 0; k < i; k++) {
            const Rackbench__Job *a = phase->jobs[k], *b = phase->jobs[i];
            if (a->target == NULL || b->target == NULL || strcmp(a->target, b->target) != 0 ||
                same_hosts(a, b))
                continue;
            return rb_rule_fail(s, "precondition",
                                "precondition fills target '%s' once, and jobs '%s' and '%s' use "
                                "it on different hosts; give both the same on, or put them in "
                                "separate phases",
                                a->target, a->name, b->name);
        }
    return 0;
}
