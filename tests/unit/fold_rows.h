/* fold_rows.h - journals for the tests of fold, result and reports: built from rb_row_pack. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/merge.h"

#define MS RB_NS_PER_MS
#define S  RB_NS_PER_S

enum { FEED_HOSTS = 70 };

typedef struct {
    uint32_t host;
    rb_bytes_t row;
} feed_record_t;

/* A journal and the fold that read it as it was written. */
typedef struct {
    rb_fold_t *fold;
    uint64_t seq[FEED_HOSTS + 1];
    size_t nrecords;
    feed_record_t *records;
} feed_t;

static inline void feed_clear(feed_t *feed)
{
    for (size_t i = 0; i < feed->nrecords; i++)
        rb_bytes_clear(&feed->records[i].row);
    free(feed->records);
    rb_fold_destroy(&feed->fold);
}

static inline int feed_try(feed_t *feed, uint32_t host, rb_row_t *row, rb_err_t *err)
{
    feed_record_t *record = RB_PUSH(feed->records, feed->nrecords);
    row->seq = row->seq != 0 ? row->seq : ++feed->seq[host];
    *record = (feed_record_t){host, rb_row_pack(row)};
    return rb_fold_row(feed->fold, host, record->row.data, record->row.size, err);
}

static inline void feed_row(feed_t *feed, uint32_t host, rb_row_t row)
{
    rb_err_t err = {0};
    if (feed_try(feed, host, &row, &err) < 0)
        fail_msg("host %u: %s", host, err.text);
}

/* One target "s", jobs of phase 0 as given; phase 1 repeats phase 0. */
static inline void feed_plan(feed_t *feed, Rackbench__Job *jobs, size_t njobs)
{
    Rackbench__Target target = RACKBENCH__TARGET__INIT, *targets[] = {&target};
    Rackbench__Phase one = RACKBENCH__PHASE__INIT, two = RACKBENCH__PHASE__INIT;
    Rackbench__Phase *phases[] = {&one, &two};
    Rackbench__Plan plan = RACKBENCH__PLAN__INIT;
    Rackbench__Job *list[4];
    char *marks[] = {(char *)"insecure"};
    for (size_t i = 0; i < njobs; i++)
        list[i] = &jobs[i];
    target.name = (char *)"s";
    one.name = (char *)"one";
    two.name = (char *)"two";
    one.jobs = two.jobs = list;
    one.n_jobs = two.n_jobs = njobs;
    plan.targets = targets;
    plan.n_targets = 1;
    plan.phases = phases;
    plan.n_phases = 2;
    plan.has_interval_ns = true;
    plan.interval_ns = S;
    rb_bytes_t bytes = rb_plan_pack(&plan);
    feed->fold = rb_fold_new();
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_RUN,
                        .run = {.id = (char *)"id1",
                                .name = (char *)"demo",
                                .version = (char *)"0.1.0",
                                .started_wall_ns = 1000 * S,
                                .plan = bytes,
                                .nmarks = 1,
                                .marks = marks}});
    rb_bytes_clear(&bytes);
}

static inline Rackbench__Job feed_job(uint64_t ramp_ns, uint64_t runtime_ns, uint64_t number_ios)
{
    Rackbench__Job job = RACKBENCH__JOB__INIT;
    job.name = (char *)"j";
    job.has_iodepth = job.has_runtime_ns = job.has_ramp_time_ns = job.has_number_ios = true;
    job.iodepth = 1;
    job.ramp_time_ns = ramp_ns;
    job.runtime_ns = runtime_ns;
    job.number_ios = number_ios;
    return job;
}

static inline void feed_host(feed_t *feed, uint32_t host, const char *name, const char *label)
{
    char *labels[] = {(char *)label};
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_HOST,
                        .host = {.host = host,
                                 .name = (char *)name,
                                 .nlabels = label != NULL,
                                 .labels = labels}});
}

/* Hosts 1..n take part; the clock bound of host h is h us. T0 is 10 s after the run began. */
static inline void feed_start(feed_t *feed, uint32_t phase, uint32_t n)
{
    uint32_t hosts[FEED_HOSTS];
    uint64_t bounds[FEED_HOSTS];
    for (uint32_t i = 0; i < n; i++) {
        hosts[i] = i + 1;
        bounds[i] = (i + 1) * RB_NS_PER_US;
    }
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_PHASE_START,
                        .phase_start = {.phase = phase,
                                        .t0_ns = 500 * S + phase * 100 * S,
                                        .t0_wall_ns = 1010 * S + phase * 100 * S,
                                        .nhosts = n,
                                        .hosts = hosts,
                                        .bounds_ns = bounds}});
}

/* `n` hosts "h01".. and the start of phase 0. */
static inline void feed_begin(feed_t *feed, Rackbench__Job job, uint32_t n)
{
    feed_plan(feed, &job, 1);
    for (uint32_t h = 1; h <= n; h++) {
        char name[16];
        snprintf(name, sizeof(name), "h%02u", h);
        feed_host(feed, h, name, NULL);
    }
    feed_start(feed, 0, n);
}

static inline rb_hist_sparse_t sparse_of(const uint64_t *values_ns, size_t n)
{
    rb_hist_sparse_t sparse;
    RB_AUTO(rb_hist_destroy) rb_hist_t *h = rb_hist_new();
    for (size_t i = 0; i < n; i++)
        rb_hist_record(h, values_ns[i]);
    rb_hist_to_sparse(h, &sparse);
    return sparse;
}

/* A window of reads of 4 KiB; response is twice the service time. */
typedef struct {
    rb_part_t part;
    uint64_t index;
    uint32_t span, drive;
    bool done; /* a worker of the host has finished */
    const uint64_t *values_ns;
    size_t n;
    uint64_t inflight, errors;
} feed_window_t;

static inline void feed_window(feed_t *feed, uint32_t host, feed_window_t w)
{
    uint64_t *twice = rb_calloc(w.n + 1, sizeof(*twice));
    for (size_t i = 0; i < w.n; i++)
        twice[i] = 2 * w.values_ns[i];
    rb_cell_t cell = {.drive = w.drive,
                      .op = RB_OP_READ,
                      .ops = w.n,
                      .bytes = w.n * 4096,
                      .errors = w.errors,
                      .inflight = w.inflight,
                      .service = sparse_of(w.values_ns, w.n),
                      .response = sparse_of(twice, w.n)};
    feed_row(feed, host,
             (rb_row_t){.kind = RB_ROW_WINDOW,
                        .window = {.part = w.part,
                                   .index = w.index,
                                   .span = w.span > 0 ? w.span : 1,
                                   .all_running = !w.done,
                                   .ncells = 1,
                                   .cells = &cell}});
    rb_hist_sparse_clear(&cell.service);
    rb_hist_sparse_clear(&cell.response);
    free(twice);
}

/* n reads of 1 ms each in MAIN window `index`. */
static inline void feed_reads(feed_t *feed, uint32_t host, uint64_t index, size_t n, bool done)
{
    uint64_t *values = rb_calloc(n, sizeof(*values));
    for (size_t i = 0; i < n; i++)
        values[i] = MS;
    feed_window(
        feed, host,
        (feed_window_t){
            .part = RB_PART_MAIN, .index = index, .done = done, .values_ns = values, .n = n});
    free(values);
}

static inline rb_row_worker_t feed_worker_row(void)
{
    return (rb_row_worker_t){.first_submit_at_ns = 10000, .cpu_ns = 3, .wall_ns = 10};
}

static inline void feed_worker(feed_t *feed, uint32_t host, rb_row_worker_t worker)
{
    feed_row(feed, host, (rb_row_t){.kind = RB_ROW_WORKER, .worker = worker});
}

static inline void feed_finished(feed_t *feed, uint32_t host, int64_t done_at_ns)
{
    rb_row_worker_t worker = feed_worker_row();
    worker.finished = true;
    worker.done_at_ns = done_at_ns;
    feed_worker(feed, host, worker);
}

static inline void feed_end(feed_t *feed, int64_t te_at_ns, uint32_t lost)
{
    feed_row(feed, 0,
             (rb_row_t){.kind = RB_ROW_PHASE_END,
                        .phase_end = {.te_at_ns = te_at_ns,
                                      .truncated = te_at_ns != INT64_MAX,
                                      .nlost = lost != 0,
                                      .lost = &lost}});
}

static inline void feed_run_end(feed_t *feed, const char *status)
{
    feed_row(
        feed, 0,
        (rb_row_t){.kind = RB_ROW_RUN_END,
                   .run_end = {.status = (char *)status, .at_ns = 600 * S, .text = (char *)""}});
}
