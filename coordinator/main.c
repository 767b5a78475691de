#include "common/wall_clock.h"
#include "coordinator/cmd.h"

#include <errno.h>

typedef struct {
    const char *name;
    const char *args;
    const char *help;
    const char *more; /* for `rackbench NAME --help` */
    rb_cmd_fn *run;
    size_t min_args, max_args;
    rb_for_t bit;
} command_t;

static const command_t commands[] = {
    {"run", "PLAN", "run a plan on all hosts in lockstep and print the merged result",
     "PLAN is a file (plan.yaml), or the name of a preset (rackbench plan list).\n"
     "Without --hosts it starts embedded agents on this machine.\n"
     "Ctrl-C stops every agent and prints what was measured; a second one ends at once.\n",
     cmd_run, 1, 1, RB_FOR_RUN},
    {"resume", "RUN", "take up a run whose coordinator died, or fetch what lost hosts still hold",
     "RUN is a run directory or the id at the end of its name; the hosts are those of the run.\n"
     "Agents hand over all rows that the journal lacks. Within the lease a phase simply goes on;\n"
     "after it the agents have stopped: that phase stays truncated, and those that follow it are "
     "run,\nunless --collect is given.\n",
     cmd_resume, 1, 1, RB_FOR_RESUME},
    {"check", "PLAN", "show what a plan would do and how long it takes; touches nothing",
     "Prints the resolved plan; with --hosts or --local also every drive and file on every host,\n"
     "what would be written or overwritten, and what is refused and why.\n",
     cmd_check, 1, 1, RB_FOR_CHECK},
    {"report", "RUN", "print a result again from its journal",
     "RUN is a run directory or the id at the end of its name.\n", cmd_report, 1, 1, RB_FOR_REPORT},
    {"status", "RUN", "what a run is doing: phase, time left, hosts, last events",
     "Reads the journal only, from any terminal of the coordinator's machine. Exit status: 0 "
     "while\n"
     "the run goes on, then that of the run; 5 if its coordinator is gone. --format json: one "
     "object.\n",
     cmd_status, 1, 1, RB_FOR_STATUS},
    {"attach", "RUN", "follow a run from another terminal, and print its result at its end",
     "Ctrl-C detaches and leaves the run alone. Exit status: that of the run; 130 detached; 5 if\n"
     "its coordinator is gone.\n",
     cmd_attach, 1, 1, RB_FOR_ATTACH},
    {"hosts", "", "show the fleet: CPU, memory, kernel, drives, clock offset and round trip",
     "Needs --hosts (or --local N).\n", cmd_hosts, 0, 0, RB_FOR_HOSTS},
    {"stop", "", "free hosts of whatever run owns them",
     "Needs --hosts. Each agent stops its I/O, drains, and tells its coordinator. Prints what "
     "each\n"
     "host was busy with. Exit status 3 where one is not reached, or not free in the end.\n",
     cmd_stop, 0, 0, RB_FOR_STOP},
    {"clean", "PLAN", "remove the files that a plan's runs have laid out",
     "Removes files named rackbench.HOST.TARGET.N, of this plan's targets and these hosts only.\n",
     cmd_clean, 1, 1, RB_FOR_CLEAN},
    {"rank", "RUN | --specs A B", "where drives stand among those that reviews have measured",
     "Same test, same point, same unit; with its place, the percent to the next, and the drive's "
     "own\nrating. What cannot be compared is told with the reason: not steady, client_bound, a "
     "file, ...\nA and B are drives of the tables: an id (cd9p-r-7.68) or a part of the model "
     "(CD9P-R).\n",
     cmd_rank, 1, 2, RB_FOR_RANK},
    {"keygen", "", "make the key that agents know this coordinator by",
     "Writes FILE (keep it secret) and FILE.pub, and prints what agents need. If FILE is there,\n"
     "prints that and changes nothing.\n",
     cmd_keygen, 0, 0, RB_FOR_KEYGEN},
    {"size", "kv",
     "what a KV-cache tier would hit, move and wear, computed from a trace without I/O",
     "Prints hit ratios by capacity, the GB/s that drives must do, and the DWPD that they need, "
     "by\n"
     "the planner that a run goes by. Needs --trace; capacities are of one drive.\n",
     cmd_size, 1, 1, RB_FOR_SIZE},
    {"plan", "list|show|import", "the plans that are built in; a fio job file as a plan",
     "list; show PRESET; import JOB.fio, which prints the plan that run and check make of it.\n",
     cmd_plan, 1, 2, RB_FOR_PLAN},
};

static void help(FILE *out)
{
    fputs("Usage: rackbench COMMAND [OPTIONS]\n"
          "Measures the storage of many servers at once: one plan, all hosts in lockstep, one "
          "merged result.\n"
          "\n"
          "Commands:\n",
          out);
    for (size_t i = 0; i < RB_LEN(commands); i++) {
        char left[40];
        snprintf(left, sizeof(left), "%s %s", commands[i].name, commands[i].args);
        fprintf(out, "  %-24s %s\n", left, commands[i].help);
    }
    fputs("\nOptions:\n", out);
    rb_options_help(out, RB_FOR_ALL);
    fputs(
        "  --version\n"
        "\n"
        "Examples:\n"
        "  rackbench run quick                        a first look, on this machine\n"
        "  rackbench run plan.yaml --local 2          two embedded agents\n"
        "  rackbench check plan.yaml --hosts node[01-16] --insecure\n"
        "  rackbench run plan.yaml --hosts node[01-16] --insecure\n"
        "  rackbench report quick-20260101T120000Z-ab3de5fg --format json | jq .phases[0].cluster\n"
        "\n"
        "Exit status: 0 done, 1 bad input, 2 refused as unsafe, 3 network or protocol, 4 I/O "
        "error,\n"
        "5 a host was lost, 6 internal error, 130 interrupted.\n",
        out);
}

static void command_help(const command_t *command)
{
    printf("Usage: rackbench %s %s [OPTIONS]\n%s.\n%s\nOptions:\n", command->name, command->args,
           command->help, command->more);
    rb_options_help(stdout, command->bit);
}

static int run_command(const command_t *command, int argc, char **argv, rb_err_t *err)
{
    rb_options_t options;
    int status = -1;
    if (rb_wall_clock_set_test(getenv("RACKBENCH_TEST_WALL"), err) != 0) {
        rb_err_wrap(err, "RACKBENCH_TEST_WALL");
        return (int)err->code;
    }
    if (rb_options_parse(&options, command->bit, argc, argv, err) != 0) {
        status = (int)err->code;
    } else if (options.help) {
        command_help(command);
        status = RB_OK;
    } else if (options.nargs < command->min_args || options.nargs > command->max_args) {
        rb_err_set(err, RB_ERR_INPUT, "usage: rackbench %s %s [OPTIONS]", command->name,
                   command->args);
        status = RB_ERR_INPUT;
    } else {
        status = command->run(&options, err);
    }
    rb_options_clear(&options);
    return status;
}

static const command_t *find(const char *name)
{
    for (size_t i = 0; i < RB_LEN(commands); i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

/* A result that nobody can read is no success. */
static int flush_output(rb_err_t *err)
{
    bool lost = ferror(stdout) != 0;
    if (fflush(stdout) != 0)
        rb_err_set(err, RB_ERR_IO, "write to standard output: %s", strerror(errno));
    else if (lost)
        rb_err_set(err, RB_ERR_IO, "not all of standard output could be written");
    else
        return RB_OK;
    return RB_ERR_IO;
}

static int dispatch(int argc, char **argv, rb_err_t *err)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--version") == 0) {
        puts("rackbench " RB_VERSION);
        return RB_OK;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        help(stdout);
        return RB_OK;
    }
    const command_t *command = find(word);
    if (command == NULL) {
        if (argc > 1)
            fprintf(stderr, "rackbench: unknown command '%s'; see rackbench --help\n", word);
        else
            help(stderr);
        return RB_ERR_INPUT;
    }
    return run_command(command, argc - 1, argv + 1, err);
}

int main(int argc, char **argv)
{
    rb_err_t err = {0};
    int status = dispatch(argc, argv, &err);
    if (status == RB_OK)
        status = flush_output(&err);
    if (err.text[0] != '\0')
        fprintf(stderr, "rackbench: %s\n", err.text);
    return status;
}
