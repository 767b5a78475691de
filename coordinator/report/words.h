/* words.h - small pieces of text that several reports print. Main thread; no state. */
#pragma once

#include "coordinator/merge_health.h"

enum { RB_WORDS_SIZE = RB_MAX_NAME + 1, RB_STAMP_SIZE = 32, RB_STAMP_TIME = 11 };

/* Copies what fits into buf [size] with '?' for each byte of a control character, C1 in UTF-8 too:
 * names and texts come from plans and agents, and a terminal would obey them. Returns buf. */
const char *rb_words_clean(char *buf, size_t size, const char *text);
/* "x2 of x4, 16.0 of 16.0 GT/s" into buf; false: it is as fast as the drive could, or not known. */
bool rb_words_link(char *buf, size_t size, const rb_fold_link_t *link);
/* "2026-11-30T13:05:31.123Z" (RFC 3339) into buf [RB_STAMP_SIZE]; its time of day begins at
 * RB_STAMP_TIME. wall_ns since 1970. Returns buf. */
const char *rb_words_stamp(char *buf, uint64_t wall_ns);
