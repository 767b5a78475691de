#include "agent/engine_verify.h"

#include <inttypes.h>

static rb_watch_group_t *group_of(const rb_engine_t *e, uint32_t j, size_t subject)
{
    return &e->watches[j * e->nsubjects + subject];
}

void rb_engine_verify_init(rb_engine_t *e)
{
    e->watches = rb_calloc(e->phase->n_jobs * e->nsubjects, sizeof(*e->watches));
    e->logs = rb_calloc(e->phase->n_jobs, sizeof(*e->logs));
}

void rb_engine_verify_clear(rb_engine_t *e)
{
    for (size_t i = 0; e->watches != NULL && i < e->phase->n_jobs * e->nsubjects; i++) {
        for (uint32_t k = 0; k < e->watches[i].n; k++)
            rb_watch_destroy(&e->watches[i].items[k]);
        free(e->watches[i].items);
    }
    for (size_t j = 0; e->logs != NULL && j < e->phase->n_jobs; j++)
        rb_job_log_destroy(&e->logs[j]);
    free(e->watches);
    free(e->logs);
}

static rb_pin_t pin_of(const rb_engine_opts_t *opts, const char *log)
{
    for (size_t i = 0; i < opts->nlogs; i++)
        if (strcmp(opts->logs[i].path, log) == 0)
            return opts->logs[i].pin;
    return (rb_pin_t){0};
}

void rb_engine_verify_share(rb_engine_t *e, uint32_t j, const rb_engine_opts_t *opts)
{
    const Rackbench__Job *job = e->phase->jobs[j];
    const char **drives;
    size_t n = 0;
    if (job->verify_log == NULL)
        return;
    drives = rb_calloc(e->nsubjects + 1, sizeof(*drives));
    for (size_t i = 0; i < e->nsubjects; i++)
        if (strcmp(e->plan->targets[e->subjects[i].at.target]->name, job->target) == 0)
            drives[n++] = e->subjects[i].at.path;
    rb_job_log_opts_t o = {.job = job,
                           .crew = &e->crew,
                           .run_id = opts->run_id,
                           .phase = e->phase_index,
                           .job_index = j,
                           .ndrives = n,
                           .drives = drives,
                           .pin = pin_of(opts, job->verify_log)};
    if (n > 0)
        e->logs[j] = rb_job_log_new(&o);
    free(drives);
}

void rb_engine_verify_worker(rb_engine_t *e, size_t subject, uint32_t ordinal, rb_worker_opts_t *o)
{
    rb_watch_group_t *g = group_of(e, o->job_index, subject);
    uint32_t numjobs = o->job->has_numjobs ? o->job->numjobs : 1;
    o->phase = e->phase_index;
    o->log = e->logs[o->job_index];
    o->log_index = ordinal * numjobs + o->number;
    if ((!o->job->verify && !o->job->verify_only) || o->log != NULL)
        return;
    if (g->items == NULL) {
        g->items = rb_calloc(numjobs, sizeof(*g->items));
        g->n = numjobs;
        atomic_store(&g->left, numjobs);
    }
    o->watches = g;
}

/* By whatever target it is named. */
static bool is_written(const rb_engine_t *e, const char *path)
{
    for (size_t i = 0; i < e->nsubjects; i++)
        if (e->subjects[i].written && strcmp(e->subjects[i].at.path, path) == 0)
            return true;
    return false;
}

void rb_engine_verify_unwatch(rb_engine_t *e)
{
    for (size_t i = 0; i < e->nworkers; i++)
        if (e->workers[i]->watch != NULL && is_written(e, e->workers[i]->o.subject->at.path))
            e->workers[i]->watch = NULL;
}

void rb_engine_verify_close(rb_engine_t *e)
{
    rb_err_t err;
    for (size_t j = 0; j < e->phase->n_jobs; j++)
        if (e->logs[j] != NULL && e->logs[j]->writer != NULL &&
            rb_log_writer_close(e->logs[j]->writer, &err) < 0 && e->fault.code == RB_OK)
            e->fault = err;
}

/* ---- what is told ---- */

typedef struct {
    rb_engine_tell_fn *tell;
    void *ctx;
} sink_t;

static void tell_written(const rb_engine_t *e, uint32_t j, sink_t sink)
{
    const rb_job_log_t *log = e->logs[j];
    uint64_t writes, batches, waits = 0;
    char text[RB_MAX_TEXT];
    for (size_t i = 0; i < e->nworkers; i++)
        waits += e->workers[i]->o.job_index == j ? e->workers[i]->account.log_waits : 0;
    rb_log_writer_count(log->writer, &writes, &batches);
    int n = snprintf(text, sizeof(text),
                     "job '%.60s': %.200s: %" PRIu64 " acknowledged writes, durable in %" PRIu64
                     " batches",
                     log->job->name, log->job->verify_log, writes, batches);
    if (waits > 0)
        snprintf(text + n, sizeof(text) - (size_t)n,
                 "; new writes waited %" PRIu64 " times for it: rates and latencies include that",
                 waits);
    sink.tell(sink.ctx, "verify_log", text);
}

/* Of one drive, over the job's workers on it; w: its first. */
static void tell_read(const rb_engine_t *e, const rb_worker_t *w, sink_t sink)
{
    const rb_log_t *log = w->o.log->log;
    const rb_log_blocks_t *blocks = rb_log_of_drive(log, w->o.subject->at.path);
    uint64_t checked = 0, wrong = 0;
    char text[RB_MAX_TEXT];
    for (size_t i = 0; i < e->nworkers; i++) {
        const rb_worker_t *other = e->workers[i];
        if (other->o.job_index != w->o.job_index || other->o.subject != w->o.subject)
            continue;
        checked += other->account.checked;
        wrong += other->account.wrong;
    }
    int n = snprintf(text, sizeof(text),
                     "%.150s: read %" PRIu64 " of %zu blocks that %.150s names: %" PRIu64
                     " of them lack their newest acknowledged write",
                     w->o.subject->at.path, checked, blocks != NULL ? blocks->n : 0,
                     w->o.job->verify_log, wrong);
    if (log->rest.lost_bytes > 0)
        n += snprintf(text + n, sizeof(text) - (size_t)n,
                      "; %" PRIu64 " bytes of it, from byte %" PRIu64
                      " on, are damaged: what they name was not looked for",
                      log->rest.lost_bytes, log->rest.lost_at_bytes);
    if (log->rest.torn_bytes > 0)
        snprintf(text + n, sizeof(text) - (size_t)n,
                 "; its last %" PRIu64 " bytes are torn and were not read", log->rest.torn_bytes);
    sink.tell(sink.ctx, "verify_log", text);
}

/* Counters that were too many to watch: said, so that nobody takes them for right. */
static void tell_unwatched(const rb_worker_t *w, sink_t sink)
{
    char text[RB_MAX_TEXT];
    uint64_t blocks = w->watch != NULL && w->judges ? rb_watch_unknown(w->watch) : 0;
    if (blocks == 0)
        return;
    snprintf(text, sizeof(text),
             "job '%.60s' on %.200s: stale blocks are looked for among the writes of %d workers; "
             "%" PRIu64 " blocks of others were verified but for that",
             w->o.job->name, w->o.subject->at.path, RB_WATCH_WRITERS, blocks);
    sink.tell(sink.ctx, "verify_limited", text);
}

void rb_engine_verify_tell(const rb_engine_t *e, rb_engine_tell_fn *tell, void *ctx)
{
    sink_t sink = {tell, ctx};
    for (uint32_t j = 0; j < e->phase->n_jobs; j++)
        if (e->logs[j] != NULL && e->logs[j]->writer != NULL)
            tell_written(e, j, sink);
    for (size_t i = 0; i < e->nworkers; i++) {
        const rb_worker_t *w = e->workers[i];
        tell_unwatched(w, sink);
        if (w->o.number == 0 && w->o.log != NULL && w->o.log->log != NULL)
            tell_read(e, w, sink);
    }
}
