#include "agent/session_priv.h"
#include "proto/sample.h"

#define RESEND_AFTER_NS (400 * RB_NS_PER_MS) /* a little less than a beat */

static void resend_rows(rb_session_t *s)
{
    for (size_t i = 0; i < s->outbox.count; i++) {
        const rb_outbox_row_t *row = rb_outbox_at(&s->outbox, i);
        s->sink.send_row(s->sink.ctx, s->peer, row->data, row->size);
    }
}

void rb_session_ack_rows(rb_session_t *s, uint64_t acked, uint64_t now_ns)
{
    rb_outbox_ack(&s->outbox, acked);
    if (s->outbox.count == 0) {
        s->stalled_at = 0;
        s->behind = false;
    } else if (s->behind) {
        resend_rows(s);
        s->behind = false;
        s->stalled_at = acked + 1;
        s->stalled_since_ns = now_ns;
    } else if (s->stalled_at != acked + 1) {
        s->stalled_at = acked + 1;
        s->stalled_since_ns = now_ns;
    } else if (now_ns >= s->stalled_since_ns + RESEND_AFTER_NS) {
        resend_rows(s);
        s->stalled_since_ns = now_ns;
    }
}

void rb_session_take_row(rb_session_t *s, const void *row, size_t size)
{
    if (s->state == IDLE)
        return;
    rb_outbox_push(&s->outbox, row, size);
    if (s->orphaned)
        s->behind = true;
    else
        s->sink.send_row(s->sink.ctx, s->peer, row, size);
}

uint64_t rb_session_next_row(const rb_session_t *s)
{
    return rb_outbox_last(&s->outbox) + 1;
}

bool rb_session_takes_rows(const rb_session_t *s)
{
    return s->evicted != NULL || s->outbox.bytes < RB_MAX_OUTBOX;
}

uint32_t rb_session_span(const rb_session_t *s)
{
    return RB_MIN(RB_MAX(s->span, 1u), (uint32_t)RB_MAX_SPAN);
}
