/* worker_window.h - a worker's windows: it fills one, publishes it at a border and takes the next.
 *
 * One writer (the worker) and one reader (the sampler, main thread), no lock: `published` is stored
 * with release by the worker, `consumed` by the sampler. The sampler also clears, so that the
 * worker finds each window empty.
 *
 * A worker that finds no room at a border goes on in its window (span + 1). A window never mixes
 * parts, so one slot is kept back for each change of part that is still to come: with RB_WINDOWS
 * slots a sampler that never comes costs time resolution and nothing else.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>

#include "proto/sample.h"

enum { RB_WINDOWS = 4 };

typedef struct {
    uint64_t ops, errors, bytes;           /* ops and bytes without errors */
    uint64_t inflight, oldest_inflight_ns; /* when the window was closed */
    rb_hist_t service, response;
} rb_op_stat_t;

typedef struct {
    rb_part_t part;
    uint64_t index;
    uint32_t span;
    bool running;                   /* the worker goes on after it */
    rb_op_stat_t *ops[RB_OP_COUNT]; /* NULL: op is not used */
} rb_window_t;

typedef struct {
    rb_window_t slots[RB_WINDOWS];
    rb_op_stat_t *stats; /* what slots[].ops point into */
    size_t stats_bytes;
    alignas(64) _Atomic uint64_t published;
    alignas(64) _Atomic uint64_t consumed;
} rb_windows_t;

/* Latencies below this find the memory of their bucket faulted in; that of the others, nearly half
 * of a histogram, comes when they do: half a microsecond, once for four octaves of a histogram. */
#define RB_AT_HAND_NS RB_NS_PER_S

/* An empty histogram; free with rb_buffer_free. */
rb_hist_t *rb_window_hist_new(void);

/* ops: bit 1 << op for each op in use. Faults the memory in. */
void rb_windows_init(rb_windows_t *w, uint32_t ops);
void rb_windows_clear(rb_windows_t *w);

/* Worker: the window being filled. Hot. */
static inline rb_window_t *rb_windows_current(rb_windows_t *w)
{
    uint64_t n = atomic_load_explicit(&w->published, memory_order_relaxed);
    return &w->slots[n % RB_WINDOWS];
}

/* Worker: may the current window be published although the next one is of the same part? */
bool rb_windows_room(const rb_windows_t *w, rb_part_t part);
/* Worker: hands the current window over. */
void rb_windows_publish(rb_windows_t *w);

/* Sampler: the oldest window that was published; NULL: none. */
const rb_window_t *rb_windows_peek(const rb_windows_t *w);
/* Sampler: done with it. */
void rb_windows_consume(rb_windows_t *w);
