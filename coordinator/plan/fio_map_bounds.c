#include "coordinator/plan/fio_job.h"
#include "coordinator/plan/resolve.h"

typedef struct {
    uint64_t io_bytes, ios, loops, runtime_ns; /* 0: not given */
    bool time_based;
} bounds_t;

static int read_bounds(rb_fio_t *f, rb_fio_job_t *job, bounds_t *b)
{
    const rb_fio_line_t *line = rb_fio_get(job, "io_size");
    uint32_t percent = 0;
    *b = (bounds_t){.loops = 1};
    if (line && rb_fio_percent(line->value, &percent)) {
        if (job->region_bytes == 0)
            return rb_fio_fail(f, line, "percent of a size that is not known; write a size");
        b->io_bytes =
            (uint64_t)((unsigned __int128)job->region_bytes * job->nnames * percent / 100);
    } else if (rb_fio_get_number(f, job, "io_size", &b->io_bytes) != 0) {
        return -1;
    }
    if (rb_fio_get_number(f, job, "number_ios", &b->ios) != 0 ||
        rb_fio_get_number(f, job, "loops", &b->loops) != 0 ||
        rb_fio_get_time(f, job, "runtime", RB_NS_PER_S, &b->runtime_ns) != 0 ||
        rb_fio_get_flag(f, job, "time_based", &b->time_based) != 0)
        return -1;
    b->loops = RB_MAX(b->loops, 1u);
    if (b->time_based && b->runtime_ns == 0)
        return rb_fio_fail(f, rb_fio_get(job, "time_based"), "it needs runtime");
    return 0;
}

/* Every worker's part of what a job does with n files. */
static int divide(rb_fio_t *f, rb_fio_job_t *job, const char *name, uint64_t *n)
{
    if (*n % job->nnames != 0 &&
        rb_fio_lacks(f, rb_fio_get(job, name),
                     "each of the %zu files has a worker of its own; a multiple of %zu is right",
                     job->nnames, job->nnames) != 0)
        return -1;
    *n /= job->nnames;
    return 0;
}

/* fio goes on until so many bytes are done, so the last operation counts in whole. */
static uint64_t whole_blocks(const rb_fio_job_t *job, uint64_t bytes)
{
    uint64_t bs = RB_MAX(job->job->bs_bytes, 1u);
    return (bytes + bs - 1) / bs * bs;
}

/* By work: whichever bound comes first, as in fio. */
static void set_work(rb_fio_job_t *job, const bounds_t *b)
{
    const rb_fio_line_t *loops = rb_fio_get(job, "loops"), *size = rb_fio_get(job, "io_size");
    bool shares = job->job->has_norandommap && job->job->numjobs > 1;
    uint64_t bytes = b->io_bytes > 0 ? b->io_bytes : job->amount_bytes;
    if (bytes > 0)
        rb_fio_set(job, "io_size", whole_blocks(job, bytes * b->loops),
                   size ? size : rb_fio_get(job, "size"));
    else if (b->loops > 1 || b->runtime_ns > 0 || b->ios > 0 || shares)
        rb_fio_set(job, "loops", b->loops, loops);
    if (b->ios > 0)
        rb_fio_set(job, "number_ios", b->ios * b->loops, rb_fio_get(job, "number_ios"));
}

int rb_fio_map_bounds(rb_fio_t *f, rb_fio_job_t *job)
{
    static const char *const idle[] = {"io_size", "loops"};
    bounds_t b;
    if (read_bounds(f, job, &b) != 0 || divide(f, job, "io_size", &b.io_bytes) != 0 ||
        divide(f, job, "number_ios", &b.ios) != 0)
        return -1;
    if (b.loops > UINT32_MAX ||
        (RB_MAX(b.io_bytes, job->amount_bytes) | b.ios) > UINT64_MAX / 2 / b.loops)
        return rb_fio_fail(f, job->head,
                           "more than 8 EiB, 2^63 operations or 2^32 loops; lower it");
    if (b.runtime_ns > 0)
        rb_fio_set(job, "runtime", b.runtime_ns, rb_fio_get(job, "runtime"));
    for (size_t i = 0; b.time_based && i < RB_LEN(idle); i++)
        if (rb_fio_get(job, idle[i]))
            rb_fio_note(f, rb_fio_get(job, idle[i]), "left out: the job is time_based");
    if (!b.time_based)
        set_work(job, &b);
    else if (b.ios > 0)
        rb_fio_set(job, "number_ios", b.ios, rb_fio_get(job, "number_ios"));
    return 0;
}
