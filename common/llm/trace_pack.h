/* trace_pack.h - a trace as bytes, as the coordinator sends it to the agents: about two bytes a
 * block and ten a request, with a checksum.
 *
 * Layout: "RBT1"; varints (LEB128): block_tokens, lengths_only, requests, blocks, distinct,
 * sessions, period_ns; of each request: due_ns as the difference to the one before, input_tokens,
 * output_tokens, session, nprompt, ndecode, and each block's id as the zigzag of its difference to
 * the id before it, over all requests; FNV-1a (64 bits, little endian) of all that.
 *
 * Pure, any thread.
 */
#pragma once

#include "common/llm/trace.h"

enum { RB_MAX_TRACE_PACKED = 16 * 1024 * 1024 }; /* [bytes] */

/* *ret_data is the caller's, to be freed. RB_ERR_INPUT: longer than RB_MAX_TRACE_PACKED. */
int rb_trace_pack(const rb_trace_t *trace, uint8_t **ret_data, size_t *ret_size, rb_err_t *err);
/* NULL and RB_ERR_NET: damaged, or not such bytes. Allocates in proportion to size. */
rb_trace_t *rb_trace_unpack(const void *data, size_t size, rb_err_t *err);
