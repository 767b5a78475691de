/* uring.h - the io_uring backend: one ring per worker, SINGLE_ISSUER + DEFER_TASKRUN, registered
 * ring, file and buffers. Kernel 6.1 or newer.
 *
 * The only door to liburing. Completions appear only inside submit and wait (DEFER_TASKRUN), so a
 * clock read after reap is never earlier than a completion it stamps.
 */
#pragma once

#include "agent/backend/backend.h"

extern const rb_backend_t rb_backend_uring;
