/* sample_health.h - what a host says of itself, to bytes and back: health rows; for proto/sample*.c
 * alone. No state. */
#pragma once

#include "proto/sample_cursor.h"

#include <msgpack.h>

void rb_row_health_put(msgpack_packer *pk, const rb_row_t *row);
void rb_row_health_take(rb_cursor_t *c, rb_row_t *row);
