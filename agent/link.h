/* link.h - the agent's ZeroMQ socket: whole frames from and to named peers. The only file that
 * knows zmq here.
 *
 * A ROUTER in both directions: it binds (--listen) or dials out (--join); sending never blocks, and
 * what cannot be sent is dropped: the protocol sends it again. Main thread only.
 */
#pragma once

#include "common/err.h"

typedef struct rb_link rb_link_t;

enum { RB_LINK_PEER = 256 }; /* bytes of a peer's name, with its NUL */

typedef struct {
    const char *listen; /* URL to bind, or NULL */
    const char *join;   /* URL to dial, or NULL: exactly one of the two */
    const char *name;   /* join: our name to the coordinator */
} rb_link_opts_t;

/* RB_ERR_NET when the address cannot be bound ("... already in use") or is no URL of ZeroMQ. */
rb_link_t *rb_link_new(const rb_link_opts_t *opts, rb_err_t *err);
void rb_link_destroy(rb_link_t **link);

/* The address that was bound, with the port the kernel chose for "tcp://...:*". */
const char *rb_link_endpoint(const rb_link_t *link);

/* Waits until a frame, one of the fds [nfds <= 4] (-1: unused) or the timeout; ret_ready [nfds]. */
void rb_link_wait(rb_link_t *link, int timeout_ms, const int *fds, size_t nfds, bool *ret_ready);

/* Next frame, without waiting: false if there is none. `data` is borrowed until the next call.
 * Messages that are not [peer, frame] are dropped. */
bool rb_link_receive(rb_link_t *link, char peer[RB_LINK_PEER], const void **ret_data,
                     size_t *ret_size);

/* peer NULL: the coordinator we dialled. */
void rb_link_send(rb_link_t *link, const char *peer, const void *data, size_t size);
