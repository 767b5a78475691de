#include "agent/verify_log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/buffer.h"
#include "agent/privilege.h"
#include "common/clock.h"

struct rb_log_writer {
    char *path;
    rb_log_head_t head;
    rb_crew_t *crew;
    uint32_t nrings, workers;
    rb_log_ring_t **rings; /* [nrings] */
    rb_pin_t pin;
    int directory_fd; /* -1 before open, as fd */
    const char *name; /* in it; part of path */
    int fd;
    bool made, started;
    pthread_t thread;
    atomic_bool ending;
    rb_err_t fault; /* the thread's until it was joined */

    uint64_t at_bytes, writes, batches;
    uint32_t n; /* gathered */
    rb_log_record_t records[RB_LOG_BATCH];
    uint8_t packed[RB_LOG_BATCH_HEAD + RB_LOG_BATCH * RB_LOG_RECORD];
};

static void pause_ms(long ms)
{
    struct timespec ts = {0, ms * (long)RB_NS_PER_MS};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

void rb_log_ring_flush(rb_log_ring_t *r)
{
    while (rb_log_ring_room(r) < RB_LOG_RING)
        pause_ms(1);
}

rb_log_writer_t *rb_log_writer_new(const char *path, const rb_pin_t *pin, rb_log_head_t *head,
                                   uint32_t workers, rb_crew_t *crew)
{
    rb_log_writer_t *w = rb_calloc(1, sizeof(*w));
    w->path = rb_strdup(path);
    w->pin = *pin;
    w->head = *head;
    *head = (rb_log_head_t){0};
    w->crew = crew;
    w->workers = workers;
    w->nrings = (uint32_t)w->head.ndrives * workers;
    w->rings = rb_calloc(w->nrings, sizeof(*w->rings));
    w->fd = w->directory_fd = -1;
    return w;
}

rb_log_ring_t *rb_log_writer_ring(rb_log_writer_t *writer, uint32_t i)
{
    RB_ASSERT(i < writer->nrings);
    return writer->rings[i];
}

/* ---- the file ---- */

static int write_all(rb_log_writer_t *w, const void *data, size_t size, rb_err_t *err)
{
    const uint8_t *at = data;
    while (size > 0) {
        ssize_t n = write(w->fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return rb_err_errno(err, errno, "verify_log: write %s", w->path);
        at += n;
        size -= (size_t)n;
        w->at_bytes += (uint64_t)n;
    }
    return 0;
}

static int sync_file(const rb_log_writer_t *w, rb_err_t *err)
{
    return fdatasync(w->fd) == 0 ? 0
                                 : rb_err_errno(err, errno, "verify_log: fdatasync %s", w->path);
}

/* A power cut must not take the name away. */
static int sync_directory(const rb_log_writer_t *w, rb_err_t *err)
{
    return fsync(w->directory_fd) == 0
               ? 0
               : rb_err_errno(err, errno, "verify_log: fsync the directory of %s", w->path);
}

static void free_bytes(uint8_t **data)
{
    free(*data);
}

static int make_file(rb_log_writer_t *w, rb_err_t *err)
{
    RB_AUTO(free_bytes) uint8_t *head = NULL;
    size_t size;
    if (rb_log_head_pack(&w->head, &head, &size, err) < 0)
        return -1;
    w->directory_fd = rb_pin_open(&w->pin, w->path, &w->name, err);
    if (w->directory_fd < 0)
        return rb_err_wrap(err, "verify_log");
    w->fd = openat(w->directory_fd, w->name,
                   O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (w->fd < 0 && errno == EEXIST)
        return rb_err_set(err, RB_ERR_INPUT,
                          "verify_log: %s is there already, and may be the only witness of what it "
                          "speaks of; remove it, or name another one",
                          w->path);
    if (w->fd < 0)
        return rb_err_errno(err, errno, "verify_log: make %s", w->path);
    w->made = true;
    if (write_all(w, head, size, err) < 0 || sync_file(w, err) < 0)
        return -1;
    return sync_directory(w, err);
}

/* ---- the thread ---- */

static int append(rb_log_writer_t *w, rb_err_t *err)
{
    if (w->n == 0)
        return 0;
    size_t size = rb_log_batch_pack(w->records, w->n, w->head.run, w->at_bytes, w->packed);
    w->writes += w->n;
    w->batches++;
    w->n = 0;
    return write_all(w, w->packed, size, err);
}

/* All that there is of one worker; in the order of its completions. */
static int gather(rb_log_writer_t *w, rb_log_ring_t *r, rb_err_t *err)
{
    uint64_t head = atomic_load_explicit(&r->head, memory_order_acquire);
    for (; r->taken != head; r->taken++) {
        w->records[w->n++] = (rb_log_record_t){r->drive, r->writes[r->taken % RB_LOG_RING]};
        if (w->n == RB_LOG_BATCH && append(w, err) < 0)
            return -1;
    }
    return 0;
}

static int write_round(rb_log_writer_t *w, rb_err_t *err)
{
    uint64_t before = w->writes;
    for (uint32_t i = 0; i < w->nrings; i++)
        if (gather(w, w->rings[i], err) < 0)
            return -1;
    if (append(w, err) < 0)
        return -1;
    return w->writes > before ? sync_file(w, err) : 0;
}

/* What was taken is durable; or, once the log has failed, is given up, so that nobody waits. */
static void let_go(rb_log_writer_t *w)
{
    for (uint32_t i = 0; i < w->nrings; i++) {
        rb_log_ring_t *r = w->rings[i];
        if (w->fault.code != RB_OK)
            r->taken = atomic_load_explicit(&r->head, memory_order_acquire);
        atomic_store_explicit(&r->tail, r->taken, memory_order_release);
    }
}

static void *thread_main(void *arg)
{
    rb_log_writer_t *w = arg;
    bool last = false;
    rb_privilege_keep(RB_PRIVILEGE_WORKER); /* its file is open */
    while (!last) {
        last = atomic_load(&w->ending);
        if (w->fault.code == RB_OK && write_round(w, &w->fault) < 0)
            rb_crew_stop(w->crew, rb_clock_now_ns());
        let_go(w);
        if (!last)
            pause_ms(RB_LOG_PERIOD_MS);
    }
    return NULL;
}

static void make_rings(rb_log_writer_t *w)
{
    for (uint32_t i = 0; i < w->nrings; i++) {
        w->rings[i] = rb_buffer_new(sizeof(*w->rings[i]));
        w->rings[i]->drive = i / w->workers;
    }
}

int rb_log_writer_open(rb_log_writer_t *w, rb_err_t *err)
{
    make_rings(w);
    if (make_file(w, err) < 0)
        return -1;
    int rc = pthread_create(&w->thread, NULL, thread_main, w);
    if (rc != 0)
        return rb_err_set(err, RB_ERR_INTERNAL, "start the thread of verify_log: %s", strerror(rc));
    w->started = true;
    pthread_setname_np(w->thread, "verify_log");
    return 0;
}

int rb_log_writer_close(rb_log_writer_t *w, rb_err_t *err)
{
    if (w->started) {
        atomic_store(&w->ending, true);
        pthread_join(w->thread, NULL);
        w->started = false;
    }
    if (w->fault.code == RB_OK)
        return 0;
    *err = w->fault;
    return -1;
}

void rb_log_writer_count(const rb_log_writer_t *w, uint64_t *ret_writes, uint64_t *ret_batches)
{
    *ret_writes = w->writes;
    *ret_batches = w->batches;
}

void rb_log_writer_destroy(rb_log_writer_t **writer)
{
    rb_log_writer_t *w = *writer;
    rb_err_t err;
    if (w == NULL)
        return;
    rb_log_writer_close(w, &err);
    if (w->fd >= 0)
        close(w->fd);
    if (w->made && w->writes == 0)
        unlinkat(w->directory_fd, w->name, 0);
    if (w->directory_fd >= 0)
        close(w->directory_fd);
    for (uint32_t i = 0; i < w->nrings; i++)
        rb_buffer_free(w->rings[i], sizeof(*w->rings[i]));
    free(w->rings);
    free(w->path);
    rb_log_head_clear(&w->head);
    free(w);
    *writer = NULL;
}
