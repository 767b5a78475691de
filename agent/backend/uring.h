/* uring.h - the io_uring backend for files and block devices: one ring per worker, SINGLE_ISSUER +
 * DEFER_TASKRUN, registered ring, file and buffers. Kernel 6.1 or newer.
 *
 * Without SQPOLL completions appear only inside submit and wait (DEFER_TASKRUN); with it, at any
 * time. Either way a clock read after reap is never earlier than a completion it stamps.
 * TRIM on a device is BLOCK_URING_CMD_DISCARD (Linux 6.12), else refused, or by fallback an ioctl
 * inside submit and wait. On a file it punches a hole. SYNC is fsync or fdatasync. What goes by
 * fallocate (holes, zeroes) is done by worker threads of the kernel.
 * hipri: a polled ring (IORING_SETUP_IOPOLL); tried by one read in open.
 */
#pragma once

#include "agent/backend/backend.h"

extern const rb_backend_t rb_backend_uring;
