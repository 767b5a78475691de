/* notes.h - what an agent has to say of its own, kept until a step of its session is over and it
 * may make rows again. Main thread. */
#pragma once

#include "agent/engine.h"

typedef struct {
    size_t n;
    rb_row_event_t *events; /* [n], with owned strings */
} rb_notes_t;

/* at_ns: since T0 of the phase; phase -1: of none. Copies kind and text. */
void rb_notes_add(rb_notes_t *notes, int32_t phase, int64_t at_ns, const char *kind,
                  const char *text);
/* Emits each as an EVENT row, and forgets it. */
void rb_notes_deliver(rb_notes_t *notes, rb_row_emit_fn *emit, void *ctx);
