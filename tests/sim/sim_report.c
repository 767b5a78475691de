#include "tests/sim/sim.h"

#include <stdarg.h>

static const char *const states[SIM_STATES] = {"idle",  "owned", "loaded",   "preparing",
                                               "ready", "armed", "draining", "failed"};
static const char *const stages[SIM_STAGES] = {
    "connect", "probe", "load", "prepare", "probe_phase", "run", "clean", "collect", "done"};
static const char *const session_events[SIM_SESSION_EVENTS] = {
    "none",  "Hello",  "Beat",    "Load",    "Prepare", "Arm",    "Stop",
    "Clean", "Bye",    "Collect", "Evict",   "tick",    "loaded", "progress",
    "ready", "failed", "drained", "cleaned", "row"};
static const char *const run_events[SIM_RUN_EVENTS] = {
    "none",  "Join",  "Welcome", "Busy",    "BeatAck", "Loaded",    "Progress",
    "Ready", "Armed", "Drained", "Failed",  "Cleaned", "Leaving",   "start",
    "tick",  "row",   "broken",  "refused", "gone",    "interrupt", "verdict"};

void sim_log(sim_t *sim, const char *fmt, ...)
{
    if (!sim->recording)
        return;
    char *line = sim->recent[sim->nrecent++ % SIM_RECENT];
    int n = snprintf(line, SIM_LINE, "%11.6f  ", (double)(sim->now_ns - SIM_BIG_BANG_NS) / 1e9);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line + n, SIM_LINE - (size_t)n, fmt, ap);
    va_end(ap);
    if (sim->printing)
        puts(line);
}

const char *sim_to_agent_name(const Rackbench__ToAgent *msg)
{
    return session_events[msg->body_case];
}

const char *sim_to_coordinator_name(const Rackbench__ToCoordinator *msg)
{
    return run_events[msg->body_case];
}

void sim_cover_session(sim_t *sim, const sim_agent_t *agent, const rb_session_event_t *event)
{
    size_t what = event->kind == RB_SESSION_MESSAGE
                      ? (size_t)event->message->body_case
                      : SIM_TO_AGENT_BODIES + (size_t)event->kind - RB_SESSION_TICK;
    sim->coverage->session[rb_session_state(agent->session)][what]++;
}

void sim_cover_run(sim_t *sim, rb_stage_t stage, const rb_run_event_t *event)
{
    size_t what = (size_t)event->kind;
    if (event->kind == RB_RUN_MESSAGE)
        what = (size_t)event->message->body_case;
    else
        what = SIM_TO_COORDINATOR_BODIES + (what > RB_RUN_MESSAGE ? what - 1 : what);
    sim->coverage->run[stage][what]++;
}

static size_t visited(const uint64_t *counts, size_t n)
{
    size_t visits = 0;
    for (size_t i = 0; i < n; i++)
        visits += counts[i] != 0;
    return visits;
}

size_t sim_covered(const sim_coverage_t *coverage)
{
    return visited(coverage->session[0], sizeof(coverage->session) / sizeof(uint64_t)) +
           visited(coverage->run[0], sizeof(coverage->run) / sizeof(uint64_t));
}

static void print_row(const char *name, const uint64_t *counts, const char *const *events, size_t n)
{
    printf("  %-12s", name);
    for (size_t i = 0; i < n; i++)
        if (counts[i] != 0)
            printf(" %s:%llu", events[i], (unsigned long long)counts[i]);
    printf("\n  %-12s not:", "");
    for (size_t i = 1; i < n; i++)
        if (counts[i] == 0)
            printf(" %s", events[i]);
    putchar('\n');
}

void sim_print_coverage(const sim_coverage_t *coverage)
{
    puts("session state x event");
    for (size_t i = 0; i < SIM_STATES; i++)
        print_row(states[i], coverage->session[i], session_events, SIM_SESSION_EVENTS);
    puts("run stage x event");
    for (size_t i = 0; i < SIM_STAGES; i++)
        print_row(stages[i], coverage->run[i], run_events, SIM_RUN_EVENTS);
    printf("exits:");
    for (size_t i = 0; i < RB_LEN(coverage->exits); i++)
        if (coverage->exits[i] != 0)
            printf(" %zu x%llu", i, (unsigned long long)coverage->exits[i]);
    printf("\npairs visited: %zu\n", sim_covered(coverage));
}
