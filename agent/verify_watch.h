/* verify_watch.h - finds stale blocks among those that are whole: what one reader has seen of each
 * writer's counter (verify_order.h).
 *
 * A block is stale if the newest write seen of its counter is as far as the next write to it.
 * Readers need no order: a block that may yet turn out to be stale, when a newer write is seen, is
 * held if it is one of the RB_WATCH_HELD that would be so first. rb_watch_merge brings together
 * what the workers of a job have seen; rb_watch_take tells at the end which of those held are
 * stale. More than that many of one counter that were all read before its newest write are not all
 * named.
 *
 * One owner at a time. Hot: rb_watch_see, some 10 ns of a sequential writer, 150 ns of a
 * permutation. No allocation after rb_watch_new.
 */
#pragma once

#include "agent/verify.h"

enum {
    RB_WATCH_WRITERS = 256, /* counters that one reader tells apart; of others nothing is found */
    RB_WATCH_HELD = 16      /* blocks of each */
};

typedef struct rb_watch rb_watch_t;

/* Of the workers of one job on one drive. */
typedef struct {
    _Atomic uint32_t left; /* workers that still read */
    uint32_t n;
    rb_watch_t **items; /* [n], by number; NULL: of one that does not watch */
} rb_watch_group_t;

rb_watch_t *rb_watch_new(void);
size_t rb_watch_bytes(void);
void rb_watch_destroy(rb_watch_t **watch);

/* found: of a block of verdict OK. false: it is stale, and found says so. */
bool rb_watch_see(rb_watch_t *watch, rb_verify_found_t *found);
void rb_watch_merge(rb_watch_t *watch, const rb_watch_t *other);
/* Takes a held block that is stale. false: there is none any more. */
bool rb_watch_take(rb_watch_t *watch, rb_verify_found_t *ret_found);
/* Of how many blocks no writer could be kept. */
uint64_t rb_watch_unknown(const rb_watch_t *watch);
