#include "common/bssplit.h"
#include "common/distribution.h"
#include "common/units.h"
#include "coordinator/plan/limits.h"
#include "coordinator/plan/resolve.h"

#define NEEDS_RANDOM "needs a random rw: randread, randwrite, randrw or randtrim"

static int mixes_reads(const rb_scope_t *s)
{
    if (!s->job->has_rwmixread || rb_rw_mixes(s->job->rw))
        return 0;
    return rb_rule_fail(s, "rwmixread", "rwmixread needs rw: rw or rw: randrw");
}

static int mixes_trims(const rb_scope_t *s)
{
    if (!s->job->has_rwmixtrim || rb_rw_mixes(s->job->rw) || rb_job_writes(s->job))
        return 0;
    return rb_rule_fail(s, "rwmixtrim", "rwmixtrim needs rw: write, randwrite, rw or randrw");
}

static int syncs(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->fsync > 0 && job->fdatasync > 0)
        return rb_rule_fail(s, "fdatasync", "fsync and fdatasync exclude each other; keep one");
    if ((job->fsync == 0 && job->fdatasync == 0) || rb_job_writes(job))
        return 0;
    const char *key = job->fsync > 0 ? "fsync" : "fdatasync";
    return rb_rule_fail(s, key, "%s comes after writes, and job '%s' does none; leave it out", key,
                        job->name);
}

static int distribution(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    rb_distribution_t d;
    rb_err_t err;
    if (!job->random_distribution)
        return 0;
    if (rb_rw_is_sequential(job->rw))
        return rb_rule_fail(s, "random_distribution", "random_distribution " NEEDS_RANDOM);
    if (rb_distribution_parse(job->random_distribution, &d, &err) != 0)
        return rb_rule_fail(s, "random_distribution", "random_distribution: %s", err.text);
    return 0;
}

static int permutation(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    const char *d = job->random_distribution;
    if (!job->has_norandommap || job->norandommap)
        return 0;
    if (rb_rw_is_sequential(job->rw))
        return rb_rule_fail(s, "norandommap", "norandommap: false " NEEDS_RANDOM);
    if (d && strcmp(d, "random") != 0)
        return rb_rule_fail(s, "norandommap",
                            "norandommap: false takes each block once, which random_distribution: "
                            "%.64s cannot; keep one of them",
                            d);
    if (job->bssplit || job->has_blockalign_bytes)
        return rb_rule_fail(s, "norandommap",
                            "norandommap: false needs blocks of one size side by side; leave out "
                            "%s",
                            job->bssplit ? "bssplit" : "blockalign");
    return 0;
}

static int split_sizes(const rb_scope_t *s, const rb_bssplit_side_t *side)
{
    char got[RB_FMT_SIZE];
    for (uint32_t i = 0; i < side->nsizes; i++) {
        uint64_t bytes = side->size_bytes[i];
        rb_fmt_bytes_exact(got, sizeof(got), bytes);
        if (bytes > RB_MAX_BLOCK_BYTES)
            return rb_rule_fail(s, "bssplit", "bssplit: %s is out of range; 1B to 1GiB is right",
                                got);
        if (s->job->direct && bytes % RB_SECTOR_BYTES != 0)
            return rb_rule_fail(s, "bssplit",
                                "bssplit: %s is no multiple of 512, which direct I/O needs; round "
                                "it, or set direct: false",
                                got);
    }
    return 0;
}

static int split(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    rb_bssplit_t b;
    rb_err_t err;
    if (!job->bssplit)
        return 0;
    if (job->has_bs_bytes)
        return rb_rule_fail(s, "bssplit", "bs and bssplit exclude each other; keep one");
    if (rb_bssplit_parse(job->bssplit, &b, &err) != 0)
        return rb_rule_fail(s, "bssplit", "bssplit: %s", err.text);
    if (rb_rw_is_sequential(job->rw) && job->seq_layout == RACKBENCH__SEQ_LAYOUT__KIND__shared)
        return rb_rule_fail(s, "bssplit",
                            "seq_layout: shared needs operations of one size; set bs instead of "
                            "bssplit, or seq_layout: region");
    if (split_sizes(s, &b.side[RB_BSSPLIT_READ]) != 0)
        return -1;
    return split_sizes(s, &b.side[RB_BSSPLIT_WRITE]);
}

static int alignment(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    char got[RB_FMT_SIZE];
    if (!job->has_blockalign_bytes)
        return 0;
    if (rb_rw_is_sequential(job->rw))
        return rb_rule_fail(s, "blockalign_bytes", "blockalign " NEEDS_RANDOM);
    if (!job->direct || job->blockalign_bytes % RB_SECTOR_BYTES == 0)
        return 0;
    return rb_rule_fail(s, "blockalign_bytes",
                        "blockalign: %s is no multiple of 512, which direct I/O needs; round it, "
                        "or set direct: false",
                        rb_fmt_bytes_exact(got, sizeof(got), job->blockalign_bytes));
}

static rb_rule_t *const rules[] = {mixes_reads, mixes_trims, syncs,    distribution,
                                   permutation, split,       alignment};

int rb_check_pattern(const rb_scope_t *s)
{
    return rb_rules_ask(s, rules, RB_LEN(rules));
}
