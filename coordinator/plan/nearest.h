/* nearest.h - "did you mean": the candidate with the smallest edit distance to a word.
 *
 * Any thread; no state. O(length of word x length of candidate), both cut at 64 bytes.
 */
#pragma once

#include "common/base.h"

typedef struct {
    const char *word; /* borrowed: what was written */
    const char *best; /* borrowed: NULL while no candidate is near */
    unsigned distance;
} rb_nearest_t;

/* Takes candidate into account; near is at most 2 edits and fewer than half of the word. */
void rb_nearest_try(rb_nearest_t *n, const char *candidate);
