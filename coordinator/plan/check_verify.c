#include <inttypes.h>

#include "common/units.h"
#include "coordinator/plan/check_rules.h"
#include "coordinator/plan/resolve.h"
#include "coordinator/plan/search.h"

/* Whichever of the two the job asks for; NULL: neither. */
static const char *verify_key(const Rackbench__Job *job)
{
    return job->verify ? "verify" : job->verify_only ? "verify_only" : NULL;
}

/* Who reads must know that what it reads was written, and in one piece. */
static int verify_mode(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    const char *key = verify_key(job);
    if (!key)
        return 0;
    if (job->verify && job->verify_only)
        return rb_rule_fail(s, "verify_only",
                            "verify and verify_only exclude each other; keep one");
    if (rb_rw_mixes(job->rw))
        return rb_rule_fail(s, key,
                            "%s needs a job that only reads or only writes; put reads and writes "
                            "in separate phases",
                            key);
    if (rb_rw_trims(job->rw) || job->rwmixtrim > 0)
        return rb_rule_fail(s, key, "%s: what is trimmed has no data to check; leave one out", key);
    if (job->verify_only && rb_rw_writes(job->rw))
        return rb_rule_fail(s, key,
                            "verify_only needs rw: read or rw: randread; a job that writes takes "
                            "verify");
    return 0;
}

static int verify_blocks(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    const char *key = verify_key(job), *other = NULL;
    if (!key)
        return 0;
    if (job->bssplit || job->has_blockalign_bytes)
        return rb_rule_fail(s, key, "%s needs blocks of one size side by side; leave out %s", key,
                            job->bssplit ? "bssplit" : "blockalign");
    if (job->bs_bytes % RB_SECTOR_BYTES != 0)
        return rb_rule_fail(s, "bs_bytes", "%s needs a bs that is a multiple of 512; round it",
                            key);
    if (job->zero_buffers)
        other = "zero_buffers";
    else if (job->dedupe_percentage)
        other = "dedupe_percentage";
    else if (job->buffer_compress_percentage)
        other = "buffer_compress_percentage";
    if (other)
        return rb_rule_fail(s, key, "%s needs data of its own in each block; leave out %s", key,
                            other);
    return 0;
}

/* ---- what a job that reads is to find ---- */

static bool is_verified(const rb_scope_t *s, const Rackbench__Job *by)
{
    return by->verify && rb_rw_writes(by->rw) && strcmp(by->target, s->job->target) == 0;
}

static size_t phases_before(const rb_scope_t *s)
{
    size_t n = 0;
    while (s->plan->phases[n] != s->phase)
        n++;
    return n;
}

static int verify_has_writer(const rb_scope_t *s)
{
    if (!s->job->verify || rb_rw_writes(s->job->rw))
        return 0;
    for (size_t i = phases_before(s); i-- > 0;)
        for (size_t k = 0; k < s->plan->phases[i]->n_jobs; k++)
            if (is_verified(s, s->plan->phases[i]->jobs[k]))
                return 0;
    return rb_rule_fail(s, "verify",
                        "verify: no earlier phase writes target '%s' with verify: true; add one, "
                        "or set verify_only for the data of an earlier run",
                        s->job->target);
}

/* Where the region of a job of the scope's target ends: of a device without a size nobody knows. */
static uint64_t region_end(const rb_scope_t *s, const Rackbench__Job *job)
{
    if (job->has_size_bytes)
        return job->offset_bytes + job->size_bytes;
    return s->target->has_size_bytes ? s->target->size_bytes : UINT64_MAX;
}

static bool changes_target(const rb_scope_t *s, const Rackbench__Job *by)
{
    return (rb_job_writes(by) || rb_rw_trims(by->rw) || by->rwmixtrim > 0) &&
           strcmp(by->target, s->job->target) == 0;
}

static bool suits(const rb_scope_t *s, const Rackbench__Job *by)
{
    return is_verified(s, by) && by->bs_bytes == s->job->bs_bytes;
}

/* Of a phase: whose region holds the byte, first of all one that does not suit. Up to *end, which
 * is brought nearer, the answer is the same. */
static const Rackbench__Job *writer_in(const rb_scope_t *s, const Rackbench__Phase *phase,
                                       uint64_t at_bytes, uint64_t *end_bytes)
{
    const Rackbench__Job *found = NULL;
    for (size_t k = 0; k < phase->n_jobs; k++) {
        const Rackbench__Job *by = phase->jobs[k];
        uint64_t first = by->offset_bytes, end = region_end(s, by);
        if (!changes_target(s, by) || end <= at_bytes)
            continue;
        *end_bytes = RB_MIN(*end_bytes, first > at_bytes ? first : end);
        if (first <= at_bytes && (found == NULL || !suits(s, by)))
            found = by;
    }
    return found;
}

static int wrong_writer(const rb_scope_t *s, const Rackbench__Phase *phase,
                        const Rackbench__Job *by)
{
    char wrote[RB_FMT_SIZE];
    if (!is_verified(s, by))
        return rb_rule_fail(s, "verify",
                            "verify: job '%s' of phase '%s' changes target '%s' after it was "
                            "written with verify: true; set that there too, or read before it",
                            by->name, phase->name, by->target);
    return rb_rule_fail(s, "verify",
                        "verify: job '%s' of phase '%s' was the last to write target '%s', with a "
                        "bs of %s; read it with the same",
                        by->name, phase->name, by->target,
                        rb_fmt_bytes_exact(wrote, sizeof(wrote), by->bs_bytes));
}

/* Who came last to each part of the region must have written what this job is to find. A job may do
 * less than its whole region: what it left is the reader's to find out. */
static int verify_last_writer(const rb_scope_t *s)
{
    uint64_t end = region_end(s, s->job), next;
    if (!s->job->verify || rb_rw_writes(s->job->rw))
        return 0;
    for (uint64_t at = s->job->offset_bytes; at < end; at = next) {
        const Rackbench__Job *by = NULL;
        next = end;
        for (size_t i = phases_before(s); i-- > 0 && by == NULL;) {
            by = writer_in(s, s->plan->phases[i], at, &next);
            if (by != NULL && !suits(s, by))
                return wrong_writer(s, s->plan->phases[i], by);
        }
    }
    return 0;
}

/* ---- the log of acknowledged writes ---- */

static int log_path(const rb_scope_t *s)
{
    const char *path = s->job->verify_log;
    size_t n = strlen(path);
    if (*path == '/' && n < RB_MAX_LOG_PATH && path[n - 1] != '/')
        return 0;
    return rb_rule_fail(s, "verify_log",
                        "verify_log: '%.64s' is no path of a file on the agent's host; one from / "
                        "on, shorter than %d bytes, is right",
                        path, RB_MAX_LOG_PATH);
}

static int log_mode(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    if (job->verify ? rb_rw_writes(job->rw) : job->verify_only)
        return 0;
    return rb_rule_fail(s, "verify_log",
                        "verify_log goes with verify: true in a job that writes, which keeps the "
                        "log, or with verify_only: true, which reads it; add one of them");
}

/* The newest write of a block is known only if one worker gives out all writes to it. */
static int log_has_one_writer(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    bool apart =
        rb_rw_is_sequential(job->rw) && job->seq_layout == RACKBENCH__SEQ_LAYOUT__KIND__region;
    if (job->verify_only || job->numjobs == 1 || apart)
        return 0;
    return rb_rule_fail(s, "verify_log",
                        "verify_log needs each block to be written by one worker alone; set "
                        "numjobs: 1, or rw: write with seq_layout: region");
}

static int log_has_one_job(const rb_scope_t *s)
{
    for (size_t i = 0; i < s->phase->n_jobs && !s->job->verify_only; i++) {
        const Rackbench__Job *other = s->phase->jobs[i];
        if (other != s->job && rb_rw_writes(other->rw) &&
            strcmp(other->target, s->job->target) == 0)
            return rb_rule_fail(s, "verify_log",
                                "verify_log: job '%s' writes target '%s' in the same phase; put it "
                                "in a phase of its own, or give it another target",
                                other->name, other->target);
    }
    return 0;
}

static bool writes_log(const Rackbench__Job *job, const char *path)
{
    return job->verify_log && !job->verify_only && strcmp(job->verify_log, path) == 0;
}

/* A log is of one job: its head says which. */
static int log_is_new(const rb_scope_t *s)
{
    for (size_t i = 0; i < s->plan->n_phases && !s->job->verify_only; i++) {
        const Rackbench__Phase *phase = s->plan->phases[i];
        for (size_t k = 0; k < phase->n_jobs; k++) {
            const Rackbench__Job *other = phase->jobs[k];
            if (other == s->job)
                return 0;
            if (writes_log(other, s->job->verify_log))
                return rb_rule_fail(s, "verify_log",
                                    "verify_log: job '%s' of phase '%s' writes the same file; name "
                                    "another one",
                                    other->name, phase->name);
        }
    }
    return 0;
}

/* Each step of a search runs the whole phase, and a log is of one of them. */
static int log_is_not_searched_over(const rb_scope_t *s)
{
    int i = rb_search_job(s->phase);
    if (s->job->verify_only || i < 0)
        return 0;
    return rb_rule_fail(s, "verify_log",
                        "verify_log: the latency_target of job '%s' runs the phase in steps, and a "
                        "log is of one; put this job in a phase of its own, or leave one out",
                        s->phase->jobs[i]->name);
}

/* What is read is what the log names. */
static int log_names_blocks(const rb_scope_t *s)
{
    const Rackbench__Job *job = s->job;
    const char *key = job->has_size_bytes ? "size" : job->offset_bytes > 0 ? "offset" : NULL;
    if (!job->verify_only || !key)
        return 0;
    return rb_rule_fail(s, job->has_size_bytes ? "size_bytes" : "offset_bytes",
                        "verify_only with verify_log reads the blocks that the log names, wherever "
                        "they are; leave out %s",
                        key);
}

static rb_rule_t *const rules[] = {verify_mode, verify_blocks, verify_has_writer,
                                   verify_last_writer};
static rb_rule_t *const log_rules[] = {log_path,        log_mode,   log_has_one_writer,
                                       log_has_one_job, log_is_new, log_is_not_searched_over,
                                       log_names_blocks};

int rb_check_verify(const rb_scope_t *s)
{
    if (s->job->kv_cache != NULL) /* which writes each block before it reads it */
        return 0;
    if (rb_rules_ask(s, rules, RB_LEN(rules)) != 0)
        return -1;
    return s->job->verify_log ? rb_rules_ask(s, log_rules, RB_LEN(log_rules)) : 0;
}
