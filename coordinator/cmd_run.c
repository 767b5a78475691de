#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/consent.h"
#include "coordinator/plan/emit.h"
#include "coordinator/plan_source.h"
#include "coordinator/task.h"
#include "proto/select.h"

#include <unistd.h>

/* A person at a terminal says the plan's name before drives are written: those that the agents name
 * now, and the run itself writes no others. */
static int confirm(const Rackbench__Plan *plan, const rb_options_t *options, char **ret_table,
                   rb_err_t *err)
{
    rb_task_opts_t opts = {.goal = RB_RUN_CHECK, .plan = plan, .wall_ns = rb_clock_wall_ns()};
    rb_task_t task;
    if (options->yes || !isatty(STDIN_FILENO) || !rb_consent_needed(plan))
        return 0;
    rb_run_id(opts.id);
    if (rb_task_run(&task, &opts, options, err) == 0 && rb_task_status(&task, err) == RB_OK)
        *ret_table = rb_consent_table(task.run, plan, task.fleet);
    rb_task_clear(&task);
    if (*ret_table == NULL)
        return -1;
    return **ret_table == '\0' ? 0 : rb_consent_ask(*ret_table, plan, err);
}

static int write_plans(const char *directory, const rb_plan_source_t *source, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *resolved = rb_plan_emit(source->plan);
    if (rb_run_dir_write(directory, "plan.yaml", source->text, err) != 0)
        return -1;
    return rb_run_dir_write(directory, "plan.resolved.yaml", resolved, err);
}

static int run_in(const char *directory, const rb_plan_source_t *source, rb_task_opts_t *task_opts,
                  const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_fold_destroy) rb_fold_t *fold = rb_fold_new();
    rb_task_t task;
    if (write_plans(directory, source, err) != 0)
        return (int)err->code;
    task_opts->directory = directory;
    task_opts->fold = fold;
    int rc = rb_task_run(&task, task_opts, options, err);
    int status = rc == 0 ? rb_task_report(&task, task_opts, options, err) : (int)err->code;
    rb_task_clear(&task);
    if (rc != 0) /* it never began: leave nothing behind */
        rb_run_dir_remove(directory);
    return status;
}

int cmd_run(const rb_options_t *options, rb_err_t *err)
{
    rb_task_opts_t task_opts = {.goal = RB_RUN_BENCHMARK};
    RB_AUTO(rb_plan_source_destroy)
    rb_plan_source_t *source = rb_plan_source_new(options->args[0], options, err);
    RB_AUTO(rb_free_str) char *confirmed = NULL;
    if (source == NULL || confirm(source->run, options, &confirmed, err) != 0)
        return (int)err->code;
    task_opts.plan = source->run;
    task_opts.shows_drives = true;
    task_opts.confirmed = confirmed;
    task_opts.wall_ns = rb_clock_wall_ns();
    rb_run_id(task_opts.id);
    RB_AUTO(rb_free_str)
    char *directory =
        rb_run_dir_make(options->output, source->plan->name, task_opts.id, task_opts.wall_ns, err);
    if (directory == NULL)
        return (int)err->code;
    return run_in(directory, source, &task_opts, options, err);
}
