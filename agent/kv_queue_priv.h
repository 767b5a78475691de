/* kv_queue_priv.h - what kv_queue.c (its turn) and kv_queue_fill.c (its making) share. */
#pragma once

#include "agent/kv_queue.h"

#define RB_KV_NONE UINT32_MAX

/* What a slot holds from one write to the next. */
typedef struct {
    uint32_t open;   /* parts that are not complete: its write, and its reads */
    uint32_t write;  /* that ends it; RB_KV_NONE */
    uint32_t writer; /* that began it; RB_KV_NONE: it was there before */
    uint32_t reads;  /* that wait for its own write: linked by part.next */
    bool written;
} rb_kv_tenure_t;

typedef struct {
    uint64_t block;
    uint32_t batch, slot;
    uint32_t tenure; /* that it reads, or begins */
    uint32_t next;   /* of the reads of a tenure */
    uint32_t left;   /* I/Os that are not complete */
    uint8_t piece;
    bool blocked; /* its slot is not ready for it */
} rb_kv_item_t;

typedef enum {
    RB_KV_FUTURE,  /* not due, or waiting for its server */
    RB_KV_ACTIVE,  /* in the list of those that may give out an I/O */
    RB_KV_BLOCKED, /* its next part is */
    RB_KV_LIMITED, /* as much in flight as may be */
    RB_KV_GIVEN    /* all given out */
} rb_kv_batch_state_t;

typedef struct {
    uint32_t head, tail;
} rb_kv_list_t;

struct rb_kv_queue {
    rb_kv_queue_opts_t o;
    uint32_t cuts;           /* pieces that the longest I/O is cut into */
    uint32_t steps;          /* of a part: piece_ios x cuts, also those that are empty */
    uint32_t ios, first_ios; /* of a part, and of its first layer: those that are not empty */
    rb_kv_item_t *items;
    size_t nitems;
    rb_kv_batch_t *batches;
    size_t nbatches;
    rb_kv_tenure_t *tenures;
    size_t ntenures;
    uint32_t *slots; /* tenure of each, + 1; filling only */
    size_t nslots;
    uint32_t *order; /* [nbatches] by due time */
    uint32_t at;     /* of order: the next to fall due */
    uint32_t given;  /* batches in state GIVEN */
    rb_kv_list_t active;
    struct {
        uint32_t under_way;
        rb_kv_list_t waiting;
    } * servers;
    uint64_t waited;
    uint32_t *finished; /* [nbatches] */
    atomic_uint nfinished;
};

/* I/O number step of a part: where it begins in its slot, and its length; 0: it is empty. */
static inline uint64_t rb_kv_queue_step(const rb_kv_queue_t *q, uint32_t step, uint64_t *ret_bytes)
{
    uint64_t bytes = 0, at = rb_kv_io_at(q->o.geometry, step / q->cuts, &bytes);
    uint64_t cut = q->cuts > 1 ? (step % q->cuts) * q->o.io_size_bytes : 0;
    uint64_t rest = bytes > cut ? bytes - cut : 0;
    *ret_bytes = q->cuts > 1 ? RB_MIN(rest, q->o.io_size_bytes) : rest;
    return at + cut;
}
