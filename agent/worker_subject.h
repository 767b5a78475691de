/* worker_subject.h - a drive or file as the workers of a phase share it: laid out and claimed once.
 *
 * The first worker that comes prepares it, the others wait on its mutex. Only before the start.
 */
#pragma once

#include "agent/engine.h"
#include "agent/kernel_stat.h"
#include "agent/layout.h"
#include "agent/worker_crew.h"

typedef struct {
    rb_subject_t at;
    bool used, written; /* by a job of this host */
    bool passthrough;   /* a job's ioengine is io_uring_cmd: it is /dev/ngXnY */

    pthread_mutex_t mutex;
    bool tried;     /* under mutex, as the next: whoever comes later gets the same answer */
    rb_err_t fault; /* RB_OK: prepared */
    int claim_fd;   /* a device that is written is held exclusively for the whole phase; -1: none */
    rb_layout_stats_t layout;
    bool hinted;      /* under mutex: it has a write hint of ours */
    atomic_bool iowq; /* it refuses non-blocking I/O: the kernel's worker threads do the I/O */

    dev_t counted_rdev;             /* whose counters these are: */
    rb_kernel_stat_t before, after; /* main thread; devices */
} rb_worker_subject_t;

void rb_worker_subject_init(rb_worker_subject_t *s, const rb_subject_t *at);
void rb_worker_subject_clear(rb_worker_subject_t *s);

/* Has the kernel counters of its operations? A passthrough command is none of the block layer's. */
bool rb_worker_subject_counted(const rb_worker_subject_t *s);

/* Blocks. RB_ERR_IO (layout, open), RB_ERR_UNSAFE (in use, or no longer what the guard judged),
 * RB_ERR_INTERRUPTED (given up). */
int rb_worker_subject_prepare(rb_worker_subject_t *s, rb_crew_t *crew, uint64_t seed,
                              rb_err_t *err);

typedef enum { RB_OPEN_READ, RB_OPEN_WRITE } rb_open_mode_t;
typedef enum { RB_OPEN_DIRECT, RB_OPEN_BUFFERED } rb_open_cache_t;

typedef struct {
    rb_open_mode_t mode;
    rb_open_cache_t cache;
    int sync_flags; /* O_SYNC, O_DSYNC or 0 */
} rb_open_opts_t;

/* A descriptor of the caller's own, proven to be what the guard judged; also finds out about iowq
 * by one small read. -1 on failure: as above. */
int rb_worker_subject_open(rb_worker_subject_t *s, const rb_open_opts_t *opts, rb_err_t *err);
/* The kernel keeps one hint with the file, whoever opened it: so it is for all who write there.
 * hint: RWH_WRITE_LIFE_NONE to _EXTREME. Returns 0 or -errno. */
int rb_worker_subject_hint(rb_worker_subject_t *s, int fd, uint64_t hint);
/* Gives the claim back, and takes the hint away. No worker may be on it any more. */
void rb_worker_subject_release(rb_worker_subject_t *s);
