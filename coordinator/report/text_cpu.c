#include "coordinator/report/text_parts.h"

enum { HOSTS_NAMED = 3 };

typedef struct {
    size_t hosts;
    double busy, steal;                        /* means over the hosts */
    const rb_result_host_t *busiest, *softirq; /* that have the busiest CPU */
} cpus_t;

static cpus_t cpus_of(const rb_result_phase_t *phase)
{
    cpus_t c = {0};
    for (size_t i = 0; i < phase->nhosts; i++) {
        const rb_result_host_t *h = &phase->hosts[i];
        if (h->cpu.ncpus == 0)
            continue;
        c.hosts++;
        c.busy += h->cpu.busy;
        c.steal += h->cpu.steal;
        if (c.busiest == NULL || h->cpu.busy_max > c.busiest->cpu.busy_max)
            c.busiest = h;
        if (c.softirq == NULL || h->cpu.softirq_max > c.softirq->cpu.softirq_max)
            c.softirq = h;
    }
    return c;
}

/* " of db02" where there are several hosts. */
static const char *of_host(char *buf, size_t size, const rb_result_phase_t *phase,
                           const rb_result_host_t *host)
{
    char name[RB_WORDS_SIZE];
    buf[0] = '\0';
    if (phase->nhosts > 1)
        snprintf(buf, size, " of %.24s", rb_words_clean(name, sizeof(name), host->name));
    return buf;
}

static void put_cpus(const rb_text_t *text, const rb_result_phase_t *phase)
{
    char a[40], b[40];
    cpus_t c = cpus_of(phase);
    if (c.hosts == 0)
        return;
    const rb_result_cpu_t *most = &c.busiest->cpu, *softirq = &c.softirq->cpu;
    RB_AUTO(rb_free_str)
    char *words = rb_asprintf(
        "CPUs %.0f %% busy, CPU %u%s the most: %.0f %%; softirqs at most %.0f "
        "%% (CPU %u%s); steal %.1f %%",
        c.busy / (double)c.hosts * 100, most->busy_max_cpu, of_host(a, sizeof(a), phase, c.busiest),
        most->busy_max * 100, softirq->softirq_max * 100, softirq->softirq_max_cpu,
        of_host(b, sizeof(b), phase, c.softirq), c.steal / (double)c.hosts * 100);
    fputs("  ", text->out);
    rb_text_wrapped(text->out, words, 2);
}

/* Nothing where all was left to the scheduler. */
static void put_placement(const rb_text_t *text, const rb_result_phase_t *phase)
{
    static const char *const words[RB_PLACE_COUNT] = {
        [RB_PLACE_ANY] = "where the scheduler puts them",
        [RB_PLACE_NEAR] = "on their drive's NUMA node",
        [RB_PLACE_AUTO] = "on a CPU each",
        [RB_PLACE_LIST] = "on the CPUs listed",
        [RB_PLACE_SPLIT] = "on one of the CPUs listed"};
    size_t workers[RB_PLACE_COUNT] = {0}, bound = 0;
    for (size_t i = 0; i < phase->nhosts; i++)
        for (size_t k = 0; k < phase->hosts[i].nplaces; k++) {
            const rb_result_place_t *place = &phase->hosts[i].places[k];
            workers[place->workers[0].how] += place->nworkers;
            bound += place->workers[0].how != RB_PLACE_ANY ? place->nworkers : 0;
        }
    const char *lead = "  workers: ";
    for (int how = 0; bound > 0 && how < RB_PLACE_COUNT; how++) {
        if (workers[how] == 0)
            continue;
        fprintf(text->out, "%s%zu %s", lead, workers[how], words[how]);
        lead = ", ";
    }
    fputs(bound > 0 ? "\n" : "", text->out);
}

static char *why(const rb_result_host_t *host)
{
    char name[RB_WORDS_SIZE];
    RB_AUTO(rb_free_str)
    char *softirq = host->limits & RB_LIMIT_SOFTIRQ
                        ? rb_asprintf(", CPU %u in softirqs %.0f %%", host->cpu.softirq_max_cpu,
                                      host->cpu.softirq_max * 100)
                        : rb_strdup("");
    RB_AUTO(rb_free_str)
    char *cpus =
        host->limits & RB_LIMIT_CPUS
            ? rb_asprintf(", all %zu CPUs of the workers over 90 %% busy; rackbench itself "
                          "used %.1f CPUs",
                          host->cpu.worker_cpus, host->cpu.agent)
            : rb_strdup("");
    return rb_asprintf("%.40s%s%s%s", rb_words_clean(name, sizeof(name), host->name),
                       host->limits & RB_LIMIT_WORKER ? ", a worker used over 90 % of a CPU" : "",
                       softirq, cpus);
}

static void put_limits(const rb_text_t *text, const rb_result_phase_t *phase)
{
    size_t n = 0;
    for (size_t i = 0; i < phase->nhosts; i++) {
        if (phase->hosts[i].limits == 0 || n++ >= HOSTS_NAMED)
            continue;
        RB_AUTO(rb_free_str) char *reasons = why(&phase->hosts[i]);
        fputs("  client bound: ", text->out);
        rb_text_wrapped(text->out, reasons, strlen("  client bound: "));
    }
    if (n > HOSTS_NAMED)
        fprintf(text->out, "  client bound: and %zu more host%s\n", n - HOSTS_NAMED,
                n - HOSTS_NAMED == 1 ? "" : "s");
}

void rb_text_cpu(rb_text_t *text, const rb_result_phase_t *phase)
{
    put_placement(text, phase);
    put_cpus(text, phase);
    put_limits(text, phase);
}
