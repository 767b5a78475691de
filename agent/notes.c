#include "agent/notes.h"

void rb_notes_add(rb_notes_t *notes, int32_t phase, int64_t at_ns, const char *kind,
                  const char *text)
{
    rb_row_event_t *event = RB_PUSH(notes->events, notes->n);
    event->phase = phase;
    event->at_ns = at_ns;
    event->kind = rb_strdup(kind);
    event->text = rb_strdup(text);
}

void rb_notes_deliver(rb_notes_t *notes, rb_row_emit_fn *emit, void *ctx)
{
    for (size_t i = 0; i < notes->n; i++) {
        rb_row_t row = {.kind = RB_ROW_EVENT, .event = notes->events[i]};
        emit(ctx, &row);
        free(notes->events[i].kind);
        free(notes->events[i].text);
    }
    free(notes->events);
    *notes = (rb_notes_t){0};
}
