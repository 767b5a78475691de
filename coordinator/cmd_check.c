#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/analysis/latency_search.h"
#include "coordinator/consent.h"
#include "coordinator/kv_forecast.h"
#include "coordinator/kv_traces.h"
#include "coordinator/merge_kv.h"
#include "coordinator/plan/emit.h"
#include "coordinator/plan/expand.h"
#include "coordinator/plan/log_size.h"
#include "coordinator/plan/precondition.h"
#include "coordinator/plan/resolve.h"
#include "coordinator/plan/search.h"
#include "coordinator/plan_source.h"
#include "coordinator/report/words.h"
#include "coordinator/task.h"
#include "proto/select.h"

static const char *const actions[] = {
    [RACKBENCH__SUBJECT__ACTION__reads] = "reads",
    [RACKBENCH__SUBJECT__ACTION__overwrites] = "OVERWRITES",
    [RACKBENCH__SUBJECT__ACTION__lays_out] = "lays out",
    [RACKBENCH__SUBJECT__ACTION__reuses] = "reuses",
};

static void print_search(const Rackbench__Phase *phase)
{
    const Rackbench__Job *job = phase->jobs[rb_search_job(phase)];
    char target[RB_FMT_SIZE], step[RB_FMT_SIZE], all[RB_FMT_SIZE];
    uint64_t step_ns = rb_phase_ramp_ns(phase) + rb_phase_runtime_ns(phase);
    uint32_t ppm = rb_search_percentile_ppm(job);
    bool speed = rb_search_over_speed(job);
    printf("phase %s: job %s searches for the highest %s at which p%g of %s is at most %s: %s %d "
           "%s of %s each, at most %s\n",
           phase->name, job->name, speed ? "speed of its trace" : "rate of the cluster", ppm / 1e4,
           speed ? "restore latency" : "response",
           rb_fmt_ns(target, sizeof(target), rb_search_target_ns(job)),
           speed ? "up to" : "a closed loop and up to",
           speed ? RB_SEARCH_MAX_STEPS : RB_SEARCH_MAX_STEPS - 1, speed ? "steps" : "open ones",
           rb_fmt_duration(step, sizeof(step), step_ns),
           rb_fmt_duration(all, sizeof(all), RB_SEARCH_MAX_STEPS * step_ns));
    printf("    warning: below %.4g %s a runtime of %s has fewer than 10 %s beyond p%g: "
           "such steps are uncertain\n",
           rb_search_certain_iops(ppm, rb_phase_runtime_ns(phase)),
           speed ? "requests a second" : "IOPS",
           rb_fmt_duration(step, sizeof(step), rb_phase_runtime_ns(phase)),
           speed ? "requests" : "operations", ppm / 1e4);
}

static size_t points_of(const Rackbench__Phase *phase)
{
    return phase->point != NULL ? phase->point->of : 1;
}

static void print_point(const Rackbench__Phase *phase)
{
    char step[RB_FMT_SIZE];
    RB_AUTO(rb_free_str) char *text = rb_point_text(phase);
    uint64_t step_ns = rb_phase_ramp_ns(phase) + rb_phase_runtime_ns(phase);
    if (phase->point->number == 1)
        printf("phase %s: a sweep of %zu point%s, in this order:\n", phase->name, points_of(phase),
               points_of(phase) == 1 ? "" : "s");
    printf("  %4u  %s", phase->point->number, text);
    if (step_ns > 0)
        printf(": %s", rb_fmt_duration(step, sizeof(step), step_ns));
    putchar('\n');
}

static void print_fill(const Rackbench__Plan *run, const Rackbench__Phase *fill)
{
    char bs[RB_FMT_SIZE], bytes[RB_FMT_SIZE];
    const Rackbench__Job *job = fill->jobs[0];
    uint64_t known = rb_fill_file_bytes(run, fill);
    printf("before phase %s: all of %s", fill->name, job->target);
    for (size_t i = 1; i < fill->n_jobs; i++)
        printf(", %s", fill->jobs[i]->target);
    if (rb_rw_trims(job->rw)) {
        puts(" is trimmed");
        return;
    }
    printf(" is filled %u time%s, %s %s, iodepth %u", fill->fill->passes,
           fill->fill->passes == 1 ? "" : "s",
           rb_rw_is_sequential(job->rw) ? "in order by" : "at random by",
           rb_fmt_bytes(bs, sizeof(bs), job->bs_bytes), job->iodepth);
    if (known > 0)
        printf(": %s on each host", rb_fmt_bytes(bytes, sizeof(bytes), known));
    putchar('\n');
}

static void print_steady(const Rackbench__Phase *phase)
{
    const Rackbench__SteadyState *s = phase->steady_state;
    char round[RB_FMT_SIZE];
    printf("phase %s: in rounds of %s, until each drive has held steady state of %s over %u, or %u "
           "rounds\n",
           phase->name, rb_fmt_duration(round, sizeof(round), s->round_ns), s->metric, s->window,
           s->max);
}

/* What is run that the plan does not spell out, in its order. */
static void print_course(const Rackbench__Plan *run)
{
    size_t fills = 0;
    for (size_t i = 0; i < run->n_phases; i++) {
        const Rackbench__Phase *phase = run->phases[i];
        if (phase->fill != NULL)
            print_fill(run, phase);
        else if (phase->point != NULL)
            print_point(phase);
        if (phase->steady_state != NULL)
            print_steady(phase);
        fills += phase->fill != NULL && !rb_rw_trims(phase->jobs[0]->rw);
    }
    if (fills > 0)
        printf("%zu fill%s\n", fills, fills == 1 ? "" : "s");
}

static bool has_files(const Rackbench__Plan *plan)
{
    for (size_t i = 0; i < plan->n_targets; i++)
        if (plan->targets[i]->n_devices == 0)
            return true;
    return false;
}

static void print_duration(const Rackbench__Plan *plan)
{
    char text[RB_FMT_SIZE];
    uint64_t sum_ns = 0;
    bool open_end = false, at_most = false;
    for (size_t i = 0; i < plan->n_phases; i++) {
        const Rackbench__Phase *phase = plan->phases[i];
        uint64_t length_ns = rb_phase_ramp_ns(phase) + rb_phase_runtime_ns(phase);
        bool search = rb_search_job(phase) >= 0;
        sum_ns += search ? RB_SEARCH_MAX_STEPS * length_ns : length_ns;
        open_end |= rb_phase_runtime_ns(phase) == 0;
        at_most |= search || phase->steady_state != NULL;
        if (search)
            print_search(phase);
    }
    fputs("duration: ", stdout);
    if (sum_ns > 0)
        printf("%s%s", at_most ? "at most " : "", rb_fmt_duration(text, sizeof(text), sum_ns));
    if (open_end)
        printf("%swhat the phases bound by bytes or operations take", sum_ns > 0 ? " and " : "");
    puts(has_files(plan) ? ", and the time to lay out files" : "");
}

static void print_logs(const Rackbench__Plan *plan)
{
    char text[1024];
    for (size_t i = 0; i < plan->n_phases; i++)
        for (size_t k = 0; k < plan->phases[i]->n_jobs; k++) {
            const Rackbench__Job *job = plan->phases[i]->jobs[k];
            if (job->verify_log != NULL && !job->verify_only)
                puts(rb_log_size_text(plan, job, text, sizeof(text)));
        }
}

static void print_identity(const Rackbench__Drive *drive)
{
    printf("  (%s, S/N %s)", drive->model ? drive->model : "no model",
           drive->serial ? drive->serial : "none");
    for (size_t i = 0; i < drive->n_member_drives; i++) {
        const Rackbench__MemberDrive *m = drive->member_drives[i];
        printf("%s%s (S/N %s)", i == 0 ? "  on " : ", ", m->path, m->serial ? m->serial : "none");
    }
}

static void print_slow_link(const Rackbench__Drive *drive)
{
    char text[RB_WORDS_SIZE];
    if (drive == NULL)
        return;
    rb_fold_link_t link = {drive->link_mts, drive->link_width, drive->link_max_mts,
                           drive->link_max_width};
    if (rb_words_link(text, sizeof(text), &link))
        printf("\n    warning: its PCIe link runs at %s", text);
}

static void print_subject(const Rackbench__Plan *plan, const char *host,
                          const Rackbench__Subject *subject)
{
    char size[RB_FMT_SIZE];
    printf("%s  %s  %s  %s  %s", host, plan->targets[subject->target]->name, subject->path,
           rb_fmt_bytes(size, sizeof(size), subject->size_bytes), actions[subject->action]);
    if (subject->identity != NULL)
        print_identity(subject->identity);
    print_slow_link(subject->identity);
    if (subject->refused != NULL)
        printf("\n    REFUSED: %s", subject->refused);
    else if (subject->warning != NULL)
        printf("\n    warning: %s", subject->warning);
    printf("\n");
}

/* Bytes that would be laid out, and drives that would be overwritten. */
static void print_summary(const rb_task_t *task)
{
    char size[RB_FMT_SIZE];
    uint64_t bytes = 0;
    size_t drives = 0;
    for (size_t i = 0; i < task->fleet->list->nitems; i++) {
        const Rackbench__Loaded *loaded = rb_run_loaded(task->run, (uint32_t)i + 1);
        for (size_t k = 0; loaded != NULL && k < loaded->n_subjects; k++) {
            const Rackbench__Subject *s = loaded->subjects[k];
            if (s->refused != NULL)
                continue;
            if (s->action == RACKBENCH__SUBJECT__ACTION__lays_out)
                bytes += s->size_bytes;
            drives += s->action == RACKBENCH__SUBJECT__ACTION__overwrites && s->identity != NULL;
        }
    }
    if (rb_run_outcome(task->run)->err.code != RB_OK) /* main says why it would not run */
        return;
    if (bytes > 0)
        printf("would lay out %s of files", rb_fmt_bytes(size, sizeof(size), bytes));
    if (drives > 0)
        printf("%s overwrite %zu drive%s", bytes > 0 ? " and" : "would", drives,
               drives == 1 ? "" : "s");
    printf("%snothing was touched\n", bytes > 0 || drives > 0 ? "; " : "");
}

/* What the planner says of each KV cache. task: the hosts; NULL: they are not asked. */
static int print_kv(const Rackbench__Plan *plan, const rb_bytes_t *traces, const rb_task_t *task,
                    rb_err_t *err)
{
    int status = 0;
    for (size_t i = 0; status == 0 && i < plan->n_phases; i++) {
        rb_kv_hosts_t hosts = {0};
        const char *names[RB_MAX_HOSTS];
        if (traces[i].size == 0)
            continue;
        const Rackbench__Job *job = plan->phases[i]->jobs[rb_kv_job(plan->phases[i])];
        for (size_t h = 0; task != NULL && h < task->fleet->list->nitems; h++) {
            const rb_run_host_opts_t *host = &task->fleet->hosts[h];
            rb_kv_labels_t labels = {host->nlabels, host->labels};
            if (rb_kv_hosts_add(&hosts, plan, job, rb_run_loaded(task->run, (uint32_t)h + 1),
                                &labels))
                names[hosts.n - 1] = host->name;
        }
        RB_AUTO(rb_kv_forecast_destroy)
        rb_kv_forecast_t *f =
            rb_kv_forecast_new(plan->phases[i], &traces[i], plan->randseed, &hosts, err);
        if (f != NULL)
            rb_kv_forecast_print(stdout, f, names);
        status = f != NULL ? 0 : -1;
        rb_kv_hosts_clear(&hosts);
    }
    return status;
}

static int check_hosts(const Rackbench__Plan *plan, const rb_bytes_t *traces,
                       const rb_options_t *options, rb_err_t *err)
{
    rb_task_opts_t opts = {.goal = RB_RUN_CHECK, .plan = plan, .wall_ns = rb_clock_wall_ns()};
    rb_task_t task;
    rb_run_id(opts.id);
    if (rb_task_run(&task, &opts, options, err) == 0) {
        for (size_t i = 0; i < task.fleet->list->nitems; i++) {
            const Rackbench__Loaded *loaded = rb_run_loaded(task.run, (uint32_t)i + 1);
            for (size_t k = 0; loaded != NULL && k < loaded->n_subjects; k++)
                print_subject(plan, task.fleet->hosts[i].name, loaded->subjects[k]);
        }
        RB_AUTO(rb_free_str) char *table = rb_consent_table(task.run, plan, task.fleet);
        if (*table != '\0')
            printf("drives that will be written:\n%s", table);
        print_summary(&task);
    }
    int status = rb_task_status(&task, err);
    if (status == RB_OK && print_kv(plan, traces, &task, err) != 0)
        status = (int)err->code;
    rb_task_clear(&task);
    return status;
}

static int check(const Rackbench__Plan *plan, const rb_bytes_t *traces, const rb_options_t *options,
                 rb_err_t *err)
{
    if (options->hosts != NULL || options->local > 0)
        return check_hosts(plan, traces, options, err);
    if (print_kv(plan, traces, NULL, err) != 0)
        return (int)err->code;
    puts("say --hosts or --local N to see every drive and file on every host");
    return RB_OK;
}

int cmd_check(const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_plan_source_destroy)
    rb_plan_source_t *source = rb_plan_source_new(options->args[0], options, err);
    if (source == NULL)
        return (int)err->code;
    RB_AUTO(rb_free_str) char *resolved = rb_plan_emit(source->plan);
    fputs(resolved, stdout);
    print_course(source->run);
    print_duration(source->run);
    print_logs(source->run);
    rb_bytes_t *traces = rb_kv_traces_load(source->run, err);
    int status = traces == NULL ? (int)err->code : check(source->run, traces, options, err);
    rb_kv_traces_free(traces, source->run);
    return status;
}
