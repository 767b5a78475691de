#include "agent/backend/zero.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/backend/block_queue.h"

enum { PROBE = 4096 };

static int check_file(int fd, rb_err_t *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return rb_err_errno(err, errno, "write_mode: zeroes");
    off_t behind = (st.st_size + PROBE - 1) / PROBE * PROBE;
    if (fallocate(fd, RB_ZERO_RANGE, behind, PROBE) < 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "the file system cannot zero a range (fallocate ZERO_RANGE: %s); set "
                          "write_mode: write or choose another directory",
                          strerror(errno));
    /* What was taken behind the end is given back. */
    if (ftruncate(fd, st.st_size) < 0)
        return rb_err_errno(err, errno, "write_mode: zeroes");
    return 0;
}

int rb_zero_check(const rb_backend_opts_t *opts, rb_err_t *err)
{
    if (opts->kind == RB_TARGET_FILE)
        return check_file(opts->fd, err);
    if (rb_block_queue(opts->fd, "write_zeroes_max_bytes") > 0)
        return 0;
    return rb_backend_refuse(opts, "the drive knows no Write Zeroes", "set write_mode: write",
                             "the kernel writes blocks of zeros", err);
}

int32_t rb_zero_now(int fd, uint64_t offset_bytes, uint64_t size_bytes)
{
    return fallocate(fd, RB_ZERO_RANGE, (off_t)offset_bytes, (off_t)size_bytes) < 0 ? -errno : 0;
}
