/* link.h - the agent's connection: it binds (--listen) or dials out (--join).
 *
 * With keys, who binds takes the coordinators of `authorized` alone, and who dials out takes the
 * one coordinator of `coordinator_key` alone. Main thread only.
 */
#pragma once

#include "proto/socket.h"

typedef struct {
    const char *listen;              /* URL to bind, or NULL */
    const char *join;                /* URL to dial, or NULL: exactly one of the two */
    const char *name;                /* join: our name to the coordinator */
    const rb_key_pair_t *key;        /* ours; NULL: plain */
    const rb_key_list_t *authorized; /* with listen and key; outlives the link */
    const char *coordinator_key;     /* with join and key */
} rb_link_opts_t;

/* What we call the coordinator that we dialled. */
#define RB_LINK_COORDINATOR "coordinator"

/* The agent's own key, made if it is not there. RB_ERR_INPUT, RB_ERR_UNSAFE (keys.h). */
int rb_link_key(const char *path, rb_key_pair_t *ret, rb_err_t *err);

/* Logs why the coordinator that we dial does not let us in: once, and again when it changes.
 * Call it after each wait. *told: NULL at first. */
void rb_link_tell(rb_socket_t *link, const char *coordinator_key, const char **told);

/* To the coordinator that it dials it calls itself by its name and a random number, by which two
 * agents of one name are told apart. RB_ERR_INPUT when the name is too long for that; RB_ERR_NET
 * when the address cannot be bound ("... already in use") or is no URL of ZeroMQ. */
rb_socket_t *rb_link_open(const rb_link_opts_t *opts, rb_err_t *err);
