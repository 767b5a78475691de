#include "agent/worker_crew.h"

#include <sys/eventfd.h>
#include <unistd.h>

void rb_crew_init(rb_crew_t *crew)
{
    memset(crew, 0, sizeof(*crew));
    crew->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    RB_ASSERT(crew->event_fd >= 0);
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->changed, NULL);
    atomic_store(&crew->stop_ns, UINT64_MAX);
    sem_init(&crew->preparing, 0, RB_PREPARE_AT_ONCE);
}

void rb_crew_clear(rb_crew_t *crew)
{
    close(crew->event_fd);
    pthread_cond_destroy(&crew->changed);
    pthread_mutex_destroy(&crew->mutex);
    sem_destroy(&crew->preparing);
}

void rb_crew_notify(rb_crew_t *crew)
{
    /* A full counter is readable as well: nothing is lost when the write does not go through. */
    uint64_t one = 1;
    ssize_t n = write(crew->event_fd, &one, sizeof(one));
    (void)n;
}

void rb_crew_fail(rb_crew_t *crew, const rb_err_t *err)
{
    pthread_mutex_lock(&crew->mutex);
    if (crew->fault.code == RB_OK)
        crew->fault = *err;
    pthread_mutex_unlock(&crew->mutex);
    rb_crew_give_up(crew);
}

rb_err_t rb_crew_fault(rb_crew_t *crew)
{
    pthread_mutex_lock(&crew->mutex);
    rb_err_t fault = crew->fault;
    pthread_mutex_unlock(&crew->mutex);
    return fault;
}

void rb_crew_give_up(rb_crew_t *crew)
{
    pthread_mutex_lock(&crew->mutex);
    atomic_store(&crew->give_up, true);
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->mutex);
    rb_crew_notify(crew);
}

void rb_crew_arm(rb_crew_t *crew, uint64_t t0_ns, int64_t drift_ppb)
{
    pthread_mutex_lock(&crew->mutex);
    crew->armed = true;
    crew->armed_at = rb_timeline_new(t0_ns, drift_ppb);
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->mutex);
}

bool rb_crew_await_arm(rb_crew_t *crew)
{
    pthread_mutex_lock(&crew->mutex);
    while (!crew->armed && !atomic_load(&crew->give_up))
        pthread_cond_wait(&crew->changed, &crew->mutex);
    pthread_mutex_unlock(&crew->mutex);
    return !atomic_load(&crew->give_up);
}

void rb_crew_stop(rb_crew_t *crew, uint64_t at_ns)
{
    uint64_t old_ns = atomic_load(&crew->stop_ns);
    while (at_ns < old_ns && !atomic_compare_exchange_weak(&crew->stop_ns, &old_ns, at_ns))
        ;
}

void rb_crew_tell(rb_crew_t *crew, const rb_timeline_t *line)
{
    atomic_fetch_add(&crew->told, 1);
    atomic_store(&crew->told_at_ns, line->told_at_ns);
    atomic_store(&crew->told_ns, line->told_ns);
    atomic_store(&crew->told_drift_ppb, line->drift_ppb);
    atomic_fetch_add(&crew->told, 1);
}

bool rb_crew_look(rb_crew_t *crew, rb_timeline_t *line)
{
    uint32_t told = atomic_load(&crew->told);
    uint64_t at_ns = atomic_load(&crew->told_at_ns), ns = atomic_load(&crew->told_ns);
    int64_t drift_ppb = atomic_load(&crew->told_drift_ppb);
    if (told % 2 != 0 || atomic_load(&crew->told) != told)
        return false;
    return rb_timeline_tell(line, at_ns, ns, drift_ppb);
}
