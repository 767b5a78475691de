#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/plan_source.h"
#include "coordinator/task.h"

static void print_cleaned(const rb_task_t *task, uint32_t host)
{
    char size[RB_FMT_SIZE];
    const Rackbench__Cleaned *cleaned = rb_run_cleaned(task->run, host);
    if (cleaned != NULL)
        printf("%s  removed %u file%s, %s\n", task->fleet->hosts[host - 1].name, cleaned->files,
               cleaned->files == 1 ? "" : "s", rb_fmt_bytes(size, sizeof(size), cleaned->bytes));
}

int cmd_clean(const rb_options_t *options, rb_err_t *err)
{
    rb_task_opts_t opts = {.goal = RB_RUN_CLEAN, .wall_ns = rb_clock_wall_ns()};
    rb_task_t task;
    RB_AUTO(rb_plan_source_destroy)
    rb_plan_source_t *source = rb_plan_source_new(options->args[0], options, err);
    if (source == NULL)
        return (int)err->code;
    opts.plan = source->plan;
    rb_run_id(opts.id);
    if (rb_task_run(&task, &opts, options, err) == 0)
        for (size_t i = 0; i < task.fleet->list->nitems; i++)
            print_cleaned(&task, (uint32_t)i + 1);
    int status = rb_task_status(&task, err);
    rb_task_clear(&task);
    return status;
}
