#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/task.h"

static void print_drive(const Rackbench__Drive *drive)
{
    char size[RB_FMT_SIZE], block[RB_FMT_SIZE] = "-";
    if (drive->has_logical_block_bytes)
        snprintf(block, sizeof(block), "%u B", drive->logical_block_bytes);
    printf("    %-14s %-10s %-7s %-22s %-20s %s\n", drive->path,
           drive->has_size_bytes ? rb_fmt_bytes(size, sizeof(size), drive->size_bytes) : "-", block,
           drive->model ? drive->model : "-", drive->serial ? drive->serial : "-",
           drive->in_use ? "in use" : "free");
    if (drive->in_use)
        printf("        %s\n", drive->in_use);
}

static void print_drives(const Rackbench__Inventory *inv)
{
    if (inv->n_drives == 0) {
        puts("    no drives");
        return;
    }
    printf("    %-14s %-10s %-7s %-22s %-20s\n", "drive", "size", "block", "model", "serial");
    for (size_t i = 0; i < inv->n_drives; i++)
        print_drive(inv->drives[i]);
}

static void print_wall_clock(const Rackbench__WallClock *wall)
{
    char error[RB_FMT_SIZE];
    if (wall == NULL)
        return;
    if (wall->synchronised)
        printf("    wall clock synchronised within %s, says its kernel\n",
               rb_fmt_ns(error, sizeof(error), wall->maxerror_ns));
    else
        puts("    wall clock not synchronised: no second opinion on the clock");
}

static void print_host(const rb_task_t *task, uint32_t host)
{
    const rb_run_host_opts_t *opts = &task->fleet->hosts[host - 1];
    const Rackbench__Inventory *inv = rb_run_inventory(task->run, host);
    rb_clock_estimate_t clock;
    char memory[RB_FMT_SIZE], rtt[RB_FMT_SIZE], bound[RB_FMT_SIZE];
    if (inv == NULL) {
        printf("%s  %s\n", opts->name, rb_run_silence(task->run, host));
        return;
    }
    printf("%s  %s, Linux %s, agent %s\n", opts->name, inv->hostname, inv->kernel,
           inv->agent_version);
    printf("    %u x %s, %s\n", inv->cpus, inv->cpu_model,
           rb_fmt_bytes(memory, sizeof(memory), inv->memory_bytes));
    if (rb_run_clock(task->run, host, rb_clock_now_ns(), &clock))
        printf("    clock %+.3f us to ours (+- %s), round trip %s\n", (double)clock.offset_ns / 1e3,
               rb_fmt_ns(bound, sizeof(bound), clock.bound_ns),
               rb_fmt_ns(rtt, sizeof(rtt), clock.rtt_ns));
    print_wall_clock(inv->wall_clock);
    print_drives(inv);
}

int cmd_hosts(const rb_options_t *options, rb_err_t *err)
{
    rb_task_opts_t opts = {
        .goal = RB_RUN_INVENTORY, .name = "inventory", .wall_ns = rb_clock_wall_ns()};
    rb_task_t task;
    rb_run_id(opts.id);
    if (options->hosts == NULL && options->local == 0) {
        rb_err_set(err, RB_ERR_INPUT,
                   "which hosts? --hosts node[01-16], or --local 1 for this machine");
        return RB_ERR_INPUT;
    }
    if (rb_task_run(&task, &opts, options, err) == 0)
        for (size_t i = 0; i < task.fleet->list->nitems; i++)
            print_host(&task, (uint32_t)i + 1);
    int status = rb_task_status(&task, err);
    rb_task_clear(&task);
    return status;
}
