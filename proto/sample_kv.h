/* sample_kv.h - rows of a KV cache, packed and read; for proto/sample_*.c alone. */
#pragma once

#include <msgpack.h>

#include "proto/sample_unpack.h"

void rb_row_kv_parts_put(msgpack_packer *pk, const rb_row_t *row);
void rb_row_kv_drive_put(msgpack_packer *pk, const rb_row_t *row);
void rb_row_kv_parts_take(rb_cursor_t *c, rb_row_t *row);
void rb_row_kv_drive_take(rb_cursor_t *c, rb_row_t *row);
