/* layout.h - writes a file in full before a phase: NAME.part, then fsync, rename, fsync of the
 * directory.
 *
 * A worker's thread; blocks for as long as the writing takes. Random data in 1 MiB direct writes
 * (buffered where the file system knows no O_DIRECT), each 4 KiB unlike any other.
 */
#pragma once

#include <stdatomic.h>

#include "common/err.h"
#include "common/hist.h"

typedef struct {
    int directory_fd;
    const char *name; /* in that directory */
    const char *path; /* for messages */
    uint64_t size_bytes;
    uint64_t seed;
    _Atomic uint64_t *done_bytes; /* added to as it goes */
    const atomic_bool *give_up;   /* looked at before each write */
} rb_layout_opts_t;

typedef struct {
    uint64_t ops, bytes, took_ns;
    rb_hist_t *service; /* owned by whoever owns the stats */
} rb_layout_stats_t;

/* Writes [0, size_bytes) of a descriptor that is open for direct writes, in the same way, and makes
 * it durable; directory_fd and name are not used. */
int rb_layout_fill(const rb_layout_opts_t *opts, int fd, rb_layout_stats_t *stats, rb_err_t *err);

/* stats->service is given. The name may not be a symbolic link. On failure no .part file is left;
 * RB_ERR_IO names path and how far it came, RB_ERR_INTERRUPTED when told to give up. */
int rb_layout_write(const rb_layout_opts_t *opts, rb_layout_stats_t *stats, rb_err_t *err);
