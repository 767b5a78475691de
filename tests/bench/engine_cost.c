/* engine_cost.c - one worker of the engine alone, for the scripts beside it: 4 KiB random reads of
 * TARGET.
 *
 * engine_cost TARGET IODEPTH OPERATIONS|SECONDSs WAIT [buffered|sync]: a closed loop, both
 * histograms, one window a second, as in the agent but without coordinator, sampler and second
 * thread. WAIT is iodepth_batch_complete_min; with `sync` the system calls do the I/O. Prints names
 * and figures: operations a second, CPU time of each, mean and median of the service time, median
 * and p99 of the turns, and how many operations there were.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/backend/sync.h"
#include "agent/backend/uring.h"
#include "agent/worker.h"
#include "common/clock.h"

static void check(int rc, const rb_err_t *err)
{
    if (rc == 0)
        return;
    fprintf(stderr, "engine_cost: %s\n", err->text);
    exit(err->code);
}

static uint64_t size_of(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    if (end <= 0) {
        fprintf(stderr, "engine_cost: %s: cannot be opened or is empty\n", path);
        exit(RB_ERR_INPUT);
    }
    close(fd);
    return (uint64_t)end;
}

static void set_job(Rackbench__Job *job, char **argv, int argc)
{
    rackbench__job__init(job);
    job->name = "cost";
    job->rw = RACKBENCH__RW__MODE__randread;
    job->has_iodepth = true;
    job->iodepth = (uint32_t)strtoul(argv[2], NULL, 10);
    char *unit;
    uint64_t how_much = strtoull(argv[3], &unit, 10);
    *(*unit == 's' ? &job->runtime_ns : &job->number_ios) =
        *unit == 's' ? how_much * RB_NS_PER_S : how_much;
    job->iodepth_batch_complete_min = (uint32_t)strtoul(argv[4], NULL, 10);
    job->has_direct = argc > 5 && strcmp(argv[5], "buffered") == 0;
}

/* All windows but those that the loop had to merge stand in its slots. */
static void print(rb_worker_t *w, uint64_t t0_ns)
{
    double took_s = (double)(w->account.done_ns - t0_ns) / (double)RB_NS_PER_S;
    rb_hist_t *service = rb_hist_new();
    const rb_window_t *win;
    while ((win = rb_windows_peek(&w->windows)) != NULL) {
        rb_hist_merge(service, &win->ops[RB_OP_READ]->service);
        rb_windows_consume(&w->windows);
    }
    printf("iops %.0f cpu_ns %.0f mean_ns %.0f p50_ns %lu turn_p50_ns %lu turn_p99_ns %lu "
           "operations %lu\n",
           (double)service->count / took_s, (double)w->account.cpu_ns / (double)service->count,
           rb_hist_mean(service), rb_hist_quantile(service, 0.5), rb_hist_quantile(w->turn, 0.5),
           rb_hist_quantile(w->turn, 0.99), service->count);
    rb_hist_destroy(&service);
}

int main(int argc, char **argv)
{
    rb_crew_t crew;
    rb_worker_subject_t subject;
    Rackbench__Job job;
    rb_err_t err = {0};
    _Atomic uint64_t cursor = 0;
    if (argc < 5) {
        fprintf(stderr, "usage: engine_cost TARGET IODEPTH OPERATIONS|SECONDSs WAIT "
                        "[buffered|sync]\n");
        return RB_ERR_INPUT;
    }
    set_job(&job, argv, argc);
    bool sync = argc > 5 && strcmp(argv[5], "sync") == 0;
    rb_subject_t at = {.size_bytes = size_of(argv[1]), .logical_block_bytes = 512};
    snprintf(at.path, sizeof(at.path), "%s", argv[1]);
    rb_crew_init(&crew);
    rb_worker_subject_init(&subject, &at);
    rb_worker_opts_t o = {.crew = &crew,
                          .subject = &subject,
                          .job = &job,
                          .cursor = &cursor,
                          .backend = sync ? &rb_backend_sync : &rb_backend_uring,
                          .interval_ns = RB_NS_PER_S,
                          .seed = 1};
    rb_worker_t *w = rb_worker_new(&o, &err);
    check(w == NULL ? -1 : 0, &err);
    check(rb_worker_prepare(w, &err), &err);
    uint64_t t0_ns = rb_clock_now_ns() + RB_NS_PER_MS;
    rb_crew_arm(&crew, t0_ns, 0);
    rb_worker_loop(w);
    print(w, t0_ns);
    bool failed = w->account.errors.failed;
    rb_worker_destroy(&w);
    rb_worker_subject_clear(&subject);
    rb_crew_clear(&crew);
    return failed ? RB_ERR_IO : RB_OK;
}
