/* worker_slot.h - one of a worker's iodepth places for an operation in flight. */
#pragma once

#include "proto/sample.h"

typedef struct {
    uint64_t due_ns, submit_ns; /* submit_ns 0: free; due_ns of a free one: its last reap, or the
                                   end of its pause */
    uint64_t offset_bytes;
    uint32_t size_bytes;
    rb_op_t op;
} rb_slot_t;
