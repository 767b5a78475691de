#include "coordinator/plan/fio_job.h"
#include "coordinator/plan/resolve.h"

/* fio has a rate for each direction; a job here has one for all that it does. */
static int map_rate(rb_fio_t *f, rb_fio_job_t *job, const char *name)
{
    const rb_fio_line_t *line = rb_fio_get(job, name);
    const char *texts[RB_FIO_DIRECTIONS];
    char buf[RB_MAX_FIO_VALUE + 1];
    uint64_t rates[RB_FIO_DIRECTIONS] = {0};
    if (!line)
        return 0;
    if (rb_fio_directions(f, line, buf, texts) != 0)
        return -1;
    for (int i = 0; i < RB_FIO_DIRECTIONS; i++)
        if (*texts[i] && rb_fio_parse_number(f, job, line, texts[i], &rates[i]) != 0)
            return -1;
    uint64_t rate = rb_fio_trims(job) ? rates[2] : rb_fio_reads(job) ? rates[0] : rates[1];
    if (rb_fio_reads(job) && rb_fio_writes(job)) {
        bool even = !job->job->has_rwmixread || job->job->rwmixread == 50;
        rate = rates[0] + rates[1];
        if ((!even || rates[0] != rates[1]) && rate > 0 &&
            rb_fio_lacks(f, line,
                         "a job that mixes has one rate for reads and writes together, "
                         "which rwmixread divides; use two jobs") != 0)
            return -1;
    }
    if (rate == 0)
        return 0;
    rb_fio_note(f, line,
                "operations are due at this rate whether or not others are late (open "
                "loop), and response time counts from then");
    rb_fio_set(job, name, rate / job->nnames > 0 ? rate / job->nnames : 1, line);
    return 0;
}

static int map_process(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "rate_process");
    if (!line || strcmp(line->value, "linear") == 0)
        return 0;
    if (!job->job->has_rate_bytes && !job->job->has_rate_iops) {
        rb_fio_note(f, line, "left out: there is no rate");
        return 0;
    }
    return rb_fio_set_word(f, job, "rate_process", line->value, line);
}

static int map_pauses(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "thinktime");
    uint64_t ns = 0, blocks = 1;
    if (rb_fio_get_time(f, job, "thinktime", RB_NS_PER_US, &ns) != 0 ||
        rb_fio_get_number(f, job, "thinktime_blocks", &blocks) != 0)
        return -1;
    if (ns == 0)
        return 0;
    if ((job->job->iodepth > 1 || job->nnames > 1) &&
        rb_fio_lacks(f, line,
                     "fio halts the whole job, and here each of its iodepth slots pauses "
                     "by itself; with iodepth=1 that is the same") != 0)
        return -1;
    rb_fio_set(job, "thinktime", ns, line);
    if (blocks > 1)
        rb_fio_set(job, "thinktime_blocks", blocks, rb_fio_get(job, "thinktime_blocks"));
    return 0;
}

static int map_delay(rb_fio_t *f, rb_fio_job_t *job)
{
    const rb_fio_line_t *line = rb_fio_get(job, "startdelay");
    uint64_t ns = 0;
    if (line && strchr(line->value, '-'))
        return rb_fio_fail(f, line, "delays are not drawn at random; one number is right");
    if (rb_fio_get_time(f, job, "startdelay", RB_NS_PER_S, &ns) != 0)
        return -1;
    if (ns > 0)
        rb_fio_set(job, "start_delay", ns, line);
    return 0;
}

int rb_fio_map_when(rb_fio_t *f, rb_fio_job_t *job)
{
    if (map_rate(f, job, "rate") != 0 || map_rate(f, job, "rate_iops") != 0 ||
        map_process(f, job) != 0)
        return -1;
    return map_pauses(f, job) != 0 ? -1 : map_delay(f, job);
}
