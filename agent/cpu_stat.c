#include "agent/cpu_stat.h"

#include <inttypes.h>

#include "common/clock.h"

enum { WHOLE_PPM = 1000000 };

/* user nice system idle iowait irq softirq steal; guest time is in user and nice. A task that waits
 * for a drive leaves its CPU idle. */
static int parse_line(const char *line, rb_cpu_stat_t *ret)
{
    unsigned cpu;
    uint64_t v[8];
    int n = sscanf(line,
                   "cpu%u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                   " %" SCNu64 " %" SCNu64,
                   &cpu, &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]);
    if (n != 9)
        return -1;
    if (cpu < RB_MAX_CPUS)
        ret->cpus[cpu] = (rb_cpu_ticks_t){.work = v[0] + v[1] + v[2] + v[5] + v[6],
                                          .softirq = v[5] + v[6],
                                          .steal = v[7],
                                          .idle = v[3] + v[4]};
    return 0;
}

int rb_cpu_stat_parse(const char *text, rb_cpu_stat_t *ret)
{
    memset(ret->cpus, 0, sizeof(ret->cpus));
    for (const char *line = text; line != NULL && *line != '\0';) {
        bool of_one = strncmp(line, "cpu", 3) == 0 && line[3] >= '0' && line[3] <= '9';
        if (of_one && parse_line(line, ret) < 0)
            return -1;
        line = strchr(line, '\n');
        line += line != NULL;
    }
    return 0;
}

/* The lines of the CPUs come first; what follows them may be long. */
static char *read_all(FILE *f)
{
    enum { STEP = 64 * 1024, MOST = RB_MAX_CPUS * 256 };
    size_t size = 0, n = 1;
    char *text = rb_calloc(1, 1);
    for (; n > 0 && size < MOST; size += n) {
        text = rb_realloc(text, size + STEP + 1);
        n = fread(text + size, 1, STEP, f);
    }
    text[size] = '\0';
    return text;
}

int rb_cpu_stat_read(rb_cpu_stat_t *ret)
{
    FILE *f = fopen("/proc/stat", "re");
    if (f == NULL)
        return -1;
    RB_AUTO(rb_free_str) char *text = read_all(f);
    fclose(f);
    ret->at_ns = rb_clock_now_ns();
    ret->agent_ns = rb_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    return rb_cpu_stat_parse(text, ret);
}

/* Idle time is corrected downwards at times. */
static uint64_t grown(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

size_t rb_cpu_stat_shares(const rb_cpu_stat_t *from, const rb_cpu_stat_t *to, rb_cpu_share_t *ret)
{
    size_t n = 0;
    for (uint32_t cpu = 0; cpu < RB_MAX_CPUS; cpu++) {
        const rb_cpu_ticks_t *a = &from->cpus[cpu], *b = &to->cpus[cpu];
        uint64_t work = grown(a->work, b->work), idle = grown(a->idle, b->idle);
        uint64_t steal = grown(a->steal, b->steal), all = work + idle + steal;
        bool online = a->work + a->idle > 0 && b->work + b->idle > 0;
        if (!online || all == 0)
            continue;
        uint64_t softirq = RB_MIN(grown(a->softirq, b->softirq), work);
        ret[n++] = (rb_cpu_share_t){.cpu = cpu,
                                    .busy_ppm = (uint32_t)(work * WHOLE_PPM / all),
                                    .softirq_ppm = (uint32_t)(softirq * WHOLE_PPM / all),
                                    .steal_ppm = (uint32_t)(steal * WHOLE_PPM / all)};
    }
    return n;
}

uint32_t rb_cpu_stat_steal_ppm(const rb_cpu_share_t *shares, size_t n)
{
    uint64_t sum_ppm = 0;
    for (size_t i = 0; i < n; i++)
        sum_ppm += shares[i].steal_ppm;
    return n == 0 ? 0 : (uint32_t)(sum_ppm / n);
}
