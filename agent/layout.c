#include "agent/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "agent/buffer.h"
#include "agent/data.h"
#include "common/clock.h"
#include "common/units.h"

enum { CHUNK = 1024 * 1024 }; /* [bytes] */

static int failed(const rb_layout_opts_t *opts, uint64_t done_bytes, int errnum, rb_err_t *err)
{
    char done[RB_FMT_SIZE], all[RB_FMT_SIZE];
    return rb_err_set(err, RB_ERR_IO, "lay out %s: %s (wrote %s of %s)", opts->path,
                      strerror(errnum), rb_fmt_bytes(done, sizeof(done), done_bytes),
                      rb_fmt_bytes(all, sizeof(all), opts->size_bytes));
}

static int open_part(int directory_fd, const char *part)
{
    int flags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(directory_fd, part, flags | O_DIRECT, 0600);
    return fd < 0 && errno == EINVAL ? openat(directory_fd, part, flags, 0600) : fd;
}

static void free_chunk(uint8_t **chunk)
{
    rb_buffer_free(*chunk, CHUNK);
}

/* In pieces that are made anew each: nothing in the file comes twice. */
static void fill_chunk(const rb_data_t *data, uint8_t *chunk, size_t size_bytes, uint64_t at_bytes)
{
    for (size_t i = 0; i < size_bytes; i += RB_DATA_WHOLE)
        rb_data_fill(data, chunk + i, RB_MIN(size_bytes - i, (size_t)RB_DATA_WHOLE), at_bytes + i,
                     0);
}

/* Whole blocks are written, the last one beyond the end; the size is cut right afterwards. */
static int write_all(const rb_layout_opts_t *opts, int fd, const rb_data_t *data,
                     rb_layout_stats_t *stats, rb_err_t *err)
{
    uint64_t at = 0;
    RB_AUTO(free_chunk) uint8_t *chunk = rb_buffer_new(CHUNK);
    while (at < opts->size_bytes) {
        if (atomic_load(opts->give_up))
            return rb_err_set(err, RB_ERR_INTERRUPTED, "lay out %s: given up", opts->path);
        size_t want = rb_buffer_round(RB_MIN((uint64_t)CHUNK, opts->size_bytes - at));
        fill_chunk(data, chunk, want, at);
        uint64_t start_ns = rb_clock_now_ns();
        ssize_t n = pwrite(fd, chunk, want, (off_t)at);
        if (n <= 0 || n % RB_BUFFER_ALIGN != 0)
            return failed(opts, at, n < 0 ? errno : ENOSPC, err);
        rb_hist_record(stats->service, rb_clock_now_ns() - start_ns);
        uint64_t useful_bytes = RB_MIN((uint64_t)n, opts->size_bytes - at);
        at += useful_bytes;
        stats->ops++;
        stats->bytes += useful_bytes;
        atomic_fetch_add(opts->done_bytes, useful_bytes);
    }
    return 0;
}

int rb_layout_fill(const rb_layout_opts_t *opts, int fd, rb_layout_stats_t *stats, rb_err_t *err)
{
    rb_data_t data;
    rb_data_init(&data, &(rb_data_opts_t){.seed = opts->seed});
    int rc = write_all(opts, fd, &data, stats, err);
    return rc == 0 && fsync(fd) < 0 ? failed(opts, stats->bytes, errno, err) : rc;
}

static int fill_part(const rb_layout_opts_t *opts, int fd, rb_layout_stats_t *stats, rb_err_t *err)
{
    int rc = rb_layout_fill(opts, fd, stats, err);
    if (rc == 0 && (ftruncate(fd, (off_t)opts->size_bytes) < 0 || fsync(fd) < 0))
        rc = failed(opts, stats->bytes, errno, err);
    return rc;
}

int rb_layout_write(const rb_layout_opts_t *opts, rb_layout_stats_t *stats, rb_err_t *err)
{
    char part[NAME_MAX + 8];
    uint64_t start_ns = rb_clock_now_ns();
    snprintf(part, sizeof(part), "%s.part", opts->name);
    int fd = open_part(opts->directory_fd, part);
    if (fd < 0)
        return failed(opts, 0, errno, err);
    int rc = fill_part(opts, fd, stats, err);
    close(fd);
    if (rc == 0 && (renameat(opts->directory_fd, part, opts->directory_fd, opts->name) < 0 ||
                    fsync(opts->directory_fd) < 0))
        rc = failed(opts, stats->bytes, errno, err);
    if (rc < 0)
        unlinkat(opts->directory_fd, part, 0);
    stats->took_ns = rb_clock_now_ns() - start_ns;
    return rc;
}
