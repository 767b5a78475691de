/* health_judge.h - what two readings of a drive say when they are held against each other. Pure.
 *
 * Kinds of events:
 *   hot           it came above its own warning temperature
 *   throttled     it began to slow itself down to cool
 *   media_errors  it failed to read or write its medium
 *   wear          its spare blocks ran low, or another percent of its rated life is used
 *   failing       it says that it is unreliable, read-only or lost its protection against power
 * loss link          its PCIe link is slower than it could be, or is another than before firmware
 * it is another than before drive         the path leads to another drive than before Each is told
 * when it begins, not again while it lasts.
 */
#pragma once

#include "proto/sample.h"

typedef struct {
    bool throttling;  /* its throttle time rose between the last two readings */
} rb_health_memory_t; /* of one drive, zeroed before its first reading */

typedef void rb_health_event_fn(void *ctx, const char *kind, const char *text);

/* `before` is the previous reading of this run, NULL for the first. A text is borrowed for the
 * call.
 */
void rb_health_judge(rb_health_memory_t *memory, const rb_health_drive_t *before,
                     const rb_health_drive_t *now, rb_health_event_fn *emit, void *ctx);
