/* socket.h - a ZeroMQ ROUTER: whole frames to and from named peers, plain or under CURVE. The only
 * door to zmq.
 *
 * Sending never blocks: what cannot be sent is dropped, and the protocol sends it again. Main
 * thread only; its wait also answers the handshakes of who dials us, so a thread that is away for
 * long lets them time out (1 s, then they dial again).
 *
 * Under CURVE (RFC 26: keys of both ends, encryption, fresh nonces, so that a recorded frame is
 * worth nothing) who binds takes only peers whose public key is in `allowed`, and a peer of an
 * entry with a name only under this name.
 *
 * What a stranger can cost who binds: a connection that has not shaken hands ends after 1 s and
 * holds about 30 KiB; with more than RB_MAX_PENDING of them, whoever dials is not heard by the
 * kernel (a socket filter that drops) until a quarter is left. Peers that are connected do not
 * notice.
 */
#pragma once

#include "proto/keys.h"

enum {
    RB_SOCKET_PEER = 256, /* bytes of a peer's name, with its NUL */
    RB_MAX_PENDING = 256  /* connections without a handshake */
};

/* Who dials may call itself NAME, this, and what tells it from others of that name. */
#define RB_SOCKET_INSTANCE ' '

typedef struct rb_socket rb_socket_t;

typedef struct {
    const char *name; /* ours, to those we dial; NULL: none */
    int send_queue, receive_queue;
    int connect_timeout_ms;       /* 0: the kernel's */
    const rb_key_pair_t *key;     /* ours; NULL: plain */
    const rb_key_list_t *allowed; /* with key, for who binds; outlives the socket */
} rb_socket_opts_t;

rb_socket_t *rb_socket_new(const rb_socket_opts_t *opts);
/* Gives what is queued half a second to leave. */
void rb_socket_destroy(rb_socket_t **socket);

/* RB_ERR_INPUT unless it is tcp://HOST:PORT with a port of 0 to 65535 or * (ZeroMQ would take any
 * number modulo 65536), or ipc://PATH. */
int rb_socket_check_url(const char *url, rb_err_t *err);

/* RB_ERR_NET when the address cannot be bound or is no URL of ZeroMQ. */
int rb_socket_bind(rb_socket_t *socket, const char *url, rb_err_t *err);
/* The peer there will be called `name`, and must have this key (NULL: plain). Frames can be sent at
 * once. RB_ERR_NET. */
int rb_socket_dial(rb_socket_t *socket, const char *url, const char *name, const char *key,
                   rb_err_t *err);
/* The address that was dialled, or bound: with the port the kernel chose for 0 or *. */
const char *rb_socket_endpoint(const rb_socket_t *socket);

/* Waits until a frame, one of the fds [nfds <= 4] (-1: unused) or the timeout; ret_ready [nfds]. */
void rb_socket_wait(rb_socket_t *socket, int timeout_ms, const int *fds, size_t nfds,
                    bool *ret_ready);

/* Next frame, without waiting: false if there is none. `data` is borrowed until the next call.
 * Messages that are not [peer, frame] are dropped. */
bool rb_socket_receive(rb_socket_t *socket, char peer[RB_SOCKET_PEER], const void **ret_data,
                       size_t *ret_size);
/* false: no such peer is connected. */
bool rb_socket_send(rb_socket_t *socket, const char *peer, const void *data, size_t size);

/* How a handshake with whom we dialled failed. */
typedef enum {
    RB_REFUSED_NOT,
    RB_REFUSED_KEY,       /* it said that it does not take our key */
    RB_REFUSED_MECHANISM, /* one side has keys and the other has none */
    RB_REFUSED_CLOSED, /* without a word: our first one was not for its key, or none that it knows
                        */
    RB_REFUSED_SILENT  /* it takes connections, and says nothing */
} rb_refusal_t;

/* Next handshake that failed, without waiting: RB_REFUSED_NOT if there is none. *ret_url as it was
 * dialled (an IPv4 address or a name: of a name, the first time only), borrowed until the next
 * call. */
rb_refusal_t rb_socket_refused(rb_socket_t *socket, const char **ret_url);
/* What it means, and what would be right, in a sentence. key: the one we expected there, or NULL.
 */
const char *rb_socket_why(rb_refusal_t refusal, const char *key);

/* ---- what keys.c needs of Curve25519 ---- */

void rb_key_make(rb_key_pair_t *ret);
void rb_key_public(rb_key_pair_t *pair); /* fills in public_key */
