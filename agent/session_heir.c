#include "agent/session_priv.h"

#define HEARD_NS (1200 * RB_NS_PER_MS) /* of an owner, whose beats come every 500 ms */

bool rb_session_may_take_up(const rb_session_t *s, const rb_session_event_t *ev)
{
    uint64_t heard_for_ns = RB_MIN(HEARD_NS, s->hello->hello->lease_ns / 4 * 3);
    return strcmp(ev->peer, s->peer) == 0 || s->orphaned ||
           ev->now_ns >= s->heard_ns + heard_for_ns;
}

void rb_session_follow_heir(rb_session_t *s, const rb_session_event_t *ev)
{
    const char *id = s->hello->hello->run_id;
    bool of_run = strncmp(ev->peer, id, strlen(id)) == 0 && strchr(".", ev->peer[strlen(id)]);
    if (ev->message->body_case != RACKBENCH__TO_AGENT__BODY_COLLECT || !of_run ||
        strcmp(ev->peer, s->peer) == 0 || !rb_session_may_take_up(s, ev))
        return;
    rb_free_str(&s->peer);
    s->peer = rb_strdup(ev->peer);
    s->behind = true;
}
