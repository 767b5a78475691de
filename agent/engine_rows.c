#include <inttypes.h>

#include "agent/backend/uring.h"
#include "agent/cgroup.h"
#include "agent/engine_verify.h"
#include "common/clock.h"
#include "common/units.h"

static int64_t at_ns(const rb_engine_t *e, uint64_t local_ns)
{
    return rb_timeline_at_ns(&e->line, local_ns);
}

static const char *what_failed(const rb_io_error_t *error, char *buf, size_t size)
{
    if (error->res < 0)
        return strerror(-error->res);
    snprintf(buf, size, "only %" PRId32 " of %" PRIu32 " bytes", error->res, error->size_bytes);
    return buf;
}

int rb_engine_io_error(const rb_worker_t *w, const rb_io_error_t *error, rb_err_t *err)
{
    const char *path = w->o.subject->at.path;
    char what[RB_VERIFY_TEXT], bs[RB_FMT_SIZE], offset[RB_FMT_SIZE];
    if (error->found.verdict != RB_VERIFY_OK)
        return rb_err_set(err, RB_ERR_IO, "verify: %.160s %s", path,
                          rb_verify_text(&error->found, what, sizeof(what)));
    if (error->op == RB_OP_COUNT)
        return rb_err_set(err, RB_ERR_IO, "%s: submit I/O to %s: %s", w->o.backend->name, path,
                          what_failed(error, what, sizeof(what)));
    return rb_err_set(err, RB_ERR_IO, "%s %s at %s of %s: %s", rb_op_names[error->op],
                      rb_fmt_bytes(bs, sizeof(bs), error->size_bytes),
                      rb_fmt_bytes(offset, sizeof(offset), error->offset_bytes), path,
                      what_failed(error, what, sizeof(what)));
}

typedef struct {
    rb_row_emit_fn *emit;
    void *ctx;
} sink_t;

static void emit_event(const rb_engine_t *e, sink_t sink, int64_t when_ns, const char *kind,
                       char *text)
{
    rb_row_t row = {.kind = RB_ROW_EVENT};
    char word[32];
    snprintf(word, sizeof(word), "%s", kind);
    row.event = (rb_row_event_t){(int32_t)e->phase_index, when_ns, word, text};
    sink.emit(sink.ctx, &row);
}

static void emit_drives(const rb_engine_t *e, sink_t sink)
{
    rb_drive_ref_t *drives = rb_calloc(e->nsubjects, sizeof(*drives));
    for (size_t i = 0; i < e->nsubjects; i++) {
        rb_subject_t *at = &e->subjects[i].at;
        drives[i] = (rb_drive_ref_t){at->target, at->drive, at->path, at->size_bytes};
    }
    rb_row_t row = {.kind = RB_ROW_DRIVES};
    row.drives = (rb_row_drives_t){e->phase_index, e->nsubjects, drives};
    sink.emit(sink.ctx, &row);
    free(drives);
}

static void emit_layout(const rb_engine_t *e, sink_t sink, const rb_worker_subject_t *s)
{
    rb_row_t row = {.kind = RB_ROW_LAYOUT};
    row.layout = (rb_row_layout_t){.phase = e->phase_index,
                                   .target = s->at.target,
                                   .drive = s->at.drive,
                                   .reused = !s->at.needs_layout,
                                   .ops = s->layout.ops,
                                   .bytes = s->layout.bytes,
                                   .took_ns = s->layout.took_ns};
    rb_hist_to_sparse(s->layout.service, &row.layout.service);
    sink.emit(sink.ctx, &row);
    rb_hist_sparse_clear(&row.layout.service);
}

static const char *job_name(const rb_engine_t *e, const rb_worker_t *w)
{
    return e->phase->jobs[w->o.job_index]->name;
}

/* What is not as the plan would have it: once for each drive of a job, as its workers are alike. */
static void emit_told(const rb_engine_t *e, sink_t sink, const rb_worker_t *w)
{
    char text[RB_MAX_TEXT];
    for (uint32_t i = 0; w->o.number == 0 && i < w->told.n; i++) {
        snprintf(text, sizeof(text), "job '%.60s' on %.170s: %s", job_name(e, w),
                 w->o.subject->at.path, w->told.text[i]);
        emit_event(e, sink, 0, "fallback", text);
    }
}

/* The scheduler holds all threads back for the rest of a period, once they have used it up. */
static void emit_cpu_quota(const rb_engine_t *e, sink_t sink)
{
    char text[RB_MAX_TEXT];
    double cpus = rb_cgroup_cpus("");
    if (cpus == 0)
        return;
    snprintf(text, sizeof(text),
             "the agent's control group may use %.2f CPUs: latencies may include the time that it "
             "is held back",
             cpus);
    emit_event(e, sink, 0, "cpu_quota", text);
}

static void emit_batched(const rb_engine_t *e, sink_t sink, const rb_worker_t *w)
{
    char text[RB_MAX_TEXT];
    snprintf(text, sizeof(text),
             "job '%.60s': a wait is for %" PRIu32 " completions, so the first of them are seen "
             "late: latencies include that",
             job_name(e, w), w->wait_min);
    emit_event(e, sink, 0, "batched_reap", text);
}

/* Files and devices alike: fallocate blocks, so that a ring leaves it to threads of the kernel's.
 */
static bool goes_by_fallocate(const rb_worker_t *w)
{
    bool holes = rb_block_ops(w->o.job) & 1u << RB_OP_TRIM && !w->o.subject->at.is_device;
    return w->o.backend == &rb_backend_uring && (w->zeroes || holes);
}

static void emit_fallocate(const rb_engine_t *e, sink_t sink, const rb_worker_t *w)
{
    char text[RB_MAX_TEXT];
    snprintf(
        text, sizeof(text),
        "job '%.60s': %s by fallocate, which the kernel's worker threads do%s: results measure "
        "them as well",
        job_name(e, w), w->zeroes ? "write_mode: zeroes goes" : "trims go",
        w->o.subject->at.is_device ? ", one at a time on a device" : "");
    emit_event(e, sink, 0, "iowq", text);
}

static void emit_ready(const rb_engine_t *e, sink_t sink)
{
    emit_drives(e, sink);
    rb_engine_place_rows(e, sink.emit, sink.ctx);
    emit_cpu_quota(e, sink);
    for (size_t i = 0; i < e->nworkers; i++) {
        const rb_worker_t *w = e->workers[i];
        bool first_of_job = i == 0 || e->workers[i - 1]->o.job_index != w->o.job_index;
        emit_told(e, sink, w);
        if (first_of_job && w->wait_min > 1)
            emit_batched(e, sink, w);
        if (first_of_job && goes_by_fallocate(w))
            emit_fallocate(e, sink, w);
    }
    for (size_t i = 0; i < e->nsubjects; i++) {
        rb_worker_subject_t *s = &e->subjects[i];
        char text[RB_MAX_TEXT];
        if (s->used && !s->at.is_device)
            emit_layout(e, sink, s);
        if (!atomic_load(&s->iowq))
            continue;
        snprintf(text, sizeof(text),
                 "%.300s: refuses non-blocking I/O, so the kernel's worker threads do it: results "
                 "measure them as well",
                 s->at.path);
        emit_event(e, sink, 0, "iowq", text);
    }
}

static void emit_worker(const rb_engine_t *e, sink_t sink, const rb_worker_t *w)
{
    const rb_worker_account_t *a = &w->account;
    rb_row_t row = {.kind = RB_ROW_WORKER};
    row.worker = (rb_row_worker_t){
        .phase = e->phase_index,
        .job = w->o.job_index,
        .target = w->o.subject->at.target,
        .drive = w->o.subject->at.drive,
        .worker = w->o.number,
        .first_due_at_ns = a->first_due_ns ? at_ns(e, a->first_due_ns) : 0,
        .first_submit_at_ns = a->first_submit_ns ? at_ns(e, a->first_submit_ns) : INT64_MIN,
        .done_at_ns = a->done_ns ? at_ns(e, a->done_ns) : 0,
        .end_at_ns = a->end_ns ? at_ns(e, a->end_ns) : 0,
        .stopped_at_ns = a->end_ns ? at_ns(e, RB_MAX(a->end_ns, a->stopped_ns)) : 0,
        .finished = a->finished,
        .unfinished = a->unfinished,
        .oldest_unfinished_ns = a->oldest_unfinished_ns,
        .cpu_ns = a->cpu_ns,
        .wall_ns = a->wall_ns,
        .offered_ops = a->offered_ops};
    rb_hist_to_sparse(w->turn, &row.worker.turn);
    if (w->lateness != NULL)
        rb_hist_to_sparse(w->lateness, &row.worker.lateness);
    sink.emit(sink.ctx, &row);
    rb_hist_sparse_clear(&row.worker.turn);
    rb_hist_sparse_clear(&row.worker.lateness);
}

static void emit_kernel(const rb_engine_t *e, sink_t sink, const rb_worker_subject_t *s)
{
    rb_row_t row = {.kind = RB_ROW_KERNEL};
    row.kernel.phase = e->phase_index;
    row.kernel.target = s->at.target;
    row.kernel.drive = s->at.drive;
    for (size_t i = 0; i < RB_LEN(row.kernel.op); i++) {
        row.kernel.op[i].ios = s->after.op[i].ios - s->before.op[i].ios;
        row.kernel.op[i].sectors = s->after.op[i].sectors - s->before.op[i].sectors;
    }
    sink.emit(sink.ctx, &row);
}

/* Where errors do not end the phase: how many of each kind there were. */
static void emit_error_kinds(const rb_engine_t *e, sink_t sink, const rb_worker_t *w)
{
    char text[RB_MAX_TEXT];
    for (uint32_t i = 0; i < w->account.errors.nkinds; i++) {
        const rb_error_kind_t *kind = &w->account.errors.kinds[i];
        if (kind->op == RB_OP_COUNT)
            continue;
        const char *what = kind->res < 0 ? strerror(-kind->res) : "fewer bytes than asked for";
        if (kind->verdict != RB_VERIFY_OK)
            what = rb_verdict_names[kind->verdict];
        snprintf(text, sizeof(text), "%.300s: %" PRIu64 " x %s: %s%s", w->o.subject->at.path,
                 kind->count, rb_op_names[kind->op],
                 kind->verdict != RB_VERIFY_OK ? "verify: " : "", what);
        emit_event(e, sink, at_ns(e, w->account.end_ns), "io_errors", text);
    }
}

static void emit_hung(const rb_engine_t *e, sink_t sink, rb_worker_t *w)
{
    char text[RB_MAX_TEXT];
    for (const rb_hung_op_t *op; (op = rb_hung_take(&w->hung)) != NULL;) {
        snprintf(text, sizeof(text),
                 "%s of %" PRIu32 " bytes at offset %" PRIu64
                 " of %.300s: not complete after %.1f s",
                 rb_op_names[op->op], op->size_bytes, op->offset_bytes, w->o.subject->at.path,
                 (double)op->age_ns / (double)RB_NS_PER_S);
        emit_event(e, sink, at_ns(e, op->at_ns), "io_hung", text);
        rb_thin_event(e->thin, sink.emit, sink.ctx);
    }
}

static void emit_error(const rb_engine_t *e, sink_t sink, const rb_worker_t *w,
                       const rb_io_error_t *error)
{
    char text[RB_MAX_TEXT], what[80];
    rb_err_t err;
    if (error->found.verdict != RB_VERIFY_OK) {
        rb_engine_io_error(w, error, &err);
        emit_event(e, sink, at_ns(e, error->at_ns), "verify_error", err.text);
        return;
    }
    snprintf(text, sizeof(text), "%s of %" PRIu32 " bytes at offset %" PRIu64 " of %.300s: %s",
             error->op < RB_OP_COUNT ? rb_op_names[error->op] : "submission", error->size_bytes,
             error->offset_bytes, w->o.subject->at.path, what_failed(error, what, sizeof(what)));
    emit_event(e, sink, at_ns(e, error->at_ns), "io_error", text);
}

static void emit_worker_events(const rb_engine_t *e, sink_t sink, const rb_worker_t *w)
{
    const rb_worker_account_t *a = &w->account;
    char text[RB_MAX_TEXT];
    for (uint32_t i = 0; i < a->errors.nfirst; i++)
        emit_error(e, sink, w, &a->errors.first[i]);
    if (a->errors.tolerated != 0)
        emit_error_kinds(e, sink, w);
    if (a->cancelled == 0)
        return;
    snprintf(text, sizeof(text),
             "%.300s: %" PRIu64
             " operations were not complete %d s after the end and were cancelled",
             w->o.subject->at.path, a->cancelled, RB_DRAIN_S);
    emit_event(e, sink, at_ns(e, a->end_ns), "drain_cancelled", text);
}

typedef struct {
    const rb_engine_t *engine;
    sink_t sink;
} told_t;

static void emit_verify(void *ctx, const char *kind, char *text)
{
    const told_t *to = ctx;
    emit_event(to->engine, to->sink, at_ns(to->engine, rb_clock_now_ns()), kind, text);
}

static void emit_last(const rb_engine_t *e, sink_t sink)
{
    for (size_t i = 0; i < e->nworkers; i++) {
        emit_worker(e, sink, e->workers[i]);
        emit_worker_events(e, sink, e->workers[i]);
    }
    rb_engine_verify_tell(e, emit_verify, &(told_t){e, sink});
    for (size_t i = 0; i < e->nsubjects; i++)
        if (rb_worker_subject_counted(&e->subjects[i]))
            emit_kernel(e, sink, &e->subjects[i]);
    rb_engine_kv_last(e, sink.emit, sink.ctx);
    rb_engine_cpu_rows(e, sink.emit, sink.ctx);
}

typedef struct {
    rb_thin_t *thin;
    sink_t sink;
} thinned_t;

static void thin_window(void *ctx, rb_row_t *row)
{
    thinned_t *t = ctx;
    rb_thin_window(t->thin, row, t->sink.emit, t->sink.ctx);
}

void rb_engine_rows(rb_engine_t *engine, rb_row_emit_fn *emit, void *ctx)
{
    sink_t sink = {emit, ctx};
    if (engine->state == RB_ENGINE_PREPARING || engine->state == RB_ENGINE_FAILED)
        return;
    if (!engine->told_ready)
        emit_ready(engine, sink);
    engine->told_ready = true;
    if (engine->state == RB_ENGINE_READY)
        return;
    for (size_t i = 0; i < engine->nworkers; i++)
        emit_hung(engine, sink, engine->workers[i]);
    rb_engine_kv_rows(engine, emit, ctx);
    thinned_t thinned = {engine->thin, sink};
    rb_sampler_rows(engine->sampler, thin_window, &thinned);
    if (engine->state == RB_ENGINE_DRAINED && !engine->told_last) {
        rb_thin_end(engine->thin, emit, ctx);
        emit_last(engine, sink);
        engine->told_last = true;
    }
}
