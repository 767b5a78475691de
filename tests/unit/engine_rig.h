/* engine_rig.h - an engine on a real target for tests: a plan of one phase built in memory, a run
 * to its end, and a tally of all rows that came.
 */
#pragma once

#include <poll.h>

#include "agent/engine.h"
#include "common/clock.h"

#define RIG_MS RB_NS_PER_MS

typedef struct {
    Rackbench__Plan plan;
    Rackbench__Target target;
    Rackbench__Phase phase;
    Rackbench__Job jobs[2];
    Rackbench__Target *target_list[1];
    Rackbench__Phase *phase_list[1];
    Rackbench__Job *job_list[2];
    bool here[2];
    rb_subject_t subject;
    const char *run_id;
    bool rows_late; /* take none before the end */
} rig_t;

typedef struct {
    uint64_t ops[RB_PART_COUNT][RB_OP_COUNT], bytes[RB_PART_COUNT][RB_OP_COUNT];
    uint64_t service[RB_PART_COUNT], response[RB_PART_COUNT]; /* counts of the histograms */
    uint64_t errors, max_span, inflight, rows_after_all_ran;
    uint64_t covered[RB_PART_COUNT]; /* windows, by their spans */
    uint64_t next_index[2];          /* of RAMP and MAIN: the next that may come */
    bool out_of_order;
    rb_row_kernel_t kernel;
    rb_row_layout_t layout;
    rb_row_worker_t workers[8];
    size_t nworkers, nkernel, nlayout, ndrives, nevents;
    char event_kind[16][16], event_text[16][RB_MAX_TEXT];
} tally_t;

/* One job of 4 KiB random reads at iodepth 8 for 200 ms; windows of 50 ms. */
static inline void rig_init(rig_t *r, const char *path, bool is_device, uint64_t size_bytes)
{
    memset(r, 0, sizeof(*r));
    rackbench__plan__init(&r->plan);
    rackbench__target__init(&r->target);
    rackbench__phase__init(&r->phase);
    for (size_t i = 0; i < RB_LEN(r->jobs); i++) {
        Rackbench__Job *job = &r->jobs[i];
        rackbench__job__init(job);
        job->name = i == 0 ? "j0" : "j1";
        job->target = "t";
        job->rw = RACKBENCH__RW__MODE__randread;
        job->has_bs_bytes = job->has_iodepth = job->has_numjobs = true;
        job->bs_bytes = 4096;
        job->iodepth = 8;
        job->numjobs = 1;
        job->runtime_ns = 200 * RIG_MS;
        r->job_list[i] = job;
        r->here[i] = true;
    }
    r->run_id = "run1";
    r->target.name = "t";
    r->target_list[0] = &r->target;
    r->phase_list[0] = &r->phase;
    r->phase.n_jobs = 1;
    r->phase.jobs = r->job_list;
    r->plan.interval_ns = 50 * RIG_MS;
    r->plan.n_targets = r->plan.n_phases = 1;
    r->plan.targets = r->target_list;
    r->plan.phases = r->phase_list;
    r->subject = (rb_subject_t){
        .is_device = is_device, .size_bytes = size_bytes, .logical_block_bytes = 512};
    snprintf(r->subject.path, sizeof(r->subject.path), "%s", path);
}

static inline rb_engine_t *rig_engine(rig_t *r, rb_err_t *err)
{
    rb_engine_opts_t opts = {.plan = &r->plan,
                             .run_id = r->run_id,
                             .host = "h1",
                             .subjects = &r->subject,
                             .nsubjects = 1,
                             .jobs_here = r->here};
    return rb_engine_new(&opts, err);
}

static inline void tally_window(tally_t *t, const rb_row_window_t *w)
{
    if (w->part == RB_PART_RAMP || w->part == RB_PART_MAIN) {
        uint64_t *next = &t->next_index[w->part == RB_PART_MAIN];
        t->out_of_order |= w->index < *next;
        *next = w->index;
    }
    t->covered[w->part] += w->span;
    t->max_span = RB_MAX(t->max_span, (uint64_t)w->span);
    t->rows_after_all_ran += !w->all_running;
    for (size_t i = 0; i < w->ncells; i++) {
        const rb_cell_t *c = &w->cells[i];
        t->ops[w->part][c->op] += c->ops;
        t->bytes[w->part][c->op] += c->bytes;
        t->service[w->part] += c->service.count;
        t->response[w->part] += c->response.count;
        t->errors += c->errors;
        t->inflight += c->inflight;
    }
}

static inline void tally_event(tally_t *t, const rb_row_event_t *e)
{
    RB_ASSERT(t->nevents < RB_LEN(t->event_kind));
    snprintf(t->event_kind[t->nevents], sizeof(t->event_kind[0]), "%s", e->kind);
    snprintf(t->event_text[t->nevents++], sizeof(t->event_text[0]), "%s", e->text);
}

static inline void tally_row(void *ctx, rb_row_t *row)
{
    tally_t *t = ctx;
    RB_ASSERT(row->seq == 0);
    if (row->kind == RB_ROW_WINDOW)
        tally_window(t, &row->window);
    if (row->kind == RB_ROW_WORKER && t->nworkers < RB_LEN(t->workers))
        t->workers[t->nworkers++] = row->worker; /* its histogram is gone after the call */
    if (row->kind == RB_ROW_EVENT)
        tally_event(t, &row->event);
    if (row->kind == RB_ROW_KERNEL) {
        t->kernel = row->kernel;
        t->nkernel++;
    }
    if (row->kind == RB_ROW_LAYOUT) {
        t->layout = row->layout;
        t->nlayout++;
    }
    if (row->kind == RB_ROW_DRIVES)
        t->ndrives += row->drives.ndrives;
}

/* Polls until the engine is in a state other than `from`; t NULL: takes no rows. */
static inline rb_engine_state_t rig_await(rb_engine_t *e, rb_engine_state_t from, tally_t *t)
{
    rb_engine_state_t state;
    uint64_t until_ns = rb_clock_now_ns() + 20 * RB_NS_PER_S;
    while ((state = rb_engine_poll(e)) == from) {
        struct pollfd p = {.fd = rb_engine_fd(e), .events = POLLIN};
        if (t != NULL)
            rb_engine_rows(e, tally_row, t);
        RB_ASSERT(rb_clock_now_ns() < until_ns);
        poll(&p, 1, 1000);
    }
    if (t != NULL)
        rb_engine_rows(e, tally_row, t);
    return state;
}

/* Prepares and arms 10 ms ahead; returns T0. */
static inline uint64_t rig_arm(rb_engine_t *e, tally_t *t)
{
    RB_ASSERT(rig_await(e, RB_ENGINE_PREPARING, t) == RB_ENGINE_READY);
    uint64_t t0_ns = rb_clock_now_ns() + 10 * RIG_MS;
    rb_engine_arm(e, t0_ns, 0);
    return t0_ns;
}

static inline uint64_t tally_all_bytes(const tally_t *t, rb_op_t op)
{
    uint64_t sum = 0;
    for (int part = 0; part < RB_PART_COUNT; part++)
        sum += t->bytes[part][op];
    return sum;
}

/* The whole of a phase that must go well. */
static inline void rig_run(rig_t *r, tally_t *t)
{
    rb_err_t err = {0};
    rb_engine_t *e = rig_engine(r, &err);
    if (e == NULL)
        fprintf(stderr, "engine: %s\n", err.text);
    RB_ASSERT(e != NULL);
    memset(t, 0, sizeof(*t));
    rig_arm(e, r->rows_late ? NULL : t);
    RB_ASSERT(rig_await(e, RB_ENGINE_ARMED, r->rows_late ? NULL : t) == RB_ENGINE_DRAINED);
    rb_engine_rows(e, tally_row, t);
    rb_engine_rows(e, tally_row, t); /* nothing is told twice */
    if (rb_engine_fault(e)->code != RB_OK)
        fprintf(stderr, "fault: %s\n", rb_engine_fault(e)->text);
    RB_ASSERT(rb_engine_fault(e)->code == RB_OK);
    rb_engine_destroy(&e);
    RB_ASSERT(e == NULL);
}

static inline bool kernel_agrees(const tally_t *t)
{
    return t->nkernel == 1 && tally_all_bytes(t, RB_OP_READ) == 512 * t->kernel.op[0].sectors &&
           tally_all_bytes(t, RB_OP_WRITE) == 512 * t->kernel.op[1].sectors &&
           tally_all_bytes(t, RB_OP_TRIM) == 512 * t->kernel.op[2].sectors;
}

/* Another program's inventory may read from the drive as well, now and then: hence the tries. */
static inline void run_witnessed(rig_t *r, tally_t *t)
{
    for (int tries = 0; tries < 5; tries++) {
        rig_run(r, t);
        if (kernel_agrees(t))
            return;
    }
    fail_msg("ours: %lu, %lu, %lu bytes; the kernel's: %lu, %lu, %lu sectors",
             tally_all_bytes(t, RB_OP_READ), tally_all_bytes(t, RB_OP_WRITE),
             tally_all_bytes(t, RB_OP_TRIM), t->kernel.op[0].sectors, t->kernel.op[1].sectors,
             t->kernel.op[2].sectors);
}
