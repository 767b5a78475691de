#include "coordinator/run_priv.h"

/* As if the disk were full. */
static int spent(const rb_run_t *run, size_t size, rb_err_t *err)
{
    if (!rb_budget_is_spent(&run->budget, size))
        return 0;
    return rb_err_set(err, RB_ERR_IO, "the journal has reached --journal-max (%llu bytes)",
                      (unsigned long long)run->budget.max_bytes);
}

static void write_row(rb_run_t *run, uint64_t now_ns, uint32_t host, const void *row, size_t size)
{
    rb_row_kind_t kind = RB_ROW_RUN;
    uint64_t seq;
    rb_err_t err;
    if (run->journal_broken)
        return;
    if (spent(run, size, &err) == 0 && run->sink.row(run->sink.ctx, host, row, size, &err) == 0) {
        rb_row_peek(row, size, &kind, &seq, &err);
        rb_budget_row(&run->budget, kind == RB_ROW_WINDOW ? RB_BUDGET_WINDOW : RB_BUDGET_OTHER,
                      size);
        return;
    }
    run->journal_broken = true;
    rb_run_fail(run, now_ns, "failed", &err);
}

/* When a worker first submitted: the only measurement that the course of the run depends on. */
static void watch_start(const rb_run_t *run, rb_run_host_t *host, const void *data, size_t size)
{
    rb_row_t row;
    rb_err_t err;
    if (rb_row_unpack(data, size, &row, &err) != 0)
        return;
    const rb_row_worker_t *w = &row.worker;
    int64_t late_ns = w->first_submit_at_ns - w->first_due_at_ns;
    const Rackbench__Phase *phase = rb_run_phase(run);
    uint64_t runtime_ns = rb_phase_runtime_ns(phase);
    if (w->phase == run->phase) {
        host->end_at_ns = RB_MAX(host->end_at_ns, w->end_at_ns);
        host->ended_early |= rb_resume_ended_early(w, rb_phase_ramp_ns(phase), runtime_ns);
    }
    bool counts = w->phase == run->phase && w->first_submit_at_ns != INT64_MIN;
    if (counts && (!host->started || late_ns < host->lateness_ns)) {
        host->started = true;
        host->lateness_ns = late_ns;
    }
    rb_row_clear(&row);
}

/* Each window, once: what a coordinator before us counted of a resumed phase is not in it. */
static void watch_errors(rb_run_t *run, const rb_run_host_t *host, const rb_run_event_t *ev)
{
    uint64_t limit = run->stage == RB_STAGE_RUN ? rb_phase_stop_errors(rb_run_phase(run)) : 0;
    uint64_t before = run->errors;
    rb_row_t row;
    rb_err_t err;
    if (limit == 0 || rb_row_unpack(ev->row, ev->row_size, &row, &err) != 0)
        return;
    for (size_t i = 0; row.window.phase == run->phase && i < row.window.ncells; i++)
        run->errors += row.window.cells[i].errors;
    rb_row_clear(&row);
    if (before >= limit || run->errors < limit)
        return;
    rb_err_set(&err, RB_ERR_IO,
               "phase %s: %llu I/O errors on all hosts together, the last ones on agent %s, and "
               "stop_when ends the run at %llu",
               rb_run_phase(run)->name, (unsigned long long)run->errors, host->opts->name,
               (unsigned long long)limit);
    rb_run_fail(run, ev->now_ns, "failed", &err);
}

void rb_run_judge_skew(rb_run_t *run)
{
    const rb_run_host_t *first = NULL, *last = NULL;
    rb_err_t err;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const rb_run_host_t *host = &run->hosts[i];
        if (!host->takes_part || !host->started)
            continue;
        if (first == NULL || host->lateness_ns < first->lateness_ns)
            first = host;
        if (last == NULL || host->lateness_ns > last->lateness_ns)
            last = host;
    }
    if (first == NULL ||
        (uint64_t)(last->lateness_ns - first->lateness_ns) <= run->opts.plan->max_skew_ns)
        return;
    rb_err_set(&err, RB_ERR_NET,
               "phase %s: agent %s started %.3f ms after agent %s, more than max_skew (%.3f ms)",
               rb_run_phase(run)->name, last->opts->name,
               (double)(last->lateness_ns - first->lateness_ns) / 1e6, first->opts->name,
               (double)run->opts.plan->max_skew_ns / 1e6);
    rb_run_note(run, last, run->t0_ns + (uint64_t)last->lateness_ns, "max_skew", err.text);
    if (run->opts.plan->strict_skew && run->outcome.err.code == RB_OK)
        run->outcome = (rb_run_outcome_t){"failed", err};
}

/* An agent sends again from the first row that we have not acknowledged, so only the next row is
 * taken: one seen before is dropped, and so is one behind a gap. */
void rb_run_on_row(rb_run_t *run, const rb_run_event_t *ev)
{
    rb_run_host_t *host = &run->hosts[ev->host - 1];
    rb_row_kind_t kind;
    uint64_t seq;
    rb_err_t err;
    bool unchecked = run->opts.resume != NULL && !host->checked;
    if (!host->known || host->stranger || run->journal_broken || unchecked)
        return;
    if (rb_row_peek(ev->row, ev->row_size, &kind, &seq, &err) != 0) {
        rb_run_fail_host(run, host, ev->now_ns, &err);
        return;
    }
    rb_run_heard(run, host, ev->now_ns);
    if (seq != host->next_row)
        return;
    if (kind == RB_ROW_WORKER)
        watch_start(run, host, ev->row, ev->row_size);
    write_row(run, ev->now_ns, ev->host, ev->row, ev->row_size);
    if (run->journal_broken)
        return;
    host->next_row++;
    if (kind == RB_ROW_WINDOW)
        watch_errors(run, host, ev);
}

bool rb_run_sync(rb_run_t *run, uint64_t now_ns)
{
    rb_err_t err;
    if (run->journal_broken)
        return false;
    if (run->sink.sync(run->sink.ctx, &err) != 0) {
        run->journal_broken = true; /* rows that were not acknowledged stay with the agents */
        rb_run_fail(run, now_ns, "failed", &err);
        return false;
    }
    for (size_t i = 0; i < run->opts.nhosts; i++)
        run->hosts[i].safe_row = run->hosts[i].next_row - 1;
    return true;
}

static void write_own(rb_run_t *run, uint64_t now_ns, rb_row_t *row)
{
    row->seq = run->next_row++;
    rb_bytes_t bytes = rb_row_pack(row);
    write_row(run, now_ns, 0, bytes.data, bytes.size);
    rb_bytes_clear(&bytes);
}

static char *unconst(const char *text)
{
    return (char *)(uintptr_t)text; /* rows own their strings when decoded; packing only reads */
}

void rb_run_write_run(rb_run_t *run)
{
    rb_row_t row = {.kind = RB_ROW_RUN};
    row.run.id = unconst(run->opts.id);
    row.run.name = unconst(run->opts.name);
    row.run.version = unconst(RB_VERSION);
    row.run.started_wall_ns = run->opts.started_wall_ns;
    if (run->opts.plan != NULL)
        row.run.plan = rb_plan_pack(run->opts.plan);
    row.run.nmarks = run->opts.nmarks;
    row.run.marks = (char **)(uintptr_t)run->opts.marks;
    write_own(run, run->start_ns, &row);
    rb_bytes_clear(&row.run.plan);
}

/* "key=value" each. */
static char **pack_labels(const rb_run_host_opts_t *opts)
{
    char **labels = rb_calloc(opts->nlabels, sizeof(char *));
    for (size_t i = 0; i < opts->nlabels; i++)
        labels[i] = rb_asprintf("%s=%s", opts->labels[i]->name, opts->labels[i]->value);
    return labels;
}

static void free_labels(char **labels, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(labels[i]);
    free(labels);
}

void rb_run_write_host(rb_run_t *run, const rb_run_host_t *host)
{
    rb_row_t row = {.kind = RB_ROW_HOST};
    row.host.host = rb_run_host_index(run, host);
    row.host.name = unconst(host->opts->name);
    if (host->inventory != NULL)
        row.host.inventory = rb_inventory_pack(host->inventory);
    row.host.nlabels = host->opts->nlabels;
    row.host.labels = pack_labels(host->opts);
    write_own(run, host->heard_ns, &row);
    free_labels(row.host.labels, host->opts->nlabels);
    rb_bytes_clear(&row.host.inventory);
}

void rb_run_write_reaches(rb_run_t *run)
{
    for (size_t i = 0; i < run->opts.nhosts && run->opts.goal == RB_RUN_BENCHMARK; i++) {
        const rb_run_host_opts_t *opts = &run->opts.hosts[i];
        rb_row_t row = {.kind = RB_ROW_REACH};
        row.reach.host = (uint32_t)i + 1;
        row.reach.name = unconst(opts->name);
        /* Behind a blank it says more, for messages. */
        RB_AUTO(rb_free_str)
        char *address =
            opts->address != NULL ? rb_strndup(opts->address, strcspn(opts->address, " ")) : NULL;
        row.reach.address = address;
        row.reach.key = unconst(opts->key);
        row.reach.listen = unconst(run->opts.listen);
        row.reach.labels = pack_labels(opts);
        row.reach.nlabels = opts->nlabels;
        write_own(run, run->start_ns, &row);
        free_labels(row.reach.labels, opts->nlabels);
    }
}

void rb_run_write_clocks(rb_run_t *run, uint64_t now_ns)
{
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_clock_estimate_t estimate;
        if (run->hosts[i].link != LINK_UP ||
            !rb_clocksync_estimate(&run->hosts[i].clock, now_ns, &estimate))
            continue;
        rb_row_t row = {.kind = RB_ROW_CLOCK};
        row.clock = (rb_row_clock_t){(uint32_t)i + 1,   now_ns,          estimate.offset_ns,
                                     estimate.bound_ns, estimate.rtt_ns, estimate.drift_ppb};
        write_own(run, now_ns, &row);
    }
}

void rb_run_write_step(rb_run_t *run, uint64_t now_ns)
{
    rb_row_t row = {.kind = RB_ROW_STEP};
    bool stands = run->opts.resume != NULL && run->phase < run->opts.resume->nsteps;
    if (run->override == NULL || stands)
        return;
    row.step.phase = run->phase;
    row.step.plan_phase = run->plan_phase;
    row.step.step = run->step;
    row.step.override = rb_phase_pack(run->override);
    write_own(run, now_ns, &row);
    rb_bytes_clear(&row.step.override);
    rb_run_sync(run, now_ns); /* whatever happens: no agent knows of steps that the journal lacks */
}

void rb_run_write_search(rb_run_t *run, uint64_t now_ns, const rb_row_search_t *search)
{
    rb_row_t row = {.kind = RB_ROW_SEARCH, .search = *search};
    write_own(run, now_ns, &row);
}

void rb_run_write_phase_start(rb_run_t *run)
{
    rb_row_t row = {.kind = RB_ROW_PHASE_START};
    row.phase_start.phase = run->phase;
    row.phase_start.t0_ns = run->t0_ns;
    row.phase_start.t0_wall_ns = run->opts.started_wall_ns + (run->t0_ns - run->start_ns);
    row.phase_start.hosts = rb_calloc(run->opts.nhosts, sizeof(uint32_t));
    row.phase_start.bounds_ns = rb_calloc(run->opts.nhosts, sizeof(uint64_t));
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_clock_estimate_t estimate = {0};
        if (!run->hosts[i].takes_part || run->hosts[i].link == LINK_LOST)
            continue;
        rb_clocksync_estimate(&run->hosts[i].clock, run->t0_ns, &estimate);
        size_t n = row.phase_start.nhosts++;
        row.phase_start.hosts[n] = (uint32_t)i + 1;
        row.phase_start.bounds_ns[n] = estimate.bound_ns;
    }
    write_own(run, run->t0_ns, &row);
    free(row.phase_start.hosts);
    free(row.phase_start.bounds_ns);
}

/* Agents that heard nobody stopped by themselves: the last one ended the phase. */
static void end_resumed_phase(rb_run_t *run, rb_row_phase_end_t *end)
{
    int64_t last_ns = INT64_MIN;
    bool all_told = true;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const rb_run_host_t *host = &run->hosts[i];
        if (!host->takes_part || host->link == LINK_LOST)
            continue;
        last_ns = RB_MAX(last_ns, host->end_at_ns);
        run->cut |= host->ended_early;
        all_told &= host->end_at_ns != INT64_MIN;
    }
    if (!run->cut && all_told) { /* whatever was said to them since: they were done */
        end->truncated = false;
        end->te_at_ns = INT64_MAX;
    }
    if (!run->cut)
        return;
    run->was_cut = true;
    end->truncated = true;
    if (last_ns != INT64_MIN)
        end->te_at_ns = RB_MIN(end->te_at_ns, RB_MAX(last_ns, 0));
}

void rb_run_write_phase_end(rb_run_t *run)
{
    rb_row_t row = {.kind = RB_ROW_PHASE_END};
    uint64_t runtime_ns = rb_phase_runtime_ns(rb_run_phase(run));
    uint64_t planned_ns = run->t0_ns + rb_phase_ramp_ns(rb_run_phase(run)) + runtime_ns;
    /* A stop while all were draining cuts nothing. */
    bool cut = run->te_ns != 0 && (runtime_ns == 0 || run->te_ns < planned_ns);
    row.phase_end.phase = run->phase;
    row.phase_end.truncated = cut && run->reason[0] == '\0';
    row.phase_end.reason = cut ? run->reason : NULL;
    row.phase_end.te_at_ns = cut ? (int64_t)(run->te_ns - run->t0_ns) : INT64_MAX;
    if (rb_run_in_resumed_phase(run))
        end_resumed_phase(run, &row.phase_end);
    run->cut_step = row.phase_end.truncated;
    row.phase_end.lost = rb_calloc(run->opts.nhosts, sizeof(uint32_t));
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        const rb_run_host_t *host = &run->hosts[i];
        if (host->takes_part && (host->link == LINK_LOST || !rb_run_reached(run, host)))
            row.phase_end.lost[row.phase_end.nlost++] = (uint32_t)i + 1;
    }
    write_own(run, run->t0_ns, &row);
    free(row.phase_end.lost);
}

void rb_run_note(rb_run_t *run, const rb_run_host_t *host, uint64_t now_ns, const char *kind,
                 const char *text)
{
    bool in_phase = (run->stage >= RB_STAGE_PREPARE && run->stage <= RB_STAGE_RUN) ||
                    (run->resuming && run->opts.resume->under_way);
    rb_row_t row = {.kind = RB_ROW_NOTE};
    row.note.host = host != NULL ? rb_run_host_index(run, host) : 0;
    row.note.phase = in_phase ? (int32_t)run->phase : -1;
    row.note.at_ns = now_ns;
    row.note.kind = unconst(kind);
    row.note.text = unconst(text);
    write_own(run, now_ns, &row);
}

void rb_run_write_end(rb_run_t *run, uint64_t now_ns)
{
    rb_row_t row = {.kind = RB_ROW_RUN_END};
    row.run_end.status = unconst(run->outcome.status);
    row.run_end.exit_code = (uint32_t)run->outcome.err.code;
    bool again = run->opts.resume != NULL && run->opts.resume->complete != NULL;
    row.run_end.at_ns = again ? run->opts.resume->complete->at_ns : now_ns;
    row.run_end.text = run->outcome.err.text;
    write_own(run, now_ns, &row);
}
