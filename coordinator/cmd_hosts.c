#include "coordinator/cmd.h"

#include "common/clock.h"
#include "coordinator/task.h"

static const char *next(const char **lead)
{
    const char *now = *lead;
    *lead = ", ";
    return now;
}

static void print_formats(const Rackbench__Drive *drive)
{
    const char *lead = "        formats ";
    for (size_t i = 0; i < drive->n_lba_formats; i++) {
        if (drive->lba_formats[i]->data_bytes == 0)
            continue;
        printf("%s%u+%u%s", lead, drive->lba_formats[i]->data_bytes,
               drive->lba_formats[i]->metadata_bytes,
               drive->has_lba_format && i == drive->lba_format ? "*" : "");
        lead = " ";
    }
    if (lead[1] == '\0')
        putchar('\n');
}

/* What the drive's table says that they draw at the most: nobody measured it. */
static void print_power_states(const Rackbench__Drive *drive)
{
    for (size_t i = 0; i < drive->n_power_states; i++) {
        const Rackbench__PowerState *state = drive->power_states[i];
        printf("%s%zu", i == 0 ? "        power states " : ", ", i);
        if (state->has_max_mw)
            printf(": %.2f W", state->max_mw / 1e3);
        if (state->has_entry_us || state->has_exit_us)
            printf(" (in %u us, out %u us)", state->entry_us, state->exit_us);
        if (state->idle)
            printf(" idle");
    }
    if (drive->n_power_states > 0)
        putchar('\n');
}

static void print_medium(const Rackbench__Drive *drive)
{
    const char *lead = "        ";
    if (drive->firmware)
        printf("%sfirmware %s", next(&lead), drive->firmware);
    if (drive->has_nsid)
        printf("%snamespace %u", next(&lead), drive->nsid);
    if (drive->wwid)
        printf("%s%s", next(&lead), drive->wwid);
    if (drive->write_cache)
        printf("%scache %s%s", next(&lead), drive->write_cache,
               !drive->has_volatile_write_cache ? ""
               : drive->volatile_write_cache    ? " (volatile)"
                                                : " (not volatile)");
    if (drive->has_power_state)
        printf("%spower state %u", next(&lead), drive->power_state);
    if (drive->has_power_max_mw)
        printf(" (%.2f W)", drive->power_max_mw / 1e3);
    if (lead[0] == ',')
        putchar('\n');
    print_formats(drive);
    print_power_states(drive);
}

static void print_place(const Rackbench__Drive *drive)
{
    const char *lead = "        ";
    if (drive->pci)
        printf("%sPCI %s", next(&lead), drive->pci);
    if (drive->has_link_width && drive->has_link_mts) {
        bool slow =
            drive->link_width < drive->link_max_width || drive->link_mts < drive->link_max_mts;
        printf("%slink x%u at %.1f GT/s", next(&lead), drive->link_width, drive->link_mts / 1e3);
        if (slow)
            printf(", RUNS BELOW x%u at %.1f GT/s", drive->link_max_width,
                   drive->link_max_mts / 1e3);
    }
    if (drive->has_numa_node)
        printf("%sNUMA node %d", next(&lead), drive->numa_node);
    if (drive->has_queues)
        printf("%s%u %s", next(&lead), drive->queues, drive->queues == 1 ? "queue" : "queues");
    if (drive->scheduler)
        printf("%sscheduler %s", next(&lead), drive->scheduler);
    for (size_t i = 0; i < drive->n_members; i++)
        printf("%s%s", i == 0 ? next(&lead) : " ", drive->members[i]);
    if (lead[0] == ',')
        putchar('\n');
}

static void print_drive(const Rackbench__Drive *drive)
{
    char size[RB_FMT_SIZE], block[RB_FMT_SIZE] = "-";
    if (drive->has_logical_block_bytes)
        snprintf(block, sizeof(block), "%u B", drive->logical_block_bytes);
    printf("    %-14s %-10s %-7s %-22s %-20s %s\n", drive->path,
           drive->has_size_bytes ? rb_fmt_bytes(size, sizeof(size), drive->size_bytes) : "-", block,
           drive->model ? drive->model : "-", drive->serial ? drive->serial : "-",
           drive->in_use ? "in use" : "not in use");
    print_medium(drive);
    print_place(drive);
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
