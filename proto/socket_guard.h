/* socket_guard.h - who binds a socket: which keys may connect, and how many strangers may try.
 *
 * Main thread, from rb_socket_wait.
 */
#pragma once

#include "proto/keys.h"

/* The socket that ZeroMQ asks about each key (ZAP, RFC 27). */
void *rb_guard_open(void *context);
/* Answers one question, without waiting: false if there is none. */
bool rb_guard_answer(void *asker, const rb_key_list_t *allowed);

/* Connections that have not shaken hands, and the socket that listens for them. */
typedef struct {
    size_t count;  /* connections that are younger than a handshake may take */
    size_t shaken; /* so many of them have shaken hands */
    size_t nfds;
    uint64_t *since_ns; /* [nfds] by file descriptor: accepted then; 0: none, or settled */
    int listen_fd;      /* + 1; 0: none, as for ipc */
    bool deaf, told;    /* told: that it cannot be */
} rb_strangers_t;

void rb_strangers_note(rb_strangers_t *strangers, uint16_t event, int fd,
                       uint64_t now_ns); /* an event of ZeroMQ's monitor */
/* Stops hearing who dials above RB_MAX_PENDING, and hears again below a quarter of it. */
void rb_strangers_limit(rb_strangers_t *strangers, uint64_t now_ns);
void rb_strangers_clear(rb_strangers_t *strangers);
