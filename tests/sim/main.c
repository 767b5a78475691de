/* tests_sim - runs courses of the simulator, one a seed, until one violates an invariant.
 *
 * usage: tests_sim [--from N] [--seeds N] [--seed N] [--trace] [--coverage] [--floor N]
 *                  [--without I] [--progress] [--long SCALE]
 * --seed is one course; --long another one: 128 drives for 14 days with a journal of 10 GB, all
 * rows and the journal SCALE times smaller; --trace prints its events; --coverage which pairs of
 * state and event were visited, and --floor N fails when they are fewer; --without I leaves
 * invariant I out. Exit status: 0 all hold, 1 one was violated, 2 bad arguments, 3 below the floor.
 */
#include "tests/sim/sim.h"

#include <getopt.h>
#include <time.h>

typedef struct {
    uint64_t from, seeds, floor, scale;
    uint32_t without;
    bool trace, coverage, progress;
} args_t;

static uint64_t number(const char *text)
{
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*text != '\0' && *end == '\0')
        return value;
    fprintf(stderr, "tests_sim: '%s' is not a number\n", text);
    exit(2);
}

static args_t parse(int argc, char **argv)
{
    static const struct option options[] = {{"from", 1, NULL, 'f'},     {"seeds", 1, NULL, 'n'},
                                            {"seed", 1, NULL, 's'},     {"trace", 0, NULL, 't'},
                                            {"coverage", 0, NULL, 'c'}, {"floor", 1, NULL, 'l'},
                                            {"without", 1, NULL, 'w'},  {"progress", 0, NULL, 'p'},
                                            {"long", 1, NULL, 'g'},     {NULL, 0, NULL, 0}};
    args_t args = {.from = 1, .seeds = 2000};
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 's' || c == 'g')
            args.seeds = 1;
        if (c == 'f' || c == 's')
            args.from = number(optarg);
        else if (c == 'n')
            args.seeds = number(optarg);
        else if (c == 'g')
            args.scale = number(optarg);
        else if (c == 'l')
            args.floor = number(optarg);
        else if (c == 'w')
            args.without = (uint32_t)number(optarg);
        else if (c == 't')
            args.trace = true;
        else if (c == 'c')
            args.coverage = true;
        else if (c == 'p')
            args.progress = true;
        else
            exit(2);
    }
    return args;
}

/* The course again, this time writing down what happens. */
static void explain(uint64_t seed, const args_t *args, const char *program)
{
    sim_coverage_t *ignored = rb_calloc(1, sizeof(*ignored));
    sim_opts_t opts = {seed, args->without, true, false, args->scale};
    RB_AUTO(sim_destroy) sim_t *sim = sim_course(&opts, ignored);
    size_t n = RB_MIN(sim->nrecent, (size_t)SIM_RECENT);
    printf("I%u violated at %.6f s: %s\nthe last events:\n", sim->violated,
           (double)(sim->now_ns - SIM_BIG_BANG_NS) / 1e9, sim->what);
    for (size_t i = sim->nrecent - n; i < sim->nrecent; i++)
        puts(sim->recent[i % SIM_RECENT]);
    printf("replay: %s --%s %llu --trace\n", program, args->scale > 0 ? "long" : "seed",
           (unsigned long long)(args->scale > 0 ? args->scale : seed));
    free(ignored);
}

static void print_journal(const sim_t *sim)
{
    printf(
        "journal: %.3f GB of %.3f GB, %llu rows of up to %u windows, %llu around what went wrong\n",
        (double)sim->coordinator.journal_bytes / 1e9,
        (double)sim->config.run.journal_max_bytes / 1e9, (unsigned long long)sim->counts.rows,
        sim->counts.widest, (unsigned long long)sim->counts.alone);
}

static int run_all(const args_t *args, sim_coverage_t *coverage, const char *program)
{
    time_t shown = time(NULL);
    for (uint64_t seed = args->from; seed < args->from + args->seeds; seed++) {
        sim_opts_t opts = {seed, args->without, args->trace, args->trace, args->scale};
        sim_t *sim = sim_course(&opts, coverage);
        bool violated = sim->violated != 0;
        if (args->scale > 0)
            print_journal(sim);
        sim_destroy(&sim);
        if (violated) {
            explain(seed, args, program);
            return 1;
        }
        if (args->progress && time(NULL) > shown) {
            shown = time(NULL);
            fprintf(stderr, "\r%llu of %llu seeds, %zu pairs",
                    (unsigned long long)(seed + 1 - args->from), (unsigned long long)args->seeds,
                    sim_covered(coverage));
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    args_t args = parse(argc, argv);
    sim_coverage_t *coverage = rb_calloc(1, sizeof(*coverage));
    int status = run_all(&args, coverage, argv[0]);
    if (args.coverage)
        sim_print_coverage(coverage);
    if (status == 0 && sim_covered(coverage) < args.floor) {
        fprintf(stderr, "tests_sim: %zu pairs visited, fewer than %llu: see --coverage\n",
                sim_covered(coverage), (unsigned long long)args.floor);
        status = 3;
    }
    free(coverage);
    return status;
}
