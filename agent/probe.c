#include "agent/probe.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#include "common/clock.h"

struct rb_probe {
    rb_probe_opts_t opts;
    pthread_mutex_t mutex; /* never held while it works */
    bool done, abandoned;
    uint64_t since_ns;
    char what[RB_MAX_TEXT];
};

static atomic_size_t under_way;
static _Thread_local rb_probe_t *own;

static void destroy(rb_probe_t *p)
{
    pthread_mutex_destroy(&p->mutex);
    free(p);
}

static void *run(void *ctx)
{
    rb_probe_t *p = own = ctx;
    pthread_setname_np(pthread_self(), "probe");
    p->opts.work(p->opts.ctx);
    pthread_mutex_lock(&p->mutex);
    p->done = true;
    bool abandoned = p->abandoned;
    if (!abandoned)
        eventfd_write(p->opts.event_fd, 1);
    pthread_mutex_unlock(&p->mutex);
    if (abandoned) { /* else it is gone by now, perhaps */
        p->opts.drop(p->opts.ctx);
        destroy(p);
    }
    atomic_fetch_sub(&under_way, 1);
    return NULL;
}

static int start_thread(rb_probe_t *p)
{
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    int rc = pthread_create(&thread, &attr, run, p);
    pthread_attr_destroy(&attr);
    return rc;
}

rb_probe_t *rb_probe_start(const rb_probe_opts_t *opts, rb_err_t *err)
{
    if (atomic_load(&under_way) >= RB_MAX_PROBES) {
        rb_err_set(err, RB_ERR_IO,
                   "%d threads hang in drives that do not answer; take these drives away, then "
                   "start the agent again",
                   RB_MAX_PROBES);
        return NULL;
    }
    rb_probe_t *p = rb_calloc(1, sizeof(*p));
    p->opts = *opts;
    p->since_ns = rb_clock_now_ns();
    snprintf(p->what, sizeof(p->what), "this host");
    pthread_mutex_init(&p->mutex, NULL);
    atomic_fetch_add(&under_way, 1);
    int rc = start_thread(p);
    if (rc == 0)
        return p;
    atomic_fetch_sub(&under_way, 1);
    destroy(p);
    rb_err_set(err, RB_ERR_INTERNAL, "start a thread that looks at drives: %s", strerror(rc));
    return NULL;
}

bool rb_probe_done(rb_probe_t *p)
{
    pthread_mutex_lock(&p->mutex);
    bool done = p->done;
    pthread_mutex_unlock(&p->mutex);
    return done;
}

void *rb_probe_take(rb_probe_t **probe)
{
    rb_probe_t *p = RB_MOVE(*probe);
    RB_ASSERT(rb_probe_done(p));
    void *ctx = p->opts.ctx;
    destroy(p);
    return ctx;
}

void rb_probe_abandon(rb_probe_t **probe)
{
    rb_probe_t *p = RB_MOVE(*probe);
    if (p == NULL)
        return;
    pthread_mutex_lock(&p->mutex);
    bool done = p->done;
    p->abandoned = true;
    pthread_mutex_unlock(&p->mutex);
    if (!done) /* the thread sees to it */
        return;
    p->opts.drop(p->opts.ctx);
    destroy(p);
}

uint64_t rb_probe_at(rb_probe_t *p, char *buf, size_t size)
{
    pthread_mutex_lock(&p->mutex);
    snprintf(buf, size, "%s", p->what);
    uint64_t since_ns = p->since_ns;
    pthread_mutex_unlock(&p->mutex);
    return rb_clock_now_ns() - since_ns;
}

size_t rb_probes_under_way(void)
{
    return atomic_load(&under_way);
}

void rb_probe_note(const char *what)
{
    if (own == NULL)
        return;
    pthread_mutex_lock(&own->mutex);
    snprintf(own->what, sizeof(own->what), "%s", what);
    own->since_ns = rb_clock_now_ns();
    pthread_mutex_unlock(&own->mutex);
}
