#include "agent/health.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/health_host.h"
#include "agent/health_rows.h"
#include "agent/health_source.h"
#include "agent/privilege.h"
#include "agent/timeline.h"
#include "common/clock.h"

#define PERIOD_NS   (RB_HEALTH_PERIOD_S * RB_NS_PER_S)
#define PATIENCE_NS (RB_HEALTH_PATIENCE_S * RB_NS_PER_S)

typedef struct {
    uint32_t watch;      /* which rb_health_watch it belongs to */
    rb_row_health_t row; /* at_ns by this host's clock */
} reading_t;

struct rb_health {
    const char *sysfs; /* borrowed */
    int event_fd;
    pthread_t thread;
    pthread_mutex_t mutex; /* never held while a drive is asked */
    pthread_cond_t changed;
    /* under mutex */
    bool ending, has_next, wants[RB_HEALTH_WHENS];
    uint32_t watch;
    rb_health_sources_t next; /* for the thread to take */
    rb_timeline_t line;       /* main thread writes, under mutex */
    uint64_t next_period;     /* number of the periodic reading that is due next; 0: none */
    size_t nreadings;
    reading_t readings[RB_MAX_READINGS];
    /* the thread's */
    rb_health_sources_t sources;
    rb_energy_t energy;
    /* the main thread's */
    uint32_t phase;
    bool watching, armed;
    uint64_t asked_ns[RB_HEALTH_WHENS]; /* 0: not asked */
    int64_t last_at_ns;                 /* of a row of this phase */
    bool has[RB_HEALTH_WHENS];
    size_t nwaiting; /* rows that T0 is not known for yet */
    reading_t waiting[RB_MAX_READINGS];
    rb_health_rows_t rows;
};

static void clear_reading(reading_t *reading)
{
    rb_row_t row = {.kind = RB_ROW_HEALTH, .health = reading->row};
    rb_row_clear(&row);
}

/* ---- the thread ---- */

static void read_all(rb_health_t *h, rb_health_when_t when, reading_t *ret)
{
    *ret = (reading_t){.row = {.when = when, .at_ns = (int64_t)rb_clock_now_ns()}};
    ret->row.drives = rb_calloc(h->sources.n, sizeof(*ret->row.drives));
    for (size_t i = 0; i < h->sources.n; i++)
        rb_health_source_read(&h->sources.items[i], &ret->row.drives[ret->row.ndrives++]);
    ret->row.took_ns = rb_clock_now_ns() - (uint64_t)ret->row.at_ns;
    ret->row.cpu_mhz = rb_health_cpu_mhz(h->sysfs);
    ret->row.energy_uj = rb_health_energy_uj(&h->energy, h->sysfs);
}

/* Under mutex. UINT64_MAX: no periodic reading is due. */
static uint64_t due_ns(const rb_health_t *h)
{
    return h->next_period == 0 ? UINT64_MAX
                               : rb_timeline_local_ns(&h->line, h->next_period * PERIOD_NS);
}

/* Under mutex. The next border that is asked for, or a periodic reading; RB_HEALTH_WHENS: none. */
static rb_health_when_t next_reading(rb_health_t *h)
{
    static const rb_health_when_t order[] = {RB_HEALTH_BEGIN, RB_HEALTH_END, RB_HEALTH_DURING};
    uint64_t now_ns = rb_clock_now_ns();
    if (now_ns >= due_ns(h)) {
        h->next_period = (uint64_t)rb_timeline_at_ns(&h->line, now_ns) / PERIOD_NS + 1;
        h->wants[RB_HEALTH_DURING] = true;
    }
    for (size_t i = 0; i < RB_LEN(order); i++)
        if (h->wants[order[i]]) {
            h->wants[order[i]] = false;
            return order[i];
        }
    return RB_HEALTH_WHENS;
}

/* Under mutex. */
static void take_next(rb_health_t *h)
{
    if (!h->has_next)
        return;
    rb_health_sources_clear(&h->sources);
    h->sources = h->next;
    h->next = (rb_health_sources_t){0};
    h->energy = (rb_energy_t){0};
    h->has_next = false;
}

static void wait_for_change(rb_health_t *h)
{
    uint64_t until_ns = due_ns(h);
    struct timespec at = {(time_t)(until_ns / RB_NS_PER_S), (long)(until_ns % RB_NS_PER_S)};
    if (until_ns == UINT64_MAX)
        pthread_cond_wait(&h->changed, &h->mutex);
    else
        pthread_cond_timedwait(&h->changed, &h->mutex, &at);
}

/* Under mutex: to the main thread, if it has room and still wants it. */
static void hand_over(rb_health_t *h, reading_t *reading, uint32_t watch)
{
    /* The last place is kept for the end of the phase. */
    size_t room = reading->row.when == RB_HEALTH_DURING ? RB_MAX_READINGS - 2 : RB_MAX_READINGS;
    reading->watch = watch;
    if (watch == h->watch && h->nreadings < room)
        h->readings[h->nreadings++] = *reading;
    else
        clear_reading(reading);
    eventfd_write(h->event_fd, 1);
}

static void *run(void *ctx)
{
    rb_health_t *h = ctx;
    reading_t reading;
    pthread_setname_np(pthread_self(), "health");
    rb_privilege_keep(RB_PRIVILEGE_PASSTHROUGH);
    pthread_mutex_lock(&h->mutex);
    while (!h->ending) {
        take_next(h);
        uint32_t watch = h->watch;
        rb_health_when_t when = next_reading(h);
        if (when == RB_HEALTH_WHENS) {
            wait_for_change(h);
            continue;
        }
        pthread_mutex_unlock(&h->mutex);
        read_all(h, when, &reading);
        pthread_mutex_lock(&h->mutex);
        hand_over(h, &reading, watch);
    }
    pthread_mutex_unlock(&h->mutex);
    return NULL;
}

/* ---- life ---- */

rb_health_t *rb_health_new(const char *sysfs, rb_err_t *err)
{
    rb_health_t *h = rb_calloc(1, sizeof(*h));
    pthread_condattr_t attr;
    sigset_t all, old;
    h->sysfs = sysfs;
    h->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&h->mutex, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&h->changed, &attr);
    pthread_condattr_destroy(&attr);
    sigfillset(&all); /* signals are the main thread's */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = h->event_fd < 0 ? errno : pthread_create(&h->thread, NULL, run, h);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc == 0)
        return h;
    rb_err_set(err, RB_ERR_INTERNAL, "start the thread that asks drives: %s", strerror(rc));
    if (h->event_fd >= 0)
        close(h->event_fd);
    free(h);
    return NULL;
}

static void drop_readings(reading_t *readings, size_t *n)
{
    for (size_t i = 0; i < *n; i++)
        clear_reading(&readings[i]);
    *n = 0;
}

/* Under mutex: a watch of `next` begins, its memory goes to the thread. */
static void replace_watch(rb_health_t *h, rb_health_sources_t next)
{
    rb_health_sources_clear(&h->next);
    h->next = next;
    h->has_next = true;
    h->watch++;
    h->next_period = 0;
    memset(h->wants, 0, sizeof(h->wants));
    drop_readings(h->readings, &h->nreadings);
    pthread_cond_signal(&h->changed);
}

static void begin_watch(rb_health_t *h, rb_health_sources_t next)
{
    pthread_mutex_lock(&h->mutex);
    replace_watch(h, next);
    pthread_mutex_unlock(&h->mutex);
    drop_readings(h->waiting, &h->nwaiting);
    memset(h->asked_ns, 0, sizeof(h->asked_ns));
    memset(h->has, 0, sizeof(h->has));
    h->armed = false;
    h->rows.fault = (rb_err_t){0};
}

void rb_health_watch(rb_health_t *health, const rb_health_watch_t *watch)
{
    rb_health_sources_t next;
    rb_health_sources_find(&next, watch->subjects, watch->nsubjects);
    begin_watch(health, next);
    health->phase = watch->phase;
    health->rows.stop_c = watch->stop_c;
    health->watching = true;
}

void rb_health_release(rb_health_t *health)
{
    begin_watch(health, (rb_health_sources_t){0});
    health->watching = false;
    rb_health_rows_clear(&health->rows);
}

void rb_health_destroy(rb_health_t **health)
{
    rb_health_t *h = *health;
    struct timespec until;
    *health = NULL;
    if (h == NULL)
        return;
    rb_health_release(h);
    pthread_mutex_lock(&h->mutex);
    h->ending = true;
    pthread_cond_signal(&h->changed);
    pthread_mutex_unlock(&h->mutex);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += RB_HEALTH_PATIENCE_S;
    if (pthread_timedjoin_np(h->thread, NULL, &until) != 0) {
        pthread_detach(h->thread); /* it still needs what is here */
        return;
    }
    rb_health_sources_clear(&h->sources);
    rb_health_sources_clear(&h->next);
    drop_readings(h->readings, &h->nreadings);
    close(h->event_fd);
    pthread_mutex_destroy(&h->mutex);
    pthread_cond_destroy(&h->changed);
    free(h);
}

int rb_health_fd(const rb_health_t *health)
{
    return health->event_fd;
}

/* ---- what the main thread asks for and gets ---- */

void rb_health_poll(rb_health_t *health)
{
    rb_health_t *h = health;
    eventfd_t count;
    eventfd_read(h->event_fd, &count);
    pthread_mutex_lock(&h->mutex);
    for (size_t i = 0; i < h->nreadings; i++) {
        h->has[h->readings[i].row.when] = true;
        /* The last place is for the end of the phase, which comes last. */
        size_t room =
            h->readings[i].row.when == RB_HEALTH_END ? RB_MAX_READINGS : RB_MAX_READINGS - 1;
        if (h->nwaiting < room)
            h->waiting[h->nwaiting++] = h->readings[i];
        else
            clear_reading(&h->readings[i]);
    }
    h->nreadings = 0;
    pthread_mutex_unlock(&h->mutex);
}

/* Is the reading there, or not to be waited for? */
static bool is_read(rb_health_t *h, rb_health_when_t when)
{
    uint64_t now_ns = rb_clock_now_ns();
    if (!h->watching || h->has[when])
        return true;
    if (h->asked_ns[when] == 0) {
        h->asked_ns[when] = now_ns;
        pthread_mutex_lock(&h->mutex);
        h->wants[when] = true;
        h->wants[RB_HEALTH_DURING] = false;
        h->next_period = 0;
        pthread_cond_signal(&h->changed);
        pthread_mutex_unlock(&h->mutex);
    }
    rb_health_poll(h);
    return h->has[when] || now_ns > h->asked_ns[when] + PATIENCE_NS;
}

bool rb_health_border(rb_health_t *health, rb_engine_state_t state)
{
    switch (state) {
    case RB_ENGINE_READY:
        return is_read(health, RB_HEALTH_BEGIN);
    case RB_ENGINE_DRAINED:
        return is_read(health, RB_HEALTH_END);
    case RB_ENGINE_PREPARING:
    case RB_ENGINE_FAILED:
    case RB_ENGINE_ARMED:
        break;
    }
    return true;
}

void rb_health_arm(rb_health_t *health, uint64_t t0_ns, int64_t drift_ppb)
{
    health->armed = true;
    health->last_at_ns = INT64_MIN;
    pthread_mutex_lock(&health->mutex);
    health->line = rb_timeline_new(t0_ns, drift_ppb);
    health->next_period = 1;
    pthread_cond_signal(&health->changed);
    pthread_mutex_unlock(&health->mutex);
}

void rb_health_tell(rb_health_t *health, uint64_t at_ns, uint64_t local_ns, int64_t drift_ppb)
{
    if (!health->armed)
        return;
    pthread_mutex_lock(&health->mutex);
    rb_timeline_tell(&health->line, at_ns, local_ns, drift_ppb);
    pthread_cond_signal(&health->changed);
    pthread_mutex_unlock(&health->mutex);
}

static void emit_reading(rb_health_t *h, reading_t *reading, rb_row_emit_fn *emit, void *ctx)
{
    rb_row_t row = {.kind = RB_ROW_HEALTH, .health = reading->row};
    int64_t at_ns = rb_timeline_at_ns(&h->line, (uint64_t)reading->row.at_ns);
    /* What is told of the common clock may move it: never back. */
    row.health.at_ns = h->last_at_ns = RB_MAX(at_ns, h->last_at_ns);
    row.health.phase = h->phase;
    rb_health_rows_emit(&h->rows, &row, emit, ctx);
    rb_row_clear(&row);
}

void rb_health_rows(rb_health_t *health, rb_row_emit_fn *emit, void *ctx)
{
    if (!health->armed)
        return;
    for (size_t i = 0; i < health->nwaiting; i++)
        emit_reading(health, &health->waiting[i], emit, ctx);
    health->nwaiting = 0;
}

const rb_err_t *rb_health_fault(const rb_health_t *health)
{
    return &health->rows.fault;
}
