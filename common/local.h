/* local.h - does an address stay on this machine? What is not sure to is answered no. Any thread;
 * pure.
 *
 * Names are not resolved: "localhost" alone is taken for what it says, and "127.example.org" is a
 * name like any other.
 */
#pragma once

#include "common/base.h"

/* 127.0.0.0/8, ::1 or localhost; no port, no brackets. */
bool rb_local_address(const char *address);
/* ZeroMQ's URL: ipc://, inproc://, or tcp:// with such an address. */
bool rb_local_url(const char *url);
