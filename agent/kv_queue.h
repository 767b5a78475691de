/* kv_queue.h - what one drive has to do of a KV plan, and which I/O of it comes next.
 *
 * Parts are added in the order of the plan (kv_plan.h); reads of one request are one batch, writes
 * and discards of one request that are due together another. From its due time on a batch gives out
 * its I/Os, oldest first, as far as the order of each slot and the limits allow:
 *  - a read of a slot waits until the write before it is complete; one that was due before that is
 *    counted in `waited`;
 *  - a write or discard waits until all reads and writes of its slot before it are;
 *  - a batch of reads has at most inflight_per_request I/Os in flight, a server at most per_server
 *    batches of reads under way, both on this drive.
 * Every wait is for something earlier in the plan, so that it ends. A batch gives out its I/Os in
 * one order: an I/O whose slot is not ready holds up those of its batch that come later.
 *
 * Made and filled by one thread; then one owner, the worker, and one reader of finished batches.
 * No allocation after seal; take and done cost some 20 ns an I/O. Memory: 40 bytes a part, 16 a
 * write, 96 a batch, 4 a slot.
 */
#pragma once

#include <stdatomic.h>

#include "common/llm/kv_plan.h"
#include "proto/sample.h"

enum { RB_MAX_KV_PARTS = 1 << 26 }; /* of a drive */

typedef struct {
    const rb_kv_geometry_t *geometry; /* outlives the queue */
    uint64_t io_size_bytes;           /* longest I/O, whole pages; longer ones are cut. 0: none */
    uint32_t first_ios;               /* of a piece, that are its first layer: 1 and more */
    uint32_t nservers;
    uint32_t inflight_per_request, per_server; /* 0: no limit */
    bool by_layer; /* first I/Os of all blocks of a batch first; else block by block */
    bool discards; /* discards are done; else they are left out */
} rb_kv_queue_opts_t;

/* An I/O that is to be done. */
typedef struct {
    uint64_t due_ns;       /* since T0 */
    uint64_t offset_bytes; /* from the first slot */
    uint64_t size_bytes;
    uint64_t block;
    uint64_t sequence; /* of writes on this drive: this write's; of a read, that of the write that
                          it must find, 0: what stood there when the run began */
    uint32_t part;     /* of this queue */
    uint32_t step;     /* number of the I/O in its part */
    uint8_t piece, op;
} rb_kv_io_t;

/* Parts of a request that are due together; all its figures once it is finished. */
typedef struct {
    uint64_t due_ns;
    uint64_t first_ns, end_ns; /* completion of its first layer, and of all; since T0 */
    uint64_t bytes;
    uint32_t request, server;
    uint32_t first_part, nparts;
    uint32_t failed; /* I/Os */
    rb_part_t part;  /* of the phase, that its last I/O completed in */
    uint8_t op;
    /* the queue's own */
    uint8_t state;
    uint32_t next; /* in the list that it is in */
    uint32_t inflight;
    uint64_t cursor, total, left, first_left; /* I/Os: given out, all, not complete */
} rb_kv_batch_t;

typedef struct rb_kv_queue rb_kv_queue_t;

rb_kv_queue_t *rb_kv_queue_new(const rb_kv_queue_opts_t *opts);
void rb_kv_queue_destroy(rb_kv_queue_t **q);

/* Parts of this drive, in order. RB_ERR_INPUT: more than RB_MAX_KV_PARTS. */
int rb_kv_queue_add(rb_kv_queue_t *q, const rb_kv_part_t *part, uint32_t server, rb_err_t *err);
/* All have been added. */
void rb_kv_queue_seal(rb_kv_queue_t *q);

/* Up to n I/Os whose turn has come at now_ns, since T0. */
uint32_t rb_kv_queue_take(rb_kv_queue_t *q, uint64_t now_ns, rb_kv_io_t *ret, uint32_t n);
/* One that was taken is complete. */
typedef struct {
    uint32_t part, step;
    bool failed;     /* its part counts as done all the same */
    rb_part_t phase; /* the part of the phase that this is in */
    uint64_t now_ns; /* since T0 */
} rb_kv_done_t;
void rb_kv_queue_done(rb_kv_queue_t *q, const rb_kv_done_t *done);

/* When the next batch falls due; UINT64_MAX: all have. */
uint64_t rb_kv_queue_due_ns(const rb_kv_queue_t *q);
/* Is there nothing left to take, now or later? */
bool rb_kv_queue_empty(const rb_kv_queue_t *q);

uint64_t rb_kv_queue_ios(const rb_kv_queue_t *q); /* all, of all parts */
/* Parts of batches that were due before end_ns and did not finish. */
uint64_t rb_kv_queue_undone(const rb_kv_queue_t *q, uint64_t end_ns);
uint64_t rb_kv_queue_waited(const rb_kv_queue_t *q); /* reads (parts) that waited for a write */
/* Batches that finished, oldest first: number `at` of them, [0, as many as returned NULL not).
 * Any one thread beside the worker's. */
const rb_kv_batch_t *rb_kv_queue_finished(const rb_kv_queue_t *q, uint32_t at);
