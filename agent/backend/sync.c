#include "agent/backend/sync.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "agent/backend/trim.h"
#include "agent/backend/zero.h"

typedef enum { IDLE, QUEUED, DONE } stage_t;

typedef struct {
    rb_backend_opts_t o;
    stage_t stage;
    rb_io_t io;
    rb_done_t done;
} sync_t;

/* The kernel takes RWF_HIPRI and then waits for the interrupt: on an emulated NVMe drive with poll
 * queues, 6.1 raised as many interrupts with it as without. */
static int refuse_polled(const sync_t *s, rb_err_t *err)
{
    return rb_backend_refuse(&s->o, "hipri: Linux since 5.19 does not poll for synchronous I/O",
                             "take ioengine: io_uring, drop hipri", "completions come by interrupt",
                             err);
}

static void *sync_open(const rb_backend_opts_t *opts, rb_err_t *err)
{
    sync_t *s = rb_calloc(1, sizeof(*s));
    s->o = *opts;
    bool ok = (!opts->hipri || refuse_polled(s, err) == 0) &&
              (!(opts->ops & 1u << RB_OP_TRIM) || rb_trim_check(opts, err) == 0) &&
              (!opts->zeroes || rb_zero_check(opts, err) == 0);
    if (ok && opts->sqthread_poll)
        ok = rb_backend_refuse(&s->o, "sqthread_poll is an option of ioengine: io_uring",
                               "drop sqthread_poll", "the worker makes each call itself", err) == 0;
    if (!ok)
        free(s);
    return ok ? s : NULL;
}

static void sync_queue(void *self, const rb_io_t *ios, const uint32_t *slots, uint32_t n)
{
    sync_t *s = self;
    RB_ASSERT(n == 1 && slots[0] == 0 && s->stage == IDLE);
    s->io = *ios;
    s->stage = QUEUED;
}

static int32_t perform(const sync_t *s)
{
    const rb_io_t *io = &s->io;
    ssize_t n = -1;
    switch (io->op) {
    case RB_OP_READ:
        n = pread(s->o.fd, s->o.buffers[io->op], io->size_bytes, (off_t)io->offset_bytes);
        break;
    case RB_OP_WRITE:
        if (s->o.zeroes)
            return rb_zero_now(s->o.fd, io->offset_bytes, io->size_bytes);
        n = pwrite(s->o.fd, s->o.buffers[io->op], io->size_bytes, (off_t)io->offset_bytes);
        break;
    case RB_OP_TRIM:
        return rb_trim_now(s->o.fd, s->o.kind, io->offset_bytes, io->size_bytes);
    case RB_OP_SYNC:
        n = io->flags == RB_IO_DATASYNC ? fdatasync(s->o.fd) : fsync(s->o.fd);
        break;
    case RB_OP_COUNT:
        rb_assert_failed("op is one of its values", __FILE__, __LINE__);
    }
    return n < 0 ? -errno : (int32_t)n;
}

static int sync_submit(void *self)
{
    sync_t *s = self;
    if (s->stage != QUEUED)
        return 0;
    s->done.res = perform(s);
    s->stage = DONE;
    return 0;
}

static int sync_wait(void *self, uint32_t min, uint64_t timeout_ns)
{
    sync_t *s = self;
    struct timespec ts = {(time_t)(timeout_ns / RB_NS_PER_S), (long)(timeout_ns % RB_NS_PER_S)};
    (void)min;
    sync_submit(s);
    if (s->stage == IDLE)
        clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
    return 0;
}

static uint32_t sync_reap(void *self, uint32_t max, const rb_done_t **ret_done)
{
    sync_t *s = self;
    (void)max;
    if (s->stage != DONE)
        return 0;
    *ret_done = &s->done;
    s->stage = IDLE;
    return 1;
}

/* What is in flight has come back before anybody can ask. */
static void sync_cancel(void *self)
{
    (void)self;
}

static void sync_close(void *self)
{
    free(self);
}

const rb_backend_t rb_backend_sync = {
    .name = "sync",
    .max_iodepth = 1,
    .open = sync_open,
    .queue = sync_queue,
    .submit = sync_submit,
    .wait = sync_wait,
    .reap = sync_reap,
    .cancel = sync_cancel,
    .close = sync_close,
};
