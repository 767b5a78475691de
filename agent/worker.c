#include "agent/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/buffer.h"
#include "agent/privilege.h"
#include "agent/worker_due.h"
#include "agent/worker_kv.h"
#include "agent/worker_verify.h"

/* How much the worker does at most. */
static int set_limit(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    w->counted = job->bssplit != NULL || rb_block_ops(job) & 1u << RB_OP_SYNC;
    w->limit_ops = job->number_ios > 0 ? job->number_ios : UINT64_MAX;
    w->limit_bytes = job->io_size_bytes > 0 ? job->io_size_bytes : UINT64_MAX;
    bool none = w->limit_ops == UINT64_MAX && w->limit_bytes == UINT64_MAX && job->loops == 0;
    uint64_t pass_bytes = w->block.nblocks * w->block.bs_bytes;
    if (none && w->runtime_ns == 0 && !w->block.once)
        w->limit_bytes = pass_bytes;
    if (job->loops > 0) /* 60 bits and 32 */
        w->limit_bytes =
            pass_bytes > w->limit_bytes / job->loops ? w->limit_bytes : pass_bytes * job->loops;
    if (w->limit_bytes < w->block.bs_bytes)
        return rb_err_set(err, RB_ERR_INPUT, "job '%s': io_size is less than one bs; raise it",
                          job->name);
    if (!w->counted && w->limit_bytes < UINT64_MAX)
        w->limit_ops = RB_MIN(w->limit_ops, w->limit_bytes / w->block.bs_bytes);
    w->left_ops = w->limit_ops;
    w->left_bytes = w->limit_bytes;
    return 0;
}

static int set_depth(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    uint32_t most = w->o.backend->max_iodepth;
    w->iodepth = job->has_iodepth ? job->iodepth : 1;
    if (w->iodepth > 1 && most == 1)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': ioengine: %s does one operation at a time; set iodepth: 1 and "
                          "raise numjobs for more",
                          job->name, w->o.backend->name);
    if (w->iodepth < 1 || w->iodepth > most)
        return rb_err_set(err, RB_ERR_INPUT, "job '%s': iodepth %u is not in 1 to %u", job->name,
                          w->iodepth, most);
    w->wait_min = RB_MAX(job->iodepth_batch_complete_min, 1u);
    if (w->wait_min > w->iodepth)
        return rb_err_set(err, RB_ERR_INPUT,
                          "job '%s': iodepth_batch_complete_min %u is more than its iodepth %u; "
                          "lower it",
                          job->name, w->wait_min, w->iodepth);
    w->batch = RB_MIN(RB_MAX(w->wait_min, (uint32_t)RB_BATCH), (uint32_t)RB_MAX_BATCH);
    return 0;
}

static int set_up(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    w->ramp_ns = job->ramp_time_ns;
    w->runtime_ns = job->runtime_ns;
    w->open_loop = job->rate_iops > 0 || job->rate_bytes > 0;
    w->thinks = job->thinktime_ns > 0 || (job->start_delay_ns > 0 && !w->open_loop);
    w->starved_ns = w->waited_ns = UINT64_MAX;
    w->zeroes = rb_block_ops(job) & 1u << RB_OP_WRITE &&
                job->write_mode == RACKBENCH__WRITE_MODE__KIND__zeroes;
    w->account.errors.tolerated = rb_worker_errors_tolerated(job);
    if (set_depth(w, err) < 0 || rb_worker_check_due(job, err) < 0)
        return -1;
    if (job->kv_cache != NULL)
        return rb_worker_kv_set(w, err);
    bool bounded =
        w->runtime_ns > 0 || job->io_size_bytes > 0 || job->number_ios > 0 || job->loops > 0;
    rb_block_opts_t block = {.job = job,
                             .subject = &w->o.subject->at,
                             .worker = w->o.number,
                             .seed = w->o.seed,
                             .cursor = w->o.cursor,
                             .once = !bounded,
                             .passes = w->o.passes};
    if (rb_block_init(&w->block, &block, err) < 0)
        return -1;
    w->load = w->block.ops;
    if (rb_worker_verify_set(w, err) < 0)
        return -1;
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
    rb_worker_verify_clear(w);
    rb_worker_kv_clear(w);
    rb_windows_clear(&w->windows);
    rb_hung_clear(&w->hung);
    rb_think_clear(&w->think);
    rb_buffer_free(w->turn, sizeof(*w->turn));
    rb_buffer_free(w->lateness, sizeof(*w->lateness));
    free(w->slots);
    free(w->free);
    free(w);
    *worker = NULL;
}

/* Kinds of operation that have buffers, as of rb_block_ops. */
static uint32_t buffered_ops(const rb_worker_t *w)
{
    uint32_t ops = rb_block_ops(w->o.job) & (1u << RB_OP_READ | 1u << RB_OP_WRITE);
    return w->zeroes ? ops & ~(1u << RB_OP_WRITE) : ops;
}

uint64_t rb_worker_memory_bytes(const rb_worker_t *w)
{
    uint32_t ops = rb_block_ops(w->o.job);
    uint64_t buffers = (uint64_t)__builtin_popcount(buffered_ops(w));
    uint64_t windows = (uint64_t)__builtin_popcount(ops) * RB_WINDOWS * sizeof(rb_op_stat_t);
    bool logs = w->o.log != NULL && w->o.log->writer != NULL;
    uint64_t verify =
        (logs ? sizeof(rb_log_ring_t) : 0) + (w->watch != NULL ? rb_watch_bytes() : 0);
    return buffers * w->iodepth * rb_buffer_round(w->block.bs_bytes) + windows + verify;
}

static void make_slots(rb_worker_t *w)
{
    w->slots = rb_calloc(w->iodepth, sizeof(*w->slots));
    w->free = rb_calloc(w->iodepth, sizeof(*w->free));
    w->nfree = w->iodepth;
    for (uint32_t i = 0; i < w->iodepth; i++)
        w->free[i] = w->iodepth - 1 - i;
    rb_hung_init(&w->hung, w->iodepth);
    const Rackbench__Job *job = w->o.job;
    bool delay_alone = job->thinktime_ns == 0;
    if (w->thinks)
        rb_think_init(&w->think, RB_MAX(job->thinktime_ns, 1ull),
                      delay_alone ? UINT32_MAX : RB_MAX(job->thinktime_blocks, 1u), w->iodepth);
}

static bool allows_fallback(const Rackbench__Job *job)
{
    return job->fallback == RACKBENCH__FALLBACK__KIND__allow;
}

static int take_memory(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    if (job->iomem == RACKBENCH__IOMEM__KIND__mmaphuge) {
        rb_backend_opts_t o = {.fallback = allows_fallback(job), .told = &w->told};
        w->buffers = rb_buffer_new_huge(&w->buffers_bytes, err);
        if (w->buffers != NULL)
            return 0;
        rb_err_t why = *err;
        if (rb_backend_refuse(&o, why.text, "set iomem: mmap", "normal pages", err) < 0)
            return -1;
    }
    w->buffers = rb_buffer_new(w->buffers_bytes);
    return 0;
}

static void make_data(rb_worker_t *w)
{
    const Rackbench__Job *job = w->o.job;
    rb_rng_t rng;
    rb_rng_seed(&rng, w->o.seed ^ w->o.run, w->o.number, 2);
    rb_data_opts_t opts = {.seed = rb_rng_next(&rng),
                           .buffer_compress_percentage =
                               RB_MIN(job->buffer_compress_percentage, 100u),
                           .dedupe_percentage = RB_MIN(job->dedupe_percentage, 100u),
                           .zero_buffers = job->zero_buffers};
    rb_data_init(&w->data, &opts);
    for (uint32_t i = 0; i < w->iodepth; i++)
        rb_data_prepare(&w->data, w->write_buffers + i * w->stride_bytes, w->block.bs_bytes, i);
}

/* Reads land in buffers of their own: what is written must stay incompressible. */
static int make_buffers(rb_worker_t *w, uint8_t *ret_buffers[RB_OP_COUNT], rb_err_t *err)
{
    uint32_t ops = buffered_ops(w);
    size_t each_bytes;
    w->stride_bytes = rb_buffer_round(w->block.bs_bytes);
    each_bytes = w->iodepth * w->stride_bytes;
    w->buffers_bytes = each_bytes * (size_t)__builtin_popcount(ops);
    if (w->buffers_bytes > 0 && take_memory(w, err) < 0)
        return -1;
    uint8_t *at = w->buffers;
    for (int op = 0; op < RB_OP_COUNT; op++) {
        ret_buffers[op] = NULL;
        if (!(ops & 1u << op))
            continue;
        ret_buffers[op] = at;
        at += each_bytes;
    }
    w->read_buffers = ret_buffers[RB_OP_READ];
    w->write_buffers = ret_buffers[RB_OP_WRITE];
    w->fills = w->write_buffers != NULL || w->block.listed != NULL;
    if (w->write_buffers != NULL)
        make_data(w);
    return 0;
}

static int sync_flags(const Rackbench__Job *job)
{
    switch (job->sync) {
    case RACKBENCH__SYNC__KIND__none:
        return 0;
    case RACKBENCH__SYNC__KIND__sync:
        return O_SYNC;
    case RACKBENCH__SYNC__KIND__dsync:
        return O_DSYNC;
    case _RACKBENCH__SYNC__KIND_IS_INT_SIZE:
        break;
    }
    rb_assert_failed("sync is one of its values", __FILE__, __LINE__);
}

static int open_backend(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    const rb_worker_subject_t *s = w->o.subject;
    rb_backend_opts_t opts = {.fd = w->fd,
                              .kind = s->at.is_device ? RB_TARGET_DEVICE : RB_TARGET_FILE,
                              .nowait_refused = atomic_load(&s->iowq),
                              .iodepth = w->iodepth,
                              .ops = rb_block_ops(job),
                              .max_bytes = (uint32_t)w->block.bs_bytes,
                              .zeroes = w->zeroes,
                              .stable = sync_flags(job) != 0,
                              .hipri = job->hipri,
                              .sqthread_poll = job->sqthread_poll,
                              .fallback = allows_fallback(job),
                              .told = &w->told};
    if (make_buffers(w, opts.buffers, err) < 0)
        return -1;
    opts.stride_bytes = w->stride_bytes;
    w->io = w->o.backend->open(&opts, err);
    return w->io == NULL ? -1 : 0;
}

static int set_hint(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    rb_backend_opts_t o = {.fallback = allows_fallback(job), .told = &w->told};
    char why[128];
    if (!job->has_write_hint)
        return 0;
    uint64_t hint = (uint64_t)job->write_hint + RWH_WRITE_LIFE_NONE;
    int rc = rb_worker_subject_hint(w->o.subject, w->fd, hint);
    if (rc == 0)
        return 0;
    snprintf(why, sizeof(why), "the kernel takes no write hint (F_SET_RW_HINT: %s)",
             strerrorname_np(-rc));
    return rb_backend_refuse(&o, why, "leave write_hint out", "writes carry none", err);
}

int rb_worker_prepare(rb_worker_t *w, rb_err_t *err)
{
    const Rackbench__Job *job = w->o.job;
    uint32_t ops = rb_block_ops(job);
    rb_open_opts_t how = {.mode = ops & RB_WORKER_CHANGES ? RB_OPEN_WRITE : RB_OPEN_READ,
                          .cache =
                              !job->has_direct || job->direct ? RB_OPEN_DIRECT : RB_OPEN_BUFFERED,
                          .sync_flags = sync_flags(job)};
    if (rb_worker_subject_prepare(w->o.subject, w->o.crew, w->o.seed, err) < 0)
        return -1;
    w->fd = rb_worker_subject_open(w->o.subject, &how, err);
    if (w->fd < 0)
        return -1;
    make_slots(w);
    if (rb_worker_verify_prepare(w, err) < 0)
        return rb_err_wrap(err, "job '%s'", job->name);
    if (w->o.kv != NULL && rb_worker_kv_prepare(w, err) < 0)
        return rb_err_wrap(err, "job '%s'", job->name);
    rb_windows_init(&w->windows, ops);
    w->turn = rb_window_hist_new();
    if (w->open_loop || w->thinks)
        w->lateness = rb_window_hist_new();
    if (set_hint(w, err) < 0 || open_backend(w, err) < 0)
        return rb_err_wrap(err, "job '%s' on %s", job->name, w->o.subject->at.path);
    return 0;
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
    while (sem_wait(&w->o.crew->preparing) != 0) /* a signal */
        ;
    /* Before any memory is touched, so that it lies near the worker. */
    int rc = rb_placement_apply(&w->place, &err) == 0 ? rb_worker_prepare(w, &err) : -1;
    if (rc == 0)
        rb_start_raise(&w->start);
    rb_privilege_keep(w->o.subject->passthrough ? RB_PRIVILEGE_PASSTHROUGH : RB_PRIVILEGE_WORKER);
    sem_post(&w->o.crew->preparing);
    if (rc < 0) {
        rb_crew_fail(w->o.crew, &err);
    } else {
        atomic_fetch_add(&w->o.crew->prepared, 1);
        rb_crew_notify(w->o.crew);
        if (rb_crew_await_arm(w->o.crew))
            rb_worker_loop(w);
        rb_worker_verify_end(w);
    }
    rb_start_done(&w->start);
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
