/* trim.h - TRIM by a system call, and whether a target can do it at all.
 *
 * A device: ioctl(BLKDISCARD); a file: fallocate(PUNCH_HOLE). The calling thread waits for it.
 */
#pragma once

#include "agent/backend/backend.h"

/* RB_ERR_INPUT: the drive has no discard, or the file system punches no holes. Changes no data: on
 * a file it punches behind the end. */
int rb_trim_check(const rb_backend_opts_t *opts, rb_err_t *err);
/* 0 or -errno. */
int32_t rb_trim_now(int fd, rb_target_kind_t kind, uint64_t offset_bytes, uint64_t size_bytes);
