#include "agent/worker.h"

#include <errno.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/buffer.h"

static uint32_t ops_of(const Rackbench__Job *job)
{
    return (rb_block_reads(job) ? 1u << RB_OP_READ : 0) |
           (rb_block_writes(job) ? 1u << RB_OP_WRITE : 0);
}

/* How much the worker does at most. */
static int set_limit(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    w->limit_ops = job->number_ios > 0 ? job->number_ios : UINT64_MAX;
    if (job->io_size_bytes > 0)
        w->limit_ops = RB_MIN(w->limit_ops, job->io_size_bytes / w->block.bs_bytes);
    if (w->limit_ops == 0)
        return rb_err_set(err, RB_ERR_INPUT, "job '%s': io_size is less than one bs; raise it",
                          job->name);
    if (w->limit_ops == UINT64_MAX && w->runtime_ns == 0 && !w->block.once)
        w->limit_ops = w->block.nblocks;
    w->left_ops = w->limit_ops;
    return 0;
}

static int set_up(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    w->iodepth = job->has_iodepth ? job->iodepth : 1;
    w->ramp_ns = job->ramp_time_ns;
    w->runtime_ns = job->runtime_ns;
    w->open_loop = job->rate_iops > 0;
    if (w->iodepth < 1 || w->iodepth > RB_MAX_IODEPTH)
        return rb_err_set(err, RB_ERR_INPUT, "job '%s': iodepth %u is not in 1 to %d", job->name,
                          w->iodepth, RB_MAX_IODEPTH);
    bool bounded = w->runtime_ns > 0 || job->io_size_bytes > 0 || job->number_ios > 0;
    rb_block_opts_t block = {.job = job,
                             .subject = &w->o.subject->at,
                             .worker = w->o.number,
                             .seed = w->o.seed,
                             .cursor = w->o.cursor,
                             .once = !bounded};
    if (rb_block_init(&w->block, &block, err) < 0)
        return -1;
    w->load = w->block.ops;
    return set_limit(w, err);
}

rb_worker_t *rb_worker_new(const rb_worker_opts_t *opts, rb_err_t *err)
{
    RB_AUTO(rb_worker_destroy)
    rb_worker_t *w = aligned_alloc(64, (sizeof(*w) + 63) / 64 * 64);
    RB_ASSERT(w != NULL);
    memset(w, 0, sizeof(*w));
    w->o = *opts;
    w->fd = -1;
    if (set_up(w, err) < 0)
        return NULL;
    return RB_MOVE(w);
}

void rb_worker_destroy(rb_worker_t **worker)
{
    rb_worker_t *w = *worker;
    if (w == NULL)
        return;
    rb_worker_release(w);
    rb_windows_clear(&w->windows);
    rb_buffer_free(w->turn, sizeof(*w->turn));
    free(w->slots);
    free(w->free);
    free(w);
    *worker = NULL;
}

static void make_slots(rb_worker_t *w)
{
    w->slots = rb_calloc(w->iodepth, sizeof(*w->slots));
    w->free = rb_calloc(w->iodepth, sizeof(*w->free));
    w->nfree = w->iodepth;
    for (uint32_t i = 0; i < w->iodepth; i++)
        w->free[i] = w->iodepth - 1 - i;
}

/* Reads land in buffers of their own: what is written must stay incompressible. */
static void make_buffers(rb_worker_t *w, uint8_t *ret_buffers[RB_OP_COUNT])
{
    uint32_t ops = ops_of(w->o.job);
    size_t each_bytes;
    w->stride_bytes = rb_buffer_round(w->block.bs_bytes);
    each_bytes = w->iodepth * w->stride_bytes;
    w->buffers_bytes = each_bytes * (size_t)__builtin_popcount(ops);
    w->buffers = rb_buffer_new(w->buffers_bytes);
    uint8_t *at = w->buffers;
    for (int op = 0; op < RB_OP_COUNT; op++) {
        ret_buffers[op] = ops & 1u << op ? at : NULL;
        at += ops & 1u << op ? each_bytes : 0;
    }
    w->write_buffers = ret_buffers[RB_OP_WRITE];
    if (w->write_buffers != NULL) {
        rb_rng_t rng;
        rb_rng_seed(&rng, w->o.seed, w->o.number, 2);
        rb_buffer_fill(w->write_buffers, each_bytes, &rng);
    }
}

int rb_worker_prepare(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    rb_open_mode_t mode = rb_block_writes(job) ? RB_OPEN_WRITE : RB_OPEN_READ;
    rb_open_cache_t cache = !job->has_direct || job->direct ? RB_OPEN_DIRECT : RB_OPEN_BUFFERED;
    if (rb_worker_subject_prepare(w->o.subject, w->o.crew, w->o.seed, err) < 0)
        return -1;
    w->fd = rb_worker_subject_open(w->o.subject, mode, cache, err);
    if (w->fd < 0)
        return -1;
    rb_backend_opts_t opts = {
        .fd = w->fd, .iodepth = w->iodepth, .bs_bytes = (uint32_t)w->block.bs_bytes};
    make_slots(w);
    make_buffers(w, opts.buffers);
    opts.stride_bytes = w->stride_bytes;
    rb_windows_init(&w->windows, ops_of(job));
    w->turn = rb_buffer_new(sizeof(*w->turn));
    rb_hist_clear(w->turn);
    w->io = w->o.backend->open(&opts, err);
    return w->io == NULL ? rb_err_wrap(err, "job '%s' on %s", job->name, w->o.subject->at.path) : 0;
}

void rb_worker_release(rb_worker_t *w)
{
    if (w->io != NULL)
        w->o.backend->close(w->io);
    w->io = NULL;
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
    rb_buffer_free(w->buffers, w->buffers_bytes);
    w->buffers = NULL;
}

static void *thread_main(void *arg)
{
    rb_worker_t *w = arg;
    rb_err_t err;
    /* Else each timed wait may end 50 us late. */
    prctl(PR_SET_TIMERSLACK, 1);
    if (rb_worker_prepare(w, &err) < 0) {
        rb_crew_fail(w->o.crew, &err);
    } else {
        atomic_fetch_add(&w->o.crew->prepared, 1);
        rb_crew_notify(w->o.crew);
        if (rb_crew_await_arm(w->o.crew))
            rb_worker_loop(w);
    }
    rb_worker_release(w);
    atomic_store(&w->ended, true);
    atomic_fetch_add(&w->o.crew->ended, 1);
    rb_crew_notify(w->o.crew);
    return NULL;
}

int rb_worker_start(rb_worker_t *w, rb_err_t *err)
{
    char name[16];
    int rc = pthread_create(&w->thread, NULL, thread_main, w);
    if (rc != 0)
        return rb_err_set(err, RB_ERR_INTERNAL, "start a worker thread: %s", strerror(rc));
    w->started = true;
    snprintf(name, sizeof(name), "w%u.%u.%u", w->o.job_index, w->o.subject->at.drive, w->o.number);
    pthread_setname_np(w->thread, name);
    return 0;
}

void rb_worker_join(rb_worker_t *w)
{
    if (w->started)
        pthread_join(w->thread, NULL);
    w->started = false;
}
