/* hostlist.h - which agents to talk to: names as spelled, addresses, ports, labels.
 *
 * Any thread; no state; reads files for @file. Adding is O(hosts), so a list is O(hosts^2): 4096
 * hosts take well under a second.
 *
 * An expression is entries with commas between them; an entry is one of
 *
 *   db07  10.77.0.3  db07:7412      a name or address, and a port
 *   node[01-16,20]  10.77.0.[1-4]   ranges: padding zeros are kept, several brackets multiply
 *   [fd00::7]  [fd00::7]:7412       an IPv6 address; only a bracket that opens the entry is one
 *   @file                           one expression a line, # comments; a file names no other file
 */
#pragma once

#include "common/err.h"

enum { RB_DEFAULT_PORT = 7411 };

typedef struct {
    char *key, *value;
} rb_label_t;

typedef struct {
    char *name;    /* as spelled, ranges expanded: "db07:7412"; unique in its list */
    char *address; /* host part without brackets: "db07", "fd00::7"; unique with port */
    uint16_t port;
    char *key; /* its public key (proto/keys.h); NULL: none is known */
    size_t nlabels;
    rb_label_t *labels; /* [nlabels], keys unique */
    uint64_t name_hash, address_hash;
} rb_hostlist_item_t;

typedef struct {
    size_t nitems;
    rb_hostlist_item_t *items; /* [nitems], at most RB_MAX_HOSTS, in the order given */
} rb_hostlist_t;

rb_hostlist_t *rb_hostlist_new(void);
void rb_hostlist_destroy(rb_hostlist_t **list);

/* Appends the hosts of an expression. RB_ERR_INPUT names the column (in a file: file:line:column)
 * of what is empty, malformed, unreadable, too many or there already; the list then holds what came
 * before. */
int rb_hostlist_parse(rb_hostlist_t *list, const char *expr, rb_err_t *err);

/* Appends one host, as a hosts.yaml gives it. RB_ERR_INPUT, without a place, when name or address
 * is empty, too long (RB_MAX_NAME), has a blank, '/' or control character, when port is 0, or when
 * name or address and port are in the list. */
int rb_hostlist_add(rb_hostlist_t *list, const char *name, const char *address, uint16_t port,
                    rb_err_t *err);

/* Labels items[index]. RB_ERR_INPUT, without a place, when the key is empty, has a '=' or is there.
 */
int rb_hostlist_label(rb_hostlist_t *list, size_t index, const char *key, const char *value,
                      rb_err_t *err);
