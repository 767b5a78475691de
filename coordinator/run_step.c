#include "coordinator/plan/search.h"
#include "coordinator/run_priv.h"

/* What is run now, where it is not the plan's phase of that number: agents know the plan alone. */
static void set_override(rb_run_t *run)
{
    rb_phase_destroy(&run->override);
    if (run->search_job < 0 && run->phase == run->plan_phase)
        return;
    run->override = rb_phase_copy(run->opts.plan->phases[run->plan_phase]);
    if (run->search_job < 0)
        return;
    rb_search_apply(run->override->jobs[run->search_job], run->search.rate_iops);
}

static void begin_plan_phase(rb_run_t *run, uint32_t plan_phase)
{
    const Rackbench__Phase *phase = run->opts.plan->phases[plan_phase];
    run->plan_phase = plan_phase;
    run->step = 1;
    run->search_job = rb_search_job(phase);
    if (run->search_job < 0)
        return;
    rb_search_begin(phase->jobs[run->search_job], &run->search);
}

/* The first stage of a step. */
static void prepare(rb_run_t *run, uint64_t now_ns)
{
    run->stage = RB_STAGE_PREPARE;
    run->t0_ns = run->te_ns = run->errors = 0;
    run->over = run->told = run->cut_step = false;
    run->reason[0] = '\0';
    set_override(run);
    rb_run_write_step(run, now_ns);
    if (run->stage == RB_STAGE_DONE) /* the journal refused the row */
        return;
    for (size_t i = 0; i < run->opts.nhosts; i++) {
        rb_run_host_t *host = &run->hosts[i];
        host->done_bytes = host->total_bytes = 0;
        host->started = host->straggler = host->ended_early = false;
        host->end_at_ns = INT64_MIN;
        host->takes_part =
            host->link == LINK_UP &&
            rb_phase_on_host(rb_run_phase(run), host->opts->nlabels, host->opts->labels);
        if (host->takes_part)
            rb_run_command(run, host, WANT_READY);
    }
}

void rb_run_first_step(rb_run_t *run)
{
    begin_plan_phase(run, 0);
}

void rb_run_restore_step(rb_run_t *run)
{
    const rb_resume_t *from = run->opts.resume;
    if (from->next_phase == 0) {
        rb_run_first_step(run);
        return;
    }
    begin_plan_phase(run, from->plan_phase);
    run->phase = from->phase;
    run->step = from->step;
    run->search = from->search;
    run->over = !from->under_way;
    run->told = from->told;
    run->cut_step = from->cut_step;
    set_override(run);
}

/* false: the search has its verdict. */
static bool search_goes_on(rb_run_t *run, uint64_t now_ns)
{
    rb_search_figures_t f = {0};
    rb_row_search_t row = {
        .phase = run->phase, .job = (uint32_t)run->search_job, .rate_iops = run->search.rate_iops};
    run->sink.figures(run->sink.ctx, row.phase, row.job, run->search.percentile_ppm, &f);
    row.kept = rb_latency_search_take(&run->search, &f);
    row.offered_ops = f.offered_ops;
    row.ops = f.ops;
    row.length_ns = f.length_ns;
    row.quantile_ns = f.quantile_ns;
    row.uncertain = f.uncertain;
    row.verdict = (char *)(uintptr_t)rb_search_word(run->search.verdict);
    rb_run_write_search(run, now_ns, &row);
    return run->search.verdict == RB_SEARCH_GOES_ON;
}

/* Steps of a search, points of a sweep and fills that were cut short are run again. */
static bool runs_again(rb_run_t *run, uint64_t now_ns)
{
    if (run->search_job < 0)
        return run->cut_step &&
               (rb_run_phase(run)->point != NULL || rb_run_phase(run)->fill != NULL);
    return run->search.verdict == RB_SEARCH_GOES_ON &&
           (run->told || run->cut_step || search_goes_on(run, now_ns));
}

/* false: that was the last. */
static bool next_step(rb_run_t *run, uint64_t now_ns)
{
    bool again = runs_again(run, now_ns);
    run->told = true;
    if (run->outcome.err.code != RB_OK) /* the journal refused the row */
        return false;
    if (!again && run->plan_phase + 1 == run->opts.plan->n_phases)
        return false;
    if (run->phase + 1 == RB_MAX_PHASES) /* steps were run again, so the run is truncated anyway */
        return false;
    run->over = false;
    run->phase++;
    if (again)
        run->step++;
    else
        begin_plan_phase(run, run->plan_phase + 1);
    return true;
}

void rb_run_go_on(rb_run_t *run, uint64_t now_ns)
{
    bool more = run->outcome.err.code == RB_OK && (!run->over || next_step(run, now_ns));
    run->left_out = more && run->opts.collect_only;
    if (!more || run->opts.collect_only)
        rb_run_finish(run, now_ns);
    else if (!run->loaded) /* resumed: what the agents answered then is not known */
        rb_run_begin_load(run);
    else
        prepare(run, now_ns);
}
