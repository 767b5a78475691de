/* sync.h - the backend that does one operation at a time by a system call, as databases do:
 * pread, pwrite, fsync, fdatasync, BLKDISCARD, PUNCH_HOLE, ZERO_RANGE. Never polled (hipri).
 *
 * The call is made in submit or wait and blocks for as long as the operation takes, whatever the
 * timeout: a stop, or the report of a hung operation, comes when it returns.
 */
#pragma once

#include "agent/backend/backend.h"

extern const rb_backend_t rb_backend_sync;
