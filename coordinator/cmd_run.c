#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/plan/check_rules.h"
#include "coordinator/plan/emit.h"
#include "coordinator/plan_source.h"
#include "coordinator/task.h"
#include "proto/select.h"

#include <unistd.h>

static bool overwrites_devices(const Rackbench__Plan *plan)
{
    for (size_t i = 0; i < plan->n_phases; i++)
        for (size_t k = 0; k < plan->phases[i]->n_jobs && plan->phases[i]->destructive; k++)
            if (rb_target_find(plan, plan->phases[i]->jobs[k]->target)->n_devices > 0)
                return true;
    return false;
}

/* A person at a terminal says the plan's name before drives are overwritten. */
static int confirm(const Rackbench__Plan *plan, const rb_options_t *options, rb_err_t *err)
{
    char answer[RB_MAX_NAME + 2] = "";
    if (options->yes || !isatty(STDIN_FILENO) || !overwrites_devices(plan))
        return 0;
    fprintf(stderr,
            "Plan '%s' overwrites drives (rackbench check shows which). Type its name to go on: ",
            plan->name);
    if (fgets(answer, sizeof(answer), stdin) == NULL)
        answer[0] = '\0';
    answer[strcspn(answer, "\n")] = '\0';
    if (strcmp(answer, plan->name) == 0)
        return 0;
    return rb_err_set(err, RB_ERR_UNSAFE,
                      "not confirmed: nothing was done; --yes skips the question");
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
    rb_task_opts_t task_opts = {.goal = RB_RUN_BENCHMARK, .wall_ns = rb_clock_wall_ns()};
    RB_AUTO(rb_plan_source_destroy)
    rb_plan_source_t *source = rb_plan_source_new(options->args[0], options, err);
    if (source == NULL || confirm(source->run, options, err) != 0)
        return (int)err->code;
    task_opts.plan = source->run;
    rb_run_id(task_opts.id);
    RB_AUTO(rb_free_str)
    char *directory =
        rb_run_dir_make(options->output, source->plan->name, task_opts.id, task_opts.wall_ns, err);
    if (directory == NULL)
        return (int)err->code;
    return run_in(directory, source, &task_opts, options, err);
}
