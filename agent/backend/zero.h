/* zero.h - write_mode: zeroes: a range becomes zeros without data being moved, by fallocate
 * (ZERO_RANGE) on files and block devices.
 *
 * On a block device the kernel sends Write Zeroes (without deallocation) and serializes these
 * calls; where the drive knows no such command it writes pages of zeros itself. A file system marks
 * the range as unwritten: its size stays, and reads of it need no drive.
 */
#pragma once

#include <fcntl.h>

#include "agent/backend/backend.h"

#define RB_ZERO_RANGE (FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE)

/* RB_ERR_INPUT: the drive knows no Write Zeroes (unless fallback allows the kernel to write zeros),
 * or the file system has no ZERO_RANGE. Changes no data and no size. */
int rb_zero_check(const rb_backend_opts_t *opts, rb_err_t *err);
/* 0 or -errno; the calling thread waits for it. */
int32_t rb_zero_now(int fd, uint64_t offset_bytes, uint64_t size_bytes);
