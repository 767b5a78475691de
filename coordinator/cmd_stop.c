#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/task.h"

#include <unistd.h>

static void print_host(const rb_task_t *task, uint32_t host)
{
    const char *name = task->fleet->hosts[host - 1].name;
    rb_run_stopped_t stopped = rb_run_stopped(task->run, host);
    char since[RB_FMT_SIZE];
    if (!stopped.is_free)
        printf("%s  NOT free: %s\n", name, rb_run_silence(task->run, host));
    else if (stopped.run_id == NULL)
        printf("%s  was free: nothing to stop\n", name);
    else
        printf("%s  was busy with run %s since %s: stopped, free now\n", name, stopped.run_id,
               rb_fmt_since(since, sizeof(since), stopped.since_wall_ns, rb_clock_wall_ns()));
}

/* What the owners of the hosts will read. */
static char *reason(void)
{
    char here[RB_MAX_NAME + 1] = "";
    const char *user = getenv("USER");
    gethostname(here, sizeof(here) - 1);
    return rb_asprintf("stopped by rackbench stop (%.64s%s%.64s)", user != NULL ? user : "",
                       user != NULL ? "@" : "", here);
}

int cmd_stop(const rb_options_t *options, rb_err_t *err)
{
    rb_task_opts_t opts = {.goal = RB_RUN_STOP, .wall_ns = rb_clock_wall_ns()};
    RB_AUTO(rb_free_str) char *why = reason();
    rb_task_t task;
    rb_run_id(opts.id);
    opts.name = why;
    if (options->hosts == NULL) {
        rb_err_set(err, RB_ERR_INPUT, "which hosts? --hosts node[01-16]");
        return RB_ERR_INPUT;
    }
    if (rb_task_run(&task, &opts, options, err) == 0)
        for (size_t i = 0; i < task.fleet->list->nitems; i++)
            print_host(&task, (uint32_t)i + 1);
    int status = rb_task_status(&task, err);
    rb_task_clear(&task);
    return status;
}
