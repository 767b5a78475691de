#include "agent/backend/trim.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "agent/backend/block_queue.h"

enum { PUNCH = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, PROBE = 4096 };

int rb_trim_check(const rb_backend_opts_t *opts, rb_err_t *err)
{
    struct stat st;
    if (fstat(opts->fd, &st) < 0)
        return rb_err_errno(err, errno, "trim");
    if (opts->kind == RB_TARGET_DEVICE && rb_block_queue(opts->fd, "discard_max_bytes") == 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "the drive knows no discard; leave trims out of the job");
    if (opts->kind == RB_TARGET_FILE &&
        fallocate(opts->fd, PUNCH, (st.st_size + PROBE - 1) / PROBE * PROBE, PROBE) < 0)
        return rb_err_set(err, RB_ERR_INPUT,
                          "the file system cannot trim (fallocate PUNCH_HOLE: %s); leave trims out "
                          "of the job or choose another directory",
                          strerror(errno));
    return 0;
}

int32_t rb_trim_now(int fd, rb_target_kind_t kind, uint64_t offset_bytes, uint64_t size_bytes)
{
    uint64_t range[2] = {offset_bytes, size_bytes};
    int rc = kind == RB_TARGET_DEVICE
                 ? ioctl(fd, BLKDISCARD, range)
                 : fallocate(fd, PUNCH, (off_t)offset_bytes, (off_t)size_bytes);
    return rc < 0 ? -errno : 0;
}
