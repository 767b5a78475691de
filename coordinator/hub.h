/* hub.h - the coordinator's one socket: messages to and from hosts by number.
 *
 * It dials every host of the list, or binds one address and waits for agents that --join by name.
 * Cost per message does not grow with the hosts (a binary search by name). Sending never blocks:
 * what cannot be sent is dropped, and the protocol sends it again. A host that has a key must have
 * it: who is dialled, and who joins. Of two agents that join by one name the first is the host for
 * as long as it is connected, and the other is told that it is not. Main thread only.
 */
#pragma once

#include "common/hostlist.h"
#include "proto/socket.h"
#include "proto/wire.h"

typedef struct rb_hub rb_hub_t;

typedef struct {
    const char *name;           /* ours on the wire: the run's id, and more if it is resumed */
    const rb_hostlist_t *hosts; /* host i + 1 is items[i]; outlives the hub */
    const char *listen;         /* URL to bind; NULL: dial every host */
    const rb_key_pair_t *key;   /* ours; NULL: plain, and no host has a key */
} rb_hub_opts_t;

typedef enum {
    RB_HUB_MESSAGE,
    RB_HUB_ROW,
    RB_HUB_BROKEN,
    RB_HUB_REFUSED,
    RB_HUB_RIVAL
} rb_hub_event_kind_t;

typedef struct {
    rb_hub_event_kind_t kind;
    uint64_t now_ns; /* when it was taken from the socket */
    uint32_t host;
    const Rackbench__ToCoordinator *message; /* MESSAGE */
    const void *row;                         /* ROW */
    size_t row_size;                         /* [bytes] */
    const char *text; /* BROKEN: what was wrong with the frame; REFUSED: why we are not let in;
                       * RIVAL: who else wants to be this host, once a host */
} rb_hub_event_t;     /* what it points to is borrowed until the next receive */

/* RB_ERR_NET when an address cannot be bound or is none. */
rb_hub_t *rb_hub_new(const rb_hub_opts_t *opts, rb_err_t *err);
/* Gives what is queued half a second to leave. */
void rb_hub_destroy(rb_hub_t **hub);

void rb_hub_send(rb_hub_t *hub, uint32_t host, const Rackbench__ToAgent *msg);

/* Waits for a frame, for fd (-1: none) or the timeout; true if fd is readable. */
bool rb_hub_wait(rb_hub_t *hub, int timeout_ms, int fd);
/* Next event, without waiting; false if there is none. Frames from strangers are dropped. */
bool rb_hub_receive(rb_hub_t *hub, rb_hub_event_t *ret);
